"""Take over what mem0 knows: its memories, as statements of this moment's decision."""

from __future__ import annotations

import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from memory.context import MemoryContext
from memory.remember import Statement, remember
from memory.statement_screening import NotKept
from policies.items import check_characters
from schema import MAX_SUMMARY_CHARS, Kind, Subject
from schema.errors import QuotaExceeded, Refused
from schema.wrong_fields import wrong_fields

_TAKEN: Final = frozenset({"id", "memory", "user_id", "metadata", "created_at", "categories", "expiration_date"})
_WITHOUT_MEANING: Final = frozenset({"hash", "score", "updated_at", "role", "actor_id"})
_TAKEN_OF_METADATA: Final = frozenset({"category", "tags", "memory_type"})
_MOST_TAGS: Final = 20


class NotMem0(Refused, ValueError):
    """A file that is no export of mem0. The message says why, without what it says."""


@dataclass
class TakenOver:
    """Outcome of the rows: how many by outcome, which of them could not be taken and why, and how many had a field
    that is known here by nothing."""

    outcomes: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class _Row:
    number: int
    row: Mapping[str, Any]
    subject: Subject
    statement: Statement
    written_at: datetime
    """When mem0 wrote it last; now where it does not say."""

    @property
    def named(self) -> str:
        return _named(self.number, self.row)


def take_over(
    text: str,
    context: MemoryContext,
    *,
    tenant_id: str,
    user_id: str | None,
    now: datetime,
    done: Callable[[], None] = lambda: None,
) -> TakenOver:
    """Remember each memory of an export of mem0 (`get_all`, or its platform's export), by the same decision as what is
    stated here, in the order in which mem0 wrote them, as what is said later replaces what it contradicts. Repeatable:
    a row that was decided on is not taken again, whatever was corrected or forgotten since. `user_id` is whose the rows
    are that name nobody.

    A row that cannot be taken is named in the result, and the others are taken all the same.

    Raises:
        NotMem0: the file is none.
    """
    result = TakenOver()
    bad: list[tuple[int, str]] = []
    rows: list[_Row] = []
    for number, row in enumerate(_rows_of(text), 1):
        try:
            rows.append(_read(number, row, tenant_id, user_id, now, context.settings.max_ahead_seconds))
        except ValidationError as error:
            bad.append((number, f"{_named(number, row)}: {wrong_fields(error)}"))
        except NotMem0 as error:
            bad.append((number, f"{_named(number, row)}: {error}"))
    for taken in sorted(rows, key=lambda row: row.written_at):
        try:
            outcome = remember(None, taken.subject, taken.statement, context, now=now).outcome
        except ValidationError as error:
            bad.append((taken.number, f"{taken.named}: {wrong_fields(error)}"))
        except (NotKept, QuotaExceeded) as error:
            bad.append((taken.number, f"{taken.named}: {error}"))
        else:
            result.outcomes[outcome] += 1
            result.left_out.update(_left_out(taken.row))
        done()
    result.bad = [wrong for _, wrong in sorted(bad)]
    return result


def _named(number: int, row: Any) -> str:
    return f"row {number}" + (f" (id {row['id']})" if isinstance(row, dict) and row.get("id") else "")


def _rows_of(text: str) -> Iterator[Any]:
    """Yield the rows of a JSON document or of JSON lines."""
    try:
        document = json.loads(text)
    except RecursionError:
        raise NotMem0("is nested too deeply: no export of mem0 is") from None
    except ValueError:
        yield from _lines_of(text)
        return
    if isinstance(document, dict) and "memory" not in document:
        document = document.get("results", document.get("memories"))
    if isinstance(document, dict):
        document = [document]
    if not isinstance(document, list):
        raise NotMem0('should be a list of memories, or an object with "results" or "memories"')
    yield from document


def _lines_of(text: str) -> Iterator[Any]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            raise NotMem0(f"line {number} is no JSON") from None


