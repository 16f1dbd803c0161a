"""Measure the stores of vectors beside each other and beside exact numpy: many rows, four writers, filtered searches.

    python -m benchmarks.stores [--small]

Amazon S3 Vectors, Qdrant and Weaviate are not here: only stand-ins of them can be run from packages, and how long a
stand-in takes says nothing of the service.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated

# For numpy here and numpy in the stores alike: with a thread for each core a product of this size takes longer.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, track
from rich.table import Table

from benchmarks.search import directions
from benchmarks.stores_parts import (
    LIMIT,
    WRITERS,
    Sizes,
    Store,
    filtered,
    filtered_floor,
    floor,
    memory_of,
    passing,
    postgres_of_our_own,
    subject,
    vectors_of,
    write,
)
from stores.index.base import Index, Vector, Where

KINDS = ("sqlite", "pgvector")
_OF_THE_LARGEST = 100


@dataclass(frozen=True)
class Ask:
    """A search, and the places of the subject's vectors that numpy answers it by."""

    number: int
    query: Vector
    where: Where
    exact: Callable[[], NDArray[np.intp]]

    def is_answered_by(self, index: Index) -> bool:
        """Return whether the index finds what numpy finds."""
        found = {hit.memory_id for hit in index.query(self.query, self.where, LIMIT)}
        return found == {memory_of(self.number, int(place)) for place in self.exact()}


@dataclass(frozen=True)
class Times:
    """Milliseconds of one kind of search: wall clock at the median and at 95%, and the mean CPU of this process."""

    p50: float
    p95: float
    cpu: float


def asks(sizes: Sizes, queries: int) -> dict[str, list[Ask]]:
    """Return what is asked, by what it shows."""
    chance = np.random.default_rng(3)
    chosen = chance.choice(np.arange(1, sizes.subjects), min(queries, sizes.subjects - 1), replace=False)
    many = [(int(number), query) for number, query in zip(chosen, directions(len(chosen), seed=5), strict=True)]
    largest = [(0, query) for query in directions(min(queries, _OF_THE_LARGEST), seed=6)]
    once = {number: vectors_of(number, sizes) for number, _ in (*many, largest[0])}
    whole, narrow = ([make(number, query, once[number]) for number, query in many] for make in (_all_of, _some_of))
    return {
        f"{sizes.of(1):,}, first search": whole,
        f"{sizes.of(1):,}, again": whole,
        f"{sizes.of(1):,}, filtered": narrow,
        f"{sizes.largest:,}": [_all_of(*one, once[0]) for one in largest],
        f"{sizes.largest:,}, filtered": [_some_of(*one, once[0]) for one in largest],
    }


def _all_of(number: int, query: Vector, matrix: NDArray[np.float32]) -> Ask:
    return Ask(number, query, Where(subject(number)), partial(floor, matrix, query))


def _some_of(number: int, query: Vector, matrix: NDArray[np.float32]) -> Ask:
    return Ask(number, query, filtered(number), partial(filtered_floor, matrix, passing(len(matrix)), query))


def timed(actions: Sequence[Callable[[], object]], what: str) -> Times:
    wall, cpu = [], []
    for action in track(actions, description=what, transient=True):
        started = time.perf_counter(), time.process_time()
        action()
        wall.append(1e3 * (time.perf_counter() - started[0]))
        cpu.append(1e3 * (time.process_time() - started[1]))
    return Times(float(np.quantile(wall, 0.5)), float(np.quantile(wall, 0.95)), float(np.mean(cpu)))


def searched(store: Store, asked: dict[str, list[Ask]], least: dict[str, Times]) -> Iterator[list[str]]:
    """Return a row for each kind of search."""
    index = store.open()
    for kind, searches in asked.items():
        times = timed(
            [partial(index.query, search.query, search.where, LIMIT) for search in searches],
            f"searching {store.kind}: {kind}",
        )
        right = sum(search.is_answered_by(index) for search in searches) / len(searches)
        yield _row(store.kind, kind, times, f"{times.p50 / least[kind].p50:.0f} x", f"{right:.0%}")
    index.close()


