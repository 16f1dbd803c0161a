"""What a refusal says of a value that holds what somebody said."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError, field_validator

from schema.wrong_fields import wrong_fields


class _Message(BaseModel):
    role: str
    content: str

    @field_validator("content")
    @classmethod
    def _check(cls, content: str) -> str:
        if not content:
            raise ValueError("hold a word at least")
        return content


class _Letter(BaseModel):
    to: str
    messages: tuple[_Message, ...]
    numbers: tuple[int, ...] = ()


def _said_of(**fields: object) -> str:
    with pytest.raises(ValidationError) as raised:
        _Letter.model_validate(fields)
    return wrong_fields(raised.value)


def test_each_wrong_field_is_named_by_its_path() -> None:
    assert _said_of(messages=[{"role": "user", "content": ""}]) == (
        "to: Field required; messages.0.content: hold a word at least"
    )


def test_nothing_of_what_a_field_holds_is_repeated() -> None:
    assert "my secret" not in _said_of(to=["my secret"], messages=[{"content": "my secret"}])


def test_no_more_than_five_are_named_and_the_others_are_counted() -> None:
    said = _said_of(to="a", messages=[], numbers=["x"] * 9)
    assert said.count("numbers.") == 5
    assert said.endswith("and 4 more")


def test_a_value_of_another_kind_is_refused_as_a_whole() -> None:
    with pytest.raises(ValidationError) as raised:
        _Letter.model_validate("a letter")
    assert wrong_fields(raised.value).startswith("Input should be")
