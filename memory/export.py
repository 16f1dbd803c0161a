"""Memories as JSON lines, to carry them from one catalog to another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from memory.document_export import document_lines
from memory.export_lines import FORMAT, encoded
from memory.item_export import item_lines
from policies.access import belongs_to_whole
from schema import Memory, Seen, Status, Subject
from schema.control_characters import escaped_in_json
from stores.open import Stores

_MEMORIES_AT_A_TIME = 200
_ALL = 10**9


def export(
    stores: Stores, *, subject: Subject | None = None, vectors: bool = False, seen: tuple[Seen, ...] | None = None
) -> Iterator[str]:
    """Yield one line of what this is, then one for each memory, whatever its status, with the raw turns that it came
    from, and its vector if asked for, one for each item of the store, and one for each document; of one subject or of
    all. `seen` is what somebody sees who asks for all that is known, None for an operator: what is another person's
    alone is left out, and so are documents that they do not see."""
    yield _line({"afterturn": FORMAT, "model": stores.embedder.name if vectors else None})
    for whose in [subject] if subject else stores.catalog.every_subject():
        known = stores.catalog.list_memories(whose, statuses=tuple(Status), limit=_ALL)
        memories = [memory for memory in known if belongs_to_whole(seen, memory.labels, whose)]
        for start in range(0, len(memories), _MEMORIES_AT_A_TIME):
            page = memories[start : start + _MEMORIES_AT_A_TIME]
            vector_of = {entry.memory_id: entry.vector for entry in _entries(whose, page, stores)} if vectors else {}
            turns = {turn.turn_id: turn for turn in stores.catalog.sources(whose, _turn_ids(page))}
            for memory in page:
                sources = [turns[id_] for id_ in memory.source_turn_ids if id_ in turns]
                yield _line(
                    {
                        "memory": memory.model_dump(mode="json", exclude_defaults=True),
                        "sources": [turn.model_dump(mode="json", exclude_none=True) for turn in sources],
                        "vector": encoded(vector_of[memory.id]) if memory.id in vector_of else None,
                    }
                )
        yield from map(_line, item_lines(whose, stores, datetime.now(UTC)))
        yield from map(_line, document_lines(whose, stores, seen))


def _entries(subject: Subject, memories: list[Memory], stores: Stores) -> list[Any]:
    return stores.index.fetch(subject, [memory.index_key for memory in memories])


def _turn_ids(memories: list[Memory]) -> list[str]:
    return sorted({id_ for memory in memories for id_ in memory.source_turn_ids})


def _line(value: dict[str, Any]) -> str:
    return escaped_in_json(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
