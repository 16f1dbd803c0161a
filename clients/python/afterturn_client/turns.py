"""A turn as it is enqueued: checked, and written once, so that it is the same turn however often it is sent."""

from __future__ import annotations

import hashlib
import json
import math
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, Literal

from afterturn_client.errors import InvalidTurn

MAX_TEXT_BYTES: Final = 64 * 1024
MAX_MESSAGES: Final = 500
MAX_HISTORY_MESSAGES: Final = 100
MAX_METADATA: Final = 32
MAX_METADATA_CHARS: Final = 1_000
_ROLES: Final = ("user", "assistant", "system", "tool")
_IDENTIFIER: Final = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


@dataclass(frozen=True)
class Written:
    """A turn that can be spooled. `digest` tells another turn of the same id from the same turn enqueued again."""

    user: str
    turn_id: str
    digest: str
    body: bytes


def turn_of(
    user_id: str | None,
    messages: Sequence[Mapping[str, str]],
    *,
    turn_id: str | None = None,
    conversation_id: str = "default",
    agent_id: str | None = None,
    sequence: int | None = None,
    occurred_at: datetime | None = None,
    source: Literal["chat", "external", "instagram", "bank_api", "system", "agent"] = "chat",
    attachments: Sequence[Mapping[str, str]] = (),
    candidate: Mapping[str, str] | None = None,
    consent: Literal["granted", "withdrawn"] | None = None,
    history: Sequence[Mapping[str, str]] = (),
    metadata: Mapping[str, str | bool | int | float] | None = None,
) -> Written:
    """Accept a turn, to be remembered: it is on this machine's disk when this returns, within 50 ms, and is sent from
    there in the order of its user's turns, however long the service is away.

    `messages` are `{"role": ..., "content": ..., "name"?: ...}`. `user_id` is whose memory it is; None for the user
    that the key is bound to. `turn_id` makes it harmless to enqueue the same turn twice: give the id of the stored
    message. `occurred_at` (unset: now) is when it was said; of the same turn enqueued twice the first stands. `history`
    is what was said before it, oldest first: the turn is understood by it, and nothing of it is kept. `metadata` is
    what your application notes of it, at most 32 plain values: kept with the turn, and not read.

    Raises:
        InvalidTurn: a field is missing or wrong.
        ConflictingTurn: its turn_id was enqueued here lately with other content.
        SpoolFull, SpoolUnavailable: not accepted; enqueue it again later.
    """
    fields: dict[str, Any] = {
        "user_id": user_id,
        "turn_id": turn_id or str(uuid.uuid4()),
        "conversation_id": conversation_id,
        "agent_id": agent_id,
        "sequence": sequence,
        "messages": _plain("messages", messages),
        "source": source,
        "attachments": _plain("attachments", attachments) or None,
        "candidate": None if candidate is None else dict(candidate),
        "consent": consent,
        "history": _plain("history", history) or None,
        "metadata": dict(metadata or {}) or None,
    }
    fields = {name: value for name, value in fields.items() if value is not None}
    _check(fields, occurred_at)
    # By what was said alone, as the service does: a moment that is made up here tells no two turns apart.
    digest = hashlib.sha256(_json(fields)).hexdigest()
    moment = (occurred_at or datetime.now(UTC)).isoformat()
    return Written(user_id or "", fields["turn_id"], digest, _json({**fields, "occurred_at": moment}))


def _plain(name: str, given: object) -> list[dict[str, Any]]:
    """Return a list of mappings as one of dictionaries."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise InvalidTurn(f"{name}: should be a list, such as [{{'role': 'user', 'content': ...}}]")
    rows = list(given)
    wrong = [f"{name}.{index}: should have fields" for index, row in enumerate(rows) if not isinstance(row, Mapping)]
    if wrong:
        raise InvalidTurn("; ".join(wrong))
    return [dict(row) for row in rows]


def _check(fields: Mapping[str, Any], occurred_at: datetime | None) -> None:
    wrong: list[str] = []
    for name in ("user_id", "turn_id", "conversation_id", "agent_id"):
        value = fields.get(name)
        if value is not None and not (isinstance(value, str) and _IDENTIFIER.fullmatch(value)):
            wrong.append(f"{name}: should be 1 to 200 characters without control characters")
    said, history, metadata = fields["messages"], fields.get("history", ()), fields.get("metadata", {})
    if not 1 <= len(said) <= MAX_MESSAGES:
        wrong.append(f"messages: should be 1 to {MAX_MESSAGES}")
    if len(history) > MAX_HISTORY_MESSAGES:
        wrong.append(f"history: should be at most {MAX_HISTORY_MESSAGES} messages")
    wrong += _wrong_in("messages", said) + _wrong_in("history", history)
    if not wrong and (size := sum(len(_text(message["content"])) for message in (*said, *history))) > MAX_TEXT_BYTES:
        wrong.append(f"messages: have {size:,} bytes of text with history, and at most {MAX_TEXT_BYTES:,} are taken")
    if len(metadata) > MAX_METADATA:
        wrong.append(f"metadata: should be at most {MAX_METADATA} values")
    wrong += [
        f"metadata.{name}: should be a text of at most {MAX_METADATA_CHARS:,} characters, a number or a truth value"
        for name, value in metadata.items()
        if not isinstance(value, str | bool | int | float)
        or (isinstance(value, str) and len(value) > MAX_METADATA_CHARS)
        or (isinstance(value, float) and not math.isfinite(value))
    ]
    if occurred_at is not None and occurred_at.tzinfo is None:
        wrong.append("occurred_at: needs a time zone: datetime.now(UTC)")
    if wrong:
        raise InvalidTurn("; ".join(wrong))


def _wrong_in(name: str, messages: Sequence[Mapping[str, Any]]) -> list[str]:
    wrong: list[str] = []
    for index, message in enumerate(messages):
        if message.get("role") not in _ROLES:
            wrong.append(f"{name}.{index}.role: should be one of {', '.join(_ROLES)}")
        if not isinstance(message.get("content"), str):
            wrong.append(f"{name}.{index}.content: should be text")
        if unknown := sorted(message.keys() - {"role", "content", "name"}):
            wrong.append(f"{name}.{index}: has no {', '.join(unknown)}")
    return wrong


def _text(content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError:
        raise InvalidTurn("messages: hold half a character (a lone surrogate)") from None


def _json(fields: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTurn(f"a field cannot be written as JSON ({type(error).__name__})") from None