def _row(name: str, what: str, times: Times, ratio: str, right: str) -> list[str]:
    return [what, name, f"{times.p50:.2f}", f"{times.p95:.2f}", f"{times.cpu:.2f}", ratio, right]


def filled(store: Store, sizes: Sizes, single: int) -> list[str]:
    """Return a row for the writing of a store."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, transient=True) as bar:
        task = bar.add_task(f"filling {store.kind}", total=sizes.total)
        bulk, alone = write(store, sizes, single=single, progress=lambda rows: bar.update(task, completed=rows))
    index = store.open()
    there, wanted = index.count(), sizes.total + single // WRITERS * WRITERS
    index.close()
    if there != wanted:
        raise RuntimeError(f"{store.kind} has {there} of the {wanted} entries that were written")
    return [store.kind, f"{bulk:,.0f}", f"{alone:,.0f}"]


def main(
    vectors: Annotated[int, typer.Option(help="how many in all, of 384 numbers", min=2_000)] = 1_000_000,
    subjects: Annotated[int, typer.Option(help="how many users they belong to", min=20)] = 10_000,
    largest: Annotated[int, typer.Option(help="how many of them one user has", min=1_000)] = 10_000,
    small: Annotated[bool, typer.Option("--small", help="12,000 vectors of 200 users, in a minute")] = False,
    only: Annotated[str, typer.Option(help="the stores, separated by commas")] = ",".join(KINDS),
    postgres: Annotated[
        str, typer.Option(help="URL of an empty database of yours with pgvector, instead of one out of a package")
    ] = "",
    folder: Annotated[Path | None, typer.Option(help="the disk to be measured [default: a temporary folder]")] = None,
) -> None:
    """Fill each store with vectors of many users by 4 processes, a user's 100 entries a call, then one a call; search
    users of some 100 memories and the largest one, with and without filters; and do the same in numpy in memory, the
    least that an exact search can take.

    Times are wall-clock milliseconds, at the median and at 95%, beside the mean CPU time of the searching process (that
    of Postgres is its own and not in it). `x numpy` compares medians of one run, so it holds on any machine. `right` is
    the share of searches whose ten hits are numpy's.

    A million vectors take 2 GB of disk in SQLite and 4 in Postgres, 3 GB of memory, and a quarter of an hour.
    """
    sizes = Sizes(12_000, 200, 2_000) if small else Sizes(vectors, subjects, largest)
    single, queries = (400, 100) if small else (4_000, 500)
    asked = asks(sizes, queries)
    least = {kind: timed([search.exact for search in searches], f"numpy: {kind}") for kind, searches in asked.items()}
    rows = [_row("numpy", kind, times, "1 x", "100%") for kind, times in least.items()]
    written = []
    with ExitStack() as stack:
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=folder)))
        for kind in only.split(","):
            if kind == "pgvector":
                url = postgres or stack.enter_context(postgres_of_our_own(base / "postgres"))
                store = Store("pgvector", url)
            elif kind == "sqlite":
                store = Store("sqlite", str(base / "sqlite"))
            else:
                raise typer.BadParameter(f"{kind}: the stores are {', '.join(KINDS)}")
            written.append(filled(store, sizes, single))
            rows += searched(store, asked, least)
    _print(sizes, sorted(rows, key=lambda row: list(asked).index(row[0])), written)


def _print(sizes: Sizes, rows: Sequence[Sequence[str]], written: Sequence[Sequence[str]]) -> None:
    console = Console()
    table = Table(title=f"Top {LIMIT} of a user, {sizes.total:,} vectors of {sizes.subjects:,} users")
    for name in ("memories of the user", "store", "p50 ms", "p95 ms", "CPU ms", "x numpy", "right"):
        table.add_column(name, justify="left" if name in {"memories of the user", "store"} else "right")
    for number, row in enumerate(rows):
        table.add_row(*row, end_section=number + 1 < len(rows) and rows[number + 1][0] != row[0])
    console.print(table)
    speed = Table("store", "rows/s, 100 a call", "rows/s, one a call", title=f"{WRITERS} processes that write")
    for row in written:
        speed.add_row(*row)
    console.print(speed)
    console.print(f"python -m benchmarks.stores {' '.join(sys.argv[1:])}".rstrip())


if __name__ == "__main__":
    typer.run(main)
