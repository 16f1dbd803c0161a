"""Which items of the store a search means, and which namespaces a listing.

Source: `BaseStore` of langgraph-checkpoint 4.3 (`SearchOp.filter`, `MatchCondition`).
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from schema.item import Namespace, NamespaceMatch

_ORDER: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS: Final = frozenset({"$eq", "$ne", *_ORDER})
_ANY: Final = "*"
_NUL: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""A character of the code 0 as JSON writes it; `"\\u0000"` with two backslashes is none."""
_DEEPEST: Final = 100
"""How many objects and lists may lie within one another: what writes answers as JSON takes 255 levels."""


def check_depth(value: Mapping[str, Any]) -> None:
    """Check that JSON does not lie deeper than it can be read again.

    Raises:
        ValueError: it does.
    """
    level: list[Any] = [value]
    for _ in range(_DEEPEST):
        within = [inner for outer in level for inner in (outer.values() if isinstance(outer, Mapping) else outer)]
        level = [inner for inner in within if isinstance(inner, Mapping | list)]
        if not level:
            return
    raise ValueError(f"lies deeper than {_DEEPEST} objects and lists within one another")


def checked_json(value: dict[str, Any]) -> dict[str, Any]:
    """Return JSON that can be kept and read again as it came.

    Raises:
        ValueError: it cannot: it lies too deep, or see `check_characters`.
    """
    check_depth(value)
    check_characters(value)
    return value


def check_characters(value: Mapping[str, Any]) -> None:
    """Check that JSON can be written as text.

    Raises:
        ValueError: it holds half a character, one of the code 0, or no number.
    """
    try:
        written = json.dumps(value, allow_nan=False, ensure_ascii=False)
        written.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half a character (a lone surrogate)") from None
    if _NUL.search(written):
        raise ValueError("holds a character of the code 0, which no text has")


def check_filter(wanted: Mapping[str, Any]) -> None:
    """Check that a filter has no operator that is unknown.

    Raises:
        ValueError: it has; the message names those that there are.
    """
    for value in wanted.values():
        if not isinstance(value, Mapping):
            continue
        if _has_operators(value):
            if unknown := sorted(value.keys() - _OPERATORS):
                raise ValueError(f"Unsupported operator: {unknown[0]}. There are {', '.join(sorted(_OPERATORS))}")
        else:
            check_filter(value)


def is_meant(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a value has, under each key, what is wanted: that very thing, or what all operators let through.

    What is not there, and what cannot be compared, is neither less nor greater than anything.
    """
    return all(_is(value.get(key), asked) for key, asked in wanted.items())


def is_of(namespace: Namespace, conditions: Sequence[NamespaceMatch]) -> bool:
    """Return whether a namespace begins and ends as all conditions say."""
    return all(_matches(namespace, condition) for condition in conditions)


def _is(there: Any, asked: Any) -> bool:
    if isinstance(asked, Mapping):
        if _has_operators(asked):
            return all(_holds(there, name, than) for name, than in asked.items())
        return isinstance(there, Mapping) and is_meant(there, asked)
    if isinstance(asked, list | tuple):
        is_like = isinstance(there, list | tuple) and len(there) == len(asked)
        return is_like and all(_is(element, wanted) for element, wanted in zip(there, asked, strict=True))
    return bool(there == asked)


def _has_operators(asked: Mapping[str, Any]) -> bool:
    return any(key.startswith("$") for key in asked)


def _holds(there: Any, name: str, than: Any) -> bool:
    if name == "$eq":
        return bool(there == than)
    if name == "$ne":
        return bool(there != than)
    are_alike = (_is_number(there) and _is_number(than)) or (isinstance(there, str) and isinstance(than, str))
    return are_alike and _ORDER[name](there, than)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def _matches(namespace: Namespace, condition: NamespaceMatch) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in (_ANY, label) for label, wanted in zip(labels, path, strict=True))
