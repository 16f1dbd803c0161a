"""Lists page by page while others write: what is there all the time comes exactly once, whatever happens meanwhile."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.legal_holds import set_legal_hold
from memory.members import set_member
from recall.filters import ANYTHING, Filters
from recall.legal_holds import list_legal_holds
from recall.listing import count_memories, list_memories
from recall.reviews import list_open_reviews
from schema import (
    Asker,
    Capability,
    Kind,
    MemberRole,
    Memory,
    MemoryType,
    Principal,
    Review,
    ReviewStatus,
    Settlement,
    Status,
    Subject,
    Visibility,
)
from stores.catalog import Changes
from tests.contract.catalogs import NOW, a_memory
from tests.contract.pipeline import Worker
from tests.contract.test_documents import put, story

MINUTES = st.integers(0, 5)
"""Few, so that much is created at the same moment."""
WRITES = st.one_of(
    st.tuples(st.just("create"), MINUTES),
    st.tuples(st.sampled_from(["touch", "archive", "restore", "erase"]), st.integers(0, 30)),
)


class Listed(ABC):
    """A list, who writes what is in it, and who reads it page by page. What is lasting never leaves it."""

    def __init__(self, worker: Worker) -> None:
        self.worker, self.catalog = worker, worker.context.catalog
        self.whose = Subject(tenant_id=str(uuid.uuid4()), subject_id=str(uuid.uuid4()))
        self.lasting: set[Hashable] = set()

    def write(self, what: str, number: int) -> None:
        if what == "create":
            self.create(number)
        elif among := [id_ for id_ in self.there() if what == "touch" or id_ not in self.lasting]:
            self.change(what, among[number % len(among)])

    @abstractmethod
    def create(self, minute: int) -> Hashable: ...

    @abstractmethod
    def there(self) -> list[Hashable]: ...

    @abstractmethod
    def change(self, what: str, id_: Hashable) -> None: ...

    @abstractmethod
    def page(self, cursor: str, limit: int) -> tuple[list[Hashable], str]: ...

    def walk(self, limit: int) -> Iterator[Hashable]:
        """What is told from the first page to the last."""
        page, cursor = self.page("", limit)
        yield from page
        while cursor:
            page, cursor = self.page(cursor, limit)
            yield from page


class Memories(Listed):
    def __init__(self, worker: Worker) -> None:
        super().__init__(worker)
        self._now: dict[Hashable, Memory] = {}

    def create(self, minute: int) -> Hashable:
        memory = a_memory(f"t{uuid.uuid4()}", self.whose, created_at=NOW + timedelta(minutes=minute))
        self.catalog.commit(Changes(subject=self.whose, at=NOW, created=(memory,)))
        self._now[memory.id] = memory
        return memory.id

    def there(self) -> list[Hashable]:
        return list(self._now)

    def change(self, what: str, id_: Hashable) -> None:
        memory = self._now[id_]
        if what == "erase":
            self.catalog.commit(Changes(subject=self.whose, at=NOW, deleted=(memory,)))
            del self._now[id_]
            return
        status = {"touch": memory.status, "archive": Status.ARCHIVED, "restore": Status.ACTIVE}[what]
        update = {"status": status, "updated_at": NOW + timedelta(days=1), "version": memory.version + 1}
        self._now[id_] = memory.model_copy(update=update)
        self.catalog.commit(Changes(subject=self.whose, at=NOW, updated=(self._now[id_],)))

    def page(self, cursor: str, limit: int) -> tuple[list[Hashable], str]:
        page = list_memories(None, self.whose, self.worker.context, cursor=cursor or None, limit=limit)
        return [memory.id for memory in page.memories], page.cursor or ""


class Reviews(Listed):
    def __init__(self, worker: Worker) -> None:
        super().__init__(worker)
        self._open: list[Hashable] = []

    def create(self, minute: int) -> Hashable:
        review = Review(
            id=uuid.uuid4(),
            **self.whose.model_dump(),
            asked_by=Asker.FORGETTING,
            reason="forget_in_doubt",
            policy_version="p",
            candidate=None,
            opened_at=NOW + timedelta(minutes=minute),
        )
        self.catalog.commit(Changes(subject=self.whose, at=NOW, reviews=(review,)))
        self._open.append(review.id)
        return review.id

    def there(self) -> list[Hashable]:
        return self._open

    def change(self, what: str, id_: Hashable) -> None:
        assert isinstance(id_, uuid.UUID)
        if what == "touch":
            return
        settled = Settlement(review_id=id_, status=ReviewStatus.REJECTED, by="dora")
        changes = {"withdrawn": (id_,)} if what == "erase" else {"settled": (settled,)}
        self.catalog.commit(Changes(subject=self.whose, at=NOW, **changes))
        self._open.remove(id_)

    def page(self, cursor: str, limit: int) -> tuple[list[Hashable], str]:
        waiting, following = list_open_reviews(None, self.whose, self.catalog, cursor=cursor, limit=limit)
        return [review.id for review in waiting], following


class LegalHolds(Listed):
    """Of memories and documents, each of another subject of the tenant."""

    def __init__(self, worker: Worker) -> None:
        super().__init__(worker)
        self._held: list[Hashable] = []

    def create(self, minute: int) -> Hashable:
        whose = self.whose.model_copy(update={"subject_id": str(uuid.uuid4())})
        held: tuple[Subject, uuid.UUID | None, str | None]
        if minute % 2:
            put(self.worker, story(whose))
            held = whose, None, "story-1"
        else:
            memory = a_memory(f"t{uuid.uuid4()}", whose)
            self.catalog.commit(Changes(subject=whose, at=NOW, created=(memory,)))
            held = whose, memory.id, None
        self._held.append(held)
        self._set(held, holds=True)
        return held

    def there(self) -> list[Hashable]:
        return self._held

    def change(self, what: str, id_: Hashable) -> None:
        self._set(id_, holds=what in {"touch", "restore"})

    def page(self, cursor: str, limit: int) -> tuple[list[Hashable], str]:
        held, following = list_legal_holds(self.whose.tenant_id, self.catalog, cursor=cursor, limit=limit)
        assert all(hold.line is not None and hold.line.reason == "case 17" for hold in held)
        return [(hold.subject, hold.memory_id, hold.document_id) for hold in held], following

    def _set(self, held: Hashable, *, holds: bool) -> None:
        assert isinstance(held, tuple)
        whose, memory_id, document_id = held
        set_legal_hold(
            whose,
            [memory_id] if memory_id else [],
            self.worker.context,
            document_ids=[document_id] if document_id else [],
            why="case 17",
            by="dora",
            now=NOW,
            holds=holds,
        )


@pytest.mark.parametrize("worker", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("kind", [Memories, Reviews, LegalHolds])
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
    kind: type[Listed],
    lasting: list[int],
    passing: list[int],
    between_pages: list[list[tuple[str, int]]],
    limit: int,
    read_at_a_time: int,
) -> None:
    listed = kind(worker)
    listed.lasting |= {listed.create(minute) for minute in lasting}
    for minute in passing:
        listed.create(minute)
    told: Counter[Hashable] = Counter()
    writes, cursor = iter(between_pages), ""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr("recall.listing._READ", read_at_a_time)
        while True:
            page, cursor = listed.page(cursor, limit)
            told.update(page)
            if not cursor:
                break
            for what, number in next(writes, []):
                listed.write(what, number)
    assert {told[id_] for id_ in listed.lasting} == {1}
    assert set(told.values()) == {1}


@pytest.mark.parametrize("worker", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("kind", [Memories, Reviews, LegalHolds])
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lasting=st.lists(MINUTES, min_size=4, max_size=12),
    written=st.tuples(*[st.lists(WRITES, min_size=10, max_size=40)] * 2),
    limit=st.integers(1, 4),
)
def test_what_is_there_all_the_time_comes_exactly_once_while_two_others_write(
    worker: Worker, kind: type[Listed], lasting: list[int], written: tuple[list[tuple[str, int]], ...], limit: int
) -> None:
    writers = [kind(worker) for _ in written]
    for writer, minutes in zip(writers, (lasting[::2], lasting[1::2]), strict=True):
        writer.whose = writers[0].whose
        writer.lasting |= {writer.create(minute) for minute in minutes}
    together = Barrier(len(writers) + 1)

    def write(writer: Listed, writes: list[tuple[str, int]]) -> None:
        together.wait()
        for what, number in writes:
            writer.write(what, number)

    with ThreadPoolExecutor(len(writers)) as threads:
        writing = [threads.submit(write, *each) for each in zip(writers, written, strict=True)]
        together.wait()
        is_over = False
        while not is_over:
            is_over = all(each.done() for each in writing)
            told = Counter(writers[0].walk(limit))
            assert {told[id_] for writer in writers for id_ in writer.lasting} == {1}
            assert set(told.values()) == {1}
        for each in writing:
            each.result()


@pytest.mark.parametrize("worker", ["sqlite", "postgres"], indirect=True)
def test_a_list_is_counted_as_it_is_listed(worker: Worker) -> None:
    whose = Subject(tenant_id=str(uuid.uuid4()), subject_id=str(uuid.uuid4()))
    told: list[dict[str, Any]] = [
        {},
        {"private": True},
        {"private": True, "author_id": "bert"},
        {"visibility": Visibility.PUBLIC, "author_id": "bert", "tags": ("music",)},
        {"visibility": Visibility.PERSONAL, "importance": 0.9, "kind": Kind.KNOWLEDGE},
        {"visibility": Visibility.INDIVIDUAL, "agent_id": "coach", "confidence": 0.3},
        {"visibility": Visibility.INDIVIDUAL, "agent_id": "cook", "category": "Goals"},
        {"status": Status.ARCHIVED, "type": MemoryType.EPISODIC},
    ]
    memories = tuple(a_memory(f"t{number}", whose).model_copy(update=fields) for number, fields in enumerate(told))
    worker.context.catalog.commit(Changes(subject=whose, at=NOW, created=memories))
    for role, user in ((MemberRole.ADVOCATE, "bert"), (MemberRole.ADMIRER, "ada")):
        set_member(whose, user, role, worker.context.catalog, by="dora", now=NOW, policy_version="p")
    can = frozenset({Capability.READ})
    askers = [None] + [
        Principal(tenant_id=whose.tenant_id, user_id=user, agent_id=agent, capabilities=can, key_id="k")
        for user, agent in ((whose.subject_id, None), (whose.subject_id, "coach"), ("bert", None), ("ada", None))
    ]
    wanted = [
        ANYTHING,
        Filters(statuses=tuple(Status), types=(MemoryType.EPISODIC,)),
        Filters(kinds=(Kind.KNOWLEDGE,), min_importance=0.8),
        Filters(categories=("Goals",), agent_ids=("cook",)),
        Filters(visibilities=(Visibility.INDIVIDUAL,)),
        Filters(min_confidence=0.5),
        Filters(tags=("music",)),
        Filters(since=NOW + timedelta(days=1)),
    ]
    for asker in askers:
        for filters in wanted:
            listed = list_memories(asker, whose, worker.context, filters=filters, limit=100).memories
            assert count_memories(asker, whose, worker.context, filters=filters) == len(listed), (asker, filters)
    assert count_memories(None, whose, worker.context) == 7
