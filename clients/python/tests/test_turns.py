"""A turn before it is accepted: refused where a field is wrong."""

from __future__ import annotations

from datetime import datetime

import pytest

from afterturn_client import InvalidTurn
from afterturn_client.turns import turn_of


def _nested(deep: int) -> object:
    value: object = "4711"
    for _ in range(deep):
        value = {"in": value}
    return value


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("messages", {"messages": []}),
        ("messages.0.role", {"messages": [{"role": "me", "content": "my pin is 4711"}]}),
        ("messages.0.content", {"messages": [{"role": "user"}]}),
        ("messages.0", {"messages": [{"role": "user", "content": "my pin is 4711", "mood": "good"}]}),
        ("bytes of text", {"messages": [{"role": "user", "content": "4711" * 20_000}]}),
        ("lone surrogate", {"messages": [{"role": "user", "content": "4711 \ud800"}]}),
        ("bytes of text with history", {"history": [{"role": "user", "content": "4711" * 16_384}]}),
        ("history.1.role", {"history": [{"role": "user", "content": "4711"}, {"role": "me", "content": "4711"}]}),
        ("history", {"history": [{"role": "user", "content": "4711"}] * 101}),
        ("metadata.code", {"metadata": {"plan": "free", "code": ["4711"]}}),
        ("metadata.code", {"metadata": {"code": "4711" * 251}}),
        ("metadata.score", {"metadata": {"score": float("nan")}}),
        ("metadata", {"metadata": {f"n{number}": 4711 for number in range(33)}}),
        ("RecursionError", {"candidate": _nested(5_000)}),
        ("messages", {"messages": "4711"}),
        ("messages.0", {"messages": ["4711"]}),
        ("messages", {"messages": {"role": "user", "content": "4711"}}),
        ("history.0", {"history": [4711]}),
        ("user_id", {"user_id": "a\nb"}),
        ("user_id", {"user_id": ""}),
        ("conversation_id", {"conversation_id": "c" * 201}),
        ("occurred_at", {"occurred_at": datetime(2026, 11, 2)}),  # noqa: DTZ001
    ],
)
def test_what_is_no_turn_is_refused_and_what_was_said_is_not_repeated(field: str, wrong: dict[str, object]) -> None:
    right: dict[str, object] = {"user_id": "maya", "messages": [{"role": "user", "content": "Hello."}]}
    with pytest.raises(InvalidTurn, match=field) as refused:
        turn_of(**{**right, **wrong})  # type: ignore[arg-type]
    assert "4711" not in str(refused.value)


def test_a_turn_without_an_id_or_a_moment_gets_both_once() -> None:
    first, second = (turn_of("maya", [{"role": "user", "content": "Hello."}]) for _ in range(2))
    assert first.turn_id != second.turn_id
    assert b'"occurred_at"' in first.body
