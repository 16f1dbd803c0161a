"""Moving to another index, on every database."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

import memory.reindex as reindex_room
from memory.indexing import index_all
from memory.reindex import catch_up, finish, give_up, must_be_built, reindex, target_of
from schema import AuditAction, AuditEntry, Scope, Tombstone
from schema.errors import CatalogOutage, IndexUnbuilt, MoveRefused
from stores.catalog import Changes
from stores.index.base import Family, Indexed
from stores.index.sqlite import SqliteIndex
from stores.open import Stores
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory, changes
from tests.contract.indexes import DIMENSIONS, until
from tests.contract.indexes import opened as opened_index
from tests.contract.moving import Embedding, held, ids, opened, told_of_all

# -- reindex ----------------------------------------------------------------------------------------------------------


def test_every_memory_of_everybody_is_in_the_new_index(old: Stores, new: Stores) -> None:
    told: list[int] = []
    assert reindex(new, told.append) == 9
    assert told[-1] == 9
    for whose in (ANNA, BERT, NAMESAKE):
        assert held(new, whose) == ids(new, whose)
    assert old.index.count() == 0


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_an_index_of_any_kind_is_filled_while_another_of_its_kind_serves(
    adapter: str, old: Stores, tmp_path: Path
) -> None:
    serving = replace(old, index=opened_index(adapter, tmp_path / "serving", model="old"))
    reindex(serving)
    target = replace(
        old,
        settings=old.settings.model_copy(update={"index_name": "next"}),
        index=opened_index(adapter, tmp_path / "next", model="new"),
        embedder=Embedding("new"),
    )
    before = held(serving, ANNA)
    finish(serving)

    assert reindex(target) == 9

    assert held(target, ANNA) == held(serving, ANNA) == before == ids(old, ANNA)
    assert (serving.index.count(), target.index.count()) == (9, 9)
    serving.index.close()
    target.index.close()


def test_what_is_written_while_it_runs_and_after_is_in_the_new_index_too(old: Stores, new: Stores) -> None:
    late = a_memory("late")
    gone = a_memory("t0")

    def meanwhile(done: int) -> None:
        if done == 9 and not old.catalog.memories(ANNA, [late.id]):
            old.catalog.commit(Changes(subject=ANNA, at=NOW, created=(late,), deleted=(gone,)))

    reindex(new, meanwhile)
    assert held(new, ANNA) == ids(new, ANNA) >= {late.id}
    assert gone.id not in held(new, ANNA)

    after = a_memory("after", BERT)
    old.catalog.commit(Changes(subject=BERT, at=NOW, created=(after,)))
    assert after.id not in held(new, BERT)
    assert catch_up(new) == 1
    assert after.id in held(new, BERT)


def test_one_comes_to_its_end_though_others_write_all_the_time(
    old: Stores, new: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes faster than one process embeds would keep it at work for ever: what is written meanwhile stays in
    the log."""
    told, written = reindex_room._tell, 0

    def beside_a_writer(*args: Any) -> None:
        nonlocal written
        written += 1
        assert written < 20, "it tells on and on"
        old.catalog.commit(Changes(subject=BERT, at=NOW, created=(a_memory(f"late{written}", BERT),)))
        told(*args)

    old.catalog.commit(Changes(subject=BERT, at=NOW, created=(a_memory("before", BERT),)))
    monkeypatch.setattr(reindex_room, "_tell", beside_a_writer)
    begun = reindex_room._index_all_of

    def while_somebody_talks(*args: Any) -> int:
        old.catalog.commit(Changes(subject=BERT, at=NOW, created=(a_memory(f"talk{uuid.uuid4()}", BERT),)))
        return begun(*args)

    monkeypatch.setattr(reindex_room, "_index_all_of", while_somebody_talks)
    reindex(new)
    job = new.catalog.reindex_jobs.of(target_of(new))
    assert job is not None
    assert job.finished_at is not None
    assert new.catalog.reindex_jobs.behind() > 0
    finish(new)
    assert new.catalog.reindex_jobs.under_way() == []


def test_a_subject_that_is_erased_meanwhile_is_in_neither(old: Stores, new: Stores) -> None:
    reindex(new)
    line = AuditEntry(action=AuditAction.DELETED, **ANNA.model_dump(), at=NOW, by="o", reason="r", policy_version="p")
    old.catalog.erasures.wipe(ANNA, 99, [Tombstone(Scope.SUBJECT, "", NOW)], line)
    catch_up(new)
    assert held(new, ANNA) == set()
    assert held(new, BERT) == ids(new, BERT)


