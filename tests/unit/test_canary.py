"""The mutations of `make canary` are of the code as it is: one that no longer fits is noticed here, in no time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.canary import MUTATIONS, Mutation

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_place_of_its_file(mutation: Mutation) -> None:
    assert (ROOT / mutation.file).read_text().count(mutation.before) == 1
    assert mutation.before != mutation.after
