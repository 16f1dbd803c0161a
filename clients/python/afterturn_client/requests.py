"""Every request as a value: what is sent, and how its answer is read. Two senders send them, one that waits and one
that is awaited; neither knows a route."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Generic, Literal, TypeVar
from urllib.parse import quote

from afterturn_client.errors import Invalid
from afterturn_client.model import (
    Context,
    Hit,
    Memory,
    Page,
    Proof,
    Remembered,
    context_of,
    hit_of,
    memory_of,
    page_of,
    proof_of,
    remembered_of,
)

T = TypeVar("T")
Id = str | uuid.UUID
MEMORIES: Final = "/api/v1/memories/"
SUBJECTS: Final = "/api/v1/subjects/"
_LONGEST_QUERY: Final = 2_000
_LONGEST_QUESTION: Final = 4_000
"""Characters of each that the service takes: what somebody typed or pasted may have more."""


@dataclass(frozen=True)
class Request(Generic[T]):
    """One request. `harmless` says that it may be sent again whatever became of it: twice is as good as once.

    Raises:
        Invalid: a parameter is no Unicode text, or an id none.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    params: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    headers: tuple[tuple[str, str], ...] = ()
    harmless: bool = False

    def __post_init__(self) -> None:
        for name, value in self.params:
            _require_text(name, value)


def search(
    query: str,
    *,
    user_id: str | None = None,
    subject_id: str | None = None,
    agent_id: str | None = None,
    limit: int = 10,
    offset: int = 0,
    memory_type: Sequence[str] = (),
    type: Sequence[str] = (),
    category: Sequence[str] = (),
    scope: Literal["shared", "individual"] | None = None,
    tags: Sequence[str] = (),
    min_importance: float | None = None,
    min_confidence: float | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    explain: bool = False,
) -> Request[tuple[Hit, ...]]:
    """Find the memories that answer a question best, by its first 2,000 characters; a question about nothing that is
    known gets none.

    Raises:
        RequestFailed: the service did not do it; the class says why.
    """
    params = _params(
        query=query[:_LONGEST_QUERY],
        **_who(user_id, subject_id, None),
        as_agent=agent_id,
        limit=limit,
        offset=offset,
        **_filters(memory_type, type, category, scope, tags, min_importance, min_confidence, since, until),
        explain=explain or None,
    )
    return Request("GET", f"{MEMORIES}search", lambda body: tuple(map(hit_of, body)), params, harmless=True)


def memories(
    *,
    user_id: str | None = None,
    subject_id: str | None = None,
    agent_id: str | None = None,
    words: str = "",
    status: Sequence[str] = (),
    memory_type: Sequence[str] = (),
    type: Sequence[str] = (),
    category: Sequence[str] = (),
    scope: Literal["shared", "individual"] | None = None,
    tags: Sequence[str] = (),
    min_importance: float | None = None,
    min_confidence: float | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    page_size: int = 100,
) -> Request[Page]:
    """Iterate over all that is known, latest created first, page by page.

    It is complete while others write: what is there all the time comes exactly once.

    Raises:
        RequestFailed: the service did not do it; the class says why.
    """
    params = _params(
        **_who(user_id, subject_id, None),
        as_agent=agent_id,
        words=words or None,
        status=status,
        limit=page_size,
        **_filters(memory_type, type, category, scope, tags, min_importance, min_confidence, since, until),
    )
    return Request("GET", MEMORIES, page_of, params, harmless=True)


def page_behind(request: Request[Page], cursor: str) -> Request[Page]:
    """Return the request for the page that a cursor asks for."""
    others = tuple(pair for pair in request.params if pair[0] != "cursor")
    return replace(request, params=(*others, ("cursor", cursor)))


