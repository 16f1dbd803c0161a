"""The mutations of `make canary` are of the code as it is: one that no longer fits is noticed here, in no time."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fleet.canary import MUTATIONS, left_out
from tests.fleet.mutation import Mutation

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_changes_one_place_of_its_file(mutation: Mutation) -> None:
    text = (ROOT / mutation.file).read_text()
    assert text.count(mutation.before) == 1
    assert mutation.before != mutation.after
    if mutation.file.endswith(".py"):
        compile(text.replace(mutation.before, mutation.after), mutation.file, "exec")


def test_a_copy_has_the_tables_of_a_room_and_not_the_data_of_a_fleet() -> None:
    assert left_out(str(ROOT / "policies" / "language"), ["data", "heads.py", "__pycache__"]) == {"__pycache__"}
    assert left_out(str(ROOT), ["data", "policies", ".venv"]) == {"data", ".venv"}
