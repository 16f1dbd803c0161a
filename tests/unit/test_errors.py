"""The project's errors: one root, and what a copy of one says."""

from __future__ import annotations

import ast
import copy
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from schema import Capability
from schema.errors import (
    AfterturnError,
    BrokerOutage,
    BrokerRefused,
    CatalogOutage,
    CatalogRefused,
    CircuitOpen,
    ConflictingTurn,
    EmbedderUnavailable,
    IndexMismatch,
    IndexRefused,
    IndexUnavailable,
    LeaseLost,
    NotAllowed,
    SettingsError,
    UnderLegalHold,
    exit_code_of,
)

ROOT = Path(__file__).parents[2]
ROOMS = ("schema", "policies", "stores", "memory", "producers", "worker", "recall", "interfaces")
OF_PYTHON = ("Exception", "BaseException", "ValueError", "RuntimeError", "OSError", "KeyError", "TypeError")


@pytest.mark.parametrize(
    "error",
    [ConflictingTurn("t1"), UnderLegalHold([uuid.UUID(int=1)]), EmbedderUnavailable("busy", retry_after=3.0)],
    ids=lambda error: type(error).__name__,
)
def test_an_error_that_several_threads_raise_says_the_same_in_each(error: AfterturnError) -> None:
    again = copy.copy(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_an_open_circuit_names_its_part() -> None:
    assert "the index keeps failing" in str(CircuitOpen("index", 3))


def test_a_capability_that_is_lacking_is_named_as_a_key_is_given_it() -> None:
    assert "it lacks the capability 'act_as' (" in str(NotAllowed(Capability.ACT_AS))


def classes() -> Iterator[tuple[str, list[str]]]:
    """Every class of the product by its name, with its bases."""
    for path in (path for room in ROOMS for path in (ROOT / room).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield node.name, [ast.unparse(base) for base in node.bases]


def test_every_exception_of_the_project_has_the_one_root() -> None:
    assert [name for name, bases in classes() if bases and bases[0] in OF_PYTHON] == [AfterturnError.__name__]


def test_a_command_ends_with_2_only_where_a_person_must_mend_something_or_ask_otherwise() -> None:
    passing = [BrokerOutage(), CatalogOutage(), IndexUnavailable("x"), EmbedderUnavailable("x"), LeaseLost()]
    to_mend = [
        SettingsError(),
        BrokerRefused(),
        CatalogRefused(),
        IndexRefused(),
        IndexMismatch(),
        ConflictingTurn("t"),
    ]
    assert {exit_code_of(one) for one in passing} == {1}
    assert {exit_code_of(one) for one in to_mend} == {2}
