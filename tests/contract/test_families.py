"""Each family of vectors lies in an index of its own, and is built, counted and erased by itself."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from interfaces.doctor.stores import check_agreement
from memory.reindex import must_be_built, reindex
from schema.errors import IndexUnbuilt
from schema.health import HealthStatus
from stores.index.base import Family, Where
from stores.open import open_beside
from tests.contract.pipeline import Worker, on_every_store
from tests.contract.test_documents import MILL, archive, carry, put, story
from tests.turns import subject

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "alone" not in metafunc.fixturenames:
        on_every_store(metafunc)


def test_what_lies_in_one_family_is_in_no_other(worker: Worker, anna: str) -> None:
    whose = archive(anna)
    put(worker, story(whose))
    carry(worker, whose)
    [chunk] = worker.context.catalog.documents.chunks_of(whose, "story-1")
    vector = np.eye(1, worker.context.embedder.dimensions, dtype=np.float32)[0]
    held = {family: len(worker.context.index_of(family).query(vector, Where(whose), 9)) for family in Family}
    assert held == {family: int(family is Family.CHUNKS) for family in Family}
    assert worker.context.catalog.families.of(Family.MEMORIES, whose, [chunk.id]) == {}


def test_a_lost_index_of_documents_is_noticed_and_built_again(alone: Worker, anna: str) -> None:
    whose, settings = archive(anna), alone.context.settings
    alone.hear(anna, "I live in Lisbon")
    put(alone, story(whose, MILL * 40))
    carry(alone, whose)
    must_be_built(alone.context)
    alone.context.chunks.close()
    shutil.rmtree(settings.data_dir / f"index-{settings.index_name}-chunks")
    stores = replace(alone.context, beside=open_beside(settings, alone.context.embedder))
    try:
        with pytest.raises(IndexUnbuilt, match="has nothing"):
            must_be_built(stores)
        assert [one.part for one in check_agreement(stores) if one.status is HealthStatus.FAILED] == ["index contents"]
        assert reindex(stores) == len(alone.known(subject(anna)))
        must_be_built(stores)
        assert stores.chunks.count() == stores.catalog.families.count(Family.CHUNKS) > 1
        found = {one.part: one.found for one in check_agreement(stores)}
        assert found["index of chunks"] == f"{stores.chunks.count()} vectors of {stores.chunks.count()}"
        assert found["documents"] == "1, 0 of them not searchable"
    finally:
        stores.chunks.close()
