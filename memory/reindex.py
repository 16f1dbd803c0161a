"""Builds an index from the catalog: for a new index, for a new embedder, or because the old one was lost."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from schema import Chunk, Memory, Status, Subject, index_key
from schema.errors import IndexUnbuilt, MoveRefused
from stores.catalog.reindex_jobs import LoggedWrite
from stores.graph import RebuildableGraph
from stores.index.base import Entry
from stores.open import Stores

_SUBJECTS_A_PAGE = 100
_MEMORIES_A_CALL = 256
_EVERY_STATUS = tuple(Status)
_ALL = 10**9
_LOOKED_AT = 32
"""Memories of which an index that was built has at least one; a few may be missing for the sweep to repair."""


def target_of(stores: Stores) -> str:
    """Return the index of the settings, as the catalog knows it by name."""
    return f"{stores.settings.index}:{stores.settings.index_name}"


def reindex(stores: Stores, progress: Callable[[int], None] = lambda _: None) -> int:
    """Put all memories into the index of the settings, and then what was written meanwhile. Returns how many the first
    were. Begins where an earlier call to the same index and model was broken off. `progress` hears the number so far.

    The fleet may work on, with these settings or with others.

    Raises:
        MoveRefused: another process builds one, or a move to another index was not ended.
    """
    with stores.catalog.reindex_jobs.alone():
        return _build(stores, progress)


def finish(stores: Stores) -> int:
    """End the move to the index of the settings: tell it what was written since it was built, and log no more. Returns
    how much that was.

    Raises:
        MoveRefused: another process is at work, the move is to another index, or the index is not built to its end.
    """
    jobs, target = stores.catalog.reindex_jobs, target_of(stores)
    with jobs.alone():
        jobs.refuse_beside(target)
        job = jobs.of(target)
        if job is not None and job.finished_at is None:
            raise MoveRefused(
                f"the index {target} is not built to its end: {job.done} memories are in it. Run `afterturn reindex` "
                "with these settings first"
            )
        told = catch_up(stores)
        jobs.end()
        return told


def give_up(stores: Stores) -> None:
    """End whatever move is under way, and log no more: its index must not be used.

    Raises:
        MoveRefused: another process is at work on it.
    """
    with stores.catalog.reindex_jobs.alone():
        stores.catalog.reindex_jobs.end()


def _build(stores: Stores, progress: Callable[[int], None]) -> int:
    jobs, target = stores.catalog.reindex_jobs, target_of(stores)
    job = jobs.begin(target, stores.embedder.name, datetime.now(UTC), anew=_has_nothing(stores))
    done, cursor = job.done, job.cursor
    progress(done)
    while job.finished_at is None and (page := stores.catalog.list_subjects(after=cursor, limit=_SUBJECTS_A_PAGE)):
        for subject in page:
            done += _index_all_of(subject, stores)
            progress(done)
        cursor = page[-1]
        jobs.checkpoint(target, cursor, done)
    catch_up(stores)
    jobs.finish(target, datetime.now(UTC))
    return done


def regraph(stores: Stores, progress: Callable[[int], None] = lambda _: None) -> int:
    """Let a graph that keeps facts beside the catalog's tables have what the catalog has, and answer of how many
    memories it did not. `progress` hears the number of subjects so far. Begun again, it passes quickly over what is
    right. The fleet may work on.
    """
    if not isinstance(stores.graph, RebuildableGraph):
        return 0
    mended = seen = 0
    cursor: Subject | None = None
    while page := stores.catalog.list_subjects(after=cursor, limit=_SUBJECTS_A_PAGE):
        for subject in page:
            mended += stores.graph.rebuild(subject)
            seen += 1
            progress(seen)
        cursor = page[-1]
    return mended


def must_be_built(stores: Stores) -> None:
    """Refuse an index that does not have what the catalog has: who worked with it would not find what is known, and
    keep it twice.

    Raises:
        IndexUnbuilt: `reindex` is under way or was broken off, or it was never begun.
    """
    target = target_of(stores)
    job = stores.catalog.reindex_jobs.of(target)
    if job is not None and job.finished_at is None:
        raise IndexUnbuilt(
            f"the index {target} is being built: {job.done} memories are in it. Wait until `afterturn reindex` is "
            "through (run it again, with these settings, if it was broken off), or set AFTERTURN_INDEX and "
            "AFTERTURN_INDEX_NAME to the index that serves"
        )
    if _has_nothing(stores):
        raise IndexUnbuilt(
            f"the index {target} has nothing of what the catalog has. Run `afterturn reindex` with these settings, or "
            "set AFTERTURN_INDEX and AFTERTURN_INDEX_NAME to the index that serves"
        )


def _has_nothing(stores: Stores) -> bool:
    """Return whether there are memories that it was told of, and the index has none of them."""
    sample = stores.catalog.reindex_jobs.some_memories(_LOOKED_AT)
    by_subject: dict[Subject, list[uuid.UUID]] = defaultdict(list)
    for subject, type_, id_ in sample:
        by_subject[subject].append(index_key(subject.subject_id, type_, id_))
    return bool(sample) and not any(stores.index.fetch(subject, keys) for subject, keys in by_subject.items())


def catch_up(stores: Stores) -> int:
    """Tell the index of the settings what was written since the job began, and answer how much that was."""
    count = 0
    while written := stores.catalog.reindex_jobs.written():
        for subject, of_subject in _by_subject(written):
            _tell(subject, of_subject, stores)
        stores.catalog.reindex_jobs.mark_done(written)
        count += len(written)
    return count


def _by_subject(written: Sequence[LoggedWrite]) -> list[tuple[Subject, list[LoggedWrite]]]:
    found: dict[Subject, list[LoggedWrite]] = defaultdict(list)
    for write in written:
        found[write.subject].append(write)
    return list(found.items())


def _tell(subject: Subject, written: Sequence[LoggedWrite], stores: Stores) -> None:
    _tell_chunks(subject, [write.memory_id for write in written if write.type is None], stores)
    of_memories = {write.memory_id: write.type for write in written if write.type is not None}
    memories = stores.catalog.memories(subject, of_memories)
    gone = {index_key(subject.subject_id, type_, id_) for id_, type_ in of_memories.items() if id_ not in memories}
    _upsert(list(memories.values()), stores)
    if gone:
        stores.index.delete(subject, sorted(gone))


def _tell_chunks(subject: Subject, ids: Sequence[uuid.UUID], stores: Stores) -> None:
    chunks = stores.catalog.documents.chunks(subject, ids)
    _upsert_chunks(list(chunks.values()), stores)
    if gone := sorted({id_ for id_ in ids if id_ not in chunks}):
        stores.chunks.delete(subject, gone)


def _upsert_chunks(chunks: Sequence[Chunk], stores: Stores) -> None:
    for start in range(0, len(chunks), _MEMORIES_A_CALL):
        page = chunks[start : start + _MEMORIES_A_CALL]
        vectors = stores.embedder.embed([chunk.content for chunk in page])
        stores.chunks.upsert([Entry.of_chunk(*pair) for pair in zip(page, vectors, strict=True)])


def _index_all_of(subject: Subject, stores: Stores) -> int:
    after: uuid.UUID | None = None
    while page := stores.catalog.documents.all_chunks(subject, after=after, limit=_MEMORIES_A_CALL):
        _upsert_chunks(page, stores)
        after = page[-1].id
    memories = stores.catalog.list_memories(subject, statuses=_EVERY_STATUS, limit=_ALL)
    _upsert(memories, stores)
    return len(memories)


def _upsert(memories: Sequence[Memory], stores: Stores) -> None:
    for start in range(0, len(memories), _MEMORIES_A_CALL):
        page = memories[start : start + _MEMORIES_A_CALL]
        vectors = stores.embedder.embed([memory.summary for memory in page])
        stores.index.upsert([Entry.of(*pair) for pair in zip(page, vectors, strict=True)])
