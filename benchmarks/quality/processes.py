"""The pieces of work, spread over processes with stores of their own."""

from __future__ import annotations

import multiprocessing
import os
import socket
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from benchmarks.quality.house import House, open_house, settings_of
from benchmarks.quality.runs import Answers, Piece
from interfaces.local.broker import embedded_broker

_house: list[House] = []
"""The house of this process, where it is one of the pool's."""


def _open(folder: Path, broker_url: str, llm: bool, vectors: Path | None) -> None:
    own = folder / str(os.getpid())
    own.mkdir()
    _house.append(open_house(settings_of(own, broker_url, llm=llm), vectors))


def _run(piece: Piece) -> Answers:
    return piece.run(_house[0])


def run_all(
    pieces: Mapping[str, Sequence[Piece]], *, llm: bool, processes: int, vectors: Path | None, console: Console
) -> dict[str, list[Answers]]:
    """Return what came of every piece, in the order of the pieces."""
    columns = (TextColumn("{task.description:>8}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as made, Progress(*columns, console=console, transient=True) as progress:
        url = f"redis://127.0.0.1:{_free_port()}/0"
        with (
            embedded_broker(url, Path(made, "broker")),
            ProcessPoolExecutor(processes, spawn, _open, (Path(made), url, llm, vectors)) as pool,
        ):
            asked = {}
            for part, some in pieces.items():
                bar = progress.add_task(part, total=sum(piece.size for piece in some), visible=bool(some))
                asked.update({pool.submit(_run, piece): (part, number, bar) for number, piece in enumerate(some)})
            found: dict[tuple[str, int], Answers] = {}
            for future in as_completed(asked):
                part, number, bar = asked[future]
                found[part, number] = future.result()
                progress.update(bar, advance=pieces[part][number].size)
    return {part: [found[part, number] for number in range(len(some))] for part, some in pieces.items() if some}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
