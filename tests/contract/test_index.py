"""What every index promises. An adapter is one more line in `ADAPTERS`."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schema import (
    Kind,
    MemoryType,
    Seen,
    Status,
    Subject,
    Visibility,
)
from schema.errors import IndexMismatch
from stores.index.base import Entry, Index, Where
from stores.index.server import must_answer
from tests.contract.indexes import ANA, BEN, DIMENSIONS, MODEL, NOON, STAND_INS, entry, numbers, opened, unit, units

ANY_STATUS: tuple[Status, ...] = ()


def same(one: Entry, other: Entry) -> bool:
    vector = unit(1)
    return replace(one, vector=vector) == replace(other, vector=vector) and np.array_equal(one.vector, other.vector)


# --- writing, reading, removing ---


def test_what_was_written_is_fetched_as_it_was(index: Index) -> None:
    plain = entry(number=1)
    full = replace(
        entry(number=2, vector=unit(1, 2, 3)),
        type=MemoryType.EPISODIC,
        kind=Kind.EVENT_PATTERN,
        category="Ünïcode, 'quoted' \"and\" | 漢字 🌒",
        status=Status.SUPERSEDED,
        visibility=Visibility.PERSONAL,
        created_at=NOON.astimezone(timezone(timedelta(hours=5, minutes=30))) + timedelta(microseconds=1),
        author_id="zoë",
        agent_id="agent%_*",
        tags=("straße", 'with "quotes", commas', "漢字"),
        version=7,
    )
    index.upsert([plain, full])

    found = {e.key: e for e in index.fetch(ANA, [plain.key, full.key, uuid.UUID(int=99)])}

    assert set(found) == {plain.key, full.key}
    assert same(found[plain.key], plain)
    assert same(found[full.key], full)


def test_a_hit_says_at_which_version_its_memory_was_written_last(index: Index) -> None:
    index.upsert([replace(entry(number=1), version=3), entry(number=2)])
    assert {hit.key.int: hit.version for hit in index.query(unit(1), Where(ANA), 5)} == {1: 3, 2: 0}

    index.upsert([replace(entry(number=1), version=4)])

    assert {hit.key.int: hit.version for hit in index.query(unit(1), Where(ANA), 5)} == {1: 4, 2: 0}


def test_the_versions_of_a_subjects_entries_are_read_by_their_keys(index: Index) -> None:
    index.upsert([replace(entry(number=1), version=3), entry(number=2), replace(entry(BEN, number=3), version=4)])

    keys = [uuid.UUID(int=number) for number in (1, 2, 3, 4)]
    assert index.versions(ANA, keys) == {keys[0]: 3, keys[1]: 0}
    assert index.versions(BEN, keys) == {keys[2]: 4}
    assert index.versions(ANA, []) == {}


def test_writing_the_same_again_changes_nothing(index: Index) -> None:
    entries = [entry(number=n, vector=unit(1, n)) for n in range(3)]
    index.upsert(entries)
    before = index.query(unit(1), Where(ANA), 10)

    index.upsert(entries)
    index.upsert(entries[1:])

    assert index.count() == 3
    assert index.query(unit(1), Where(ANA), 10) == before


def test_a_second_write_replaces_the_vector_and_all_that_is_filtered_by(index: Index) -> None:
    first = replace(entry(number=1, vector=unit(1)), tags=("old",), agent_id="one")
    index.upsert([first])
    index.query(unit(1), Where(ANA), 1)
    second = replace(first, vector=unit(0, 1), tags=("new",), agent_id=None, status=Status.ARCHIVED)

    index.upsert([second])

    [found] = index.fetch(ANA, [first.key])
    assert same(found, second)
    assert index.query(unit(0, 1), Where(ANA), 1) == []
    [hit] = index.query(unit(0, 1), Where(ANA, statuses=(Status.ARCHIVED,), tags=("new",)), 1)
    assert hit.similarity == pytest.approx(1.0)
    assert index.count() == 1


def test_of_one_key_twice_in_a_call_the_last_stands(index: Index) -> None:
    index.upsert([entry(number=1, vector=unit(1)), entry(number=1, vector=unit(0, 1))])

    [hit] = index.query(unit(0, 1), Where(ANA), 5)
    assert hit.similarity == pytest.approx(1.0)
    assert index.count() == 1


def test_what_is_deleted_is_found_no_more_and_deleting_it_again_is_no_error(index: Index) -> None:
    index.upsert([entry(number=n) for n in range(5)])
    index.query(unit(1), Where(ANA), 10)

    for _ in range(2):
        index.delete(ANA, [uuid.UUID(int=1), uuid.UUID(int=3), uuid.UUID(int=77)])

    assert numbers(index.query(unit(1), Where(ANA), 10)) == [0, 2, 4]
    assert index.fetch(ANA, [uuid.UUID(int=1)]) == []
    assert index.count() == 3


def test_a_subject_that_was_emptied_can_be_written_again(index: Index) -> None:
    index.upsert([entry(number=1)])
    index.query(unit(1), Where(ANA), 10)
    index.delete(ANA, [uuid.UUID(int=1)])
    assert index.query(unit(1), Where(ANA), 10) == []

    index.upsert([entry(number=2)])

    assert numbers(index.query(unit(1), Where(ANA), 10)) == [2]
    assert index.count() == 1


def test_nothing_written_nothing_asked_and_nothing_deleted_are_no_error(index: Index) -> None:
    index.upsert([])
    index.delete(ANA, [])
    assert index.fetch(ANA, []) == []
    assert index.query(unit(1), Where(ANA), 3) == []
    assert index.count() == 0


def test_an_index_that_is_asked_whether_it_answers_is_as_before(index: Index) -> None:
    index.upsert([entry(number=1)])
    must_answer(index)
    assert index.count() == 1


def test_thousands_of_keys_are_written_fetched_and_deleted_in_one_call(index: Index) -> None:
    entries = [entry(number=n, vector=v) for n, v in enumerate(units(2_500))]
    index.upsert(entries)
    keys = [e.key for e in entries]

    assert {e.key for e in index.fetch(ANA, keys)} == set(keys)
    index.delete(ANA, keys[:2_000])

    assert index.count() == 500


def test_an_entry_of_nearly_40_kb_is_kept_whole(index: Index) -> None:
    large = replace(entry(number=1), tags=tuple(f"{number:03} {'漢' * 56}" for number in range(205)))
    index.upsert([large, entry(number=2)])

    [found] = index.fetch(ANA, [large.key])
    assert same(found, large)
    assert numbers(index.query(unit(1), Where(ANA, tags=large.tags[:2]), 5)) == [1]


# --- subjects ---


def test_a_subject_never_sees_the_entries_of_another(index: Index) -> None:
    index.upsert([entry(ANA, number=1), entry(BEN, number=2)])

    assert numbers(index.query(unit(1), Where(ANA), 10)) == [1]
    assert numbers(index.query(unit(1), Where(BEN), 10)) == [2]
    assert index.fetch(ANA, [uuid.UUID(int=2)]) == []


def test_the_same_user_id_in_two_tenants_is_two_subjects_even_under_one_key(index: Index) -> None:
    other = Subject(tenant_id="globex", subject_id="ana")
    index.upsert([entry(ANA, unit(1), 1), entry(other, unit(0, 1), 1)])

    index.delete(other, [uuid.UUID(int=1)])

    [hit] = index.query(unit(1), Where(ANA), 10)
    assert hit.similarity == pytest.approx(1.0)
    assert index.query(unit(1), Where(other), 10) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a:b", "c"), ("a", "b:c")),
        (("a", "b%3Ac"), ("a", "b:c")),
        (("a", "Ann"), ("a", "ann")),
        (("a", "\u00e9"), ("a", "e\u0301")),
    ],
)
def test_ids_that_look_alike_are_different_subjects(index: Index, one: tuple[str, str], other: tuple[str, str]) -> None:
    first, second = (Subject(tenant_id=t, subject_id=s) for t, s in (one, other))
    index.upsert([entry(first, number=1)])

    assert index.query(unit(1), Where(second), 10) == []
    assert numbers(index.query(unit(1), Where(first), 10)) == [1]


def test_many_subjects_are_written_in_one_call(index: Index) -> None:
    subjects = [Subject(tenant_id="acme", subject_id=f"user {n} 漢") for n in range(60)]
    index.upsert([entry(s, number=n) for n in range(3) for s in subjects])

    assert index.count() == 180
    assert all(numbers(index.query(unit(1), Where(s), 10)) == [0, 1, 2] for s in subjects)


# --- filters ---


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Where(ANA), [0, 2, 3, 4]),
        (Where(ANA, statuses=ANY_STATUS), [0, 1, 2, 3, 4]),
        (Where(ANA, statuses=(Status.ARCHIVED,)), [1]),
        (Where(ANA, types=(MemoryType.EPISODIC,)), [2]),
        (Where(ANA, types=(MemoryType.EPISODIC, MemoryType.SEMANTIC)), [0, 2, 3, 4]),
        (Where(ANA, types=(MemoryType.PROCEDURAL,)), []),
        (Where(ANA, kinds=(Kind.EVENT_PATTERN,)), [2]),
        (Where(ANA, categories=("Finance", "Größe")), [3]),
        (Where(ANA, agent_ids=("one",)), [3]),
        (Where(ANA, agent_ids=("one", "two")), [3, 4]),
        (Where(ANA, tags=("a",)), [3, 4]),
        (Where(ANA, tags=("a", "b c")), [4]),
        (Where(ANA, tags=("a", "b")), []),
        (Where(ANA, tags=("b c",)), [4]),
        (Where(ANA, created_since=NOON), [0, 3, 4]),
        (Where(ANA, created_since=NOON + timedelta(microseconds=1)), [4]),
        (Where(ANA, created_since=NOON.astimezone(timezone(timedelta(hours=-8)))), [0, 3, 4]),
        (Where(ANA, agent_ids=("one",), tags=("a",), categories=("Größe",)), [3]),
        (Where(ANA, agent_ids=("one",), seen_by=(Seen((Visibility.PUBLIC,)),)), []),
    ],
)
def test_each_filter_lets_through_what_it_names_and_nothing_else(
    index: Index, where: Where, expected: list[int]
) -> None:
    index.upsert(
        [
            entry(number=0),
            replace(entry(number=1), status=Status.ARCHIVED, created_at=NOON - timedelta(days=9)),
            replace(
                entry(number=2),
                type=MemoryType.EPISODIC,
                kind=Kind.EVENT_PATTERN,
                created_at=NOON - timedelta(microseconds=1),
            ),
            replace(entry(number=3), category="Größe", agent_id="one", tags=("a",)),
            replace(
                entry(number=4),
                visibility=Visibility.PUBLIC,
                agent_id="two",
                author_id="zoë",
                tags=("b c", "a"),
                created_at=NOON + timedelta(microseconds=1),
            ),
            replace(entry(BEN, number=5), tags=("a", "b c"), agent_id="one"),
        ]
    )

    assert numbers(index.query(unit(1), where, 10)) == expected


def test_a_filter_is_applied_before_the_limit(index: Index) -> None:
    near = [entry(number=n, vector=unit(1)) for n in range(50)]
    far = replace(entry(number=50, vector=unit(0, 1)), tags=("rare",))
    index.upsert([*near, far])

    assert numbers(index.query(unit(1), Where(ANA, tags=("rare",)), 1)) == [50]


# --- ranking ---


def test_the_nearest_come_first_with_their_cosine_and_ties_by_key(index: Index) -> None:
    index.upsert(
        [
            entry(number=9, vector=unit(1)),
            entry(number=1, vector=unit(1, 1)),
            entry(number=5, vector=unit(-1)),
            entry(number=3, vector=unit(1)),
            entry(number=4, vector=unit(0, 1)),
        ]
    )

    hits = index.query(unit(1), Where(ANA), 10)

    assert numbers(hits) == [3, 9, 1, 4, 5]
    assert [hit.similarity for hit in hits] == pytest.approx([1, 1, 0.5**0.5, 0, -1], abs=1e-6)
    assert [hit.memory_id.int for hit in hits] == [n + 2**64 for n in numbers(hits)]
    assert numbers(index.query(unit(1), Where(ANA), 1)) == [3]
    assert index.query(unit(1), Where(ANA), 0) == []


def test_ties_fall_by_key_among_thousands(index: Index) -> None:
    shared = units(3, seed=3)
    index.upsert([entry(number=n, vector=shared[n % 3]) for n in range(1_001)])

    assert numbers(index.query(shared[1], Where(ANA), 50)) == list(range(1, 150, 3))


def test_ten_thousand_entries_of_one_subject_rank_as_exact_arithmetic_does(adapter: str, folder: Path) -> None:
    vectors = units(1_000 if adapter in STAND_INS else 10_000, 384)
    index = opened(adapter, folder, 384)
    index.upsert([entry(number=n, vector=v) for n, v in enumerate(vectors)])

    for query in units(5, 384, seed=11):
        exact = vectors.astype(np.float64) @ query.astype(np.float64)
        hits = index.query(query, Where(ANA), 100)
        assert numbers(hits) == list(np.argsort(-exact)[:100])
        assert [hit.similarity for hit in hits] == pytest.approx(np.sort(exact)[::-1][:100], abs=1e-6)
    index.close()


CHANGES = st.lists(st.tuples(st.sampled_from(["write", "delete"]), st.integers(0, 9), st.integers(0, 5)), max_size=12)


def test_whatever_was_written_and_deleted_every_handle_answers_as_a_plain_scan_would(
    adapter: str, index: Index, another: Index
) -> None:
    @settings(max_examples=5 if adapter in STAND_INS else 15)
    @given(changes=CHANGES)
    def answers_as_a_plain_scan_would(changes: list[tuple[str, int, int]]) -> None:
        subject = Subject(tenant_id="acme", subject_id=str(uuid.uuid4()))
        directions = units(6, seed=5)
        model: dict[int, int] = {}
        for turn, (change, number, direction) in enumerate(changes):
            writer, reader = (index, another) if turn % 2 else (another, index)
            if change == "write":
                model[number] = direction
                writer.upsert([replace(entry(subject, directions[direction], number), agent_id=str(direction))])
            else:
                model.pop(number, None)
                writer.delete(subject, [uuid.UUID(int=number)])

            query = directions[0]
            exact = {n: float(directions[d].astype(np.float64) @ query.astype(np.float64)) for n, d in model.items()}
            ranked = sorted(exact, key=lambda n: (-exact[n], n))
            some = Where(subject, agent_ids=("0", "3", "nobody"))
            assert numbers(reader.query(query, Where(subject), 20)) == ranked
            assert numbers(writer.query(query, some, 20)) == [n for n in ranked if model[n] in {0, 3}]

    answers_as_a_plain_scan_would()


# --- what is refused ---


def test_vectors_that_are_too_short_too_wide_or_not_unit_are_refused(index: Index) -> None:
    for numbers_ in ([1 / 3] * (DIMENSIONS + 1), [2, *[0] * 7], [0] * DIMENSIONS, [np.nan] * DIMENSIONS, [1]):
        vector = np.array(numbers_, dtype=np.float32)
        with pytest.raises(ValueError, match="vector"):
            index.upsert([entry(vector=vector)])
        with pytest.raises(ValueError, match="vector"):
            index.query(vector, Where(ANA), 1)
    assert index.count() == 0


def test_a_negative_limit_is_refused(index: Index) -> None:
    with pytest.raises(ValueError, match="limit is -1"):
        index.query(unit(1), Where(ANA), -1)


@pytest.mark.parametrize(("dimensions", "model"), [(9, MODEL), (DIMENSIONS, "another-model")])
def test_an_index_of_other_dimensions_or_another_model_says_both_and_what_to_do(
    adapter: str, folder: Path, index: Index, dimensions: int, model: str
) -> None:
    index.upsert([entry(number=1)])

    with pytest.raises(IndexMismatch, match="AFTERTURN_EMBEDDER") as refusal:
        opened(adapter, folder, dimensions, model)

    asked, held = (str(dimensions), str(DIMENSIONS)) if dimensions != DIMENSIONS else (model, MODEL)
    assert asked in str(refusal.value)
    assert held in str(refusal.value)
    index.ensure(DIMENSIONS, "cosine", MODEL)
    assert index.count() == 1
