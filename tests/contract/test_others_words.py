"""What others say, and what is given to be worked on, takes the place of nothing that the user told, and takes nothing
away."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.contract.pipeline import EVERYTHING, Worker
from tests.turns import subject

CASES = Path(__file__).parents[1] / "unit" / "extract" / "cases" / "others_words.jsonl"
KNOWN = [case for case in map(json.loads, CASES.read_text("utf-8").splitlines()) if "known" in case]


@pytest.mark.parametrize("kind", sorted({case["kind"] for case in KNOWN}))
def test_what_the_user_told_stands_whatever_words_of_others_follow(worker: Worker, anna: str, kind: str) -> None:
    for number, case in enumerate(case for case in KNOWN if case["kind"] == kind):
        user = f"{anna}-{number}"
        worker.hear(user, case["known"])
        before = {memory.id: memory for memory in worker.known(subject(user), *EVERYTHING)}
        worker.hear(user, case["text"], first=1)
        after = {memory.id: memory for memory in worker.known(subject(user), *EVERYTHING)}
        assert {id_: after.get(id_) for id_ in before} == before, case["text"]
        assert worker.context.catalog.preferences.of(subject(user)).consent != "withdrawn", case["text"]
