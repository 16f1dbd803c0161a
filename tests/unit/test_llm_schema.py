"""Schemas of answers in the dialects that providers take: nothing is lost that the model must know."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from stores.llm.schema import inlined, strict, with_schema


class Leg(BaseModel):
    title: str
    """A field by the name of a keyword of JSON schema."""
    default: int = 4


class Animal(BaseModel):
    legs: tuple[Leg, ...] = ()
    kind: Literal["cat", "dog"] = "cat"
    head: Leg | None = Field(None, description="the upper part")


class Tree(BaseModel):
    branches: list[Tree] = []


def test_definitions_are_put_where_they_are_used() -> None:
    schema = inlined(Animal.model_json_schema())

    assert "$" not in json.dumps(schema)
    assert set(schema["properties"]["legs"]["items"]["properties"]) == {"title", "default"}
    assert schema["properties"]["kind"]["enum"] == ["cat", "dog"]
    assert schema["properties"]["head"]["description"] == "the upper part"


def test_a_schema_without_titles_keeps_the_fields_of_that_name() -> None:
    leg = inlined(Leg.model_json_schema())
    assert set(leg["properties"]) == {"title", "default"}
    assert "title" not in leg


def test_a_strict_schema_keeps_fields_by_the_names_of_keywords() -> None:
    leg = strict(Leg.model_json_schema())
    assert leg["required"] == ["title", "default"]
    assert leg["properties"]["default"] == {"type": "integer"}


def test_a_model_without_fields_is_an_empty_object() -> None:
    class Nothing(BaseModel):
        pass

    schema = strict(Nothing.model_json_schema())
    assert (schema["properties"], schema["required"], schema["additionalProperties"]) == ({}, [], False)


def test_a_schema_that_refers_to_itself_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="Tree refers to itself"):
        inlined(Tree.model_json_schema())


def test_the_schema_stands_behind_the_prompt_on_a_line_of_its_own() -> None:
    text = with_schema("What has legs?", Animal.model_json_schema())
    assert text.startswith("What has legs?\n")
    assert json.loads(text.splitlines()[-1]) == inlined(Animal.model_json_schema())
