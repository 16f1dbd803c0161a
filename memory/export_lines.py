"""Lines of an export as what they carry, each checked before anything of it is written."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final

import numpy as np
from pydantic import AfterValidator, ValidationError

from memory.document_export import document_of
from memory.item_export import item_of
from policies.items import check_characters
from schema import Document, Memory, Subject, Turn
from schema.base import Value
from schema.errors import Refused
from schema.item import Item
from schema.wrong_fields import wrong_fields
from stores.index.base import Vector

FORMAT: Final = 1
_MOMENTS: Final = ("said_at", "created_at", "updated_at", "last_accessed")
"""Of a memory, those that tell of what was done; what it tells of may lie ahead."""
_COUNTED: Final = ("version", "access_count")
_MOST_COUNTED: Final = 2**30
"""No memory was written or recalled so often; an index has 31 bits for a version, and counts on."""
_UNIT_ERROR: Final = 1e-3
"""By how much the length of a vector may differ from 1, as in every index."""


class NotALine(Refused, ValueError):
    """A line that is none of an export, or cannot be written here. The message says which one, why and what to do,
    without what it says."""


@dataclass(frozen=True)
class Carried:
    """A memory on a line, with its raw turns, and its vector if the line has one."""

    number: int
    memory: Memory
    sources: tuple[Turn, ...]
    vector: Vector | None


def encoded(vector: Vector) -> str:
    """Return a vector as a line has it."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _is_vector(text: str) -> str:
    try:
        length = float(np.linalg.norm(_decoded(text).astype(np.float64)))
    except (ValueError, binascii.Error):
        length = 0.0
    if not abs(length - 1) < _UNIT_ERROR:
        raise ValueError(
            "should be the base64 of 32-bit numbers, a vector of length 1; leave it out to have it made anew"
        )
    return text


def _decoded(text: str) -> Vector:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<f4").astype(np.float32)


class _MemoryLine(Value):
    memory: Memory
    sources: tuple[Turn, ...] = ()
    vector: Annotated[str, AfterValidator(_is_vector)] | None = None


def value_of(number: int, line: str) -> dict[str, Any]:
    """Return the object on a line.

    Raises:
        NotALine: there is none.
    """
    try:
        value = json.loads(line)
        if isinstance(value, dict):
            _require_text(number, value)
    except RecursionError:
        raise NotALine(f"line {number} is nested too deeply for a line of an export: leave it out") from None
    except NotALine:
        raise
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise NotALine(f"line {number} is no line of an export (a JSON object)")
    return value


def _require_text(number: int, value: Mapping[str, Any]) -> None:
    try:
        check_characters(value)
    except ValueError as error:
        raise NotALine(f"line {number} {error}: leave it out, or mend it") from None


def model_of(number: int, value: Mapping[str, Any]) -> str | None:
    """Return whose vectors the lines behind a first line have.

    Raises:
        NotALine: another version wrote it.
    """
    if value["afterturn"] != FORMAT:
        raise NotALine(f"line {number}: format {value['afterturn']!r}; this version reads {FORMAT}")
    model = value.get("model")
    return model if isinstance(model, str) else None


def memory_on(number: int, value: Mapping[str, Any], now: datetime, max_ahead: timedelta) -> Carried:
    """Return the memory on a line.

    Raises:
        NotALine: there is none, a source is another's, a moment lies further ahead than that of a turn may, or it was
            written or recalled more often than can be.
    """
    if "memory" not in value:
        raise NotALine(f"line {number} is no line of an export: it has no memory, item or document")
    try:
        line = _MemoryLine.model_validate(value)
    except ValidationError as error:
        raise NotALine(f"line {number}: {wrong_fields(error)}") from None
    if any(turn.subject != line.memory.subject for turn in line.sources):
        raise NotALine(f"line {number}: a source is another subject's than its memory")
    for name in _COUNTED:
        if getattr(line.memory, name) > _MOST_COUNTED:
            raise NotALine(f"line {number}: memory.{name}: should be {_MOST_COUNTED:,} at most")
    moments = {f"memory.{name}": getattr(line.memory, name) for name in _MOMENTS}
    moments |= {f"sources.{place}.occurred_at": turn.occurred_at for place, turn in enumerate(line.sources)}
    for name, moment in moments.items():
        if moment > now + max_ahead:
            raise NotALine(
                f"line {number}: {name}: {moment.isoformat()} lies further ahead than AFTERTURN_MAX_AHEAD_SECONDS "
                f"({max_ahead.total_seconds():g}) lets it: it would outlast all that is said until then"
            )
    vector = None if line.vector is None else _decoded(line.vector)
    return Carried(number, line.memory, line.sources, vector)


def item_on(number: int, value: Mapping[str, Any]) -> tuple[Subject, Item]:
    """Return whose item is on a line, and the item.

    Raises:
        NotALine: there is none.
    """
    try:
        return item_of(value)
    except ValidationError as error:
        raise NotALine(f"line {number} is no item of an export ({wrong_fields(error)})") from None
    except ValueError as error:
        raise NotALine(f"line {number} is no item of an export ({error})") from None


def document_on(number: int, value: Mapping[str, Any]) -> tuple[Document, bool]:
    """Return the document on a line, and whether it is under legal hold.

    Raises:
        NotALine: there is none.
    """
    try:
        return document_of(value)
    except ValidationError as error:
        raise NotALine(f"line {number} is no document of an export ({wrong_fields(error)})") from None
