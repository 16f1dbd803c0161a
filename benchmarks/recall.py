"""Measure the ways out in one subject: retrieval, the context block and the tools of agents, beside the bare embedder.

    python -m benchmarks.recall [--postgres] [--size 100 --size 1000 --size 10000]

The embedder is the real one. A row's ratio is its median to that of embedding one question, in the same run; "as the
user" asks for a principal, whose rights are in the query, and "as an operator" without.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from benchmarks.hybrid import BIG, memories
from benchmarks.search import directions, timed
from benchmarks.stores_parts import postgres_of_our_own
from interfaces.local.broker import embedded_broker
from memory.context import MemoryContext, open_memory
from memory.publish import publish
from recall.context_block import context_block
from recall.retrieve import retrieve
from recall.tools import TOOLS, Failure, Tool, ToolContext, call
from schema import Capability, Memory, Principal
from schema.settings import Settings
from stores.catalog import Changes
from stores.catalog.engine import create_catalog_engine
from stores.catalog.revisions import migrate
from tests.conftest import free_port

_A_COMMIT = 500
_USER = Principal(tenant_id=BIG.tenant_id, user_id=BIG.subject_id, capabilities=frozenset(Capability), key_id="bench")


def main(
    sizes: Annotated[list[int], typer.Option("--size", help="memories of the subject; may be given several times")] = [  # noqa: B006
        100,
        1_000,
        10_000,
    ],
    queries: Annotated[int, typer.Option(help="how many calls of each are timed", min=10)] = 50,
    on_postgres: Annotated[
        bool, typer.Option("--postgres", help="catalog and pgvector in a Postgres of our own")
    ] = False,
) -> None:
    """Measure each way out of a subject: wall-clock milliseconds at the median and at 95%, and mean CPU time."""
    console = Console()
    where = "Postgres with pgvector" if on_postgres else "SQLite"
    table = Table("memories", "what", "p50 ms", "p95 ms", "CPU ms", "ratio", title=where, title_justify="left")
    with _opened(on_postgres) as context:
        written = 0
        for size in sorted(sizes):
            for start in range(written, size, _A_COMMIT):
                _write(memories(min(_A_COMMIT, size - start), start), context)
            written = size
            rows = [timed(actions, what) for what, actions in _actions(context, queries)]
            least = float(rows[0][1])
            for row in rows:
                table.add_row(f"{size:,}", *row, f"{float(row[1]) / least:.1f}")
    console.print(table)


def _actions(context: MemoryContext, queries: int) -> Iterator[tuple[str, list[Callable[[], object]]]]:
    now = datetime.now(UTC)
    known = memories(queries, first=7)
    asked = [" ".join(memory.summary.split()[1:7]) for memory in known]
    tool = ToolContext(principal=_USER, subject=BIG, memory=context, now=now)

    def tools(name: str, arguments: list[dict[str, object]]) -> list[Callable[[], object]]:
        return [partial(_succeed, TOOLS[name], given, tool) for given in arguments]

    retrieve(_USER, [BIG], asked[0], context, now=now)
    yield "embed a question", [partial(context.embedder.embed, [question]) for question in asked]
    yield "retrieve, as an operator", [partial(retrieve, None, [BIG], question, context, now=now) for question in asked]
    yield "retrieve, as the user", [partial(retrieve, _USER, [BIG], question, context, now=now) for question in asked]
    yield "context block", [partial(context_block, _USER, [BIG], question, context, now=now) for question in asked]
    yield "search_memory", tools("search_memory", [{"query": question} for question in asked])
    yield "get_memory", tools("get_memory", [{"memory_id": str(memory.id)} for memory in known])
    yield (
        "create_memory",
        tools(
            "create_memory",
            [
                {"memory_type": "user_fact", "content": f"Ana likes {uuid.uuid4().hex} {question}."}
                for question in asked
            ],
        ),
    )


def _write(written: Sequence[Memory], context: MemoryContext) -> None:
    vectors = directions(len(written), seed=len(written))
    changes = Changes(subject=BIG, at=written[0].created_at, created=tuple(written))
    publish(changes, {memory.id: vector for memory, vector in zip(written, vectors, strict=True)}, context)


def _succeed(tool: Tool[Any], arguments: dict[str, object], context: ToolContext) -> None:
    answer = call(tool, arguments, context)
    if isinstance(answer, Failure):
        raise typer.BadParameter(f"{tool.name}: {answer.message}")


@contextmanager
def _opened(on_postgres: bool) -> Iterator[MemoryContext]:
    with tempfile.TemporaryDirectory() as name:
        folder, url = Path(name), f"redis://127.0.0.1:{free_port()}/0"
        with embedded_broker(url, folder / "broker"):
            settings = Settings(data_dir=folder / "data", broker_url=url)
            if not on_postgres:
                with closing(open_memory(settings)) as context:
                    yield context
                return
            with postgres_of_our_own(folder / "postgres") as database:
                engine = create_catalog_engine(database)
                migrate(engine)
                engine.dispose()
                there = settings.model_copy(update={"catalog_url": database, "index": "pgvector"})
                with closing(open_memory(there)) as context:
                    yield context


if __name__ == "__main__":
    typer.run(main)
