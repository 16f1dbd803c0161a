"""Items of the store over HTTP: what is taken can be read again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import ValidationError

from interfaces.http.items import ItemOut, PutIn, ReadOut, SearchIn

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"a": [1]}
    for _ in range(levels - 2):
        value = {"a": value}
    return value


def test_the_deepest_value_that_is_taken_is_answered_again() -> None:
    put = PutIn(namespace=["notes"], key="k", value=nested(100))
    assert put.value is not None
    item = ItemOut(namespace=["notes"], key="k", value=put.value, created_at=NOW, updated_at=NOW, etag="", score=None)
    assert ReadOut(results=[[item]]).model_dump_json().count("{") == 101


def test_what_lies_too_deep_is_neither_kept_nor_searched_for() -> None:
    for deep in (nested(101), nested(900)):
        with pytest.raises(ValidationError, match="deeper than 100"):
            PutIn(namespace=["notes"], key="k", value=deep)
        with pytest.raises(ValidationError, match="deeper than 100"):
            SearchIn(op="search", filter=deep)
