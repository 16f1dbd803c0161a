"""The form in which a language model answers. Only its frame is insisted on; what a field holds is taken as it can be.

An answer that is no JSON, or has no list of memories, is asked for again. A field of another type, a number out of
range or a word that is not on the list costs that field, not the answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from schema import EntityType, Kind, MemoryType, Valence

_MAX_ELEMENTS = 100
_LABEL = re.compile(r"(?:turn )?\W?t?(\d{1,4})\W?", re.IGNORECASE)
E = TypeVar("E", bound=StrEnum)


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _maybe_text(value: object) -> str | None:
    return _text(value) or None


def _label(value: object) -> str:
    """A turn as it was labelled, however it is named: T1, 1, "Turn T1"."""
    word = str(value) if isinstance(value, int) else _text(value)
    number = _LABEL.fullmatch(word)
    return f"T{number[1]}" if number else word


def _number(default: float) -> Callable[[object], float]:
    def number(value: object) -> float:
        try:
            found = float(value) if isinstance(value, int | float | str) else default
        except (ValueError, OverflowError):
            found = default
        return min(1.0, max(0.0, found)) if math.isfinite(found) else default

    return number


def _one_of(words: type[E], default: E) -> Callable[[object], E]:
    known = {word.value: word for word in words}
    return lambda value: known.get(_text(value).lower(), default)


def _objects(value: object) -> list[Any]:
    return [one for one in value if isinstance(one, dict)][:_MAX_ELEMENTS] if isinstance(value, list) else []


def _each(value: object) -> object:
    """A list in which whatever is no object is an empty one: it is left out later, and counted."""
    return [one if isinstance(one, dict) else {} for one in value] if isinstance(value, list) else value


def _texts(value: object) -> list[str]:
    return [text for one in value if (text := _text(one))][:_MAX_ELEMENTS] if isinstance(value, list) else []


def _entity_type(value: object) -> str:
    word = _text(value).upper()
    return word if word in get_args(EntityType) else "PRODUCT"


Text = Annotated[str, BeforeValidator(_text)]
Label = Annotated[str, BeforeValidator(_label)]
MaybeText = Annotated[str | None, BeforeValidator(_maybe_text)]


def _all_required(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])


class _Told(BaseModel):
    """The schema that a provider is shown asks for every field; an answer may lack some all the same."""

    model_config = ConfigDict(json_schema_extra=_all_required)


class ToldEntity(_Told):
    text: Text = ""
    type: Annotated[EntityType, BeforeValidator(_entity_type)] = "PRODUCT"


class ToldFact(_Told):
    entity: Text = ""
    verb: Text = ""
    object: Text = ""
    attribute: MaybeText = None


class ToldMemory(_Told):
    turn: Label = ""
    evidence: Text = ""
    summary: Text = ""
    type: Annotated[MemoryType, BeforeValidator(_one_of(MemoryType, MemoryType.SEMANTIC))] = MemoryType.SEMANTIC
    kind: Annotated[Kind, BeforeValidator(_one_of(Kind, Kind.USER_FACT))] = Kind.USER_FACT
    category: Text = ""
    tags: Annotated[list[str], BeforeValidator(_texts)] = []
    entities: Annotated[list[ToldEntity], BeforeValidator(_objects)] = []
    facts: Annotated[list[ToldFact], BeforeValidator(_objects)] = []
    valence: Annotated[Valence, BeforeValidator(_one_of(Valence, Valence.NEUTRAL))] = Valence.NEUTRAL
    intensity: Annotated[float, BeforeValidator(_number(0.0))] = 0.0
    confidence: Annotated[float, BeforeValidator(_number(0.8))] = 0.8
    occurred_at: MaybeText = None


class ToldForgetting(_Told):
    turn: Label = ""
    evidence: Text = ""
    what: Text = ""


class ToldTopic(_Told):
    turn: Label = ""
    topic: Text = ""


class Answer(BaseModel):
    """What a model makes of some turns."""

    memories: Annotated[list[ToldMemory], BeforeValidator(_each)]
    forget: Annotated[list[ToldForgetting], BeforeValidator(_objects)] = []
    open_topics: Annotated[list[ToldTopic], BeforeValidator(_objects)] = []

    model_config = ConfigDict(json_schema_extra=_all_required)
