"""Which fields of a value are wrong: what a refusal may say of a value that holds what somebody said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

_MOST: Final = 5
_MISSING: Final = "missing"
_NO_ID: Final = frozenset({"uuid_parsing", "uuid_type"})


def wrong_fields(error: ValidationError, model: type[BaseModel] | None = None) -> str:
    """Return which fields are wrong and how, at most five of them and nothing of what they hold. With the `model` that
    was to be filled, it is also said what belongs into a field that is left out, or holds no id.

    "messages.0.role: Field required; occurred_at: Input should have timezone info"
    """
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    # A wrong message also leaves its tuple too short: only the message is worth naming.
    wrong_within = {problem["loc"][0] for problem in problems if len(problem["loc"]) > 1}
    named = [
        f"{'.'.join(map(str, problem['loc']))}: {message}" if problem["loc"] else message
        for problem in problems
        if len(problem["loc"]) != 1 or problem["loc"][0] not in wrong_within
        for message in (_message(problem["type"], problem["msg"]) + _wanted(problem["type"], problem["loc"], model),)
    ]
    more = len(named) - _MOST
    return "; ".join(named[:_MOST] + ([f"and {more} more"] if more > 0 else []))


def _message(kind: str, message: str) -> str:
    # pydantic tells where the first wrong character stands, and which it is.
    return "Input should be a UUID" if kind in _NO_ID else message.removeprefix("Value error, ")


def _wanted(kind: str, path: Sequence[int | str], model: type[BaseModel] | None) -> str:
    """Return what belongs into a field: its values where these are few, otherwise its description, as far as known."""
    field, inside = None, cast("Any", model)
    for name in path if kind == _MISSING or kind in _NO_ID else ():
        fields = inside.model_fields if isinstance(inside, type) and issubclass(inside, BaseModel) else {}
        field = fields.get(str(name))
        inside = field.annotation if field else None
    if field is None:
        return ""
    values = [repr(value) for value in _values(field.annotation)]
    said = " or ".join(filter(None, (", ".join(values[:-1]), *values[-1:]))) or field.description
    return f": {said}" if said else ""


def _values(annotation: Any) -> Sequence[Any]:
    values: Sequence[Any] = TypeAdapter(annotation).json_schema().get("enum", ())
    return values