def test_one_that_was_broken_off_goes_on_where_it_was(
    old: Stores, new: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory.reindex._SUBJECTS_A_PAGE", 1)
    embedder = new.embedder
    assert isinstance(embedder, Embedding)
    embedder.left = 4
    with pytest.raises(ConnectionError):
        reindex(new)
    embedder.left = 6
    assert reindex(new) == 9
    for whose in (ANNA, BERT, NAMESAKE):
        assert held(new, whose) == ids(new, whose)


def test_one_to_another_model_begins_anew(old: Stores, new: Stores, engine: Engine, tmp_path: Path) -> None:
    reindex(new)
    other = replace(new, embedder=Embedding("third"), index=SqliteIndex(tmp_path / "third"))
    other.index.ensure(DIMENSIONS, "cosine", "third")
    assert reindex(other) == 9
    assert held(other, ANNA) == ids(other, ANNA)
    other.index.close()


def test_nothing_is_logged_when_no_move_is_under_way(old: Stores, new: Stores) -> None:
    old.catalog.commit(changes("t7"))
    assert old.catalog.reindex_jobs.behind() == 0
    reindex(new)
    new.catalog.reindex_jobs.end()
    old.catalog.commit(changes("t8"))
    assert old.catalog.reindex_jobs.behind() == 0


def test_an_index_that_is_not_built_to_its_end_is_refused_with_the_way_out(
    old: Stores, new: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_of_all(old)
    with pytest.raises(IndexUnbuilt, match=r"nothing of what the catalog has.*afterturn reindex"):
        must_be_built(new)
    monkeypatch.setattr("memory.reindex._SUBJECTS_A_PAGE", 1)
    embedder = new.embedder
    assert isinstance(embedder, Embedding)
    embedder.left = 4
    with pytest.raises(ConnectionError):
        reindex(new)
    with pytest.raises(IndexUnbuilt, match=r"3 memories are in it.*AFTERTURN_INDEX_NAME"):
        must_be_built(new)
    embedder.left = 100
    reindex(new)
    must_be_built(new)
    new.catalog.reindex_jobs.end()
    must_be_built(new)


def test_memories_that_the_index_was_not_told_of_yet_are_no_reason_to_refuse_it(old: Stores) -> None:
    assert old.index.count() == 0
    must_be_built(old)


def test_an_index_that_was_lost_after_its_move_is_built_again(old: Stores, new: Stores) -> None:
    told_of_all(old)
    reindex(new)
    for whose in (ANNA, BERT, NAMESAKE):
        new.index.delete(whose, [memory.index_key for memory in new.catalog.list_memories(whose)])
    assert new.catalog.reindex_jobs.of(target_of(new)) is not None
    assert reindex(new) == 9
    assert held(new, ANNA) == ids(new, ANNA)


def test_what_was_erased_since_a_move_was_given_up_is_not_in_its_index_when_it_is_built_again(
    old: Stores, new: Stores
) -> None:
    reindex(new)
    give_up(old)
    gone = a_memory("t0")
    old.catalog.commit(Changes(subject=ANNA, at=NOW, deleted=(gone,)))
    line = AuditEntry(action=AuditAction.DELETED, **BERT.model_dump(), at=NOW, by="o", reason="r", policy_version="p")
    old.catalog.erasures.wipe(BERT, 99, [Tombstone(Scope.SUBJECT, "", NOW)], line)
    assert reindex(new) == 5
    assert held(new, ANNA) == ids(new, ANNA)
    assert held(new, BERT) == set()
    assert held(new, NAMESAKE) == ids(new, NAMESAKE)


# -- one move at a time ------------------------------------------------------------------------------------------------


def test_of_two_moves_the_second_is_refused_and_the_first_misses_nothing(
    old: Stores, new: Stores, engine: Engine, tmp_path: Path
) -> None:
    third = opened(engine, tmp_path, "third", "third")
    late = [a_memory(f"late{number}", BERT) for number in range(2)]

    def meanwhile(done: int) -> None:
        if done == 9 and not old.catalog.memories(BERT, [late[0].id]):
            old.catalog.commit(Changes(subject=BERT, at=NOW, created=(late[0],)))
            for act in (reindex, finish):
                with pytest.raises(MoveRefused, match="another `afterturn reindex`"):
                    act(third)

    reindex(new, meanwhile)
    old.catalog.commit(Changes(subject=BERT, at=NOW, created=(late[1],)))
    for act in (reindex, finish):
        with pytest.raises(MoveRefused, match=r"sqlite:next.*reindex --finish.*--give-up"):
            act(third)
    assert finish(new) == 1
    assert held(new, BERT) == ids(new, BERT) >= {one.id for one in late}
    assert reindex(third) == 11
    third.index.close()


def test_two_that_build_one_index_at_a_time_are_one_too_many(old: Stores, new: Stores) -> None:
    def meanwhile(_: int) -> None:
        for act in (reindex, catch_up_alone, finish):
            with pytest.raises(MoveRefused, match="another `afterturn reindex`"):
                act(new)

    reindex(new, meanwhile)
    assert finish(new) == 0


def catch_up_alone(stores: Stores) -> int:
    with stores.catalog.reindex_jobs.alone():
        return catch_up(stores)


def test_a_move_is_not_ended_before_its_index_is_built(
    old: Stores, new: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = new.embedder
    assert isinstance(embedder, Embedding)
    embedder.left = 4
    with pytest.raises(ConnectionError):
        reindex(new)
    with pytest.raises(MoveRefused, match=r"not built to its end.*afterturn reindex"):
        finish(new)
    embedder.left = 10**9
    assert reindex(new) == 9
    assert finish(new) == 0
    must_be_built(new)


def test_a_move_that_was_given_up_leaves_room_for_another(
    old: Stores, new: Stores, engine: Engine, tmp_path: Path
) -> None:
    third = opened(engine, tmp_path, "third", "third")
    reindex(new)
    give_up(third)
    old.catalog.commit(changes("t7"))
    assert (old.catalog.reindex_jobs.behind(), old.catalog.reindex_jobs.under_way()) == (0, [])
    assert reindex(third) == 10
    third.index.close()


_HOLDS = """
import sys, time
from stores.catalog import Catalog
from stores.catalog.engine import create_catalog_engine
with Catalog(create_catalog_engine(sys.argv[1])).reindex_jobs.alone():
    print("alone", flush=True)
    time.sleep(600)
"""


def test_one_that_was_killed_keeps_nobody_waiting(old: Stores, new: Stores, engine: Engine) -> None:
    url = engine.url.render_as_string(hide_password=False)
    with subprocess.Popen([sys.executable, "-c", _HOLDS, url], stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(MoveRefused, match="another `afterturn reindex`"):
            reindex(new)
        other.kill()

    def is_free() -> bool:
        try:
            reindex(new)
        except MoveRefused:
            return False
        return True

    until(is_free)
    assert held(new, ANNA) == ids(new, ANNA)


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
def test_one_whose_connection_was_lost_that_keeps_others_out_ends_and_can_be_begun_again(
    old: Stores, new: Stores, engine: Engine
) -> None:
    def meanwhile(done: int) -> None:
        if done == 9:
            with engine.connect() as connection:
                ended = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                connection.execute(text(ended))

    with pytest.raises(CatalogOutage):
        reindex(new, meanwhile)
    job = new.catalog.reindex_jobs.of(target_of(new))
    assert job is not None
    assert job.finished_at is None
    assert reindex(new) == 9
    assert finish(new) == 0
    assert held(new, ANNA) == ids(new, ANNA)


def test_a_move_that_is_given_up_leaves_nothing_in_the_index_that_serves_of_what_was_erased_meanwhile(
    old: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies(family: Family, items: Sequence[Indexed], stores: Stores) -> None:
        line = AuditEntry(
            action=AuditAction.DELETED, **ANNA.model_dump(), at=NOW, by="o", reason="r", policy_version="p"
        )
        old.catalog.erasures.wipe(ANNA, 99, [Tombstone(Scope.SUBJECT, "", NOW)], line)
        index_all(ANNA, old)
        upsert(family, items, stores)
        raise ConnectionError

    upsert = reindex_room._upsert
    with monkeypatch.context() as deadly, pytest.raises(ConnectionError):
        deadly.setattr("memory.reindex._upsert", dies)
        reindex(old)
    assert held(old, ANNA) != set()
    give_up(old)
    assert held(old, ANNA) == set()