def get(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[Memory]:
    """Read one memory, whatever its status.

    Raises:
        NotFound: there is none, or the key may not see it.
        RequestFailed: the service did not do it; the class says why.
    """
    return Request(
        "GET", _memory_path(memory_id), memory_of, _params(**_who(user_id, subject_id, agent_id)), harmless=True
    )


def remember(
    content: str,
    *,
    user_id: str | None = None,
    agent_id: str | None = None,
    memory_type: str = "user_fact",
    category: str | None = None,
    scope: Literal["shared", "individual"] | None = None,
    tags: Sequence[str] = (),
    importance: float | None = None,
    confidence: float = 0.8,
    pinned: bool = False,
    occurred_at: datetime | None = None,
) -> Request[Remembered]:
    """Remember a statement of one or two sentences outright, by the same decision as what comes of a turn.

    Raises:
        Invalid: it may not be kept, such as a secret.
        RequestFailed: the service did not do it; the class says why.
    """
    fields = {
        "content": content,
        "user_id": user_id,
        "agent_id": agent_id,
        "memory_type": memory_type,
        "category": category,
        "scope": scope,
        "tags": list(tags),
        "importance": importance,
        "confidence": confidence,
        "pinned": pinned,
        "occurred_at": _moment(occurred_at),
    }
    return Request("POST", MEMORIES, remembered_of, body=body_of(fields))


def edit(
    memory_id: Id,
    *,
    version: int | None,
    user_id: str | None = None,
    subject_id: str | None = None,
    agent_id: str | None = None,
    content: str | None = None,
    category: str | None = None,
    tags: Sequence[str] | None = None,
    importance: float | None = None,
    confidence: float | None = None,
) -> Request[Memory]:
    """Change what a memory says or counts, if it still is at `version`; None changes it whatever its version.

    Raises:
        PreconditionFailed: somebody was quicker; get it again.
        RequestFailed: the service did not do it; the class says why.
    """
    fields = {
        "content": content,
        "category": category,
        "tags": None if tags is None else list(tags),
        "importance": importance,
        "confidence": confidence,
    }
    headers = () if version is None else (("If-Match", f'"{version}"'),)
    params = _params(**_who(user_id, subject_id, agent_id))
    return Request("PATCH", _memory_path(memory_id), memory_of, params, body_of(fields), headers)


def forget(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[None]:
    """Erase a memory for good, with its vector and the raw turns that nothing else needs.

    Raises:
        NotFound: there is none, or the key may not see it.
        RequestFailed: the service did not do it; the class says why.
    """
    return Request("DELETE", _memory_path(memory_id), _nothing, _params(**_who(user_id, subject_id, agent_id)))


def pin(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[Memory]:
    """Let a memory never fade."""
    return _act("pin", memory_id, user_id, subject_id, agent_id)


def unpin(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[Memory]:
    """Let a memory fade as others do."""
    return _act("unpin", memory_id, user_id, subject_id, agent_id)


def archive(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[Memory]:
    """Put a memory away: it is kept and not recalled."""
    return _act("archive", memory_id, user_id, subject_id, agent_id)


def restore(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[Memory]:
    """Take a memory back that was put away."""
    return _act("restore", memory_id, user_id, subject_id, agent_id)


def suppress(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[Memory]:
    """Keep a memory and never tell it: "don't mention this again"."""
    return _act("suppress", memory_id, user_id, subject_id, agent_id)


def unsuppress(
    memory_id: Id, *, user_id: str | None = None, subject_id: str | None = None, agent_id: str | None = None
) -> Request[Memory]:
    """Let a memory be told again."""
    return _act("unsuppress", memory_id, user_id, subject_id, agent_id)


def context(
    user_id: str,
    question: str = "",
    *,
    subject_id: str | None = None,
    agent_id: str | None = None,
    tokens: int = 600,
    bullets: int | None = None,
) -> Request[Context]:
    """Return what a prompt is given of what is known: cited, dated, within a budget of tokens; of a question the first
    4,000 characters count.

    Raises:
        RequestFailed: the service did not do it; the class says why.
    """
    asked = question[:_LONGEST_QUESTION] or None
    params = _params(question=asked, tokens=tokens, bullets=bullets, user_id=user_id, agent_id=agent_id)
    return Request("GET", subject_path(subject_id or user_id, "/context"), context_of, params, harmless=True)


def forget_user(user_id: str) -> Request[Proof]:
    """Erase all that the service knows of a user; the answer is the proof."""
    return Request("DELETE", subject_path(user_id, ""), proof_of, _params(user_id=user_id))


def turn(body: bytes, waited: float) -> Request[None]:
    """Hand over a turn as it lies in the spool, for so many seconds by now. Its turn_id makes it harmless."""
    # A header: a service of before would refuse a field that it does not know.
    headers = (("Afterturn-Waited-Seconds", f"{max(0.0, waited):.3f}"),)
    return Request("POST", "/api/v1/turns", _nothing, body=body, headers=headers, harmless=True)


def _act(
    verb: str, memory_id: Id, user_id: str | None, subject_id: str | None, agent_id: str | None
) -> Request[Memory]:
    params = _params(**_who(user_id, subject_id, agent_id))
    return Request("POST", f"{_memory_path(memory_id)}/{verb}", memory_of, params, harmless=True)


def _who(user_id: str | None, subject_id: str | None, agent_id: str | None) -> dict[str, str | None]:
    return {"user_id": user_id, "subject_id": subject_id, "agent_id": agent_id}


def _filters(
    memory_type: Sequence[str],
    type_: Sequence[str],
    category: Sequence[str],
    scope: str | None,
    tags: Sequence[str],
    min_importance: float | None,
    min_confidence: float | None,
    since: datetime | None,
    until: datetime | None,
) -> dict[str, Any]:
    return {
        "memory_type": memory_type,
        "type": type_,
        "category": category,
        "scope": scope,
        "tags": ",".join(tags) or None,
        "min_importance": min_importance,
        "min_confidence": min_confidence,
        "since": _moment(since),
        "until": _moment(until),
    }


def _params(**given: object) -> tuple[tuple[str, str], ...]:
    pairs: list[tuple[str, str]] = []
    for name, value in given.items():
        if value is None:
            continue
        values = value if isinstance(value, list | tuple) else [value]
        pairs += [(name, str(item).lower() if isinstance(item, bool) else str(item)) for item in values]
    return tuple(pairs)


def body_of(fields: Mapping[str, Any]) -> bytes:
    """Return fields as JSON, without those that are None.

    Raises:
        Invalid: a value lies too deep, or holds itself.
    """
    try:
        return json.dumps({name: value for name, value in fields.items() if value is not None}).encode()
    except (ValueError, RecursionError) as error:
        raise Invalid(None, f"a field cannot be written as JSON ({type(error).__name__})") from None


def _require_text(name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(None, f"{name}: holds half a character (a lone surrogate)") from None


def _moment(moment: datetime | None) -> str | None:
    if moment is not None and moment.tzinfo is None:
        raise ValueError("a moment needs a time zone: datetime.now(UTC)")
    return None if moment is None else moment.isoformat()


def _memory_path(memory_id: Id) -> str:
    try:
        return f"{MEMORIES}{uuid.UUID(str(memory_id))}"
    except ValueError:
        raise Invalid(None, "memory_id: should be a UUID, as `search`, `remember` and `memories` give it") from None


def subject_path(subject_id: str, below: str, name: str = "") -> str:
    """Return the path of something of a subject, the last part of it a name of any characters.

    Raises:
        Invalid: one of the two is no Unicode text.
    """
    return f"{SUBJECTS}{_segment(subject_id)}{below}{_segment(name)}"


def _segment(name: str) -> str:
    _require_text("an id or a name", name)
    # httpx would resolve dots: a user named ".." must not become another path.
    return quote(name, safe="").replace(".", "%2E") if set(name) <= {"."} else quote(name, safe="")


def _nothing(_body: Any) -> None:
    return None
