"""A worker in process, on real parts, and what tests ask of them."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from sqlalchemy import update

from memory.events import stream_key
from memory.leases import LeaseKeeper
from schema import Memory, Status, Subject, Turn
from stores.catalog.engine import create_catalog_engine
from stores.catalog.statements import of_subject
from stores.catalog.tables import index_jobs, ledger, metadata
from stores.index.base import Hit, Where
from stores.mailbox import key_of
from stores.queue import DEAD_LETTER_QUEUE
from tests.turns import a_turn
from worker.context import WorkerContext
from worker.drain import drain

EVERYTHING = tuple(Status)


@dataclass(frozen=True)
class Worker:
    """A worker's parts, and what a test asks of them."""

    context: WorkerContext
    leases: LeaseKeeper

    def park(self, *turns: dict[str, Any]) -> None:
        for turn in turns:
            self.context.mailbox.append(Turn.model_validate(turn), 5)

    def work(self, whose: Subject) -> None:
        drain(whose, self.context, self.leases)

    def hear(self, user: str, *said: str, first: int = 0, **fields: Any) -> None:
        """Turns of one user that are taken together, the first one numbered `first`."""
        turns = [a_turn(user, number, text) | fields for number, text in enumerate(said, start=first)]
        self.park(*turns)
        self.work(Turn.model_validate(turns[0]).subject)

    def known(self, whose: Subject, *statuses: Status) -> list[Memory]:
        return self.context.catalog.list_memories(whose, statuses=statuses or (Status.ACTIVE,))

    def state(self, whose: Subject) -> list[Memory]:
        return sorted(self.known(whose, *EVERYTHING), key=lambda memory: memory.id)

    def outcomes(self, whose: Subject) -> dict[str, str]:
        return {row["turn_id"]: row["outcome"] for row in self.rows("ledger", whose)}

    def audited(self, whose: Subject) -> list[str]:
        return [row["action"] for row in self.rows("audit", whose)]

    def rows(self, table: str, whose: Subject) -> list[dict[str, Any]]:
        """A subject's rows of a table, by their key: Postgres alone may give them in any order."""
        it = metadata.tables[table]
        engine = create_catalog_engine(self.context.settings.effective_catalog_url)
        with closing(engine.connect()) as connection:
            mine = (it.c.tenant_id == whose.tenant_id) & (it.c.subject_id == whose.subject_id)
            found = [
                dict(row) for row in connection.execute(it.select().where(mine).order_by(*it.primary_key)).mappings()
            ]
        engine.dispose()
        return found

    def everywhere(self, whose: Subject) -> str:
        """All that any table of the catalog has of a subject."""
        return "\n".join(
            str(self.rows(name, whose)) for name, table in metadata.tables.items() if "subject_id" in table.c
        )

    def indexed(self, whose: Subject) -> list[Status]:
        entries = self.context.index.fetch(whose, [memory.index_key for memory in self.known(whose, *EVERYTHING)])
        return sorted(entry.status for entry in entries)

    def hits(self, whose: Subject, query: str) -> list[Hit]:
        [vector] = self.context.embedder.embed([query])
        return self.context.index.query(vector, Where(whose, statuses=EVERYTHING), 10)

    def events(self, whose: Subject) -> list[dict[str, Any]]:
        found = cast(list[tuple[bytes, dict[bytes, bytes]]], self.context.redis.xrange(stream_key(whose)))
        return [{key.decode(): value.decode() for key, value in fields.items()} for _, fields in found]

    def event_names(self, whose: Subject) -> list[str]:
        return [event["event"] for event in self.events(whose)]

    def dead_letters(self) -> list[dict[str, Any]]:
        messages = [json.loads(message) for message in self.context.redis.lrange(DEAD_LETTER_QUEUE, 0, -1)]
        return [json.loads(base64.b64decode(message["body"]))[0][0] for message in reversed(messages)]

    def lose_lease(self, whose: Subject) -> None:
        """As if the worker that holds it had died some time ago."""
        self.context.redis.delete(key_of(whose, "lease"))

    def lose_index_jobs(self, whose: Subject) -> None:
        """As if whoever took the subject's index jobs had died some time ago."""
        engine = create_catalog_engine(self.context.settings.effective_catalog_url)
        with engine.begin() as connection:
            long_ago = datetime.now(UTC) - timedelta(hours=1)
            connection.execute(update(index_jobs).where(of_subject(index_jobs, whose)).values(taken_at=long_ago))
        engine.dispose()

    def note_digest(self, whose: Subject, digest: str) -> None:
        """As if the ledger knew the subject's turns by another digest."""
        engine = create_catalog_engine(self.context.settings.effective_catalog_url)
        with engine.begin() as connection:
            connection.execute(update(ledger).where(of_subject(ledger, whose)).values(digest=digest))
        engine.dispose()

    def wait_over(self, whose: Subject) -> None:
        """As if the time for which the subject backs off had passed."""
        assert self.context.redis.delete(key_of(whose, "retry")) == 1

    def files(self) -> dict[str, bytes]:
        folder = self.context.settings.data_dir
        return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    def with_parts(self, **context: Any) -> Worker:
        return Worker(replace(self.context, **context), self.leases)


def on_every_store(metafunc: pytest.Metafunc) -> None:
    """A module's `pytest_generate_tests`: all stores keep its promises; those of its own bytes are the embedded
    one's."""
    if "worker" in metafunc.fixturenames:
        _on_stores(metafunc, "postgres")


def on_every_store_at_length(metafunc: pytest.Metafunc) -> None:
    """As `on_every_store`, but on Postgres in the long tests: for what happens above the stores, of which the suites of
    the catalog, the index, the pipeline and erasure always ask for the same on both."""
    if "worker" in metafunc.fixturenames:
        _on_stores(metafunc, pytest.param("postgres", marks=pytest.mark.long))


def _on_stores(metafunc: pytest.Metafunc, postgres: object) -> None:
    stores = ["sqlite"] if "alone" in metafunc.fixturenames else ["sqlite", postgres]
    metafunc.parametrize("worker", stores, indirect=True, scope="module")


def only(memories: Sequence[Memory]) -> Memory:
    [memory] = memories
    return memory
