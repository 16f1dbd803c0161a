"""Measure the index: how long a search takes, beside the least it could take, and how many writes it takes a second.

    python -m benchmarks.search [--small]

The vectors are random directions of 384 numbers: an exact scan takes as long with any. The floor is the same ranking in
numpy over an array in memory, in the same run, so that ratios hold on any machine.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from schema import Kind, MemoryType, Status, Subject, Visibility
from stores.index.base import Entry, Vector, Where
from stores.index.sqlite import SqliteIndex

DIMENSIONS = 384
LIMIT = 10
WRITERS = (1, 4)
BIG = Subject(tenant_id="bench", subject_id="big")

_START = datetime(2026, 1, 1, tzinfo=UTC)
_TYPES = list(MemoryType)
_CATEGORIES = ("Finance", "Budget", "Goals", "Personal", "Education")


def directions(count: int, seed: int) -> NDArray[np.float32]:
    """Return random unit vectors, the same for the same seed."""
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSIONS), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def entries(subject: Subject, vectors: NDArray[np.float32], first: int = 0) -> list[Entry]:
    """Return entries of a subject with varied types, categories and tags."""
    return [
        Entry(
            key=uuid.uuid5(uuid.NAMESPACE_OID, f"{subject.key} {number}"),
            memory_id=uuid.uuid5(uuid.NAMESPACE_URL, f"{subject.key} {number}"),
            subject=subject,
            vector=vector,
            type=_TYPES[number % len(_TYPES)],
            kind=Kind.USER_FACT,
            category=_CATEGORIES[number % len(_CATEGORIES)],
            status=Status.ACTIVE,
            visibility=Visibility.PRIVATE,
            created_at=_START + timedelta(minutes=number),
            tags=("all", f"tag {number % 20}"),
        )
        for number, vector in enumerate(vectors, first)
    ]


def timed(
    actions: Sequence[Callable[[], object]], what: str, before: Sequence[Callable[[], object]] | None = None
) -> list[str]:
    """Return p50 and p95 (wall) and mean CPU of the actions, in milliseconds, as cells; `before` is not timed."""
    wall, cpu = [], []
    for number, action in enumerate(track(actions, description=what, transient=True)):
        if before is not None:
            before[number]()
        started = time.perf_counter(), time.process_time()
        action()
        wall.append(1e3 * (time.perf_counter() - started[0]))
        cpu.append(1e3 * (time.process_time() - started[1]))
    return [what, f"{np.quantile(wall, 0.5):.2f}", f"{np.quantile(wall, 0.95):.2f}", f"{np.mean(cpu):.2f}"]


def floor(matrix: NDArray[np.float32], query: Vector) -> NDArray[np.intp]:
    """Return the least an exact search can do: one product, the best few, in order."""
    similarities = matrix @ query
    best = np.argpartition(-similarities, LIMIT)[:LIMIT]
    return best[np.argsort(-similarities[best])]


def big_subject(folder: Path, size: int, queries: int) -> list[list[str]]:
    """Return rows for one subject of `size` memories."""
    matrix = directions(size, seed=1)
    index = SqliteIndex(folder)
    index.ensure(DIMENSIONS, "cosine", "bench")
    written = entries(BIG, matrix)
    index.upsert(written)
    asked = directions(queries, seed=2)
    where = Where(BIG)
    filtered = Where(BIG, types=(MemoryType.SEMANTIC,), categories=("Finance",), tags=("all",))
    fresh = entries(BIG, directions(queries, seed=3), first=size)

    def cold() -> None:
        new = SqliteIndex(folder)
        new.ensure(DIMENSIONS, "cosine", "bench")
        new.query(asked[0], where, LIMIT)
        new.close()

    rows = [timed([partial(floor, matrix, q) for q in asked], "numpy in memory")]
    index.query(asked[0], where, LIMIT)
    rows.append(timed([partial(index.query, q, where, LIMIT) for q in asked], "query"))
    rows.append(timed([partial(index.query, q, filtered, LIMIT) for q in asked], "query with filters"))
    rows.append(
        timed(
            [partial(index.query, q, where, LIMIT) for q in asked],
            "query after a write",
            [partial(index.upsert, [entry]) for entry in fresh],
        )
    )
    rows.append(timed([cold] * 5, "open and first query"))
    index.close()
    return [[f"1 subject of {size:,}", *row] for row in rows]


def many_subjects(folder: Path, subjects: int, size: int) -> list[list[str]]:
    """Return rows for many subjects of `size` memories each."""
    matrix = directions(subjects * size, seed=4).reshape(subjects, size, DIMENSIONS)
    index = SqliteIndex(folder)
    index.ensure(DIMENSIONS, "cosine", "bench")
    names = [Subject(tenant_id="bench", subject_id=f"user {n}") for n in range(subjects)]
    for name, vectors in zip(names, track(matrix, description="Writing", transient=True), strict=True):
        index.upsert(entries(name, vectors))
    index.close()
    pairs = list(zip(names, directions(subjects, seed=5), strict=True))

    asks = [partial(index.query, query, Where(name), LIMIT) for name, query in pairs]
    rows = [
        timed([partial(floor, vectors, q) for vectors, (_, q) in zip(matrix, pairs, strict=True)], "numpy in memory"),
        timed(asks, "first query of a subject"),
        timed(asks, "query again"),
    ]
    index.close()
    return [[f"{subjects:,} subjects of {size:,}", *row] for row in rows]


def _write(folder: Path, writer: int, writers: int, count: int) -> tuple[float, float]:
    """Write one entry a call over 200 subjects, in a process of its own, and return from when to when it wrote."""
    index = SqliteIndex(folder)
    index.ensure(DIMENSIONS, "cosine", "bench")
    vectors = directions(count, seed=10 + writer)
    subjects = [Subject(tenant_id="bench", subject_id=f"user {n}") for n in range(200)]
    [blank] = entries(subjects[0], vectors[:1])
    todo = [
        replace(blank, subject=subjects[n % 200], key=uuid.uuid4(), memory_id=uuid.uuid4(), vector=v)
        for n, v in enumerate(vectors, writer * 50)
    ]
    (folder / f"ready-{writer}").touch()
    while len(list(folder.glob("ready-*"))) < writers:
        time.sleep(0.001)
    start = time.time()
    for entry in todo:
        index.upsert([entry])
    end = time.time()
    index.close()
    return start, end


def writing(folder: Path, writers: int, count: int) -> str:
    """Return the upserts a second of that many processes together, one entry a call."""
    folder.mkdir()
    each = count // writers
    with ProcessPoolExecutor(writers, mp_context=multiprocessing.get_context("spawn")) as pool:
        spans = list(pool.map(_write, [folder] * writers, range(writers), [writers] * writers, [each] * writers))
    index = SqliteIndex(folder)
    index.ensure(DIMENSIONS, "cosine", "bench")
    if index.count() != each * writers:
        raise RuntimeError(f"{each * writers - index.count()} of {each * writers} entries were lost")
    index.close()
    return f"{each * writers / (max(end for _, end in spans) - min(start for start, _ in spans)):,.0f}"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(title=title)
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number < len(head) - 3 else "right")
    for row in rows:
        table.add_row(*row)
    return table


def main(
    small: Annotated[bool, typer.Option("--small", help="a tenth of everything, in some seconds")] = False,
    folder: Annotated[
        Path | None, typer.Option(help="where to put the index: the disk to be measured [default: a temporary folder]")
    ] = None,
) -> None:
    """Measure searches in a subject of 10,000 memories and in 1,000 subjects of 100, beside exact numpy in memory as
    the floor, and the upserts a second of 1 and of 4 processes that write one entry a call.

    Times are wall-clock milliseconds, with the mean CPU time beside them for a machine that others use too.
    """
    share = 10 if small else 1
    with tempfile.TemporaryDirectory(dir=folder) as made:
        base = Path(made)
        rows = big_subject(base / "big", 10_000 // share, 300 // share)
        rows += many_subjects(base / "many", 1_000 // share, 100)
        speeds = [[str(n), writing(base / f"writers-{n}", n, 8_000 // share)] for n in WRITERS]
    console = Console()
    console.print(_table(f"Top {LIMIT}, exact", ["entries", "what", "p50 ms", "p95 ms", "CPU ms"], rows))
    speed = Table("processes", "upserts/s", title="Writing one entry a call")
    for row in speeds:
        speed.add_row(*row)
    console.print(speed)
    console.print(f"python -m benchmarks.search {' '.join(sys.argv[1:])}".rstrip())


if __name__ == "__main__":
    typer.run(main)
