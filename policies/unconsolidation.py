"""Take consolidated memories apart: what is left of them, and of what they were made of, when some are erased."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from policies.consolidation import consolidated, in_order, retell
from schema import Memory, Policy, Status


@dataclass(frozen=True)
class Aftermath:
    """Effects of an erasure beside deleting what it was asked to: `deleted` go too, `changed` are written anew. It may
    not be done if any are `held`."""

    deleted: tuple[Memory, ...]
    changed: tuple[Memory, ...]
    held: tuple[uuid.UUID, ...] = ()
    """Memories under legal hold that it would remove, or that were made of what it removes."""


def without(
    doomed: Collection[uuid.UUID], family: Mapping[uuid.UUID, Memory], now: datetime, policy: Policy
) -> Aftermath:
    """Return what becomes of consolidated memories and their originals when some memories are erased.

    `family` are the doomed ones, what they were made of, what was made of them, and what else that was made of; and
    what is under legal hold, which stays as it is. With a consolidated memory go its originals, and with what was left
    of a superseded one that: they say the same. A consolidated one that loses an original is told anew by those that
    are left; one of which fewer than two are left goes, and the one left is active again.
    """
    gone = {id_: family[id_] for id_ in doomed if id_ in family}
    for memory in list(gone.values()):
        gone |= {id_: family[id_] for id_ in memory.consolidated_from if id_ in family}
    for memory in list(gone.values()):
        gone |= {id_: family[id_] for id_ in memory.merged_from if id_ in family}
    wholes = {memory.consolidated_into for memory in gone.values() if memory.consolidated_into} - gone.keys()
    changed: list[Memory] = []
    for whole in (family[id_] for id_ in sorted(wholes) if id_ in family):
        remaining = in_order(family[id_] for id_ in whole.consolidated_from if id_ in family and id_ not in gone)
        if anew := _retold(whole, remaining, now, policy):
            changed.append(anew)
        else:
            gone[whole.id] = whole
            changed += [apart(memory, now) for memory in remaining]
    held = (memory for memory in family.values() if memory.legal_hold)
    kept = (memory.id for memory in held if gone.keys() & {memory.id, *memory.consolidated_from})
    return Aftermath(tuple(gone.values()), tuple(changed), tuple(sorted(kept)))


def apart(memory: Memory, now: datetime) -> Memory:
    """Return an original as it was before it became a part of another memory; it is not made a part again."""
    return memory.model_copy(
        update={
            "status": Status.ACTIVE,
            "consolidated_into": None,
            "apart": True,
            "updated_at": now,
            "version": memory.version + 1,
        }
    )


def _retold(whole: Memory, remaining: Sequence[Memory], now: datetime, policy: Policy) -> Memory | None:
    """Return a consolidated memory without one of its originals, in the sentences of the others: as many of the most
    important as fit."""
    chosen = list(remaining)
    while len(chosen) > 1 and (summary := retell(chosen, policy)) is None:
        chosen.remove(min(chosen, key=lambda memory: (memory.importance, memory.occurred_at)))
    if len(remaining) < 2 or len(chosen) < 2 or summary is None:
        return None
    anew = consolidated(remaining, summary, now, policy, embedding_model=whole.embedding_model)
    kept = ("id", "status", "created_at", "last_accessed", "access_count", "pinned", "explicit", "legal_hold")
    as_it_was = {name: getattr(whole, name) for name in kept}
    return anew.model_copy(update={**as_it_was, "version": whole.version + 1})
