"""Carrying memories to another catalog, on every database."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

from memory.context import MemoryContext
from memory.export import export
from memory.export_lines import NotALine, encoded
from memory.imports import import_lines
from memory.reindex import reindex
from schema import Status, Subject
from schema.settings import Settings
from stores.open import Stores
from stores.queue import create_celery, open_mailbox
from stores.redis import open_redis
from tests.contract.catalogs import ANNA, BERT, NAMESAKE, NOW, a_memory, a_turn
from tests.contract.moving import held, ids, opened


@pytest.fixture
def elsewhere(tmp_path: Path, broker_url: str) -> Iterator[MemoryContext]:
    from stores.catalog import open_catalog_engine

    settings = Settings(data_dir=tmp_path / "elsewhere", broker_url=broker_url)
    engine, redis, celery = open_catalog_engine(settings), open_redis(settings), create_celery(settings)
    stores, mailbox = opened(engine, tmp_path / "elsewhere"), open_mailbox(settings, redis, celery)
    yield MemoryContext(
        **vars(stores) | {"settings": settings},
        celery=celery,
        redis=redis,
        mailbox=mailbox,
        llm=None,
        judge=None,
        cross_encoder=None,
        utterance_reader=None,
        forget_reader=None,
        pair_reader=None,
    )
    stores.index.close()
    redis.close()
    engine.dispose()


def test_what_is_exported_is_imported_as_it_was(old: Stores, elsewhere: MemoryContext) -> None:
    lines = list(export(old))
    result = import_lines(lines, elsewhere, by="operator", now=NOW)
    assert (result.written, result.known) == (9, 0)
    for whose in (ANNA, BERT, NAMESAKE):
        assert elsewhere.catalog.list_memories(whose) == old.catalog.list_memories(whose)
        assert held(elsewhere, whose) == ids(elsewhere, whose)
        assert elsewhere.catalog.list_subjects() == [ANNA, BERT, NAMESAKE]
    assert elsewhere.catalog.sources(ANNA, ["t1"]) == [a_turn("t1")]
    assert elsewhere.catalog.index_jobs() == []


def test_importing_again_changes_nothing(old: Stores, elsewhere: MemoryContext) -> None:
    lines = list(export(old, subject=ANNA))
    import_lines(lines, elsewhere, by="operator", now=NOW)
    result = import_lines(lines, elsewhere, by="operator", now=NOW)
    assert (result.written, result.known) == (0, 3)
    assert len(elsewhere.catalog.list_memories(ANNA)) == 3
    assert elsewhere.catalog.list_memories(BERT) == []


def test_vectors_of_the_same_model_are_carried(old: Stores, elsewhere: MemoryContext) -> None:
    reindex(old)
    lines = list(export(old, vectors=True))
    assert all(json.loads(line)["vector"] for line in lines[1:])
    key = a_memory().index_key
    import_lines(lines, elsewhere, by="operator", now=NOW)
    [here], [there] = (stores.index.fetch(ANNA, [key]) for stores in (old, elsewhere))
    assert np.array_equal(here.vector, there.vector)


@pytest.mark.parametrize(
    "line", ["not json", "[]", '{"memory": {"summary": "my secret"}}', '{"afterturn": 99}', '{"memory": null}']
)
def test_a_line_of_something_else_is_named_and_not_quoted(elsewhere: MemoryContext, line: str) -> None:
    with pytest.raises(NotALine, match="line 2") as refused:
        import_lines(['{"afterturn": 1, "model": null}', line], elsewhere, by="operator", now=NOW)
    assert "secret" not in str(refused.value)


def test_a_source_of_somebody_else_is_refused(old: Stores, elsewhere: MemoryContext) -> None:
    head, line, *_ = export(old, subject=ANNA)
    changed = json.loads(line)
    changed["sources"][0]["user_id"] = "mallory"
    with pytest.raises(NotALine, match="another subject's"):
        import_lines([head, json.dumps(changed)], elsewhere, by="operator", now=NOW)


def as_others(line: str, **whose: str) -> str:
    """A line of an export as if somebody else had written it."""
    value = json.loads(line)
    names = {"tenant_id": ("tenant_id",), "subject_id": ("subject_id", "user_id", "author_id")}
    for fields in (value["memory"], *value["sources"]):
        fields |= {name: new for whole, new in whose.items() for name in names[whole] if name in fields}
    return json.dumps(value)


@pytest.mark.parametrize("whose", [{"tenant_id": "globex2"}, {"subject_id": "mallory"}])
def test_memories_under_another_name_than_wrote_them_are_refused_by_their_line(
    old: Stores, elsewhere: MemoryContext, whose: dict[str, str]
) -> None:
    head, first, second, *_ = export(old, subject=ANNA)
    import_lines([head, first], elsewhere, by="operator", now=NOW)
    new = Subject(**{**ANNA.model_dump(), **whose})
    lines = [head, as_others(second, **whose), as_others(first, **whose)]
    with pytest.raises(NotALine, match=r"line 3: .* give it another id"):
        import_lines(lines, elsewhere, by="operator", now=NOW)
    assert [memory.id for memory in elsewhere.catalog.list_memories(new)] == [
        uuid.UUID(json.loads(second)["memory"]["id"])
    ]
    assert len(elsewhere.catalog.list_memories(ANNA)) == 1


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"item": ' + '{"a": ' * 100_000, "nested too deeply"),
        ('{"a": 1}', "memory, item or document"),
        ('{"memory": 1}', "memory"),
        ('{"item": 1}', "item"),
        ('{"item": {"key": "k"}}', "tenant_id"),
        ('{"item": {"tenant_id": "acme", "subject_id": "anna", "namespace": [], "key": 5}}', "key"),
        ('{"document": {"content": "my secret"}}', "document_id"),
    ],
)
def test_of_a_line_that_is_none_it_is_said_what_is_wrong(elsewhere: MemoryContext, line: str, named: str) -> None:
    with pytest.raises(NotALine, match=f"line 1.*{named}"):
        import_lines([line], elsewhere, by="operator", now=NOW)


@pytest.mark.parametrize(
    "wrong",
    [
        {"vector": [1, 2]},
        {"vector": "abc"},
        {"vector": "AADAfw=="},
        {"vector": "AAAA"},
        {"vector": encoded(np.zeros(8, dtype=np.float32))},
        {"vector": encoded(np.full(8, 1e20, dtype=np.float32))},
        {"sources": 3},
        {"sources": [{"turn_id": "t1"}]},
    ],
)
def test_a_field_that_is_wrong_is_named(old: Stores, elsewhere: MemoryContext, wrong: dict[str, object]) -> None:
    head, line, *_ = export(old, subject=ANNA)
    with pytest.raises(NotALine, match=f"line 2: {next(iter(wrong))}"):
        import_lines([head, json.dumps(json.loads(line) | wrong)], elsewhere, by="operator", now=NOW)


@pytest.mark.parametrize(
    "wrong",
    [
        {"version": 2**31 - 1},
        {"version": 2**63},
        {"access_count": 10**400},
        {"policy_version": "half a \ud800"},
        {"embedding_model": "a\0b"},
        {"importance": float("nan")},
    ],
)
def test_a_memory_that_no_store_could_keep_and_tell_again_is_refused_by_its_line(
    old: Stores, elsewhere: MemoryContext, wrong: dict[str, object]
) -> None:
    head, line, *_ = export(old, subject=ANNA)
    changed = json.loads(line)
    changed["memory"] |= wrong
    with pytest.raises(NotALine, match="line 2"):
        import_lines([head, json.dumps(changed)], elsewhere, by="operator", now=NOW)
    assert elsewhere.catalog.list_memories(ANNA) == []


@pytest.mark.parametrize("name", ["occurred_at", "said_at", "created_at", "updated_at", "last_accessed"])
def test_a_moment_before_all_time_is_the_first_that_every_zone_can_tell(
    old: Stores, elsewhere: MemoryContext, name: str
) -> None:
    head, line, *_ = export(old, subject=ANNA)
    changed = json.loads(line)
    changed["memory"][name] = "0001-01-01T00:00:00+14:00"
    import_lines([head, json.dumps(changed)], elsewhere, by="operator", now=NOW)
    [memory] = elsewhere.catalog.list_memories(ANNA, statuses=tuple(Status))
    assert getattr(memory, name).year == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"value": {"half": "\ud800"}},
        {"value": {"none": "\0"}},
        {"value": {"number": float("inf")}},
        {"value": {"deep": json.loads("[" * 150 + "]" * 150)}},
        {"namespace": ["\ud800"]},
        {"key": "\0"},
        {"created_at": "2026-11-02T08:00:00"},
        {"ttl_minutes": 1e300},
        {"ttl_minutes": -5},
    ],
)
def test_an_item_that_could_not_be_read_again_is_refused_by_its_line(
    elsewhere: MemoryContext, wrong: dict[str, object]
) -> None:
    item = {**ANNA.model_dump(), "namespace": ["n"], "key": "k", "value": {}, "texts": []}
    item |= {"created_at": "2026-11-02T08:00:00Z", "updated_at": "0001-01-01T00:00:00+14:00"}
    assert import_lines([json.dumps({"item": item})], elsewhere, by="operator", now=NOW).items == 1
    with pytest.raises(NotALine, match="line 1"):
        import_lines([json.dumps({"item": item | {"key": "another"} | wrong})], elsewhere, by="operator", now=NOW)


@pytest.mark.parametrize("name", ["said_at", "created_at", "updated_at", "last_accessed"])
def test_a_memory_from_further_ahead_than_a_turn_may_be_is_refused(
    old: Stores, elsewhere: MemoryContext, name: str
) -> None:
    head, first, second, *_ = export(old, subject=ANNA)
    changed = json.loads(second)
    changed["memory"][name] = "2099-01-01T00:00:00Z"
    with pytest.raises(NotALine, match=rf"line 3: memory\.{name}.*AFTERTURN_MAX_AHEAD_SECONDS"):
        import_lines([head, first, json.dumps(changed)], elsewhere, by="operator", now=NOW)
    assert len(elsewhere.catalog.list_memories(ANNA)) == 1


def test_a_source_from_further_ahead_than_a_turn_may_be_is_refused(old: Stores, elsewhere: MemoryContext) -> None:
    head, line, *_ = export(old, subject=ANNA)
    changed = json.loads(line)
    changed["sources"][0]["occurred_at"] = "2099-01-01T00:00:00Z"
    with pytest.raises(NotALine, match=r"line 2: sources\.0\.occurred_at"):
        import_lines([head, json.dumps(changed)], elsewhere, by="operator", now=NOW)


def test_what_is_told_of_the_future_is_imported(old: Stores, elsewhere: MemoryContext) -> None:
    head, line, *_ = export(old, subject=ANNA)
    changed = json.loads(line)
    changed["memory"]["occurred_at"] = "2099-01-01T00:00:00Z"
    assert import_lines([head, json.dumps(changed)], elsewhere, by="operator", now=NOW).written == 1


def test_clocks_may_differ_by_as_much_as_a_turn_may_be_ahead(old: Stores, elsewhere: MemoryContext) -> None:
    before = NOW - timedelta(seconds=elsewhere.settings.max_ahead_seconds - 60)
    assert import_lines(export(old, subject=ANNA), elsewhere, by="operator", now=before).written == 3