def _read(number: int, row: Any, tenant_id: str, user_id: str | None, now: datetime, max_ahead_seconds: float) -> _Row:
    if not isinstance(row, dict):
        raise NotMem0("is no object")
    try:
        check_characters(row)
    except ValueError as error:
        raise NotMem0(str(error)) from None
    text = row.get("memory")
    if not isinstance(text, str) or not text.strip():
        raise NotMem0("memory: is missing or no text")
    if len(text) > MAX_SUMMARY_CHARS:
        raise NotMem0(
            f"memory: has {len(text)} characters and at most {MAX_SUMMARY_CHARS} are taken; enqueue it as a turn"
        )
    whose = row.get("user_id") or user_id
    if not whose:
        raise NotMem0("user_id: is missing; say whose with --user")
    expires = _moment(row, "expiration_date")
    if expires is not None and expires <= now:
        raise NotMem0("expiration_date: it has expired")
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise NotMem0("metadata: is no object")
    created = _written_at(row, "created_at", now, max_ahead_seconds)
    is_procedure = metadata.get("memory_type") == "procedural_memory"
    statement = Statement(
        " ".join(text.split()),
        kind=Kind.AGENT_PROCEDURE if is_procedure else Kind.USER_FACT,
        category=metadata["category"] if isinstance(metadata.get("category"), str) else None,
        tags=_tags(row, metadata),
        occurred_at=created,
        id=_id_of(row),
    )
    subject = Subject(tenant_id=tenant_id, subject_id=whose)
    return _Row(number, row, subject, statement, _updated(row, now, max_ahead_seconds) or created or now)


def _id_of(row: Mapping[str, Any]) -> uuid.UUID | None:
    """Return the name of what a row says, if it has one: another one once mem0 wrote it anew. It is not made of the
    words: it outlives them."""
    if not row.get("id"):
        return None
    versions = [str(row.get(name)) for name in ("id", "created_at", "updated_at")]
    return uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(["mem0", *versions]))


def _updated(row: Mapping[str, Any], now: datetime, max_ahead_seconds: float) -> datetime | None:
    try:
        return _written_at(row, "updated_at", now, max_ahead_seconds)
    except NotMem0:
        return None


def _tags(row: Mapping[str, Any], metadata: Mapping[str, Any]) -> tuple[str, ...]:
    tags: list[str] = []
    for name, given in (("categories", row.get("categories")), ("metadata.tags", metadata.get("tags"))):
        if given is None:
            continue
        if not isinstance(given, list) or not all(isinstance(tag, str) and tag.strip() for tag in given):
            raise NotMem0(f"{name}: should be a list of texts")
        tags += given
    return tuple(dict.fromkeys(tags))[:_MOST_TAGS]


def _written_at(row: Mapping[str, Any], name: str, now: datetime, max_ahead_seconds: float) -> datetime | None:
    """Return when mem0 says that it wrote a row.

    Raises:
        NotMem0: it is no moment, or lies as far ahead as no turn may.
    """
    moment = _moment(row, name)
    if moment is not None and (moment - now).total_seconds() > max_ahead_seconds:
        raise NotMem0(
            f"{name}: {moment.isoformat()} lies further ahead than AFTERTURN_MAX_AHEAD_SECONDS ({max_ahead_seconds:g}) "
            "lets it: it would take the place of all that was written since"
        )
    return moment


def _moment(row: Mapping[str, Any], name: str) -> datetime | None:
    written = row.get(name)
    if written is None:
        return None
    try:
        moment = datetime.fromisoformat(written)
    except (TypeError, ValueError):
        raise NotMem0(f"{name}: should be a moment in ISO 8601") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _left_out(row: Mapping[str, Any]) -> list[str]:
    """Return the fields of a row that say something and have no place here."""
    fields = [name for name, value in row.items() if value is not None and name not in _TAKEN | _WITHOUT_MEANING]
    return fields + [f"metadata.{name}" for name in (row.get("metadata") or {}) if name not in _TAKEN_OF_METADATA]
