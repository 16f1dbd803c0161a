"""What a refusal says of a value that holds what somebody said."""

from __future__ import annotations

import uuid
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, ValidationError, field_validator

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


class _Stamp(Enum):
    BLUE = "blue"
    RED = "red"


class _Envelope(BaseModel):
    stamp: _Stamp
    size: Literal["small", "large"]
    code: Annotated[uuid.UUID, Field(description="As the post gave it.")]


class _Parcel(BaseModel):
    envelope: _Envelope


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


def _said_of_envelope(envelope: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as raised:
        _Parcel.model_validate({"envelope": envelope})
    return wrong_fields(raised.value, _Parcel)


def test_of_a_field_that_is_left_out_it_is_said_what_it_may_hold() -> None:
    assert _said_of_envelope({}) == (
        "envelope.stamp: Field required: 'blue' or 'red'; envelope.size: Field required: 'small' or 'large'; "
        "envelope.code: Field required: As the post gave it."
    )


def test_of_what_is_no_id_it_is_said_what_one_is_and_nothing_of_what_it_holds() -> None:
    said = _said_of_envelope({"stamp": "red", "size": "small", "code": "nope"})
    assert said == "envelope.code: Input should be a UUID: As the post gave it."
    with pytest.raises(ValidationError) as raised:
        _Envelope.model_validate({"stamp": "red", "size": "small", "code": "nope"})
    assert wrong_fields(raised.value) == "code: Input should be a UUID"
