"""Search by windows of conversations and by single facts, where the settings have them: for whom may see
what these are of. Neither is told: they lead to memories and to facts, which are judged once more by themselves."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field

from recall.audience import Audience
from recall.search_stages import search_stage
from schema.selectors import StatedFact
from stores.index.base import Family, Vector, Where
from stores.open import Stores


@dataclass(frozen=True)
class NearTurns:
    """Turns with the cosine of the nearest of their windows, and the memories that came of them with theirs."""

    turns: dict[str, float] = field(default_factory=dict)
    memories: dict[uuid.UUID, float] = field(default_factory=dict)


def turns_near(vector: Vector, audience: Audience, limit: int, stores: Stores) -> NearTurns:
    """Return the turns whose windows are nearest. A window says more than the memories that came of it: it counts only
    for who may read turns, and sees whatever came of the turns in it."""
    if stores.settings.episodic_windows == "off" or not audience.reads_turns:
        return NearTurns()
    subject, catalog = audience.subject, stores.catalog
    where = Where(subject, seen_by=audience.seen or ())
    with search_stage("dense"):
        near = {hit.memory_id: hit.similarity for hit in stores.index_of(Family.WINDOWS).query(vector, where, limit)}
    said_in = catalog.families.turns_of_windows(subject, near)
    made = catalog.memories(
        subject, catalog.erasures.made_of(subject, {id_ for ids in said_in.values() for id_ in ids})
    )
    hidden = {turn_id for memory in made.values() if not audience.sees(memory) for turn_id in memory.source_turn_ids}
    turns: dict[str, float] = {}
    for window_id, turn_ids in said_in.items():
        if hidden.isdisjoint(turn_ids):
            turns[turn_ids[0]] = max(near[window_id], turns.get(turn_ids[0], -1.0))
    cosines = {
        memory.id: [turns[turn_id] for turn_id in memory.source_turn_ids if turn_id in turns]
        for memory in made.values()
    }
    return NearTurns(turns, {id_: max(found) for id_, found in cosines.items() if found})


def facts_near(vector: Vector, audience: Audience, limit: int, stores: Stores) -> list[tuple[StatedFact, float]]:
    """Return the facts of active memories that are nearest, with their cosines, nearest first."""
    if stores.settings.fact_vectors == "off":
        return []
    where = Where(audience.subject, seen_by=audience.seen or ())
    with search_stage("dense"):
        hits = stores.index_of(Family.FACTS).query(vector, where, limit)
    facts = stores.catalog.families.facts(audience.subject, [hit.memory_id for hit in hits])
    return [
        (facts[hit.memory_id], hit.similarity)
        for hit in hits
        if hit.memory_id in facts and audience.sees(facts[hit.memory_id].memory)
    ]
