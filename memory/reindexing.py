"""Builds an index from the catalog: for a new index, for a new embedder, or because the old one was lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from memory.catalog.moves import Written
from memory.index.base import Entry
from memory.schema import Memory, Status, Subject, index_key
from memory.stores import Stores

_SUBJECTS_A_PAGE = 100
_MEMORIES_A_CALL = 256
_EVERY_STATUS = tuple(Status)
_ALL = 10**9


def target_of(stores: Stores) -> str:
    """The index of the settings, as the catalog knows it by name."""
    return f"{stores.settings.index}:{stores.settings.index_name}"


def reindex(stores: Stores, progress: Callable[[int], None] = lambda _: None) -> int:
    """Put all memories into the index of the settings, and then what was written meanwhile; answers how many the first
    was. Begins where an earlier call to the same index and model was broken off. `progress` hears the number so far.

    The fleet may work on, with these settings or with others.
    """
    moves, target = stores.catalog.moves, target_of(stores)
    move = moves.begin(target, stores.embedder.name, datetime.now(UTC))
    done, cursor = move.done, move.cursor
    progress(done)
    while move.finished_at is None and (page := stores.catalog.list_subjects(after=cursor, limit=_SUBJECTS_A_PAGE)):
        for subject in page:
            done += _index_all_of(subject, stores)
            progress(done)
        cursor = page[-1]
        moves.checkpoint(target, cursor, done)
    catch_up(stores)
    moves.finish(target, datetime.now(UTC))
    return done


def catch_up(stores: Stores) -> int:
    """Tell the index of the settings what was written since the move began, and answer how much that was."""
    told = 0
    while written := stores.catalog.moves.written():
        for subject, of_subject in _by_subject(written):
            _tell(subject, of_subject, stores)
        stores.catalog.moves.strike(written)
        told += len(written)
    return told


def _by_subject(written: Sequence[Written]) -> list[tuple[Subject, list[Written]]]:
    found: dict[Subject, list[Written]] = defaultdict(list)
    for one in written:
        found[one.subject].append(one)
    return list(found.items())


def _tell(subject: Subject, written: Sequence[Written], stores: Stores) -> None:
    memories = stores.catalog.memories(subject, {one.memory_id for one in written})
    gone = {index_key(subject.subject_id, one.type, one.memory_id) for one in written if one.memory_id not in memories}
    _upsert(list(memories.values()), stores)
    if gone:
        stores.index.delete(subject, sorted(gone))


def _index_all_of(subject: Subject, stores: Stores) -> int:
    memories = stores.catalog.list_memories(subject, statuses=_EVERY_STATUS, limit=_ALL)
    _upsert(memories, stores)
    return len(memories)


def _upsert(memories: Sequence[Memory], stores: Stores) -> None:
    for start in range(0, len(memories), _MEMORIES_A_CALL):
        some = memories[start : start + _MEMORIES_A_CALL]
        vectors = stores.embedder.embed([memory.summary for memory in some])
        stores.index.upsert([Entry.of(*pair) for pair in zip(some, vectors, strict=True)])
