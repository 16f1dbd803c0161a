"""What `benchmarks.stores` measures: vectors that every process makes alike, stores to put them in, and the floor."""

from __future__ import annotations

import multiprocessing
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchmarks.search import DIMENSIONS, directions, entries
from schema import MemoryType, Subject
from stores.catalog.engine import create_catalog_engine
from stores.index.base import Entry, Index, Vector, Where
from stores.index.pgvector import PgvectorIndex
from stores.index.sqlite import SqliteIndex
from tests.conftest import free_port
from tests.postgres import PostgresServer, postgres_server

WRITERS = 4
LIMIT = 10
MODEL = "bench"
_AT_A_TIME = 100
_TYPES, _CATEGORIES = list(MemoryType), 5
_DURABLE = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "512MB",
    "max_wal_size": "4GB",
}


@dataclass(frozen=True)
class Sizes:
    """How much is stored: the first subject has `largest` vectors, the others share the rest evenly."""

    vectors: int
    subjects: int
    largest: int

    def of(self, number: int) -> int:
        return self.largest if number == 0 else (self.vectors - self.largest) // (self.subjects - 1)

    @property
    def total(self) -> int:
        return self.largest + (self.subjects - 1) * self.of(1)


@dataclass(frozen=True)
class Store:
    """A store to be opened by any process: its folder, or the URL of its database."""

    kind: Literal["sqlite", "pgvector"]
    place: str

    def open(self) -> Index:
        index: Index
        if self.kind == "sqlite":
            index = SqliteIndex(Path(self.place))
        else:
            index = PgvectorIndex(create_catalog_engine(self.place, 4), MODEL)
        index.ensure(DIMENSIONS, "cosine", MODEL)
        return index


@contextmanager
def postgres_of_our_own(folder: Path) -> Iterator[str]:
    """Yield a Postgres out of a pip package that keeps what it commits, until the block ends: the URL of a database."""
    with durable_postgres(folder) as server:
        yield server.database()


def durable_postgres(folder: Path) -> AbstractContextManager[PostgresServer]:
    """Run a Postgres out of a pip package, which keeps what it commits, until the block ends."""
    return postgres_server(folder, free_port(), settings=_DURABLE)


def subject(number: int) -> Subject:
    return Subject(tenant_id="bench", subject_id=f"user {number}")


def vectors_of(number: int, sizes: Sizes) -> NDArray[np.float32]:
    """Return the vectors of a subject: random directions, the same in every process."""
    return directions(sizes.of(number), seed=1_000 + number)


def filtered(number: int) -> Where:
    """Return a filter that lets one in fifteen of a subject's entries through."""
    return Where(subject(number), types=(_TYPES[0],), categories=("Finance",), tags=("all",))


def memory_of(number: int, place: int) -> uuid.UUID:
    """Return the memory that `benchmarks.search.entries` makes of a subject's vector at this place."""
    return uuid.uuid5(uuid.NAMESPACE_URL, f"{subject(number).key} {place}")


def floor(matrix: NDArray[np.float32], query: Vector) -> NDArray[np.intp]:
    """Return the least an exact search can do: one product, the best few, in order."""
    similarities = matrix @ query
    best = np.argpartition(-similarities, min(LIMIT, len(similarities) - 1))[:LIMIT]
    return best[np.argsort(-similarities[best])]


def filtered_floor(matrix: NDArray[np.float32], passes: NDArray[np.bool_], query: Vector) -> NDArray[np.intp]:
    """Return the same of the entries that pass a filter."""
    seen = np.flatnonzero(passes)
    found: NDArray[np.intp] = seen[floor(matrix[seen], query)]
    return found


def passing(count: int) -> NDArray[np.bool_]:
    """Return which of a subject's entries `filtered` lets through: `benchmarks.search.entries` deals labels out in
    turn."""
    places = np.arange(count)
    passes: NDArray[np.bool_] = (places % len(_TYPES) == 0) & (places % _CATEGORIES == 0)
    return passes


# -- writing ----------------------------------------------------------------------------------------------------------


def write(
    store: Store, sizes: Sizes, *, single: int, progress: Callable[[int], None], writers: int = WRITERS
) -> tuple[float, float]:
    """Let processes fill a store, a subject's entries a call, and then add `single` more, one a call. Answers how many
    rows a second that were, of all processes together."""
    context = multiprocessing.get_context("spawn")
    barrier, written, spans = context.Barrier(writers), context.Value("q", 0), context.Queue()
    processes = [
        context.Process(target=_write, args=(store, sizes, single, writer, writers, barrier, written, spans))
        for writer in range(writers)
    ]
    for process in processes:
        process.start()
    while any(process.is_alive() for process in processes) and spans.qsize() < writers:
        progress(written.value)
        time.sleep(0.2)
    if any(process.exitcode for process in processes):
        raise RuntimeError(f"a writer of {store.kind} failed; its error stands above")
    told = [spans.get(timeout=60) for _ in processes]
    for process in processes:
        process.join()
    return _rate(sizes.total, [one[0] for one in told]), _rate(single // writers * writers, [one[1] for one in told])


def _rate(rows: int, spans: list[tuple[float, float]]) -> float:
    return rows / (max(end for _, end in spans) - min(start for start, _ in spans))


def _write(
    store: Store,
    sizes: Sizes,
    single: int,
    writer: int,
    writers: int,
    barrier: Any,
    written: Synchronized[int],
    spans: Any,
) -> None:
    """Run in a process of its own. What it writes is made before the clock runs."""
    numbers = range(writer, sizes.subjects, writers)
    todo = [entries(subject(number), vectors_of(number, sizes)) for number in numbers]
    index = store.open()

    def bulk() -> None:
        for whole in todo:
            for start in range(0, len(whole), _AT_A_TIME):
                some = whole[start : start + _AT_A_TIME]
                index.upsert(some)
                with written.get_lock():
                    written.value += len(some)

    fresh = [_fresh(todo[0][0], f"single {writer} {number % 50}") for number in range(single // writers)]

    def one_by_one() -> None:
        for entry in fresh:
            index.upsert([entry])

    told = [_timed(work, barrier) for work in (bulk, one_by_one)]
    index.close()
    spans.put(told)


def _fresh(like: Entry, whose: str) -> Entry:
    """Return an entry of a subject that nobody searches."""
    return replace(like, subject=Subject(tenant_id="bench", subject_id=whose), key=uuid.uuid4(), memory_id=uuid.uuid4())


def _timed(work: Callable[[], None], barrier: Any) -> tuple[float, float]:
    barrier.wait()
    start = time.time()
    work()
    return start, time.time()
