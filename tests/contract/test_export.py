"""Carrying memories to another catalog, on every database."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memory.context import MemoryContext
from memory.export import NotALine, export, import_lines
from memory.reindex import reindex
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
