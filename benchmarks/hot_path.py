"""Measure the hot path in one process: its trigger, and the time from a user's message to `memory.candidate` in the
stream, by rules and with a stand-in for a language model that takes 200 ms.

    python -m benchmarks.hot_path [--turns 200]

The moment of an event is the id that Redis gives its entry, on the clock of this machine.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from benchmarks.turns import make_turns
from interfaces.local.broker import embedded_broker
from memory.context import MemoryContext, open_memory
from memory.events import stream_key
from producers.hot_path import HotPath
from schema import Turn
from schema.settings import Settings
from stores.llm import Reply
from tests.conftest import free_port

_USERS = 50


class WordsBack:
    """A provider that takes its time and proposes the user's own words."""

    name = "words-back"

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        del schema
        time.sleep(self._seconds)
        lines = [line for line in prompt.splitlines() if line.startswith('{"role": "user"')]
        answer = {"should_create": True, "summary": json.loads(lines[-1])["content"], "confidence": 0.9}
        return Reply(json.dumps(answer))


def open_provider(_settings: Settings) -> WordsBack:
    """Return the stand-in, as a plug-in of `AFTERTURN_LLM` does."""
    return WordsBack(float(os.environ["BENCH_LLM_SECONDS"]))


def main(
    turns: Annotated[int, typer.Option(help="messages that are noted, one after the other", min=20)] = 200,
    model_ms: Annotated[float, typer.Option(help="how long the stand-in for a model takes")] = 200.0,
) -> None:
    """Measure the trigger's time and CPU, and message to event."""
    os.environ["BENCH_LLM_SECONDS"] = str(model_ms / 1000)
    table = Table("trigger", "what", "n", "p50 ms", "p95 ms", "CPU ms", title="Hot path", title_justify="left")
    with tempfile.TemporaryDirectory() as name:
        folder, url = Path(name), f"redis://127.0.0.1:{free_port()}/0"
        with embedded_broker(url, folder / "broker"):
            for by, llm in (("rules", "none"), ("model", "benchmarks.hot_path:open_provider")):
                settings = Settings(data_dir=folder / by, broker_url=url, hot_path=by, llm=llm)
                with closing(open_memory(settings)) as context, closing(HotPath(context)) as hot_path:
                    for row in _measured(hot_path, context, _messages(turns, by)):
                        table.add_row(by, *row)
    Console().print(table)


def _messages(count: int, by: str) -> list[Turn]:
    """Return messages that a user has just sent: nobody has answered yet."""
    made = make_turns(count + 20, _USERS, kept=0.8, seed=11)
    return [
        turn.model_copy(update={"messages": turn.messages[:1], "tenant_id": by, "occurred_at": datetime.now(UTC)})
        for turn in made
    ]


def _measured(hot_path: HotPath, context: MemoryContext, turns: list[Turn]) -> list[list[str]]:
    for turn in turns[:20]:
        hot_path.note(turn, by="bench", now=datetime.now(UTC))
    rules, to_event, whole = [], [], []
    for turn in turns[20:]:
        began = (time.perf_counter(), time.process_time())
        hot_path.trigger(turn)
        rules.append((1e3 * (time.perf_counter() - began[0]), 1e3 * (time.process_time() - began[1])))
        sent, began = time.time(), (time.perf_counter(), time.process_time())
        noted = hot_path.note(turn, by="bench", now=datetime.now(UTC))
        whole.append((1e3 * (time.perf_counter() - began[0]), 1e3 * (time.process_time() - began[1])))
        if noted.candidate is not None:
            newest: Any = context.redis.xrevrange(stream_key(turn.subject), count=1)
            [(entry, _)] = newest
            to_event.append((int(entry.decode().partition("-")[0]) - 1e3 * sent, whole[-1][1]))
    return [
        _row("trigger alone", rules),
        _row("message to memory.candidate", to_event),
        _row("message to answer", whole),
    ]


def _row(label: str, times: list[tuple[float, float]]) -> list[str]:
    wall = [wall_and_cpu[0] for wall_and_cpu in times]
    middle, high = np.quantile(wall, [0.5, 0.95])
    return [
        label,
        str(len(times)),
        f"{middle:.1f}",
        f"{high:.1f}",
        f"{np.mean([wall_and_cpu[1] for wall_and_cpu in times]):.1f}",
    ]


if __name__ == "__main__":
    typer.run(main)
