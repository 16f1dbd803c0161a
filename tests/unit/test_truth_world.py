"""The world of `benchmarks.truth` must itself be true: what it counts as wrong is wrong."""

from __future__ import annotations

import json

from benchmarks.truth_oracle import answer_to_mem0, kept_of
from benchmarks.truth_sayings import MEANING
from benchmarks.truth_world import Score, World, make_world, score


def _written(world: World) -> dict[str, list[str]]:
    """What a perfect reader writes down of each user, with nothing left out and nothing put in order."""
    rows: dict[str, list[str]] = {user: [] for user in world.truth}
    for saying in world.sayings:
        rows[saying.user] += [kept for _, kept in kept_of(saying.text)]
    return rows


def _kept_true(world: World) -> dict[str, list[str]]:
    """One row for every true fact."""
    rows = {}
    for user, written in _written(world).items():
        rows[user] = list({MEANING[text]: text for text in written if MEANING[text] in world.truth[user]}.values())
    return rows


def test_a_memory_that_keeps_every_true_fact_once_has_no_fault() -> None:
    world = make_world(8, seed=3)
    assert score(world, _kept_true(world)) == Score(
        facts=sum(map(len, world.truth.values())),
        rows=sum(map(len, world.truth.values())),
        stale=0,
        duplicates=0,
        missing=0,
        wrong=0,
    )


def test_a_memory_that_only_adds_keeps_what_is_stale_and_what_was_said_twice() -> None:
    world = make_world(8, seed=3)
    found = score(world, _written(world))
    assert found.stale >= sum(map(len, world.outdated.values())) > 0
    assert found.duplicates > 0
    assert (found.missing, found.wrong) == (0, 0)


def test_an_empty_memory_misses_everything() -> None:
    world = make_world(3, seed=4)
    found = score(world, {})
    assert found.missing == found.facts > 0


def test_a_row_that_nobody_said_is_wrong() -> None:
    world = make_world(1, seed=4)
    rows = _kept_true(world)
    rows["user000"].append("The user is a lighthouse keeper.")
    assert score(world, rows).wrong == 1


def test_every_turn_is_read_to_its_end() -> None:
    world = make_world(20, seed=6)
    for saying in world.sayings:
        said = [sentence for sentence, _ in kept_of(saying.text)]
        assert " ".join(said) in {saying.text, ""}


def test_the_oracle_answers_mem0_what_is_new_beside_the_memories_that_it_shows() -> None:
    shown = json.dumps([{"id": "0", "text": "The user is based in Oslo."}], ensure_ascii=False)
    said = "user: I live in Oslo. I'm vegan.\nassistant: Noted.\n"
    prompt = f"## Existing Memories\n{shown}\n\n## New Messages\n{said}\n\n## Observation Date\n2026-03-02"
    told = json.loads(answer_to_mem0(prompt))["memory"]
    assert [memory["text"] for memory in told] == ["The user is vegan."]
