"""Read at once, as of one moment, what is known of a subject when turns of it are taken from the mailbox."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import CompoundSelect, Engine, Text, cast, literal, null, select, type_coerce, union_all

import stores.catalog.tables as tables
from schema import Context, Memory, Scope, Subject, Tombstone
from stores.batching import Batcher, each_alone_on_failure
from stores.catalog.context import PARTS, context_from, parameters
from stores.catalog.provisional import NOTED_IN_TURNS
from stores.catalog.rows import memory_of
from stores.catalog.statements import any_of, of_bound_subject
from stores.catalog.store import AnyRow, Reader

_ledger, _tombstones, _memories = tables.ledger, tables.tombstones, tables.memories
_READ: CompoundSelect[Any] = union_all(
    *PARTS,
    select(literal("processed"), _ledger.c.turn_id, _ledger.c.digest, null()).where(
        of_bound_subject(_ledger), _ledger.c.turn_id.in_(any_of("turns"))
    ),
    select(literal("erased"), _tombstones.c.scope, _tombstones.c.key, type_coerce(_tombstones.c.at, Text)).where(
        of_bound_subject(_tombstones)
    ),
    select(literal("noted"), null(), cast(_memories.c.document, Text), null()).where(
        _memories.c.id.in_(NOTED_IN_TURNS)
    ),
)
"""As one statement: each by itself takes a connection and, where the database is a server, a way there and back."""


@dataclass(frozen=True)
class BeforeBatch:
    """State of the catalog that a batch of turns is looked at with."""

    noted: list[Memory]
    """The memories that the hot path noted of the turns and nobody has settled."""
    processed: dict[str, str]
    """The digests of those of the turns that are in the ledger, by turn_id."""
    tombstones: list[Tombstone]
    """The marks of what of the subject was erased."""
    context: Context
    """The context that earlier batches left."""


class BeforeBatches(Reader):
    """Reads what comes before the batches of all subjects, on one connection for all that wait at a moment. Safe to
    call from many threads and processes."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._batcher: Batcher[Mapping[str, Any], Sequence[AnyRow]] = Batcher(each_alone_on_failure(self._read))

    def of(
        self,
        subject: Subject,
        turn_ids: Sequence[str],
        conversation_ids: Iterable[str],
        *,
        topics_since: datetime,
        questions_since: datetime,
    ) -> BeforeBatch:
        """Return what these turns of a subject, of these conversations, are looked at with; of their context what is
        not older than two moments."""
        asked = parameters(subject, conversation_ids, topics_since=topics_since, questions_since=questions_since)
        rows = [tuple(row) for row in self._batcher.do(asked | {"turns": list(turn_ids)})]
        noted = (memory_of(json.loads(document)) for kind, _, document, _ in rows if kind == "noted")
        return BeforeBatch(
            noted=sorted(noted, key=lambda memory: memory.id),
            processed={turn_id: digest for kind, turn_id, digest, _ in rows if kind == "processed"},
            tombstones=[
                Tombstone(Scope(scope), key, datetime.fromisoformat(at))
                for kind, scope, key, at in rows
                if kind == "erased"
            ],
            context=context_from(rows),
        )

    def _read(self, asked: Sequence[Mapping[str, Any]]) -> list[Sequence[AnyRow]]:
        # Whoever waits came after their subject's last commit, so no statement here reads what was before it.
        with self._engine.connect() as connection:
            return [connection.execute(_READ, parameters_of_one).all() for parameters_of_one in asked]
