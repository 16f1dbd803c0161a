"""Lists page by page while others write: what is there all the time comes exactly once, whatever happens meanwhile."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recall.listing import list_memories
from schema import Memory, Status, Subject
from stores.catalog import Catalog, Changes
from tests.contract.catalogs import NOW, a_memory
from tests.contract.pipeline import Worker

MINUTES = st.integers(0, 5)
"""Few, so that many memories are created at the same moment."""
WRITES = st.one_of(
    st.tuples(st.just("create"), MINUTES),
    st.tuples(st.sampled_from(["touch", "archive", "restore", "erase"]), st.integers(0, 30)),
)


@dataclass
class Writer:
    """Who writes while another reads. What is lasting is edited and never leaves the list."""

    whose: Subject
    catalog: Catalog
    lasting: set[uuid.UUID] = field(default_factory=set)
    _now: dict[uuid.UUID, Memory] = field(default_factory=dict)

    def create(self, minute: int) -> uuid.UUID:
        name = f"t{uuid.uuid4()}"
        memory = a_memory(name, self.whose, created_at=NOW + timedelta(minutes=minute))
        self.catalog.commit(Changes(subject=self.whose, at=NOW, created=(memory,)))
        self._now[memory.id] = memory
        return memory.id

    def write(self, what: str, number: int) -> None:
        if what == "create":
            self.create(number)
            return
        among = [memory for memory in self._now.values() if what == "touch" or memory.id not in self.lasting]
        if not among:
            return
        memory = among[number % len(among)]
        if what == "erase":
            self.catalog.commit(Changes(subject=self.whose, at=NOW, deleted=(memory,)))
            del self._now[memory.id]
            return
        status = {"touch": memory.status, "archive": Status.ARCHIVED, "restore": Status.ACTIVE}[what]
        update = {"status": status, "updated_at": NOW + timedelta(days=1), "version": memory.version + 1}
        self._now[memory.id] = memory.model_copy(update=update)
        self.catalog.commit(Changes(subject=self.whose, at=NOW, updated=(self._now[memory.id],)))


def pages(whose: Subject, worker: Worker, limit: int) -> Iterator[list[uuid.UUID]]:
    cursor = None
    while True:
        page = list_memories(None, whose, worker.context, cursor=cursor, limit=limit)
        yield [memory.id for memory in page.memories]
        if page.cursor is None:
            return
        cursor = page.cursor


@pytest.mark.parametrize("worker", ["sqlite", "postgres"], indirect=True)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lasting=st.lists(MINUTES, min_size=1, max_size=12),
    passing=st.lists(MINUTES, max_size=6),
    between_pages=st.lists(st.lists(WRITES, max_size=5), max_size=10),
    limit=st.integers(1, 4),
    read_at_a_time=st.sampled_from([2, 5, 200]),
)
def test_what_is_there_all_the_time_comes_exactly_once(
    worker: Worker,
    lasting: list[int],
    passing: list[int],
    between_pages: list[list[tuple[str, int]]],
    limit: int,
    read_at_a_time: int,
) -> None:
    writer = Writer(Subject(tenant_id="acme", subject_id=str(uuid.uuid4())), worker.context.catalog)
    writer.lasting |= {writer.create(minute) for minute in lasting}
    for minute in passing:
        writer.create(minute)
    told: Counter[uuid.UUID] = Counter()
    writes = iter(between_pages)
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr("recall.listing._READ", read_at_a_time)
        for page in pages(writer.whose, worker, limit):
            told.update(page)
            for what, number in next(writes, []):
                writer.write(what, number)
    assert {told[id_] for id_ in writer.lasting} == {1}
    assert set(told.values()) == {1}
