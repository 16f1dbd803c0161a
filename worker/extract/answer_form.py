"""The form in which a language model answers. Only its frame is insisted on; what a field holds is taken as it can be.

An answer that is no JSON, or has no list of memories, is asked for again. A field of another type, a number out of
range or a word that is not on the list costs that field, not the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, Final, TypeVar, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict

from schema import EntityType

_MAX_ELEMENTS = 100
_LABEL = re.compile(r"(?:turn |known )?\W?(?P<sort>[tk]?)(?P<number>\d{1,4})\W?", re.IGNORECASE)
"""The label of a turn or of what is known, as models write it: "T1", "known [K3]"."""
_TYPES: Final = frozenset(get_args(EntityType))
_NOT = {"false", "no", "0", ""}
E = TypeVar("E", bound=StrEnum)


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def _label_of(sort: str) -> Callable[[object], str]:
    """Return a turn or a known memory as it was labelled, however it is named: T1, 1, "Turn T1"."""

    def label(value: object) -> str:
        word = str(value) if isinstance(value, int) else _text(value)
        match = _LABEL.fullmatch(word)
        return f"{sort}{match['number']}" if match and match["sort"].upper() in ("", sort) else word

    return label


def _known(value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [label for element in values if (label := _label_of("K")(element))][:_MAX_ELEMENTS]


def _flag(default: bool) -> Callable[[object], bool]:
    def flag(value: object) -> bool:
        if isinstance(value, str):
            return value.strip().lower() not in _NOT
        return value if isinstance(value, bool) else default

    return flag


def _one_of(words: type[E], default: E) -> Callable[[object], E]:
    by_value = {word.value: word for word in words}
    return lambda value: by_value.get(_text(value).lower(), default)


def _objects(value: object) -> list[Any]:
    return (
        [element for element in value if isinstance(element, dict)][:_MAX_ELEMENTS] if isinstance(value, list) else []
    )


def _each(value: object) -> object:
    """Return a list in which whatever is no object is an empty one: it is left out later, and counted."""
    return [element if isinstance(element, dict) else {} for element in value] if isinstance(value, list) else value


def _entities(value: object) -> list[str]:
    """Return named things as "TYPE name"; an object with text and type is taken too."""
    entities = []
    for element in value if isinstance(value, list) else []:
        text = (
            f"{_text(element.get('type'))} {_text(element.get('text'))}"
            if isinstance(element, dict)
            else _text(element)
        )
        sort, _, name = text.strip().partition(" ")
        if sort.upper() in _TYPES and name:
            entities.append(f"{sort.upper()} {name}")
    return entities[:_MAX_ELEMENTS]


class ToldKind(StrEnum):
    # No docstring: it would be in the schema that each call pays for.
    FACT = "fact"
    PREFERENCE = "preference"
    EVENT = "event"
    ROUTINE = "routine"
    REMINDER = "reminder"
    INSTRUCTION = "instruction"


Text = Annotated[str, BeforeValidator(_text)]
TurnLabel = Annotated[str, BeforeValidator(_label_of("T"))]
KnownLabels = Annotated[list[str], BeforeValidator(_known)]


def _bare(schema: dict[str, Any]) -> None:
    """Ask for every field, and leave out what a model does not need to see: each character is paid for."""
    schema["required"] = list(schema["properties"])
    schema.pop("description", None)
    for field in schema["properties"].values():
        field.pop("default", None)
        field.pop("description", None)


class _Told(BaseModel):
    """The schema that a provider is shown asks for every field; an answer may lack some all the same."""

    model_config = ConfigDict(json_schema_extra=_bare)


class ToldMemory(_Told):
    turn: TurnLabel = ""
    evidence: Text = ""
    summary: Text = ""
    replaces: KnownLabels = []
    ended: Annotated[bool, BeforeValidator(_flag(False))] = False
    kind: Annotated[ToldKind, BeforeValidator(_one_of(ToldKind, ToldKind.FACT))] = ToldKind.FACT
    entities: Annotated[list[str], BeforeValidator(_entities)] = []
    of: Text = ""
    attribute: Text = ""
    value: Text = ""
    when: Text = ""
    sure: Annotated[bool, BeforeValidator(_flag(True))] = True


class ToldForgetting(_Told):
    turn: TurnLabel = ""
    evidence: Text = ""
    what: Text = ""
    known: KnownLabels = []


class ToldTopic(_Told):
    turn: TurnLabel = ""
    topic: Text = ""


class Answer(BaseModel):
    """The answer that a model makes of some turns."""

    memories: Annotated[list[ToldMemory], BeforeValidator(_each)]
    forget: Annotated[list[ToldForgetting], BeforeValidator(_objects)] = []
    open_topics: Annotated[list[ToldTopic], BeforeValidator(_objects)] = []

    model_config = ConfigDict(json_schema_extra=_bare)
