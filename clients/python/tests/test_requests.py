"""Requests that cannot be sent: the client says so before anything is, as it says what the service refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from afterturn_client import Invalid, items, preferences, requests

HALF = "\ud800"


@pytest.mark.parametrize(
    "build",
    [
        lambda: requests.context("maya", HALF),
        lambda: requests.context(HALF),
        lambda: requests.search(HALF),
        lambda: requests.memories(words=HALF),
        lambda: requests.forget_user(HALF),
        lambda: preferences.block_topic("maya", HALF),
        lambda: preferences.check(HALF, "chess"),
    ],
)
def test_half_a_character_is_refused_and_what_it_stands_in_is_not_repeated(build: Callable[[], Any]) -> None:
    with pytest.raises(Invalid, match="lone surrogate") as refused:
        build()
    assert refused.value.__suppress_context__


def test_what_lies_too_deep_for_json_is_refused() -> None:
    value: dict[str, Any] = {}
    for _ in range(5_000):
        value = {"in": value}
    with pytest.raises(Invalid, match="JSON"):
        items.write_items("maya", [{"namespace": ["a"], "key": "k", "value": value}])
