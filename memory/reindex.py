"""Builds an index from the catalog: for a new index, for a new embedder, or because the old one was lost."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from memory.agreement import drop_strays
from memory.indexing import drop_newer
from memory.selectors import make_missing, text_of
from memory.spending import spending
from schema import Subject
from schema.errors import IndexUnbuilt, MoveRefused
from stores.catalog.reindex_jobs import LoggedWrite
from stores.graph import RebuildableGraph
from stores.index.base import Entry, Family, Indexed
from stores.open import Stores

_SUBJECTS_A_PAGE = 100
_A_CALL = 256
_LOOKED_AT = 32
"""Of so many memories, or others of a family, an index that was built has at least one; a few may be missing for the
sweep to repair."""


def target_of(stores: Stores) -> str:
    """Return the index of the settings, as the catalog knows it by name."""
    return f"{stores.settings.index}:{stores.settings.index_name}"


def reindex(stores: Stores, progress: Callable[[int], None] = lambda _: None) -> int:
    """Put all memories into the index of the settings, all else that has vectors into those of its family beside it,
    and then what was written meanwhile. Returns how many the memories were. Begins where an earlier call to the same
    index and model was broken off. `progress` hears the number so far.

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
        # The first may take long; then there is little that was written meanwhile, and told by those who wrote it.
        written_since = catch_up(stores) + catch_up(stores)
        jobs.end()
        return written_since


def give_up(stores: Stores) -> None:
    """End whatever move is under way, and log no more: its index must not be used. Where that is the one of the
    settings, and serves, it is told first what was written since: a builder that was killed may have told it what was
    so before.

    Raises:
        MoveRefused: another process is at work on it.
    """
    jobs = stores.catalog.reindex_jobs
    with jobs.alone():
        if jobs.of(target_of(stores)) is not None:
            catch_up(stores)
        jobs.end()


def _build(stores: Stores, progress: Callable[[int], None]) -> int:
    jobs, target = stores.catalog.reindex_jobs, target_of(stores)
    job = jobs.begin(target, stores.embedder.name, datetime.now(UTC), anew=_has_nothing(stores))
    done, cursor = job.done, job.cursor
    # Whoever erased something since a move to this index was given up did not tell it.
    filled = [family for family in Family if stores.index_of(family).count()]
    progress(done)
    while job.finished_at is None and (page := stores.catalog.list_subjects(after=cursor, limit=_SUBJECTS_A_PAGE)):
        for subject in page:
            for family in filled:
                drop_strays(family, subject, stores)
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
    mended = 0
    for number, subject in enumerate(stores.catalog.every_subject(), start=1):
        mended += stores.graph.rebuild(subject)
        progress(number)
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
    """Return whether there is something of a family that its index was told of, and it has none of it."""
    return any(_lacks(family, stores) for family in Family)


def _lacks(family: Family, stores: Stores) -> bool:
    by_subject: dict[Subject, list[uuid.UUID]] = defaultdict(list)
    for subject, key in stores.catalog.families.some_keys(family, _LOOKED_AT):
        by_subject[subject].append(key)
    index = stores.index_of(family)
    return bool(by_subject) and not any(index.fetch(subject, keys) for subject, keys in by_subject.items())


def catch_up(stores: Stores) -> int:
    """Tell the index of the settings what was written since the job began, and answer how much that was.

    What is written meanwhile stays in the log: others may write faster than this tells.
    """
    count, last = 0, stores.catalog.reindex_jobs.last_written()
    while written := [write for write in stores.catalog.reindex_jobs.written() if write.id <= last]:
        for subject, of_subject in _by_subject(written):
            _tell(subject, of_subject, stores)
        stores.catalog.reindex_jobs.mark_done(written)
        count += len(written)
    return count


def _by_subject(written: Sequence[LoggedWrite]) -> list[tuple[Subject, list[LoggedWrite]]]:
    grouped: dict[Subject, list[LoggedWrite]] = defaultdict(list)
    for write in written:
        grouped[write.subject].append(write)
    return list(grouped.items())


def _tell(subject: Subject, written: Sequence[LoggedWrite], stores: Stores) -> None:
    by_family: dict[Family, dict[uuid.UUID, uuid.UUID]] = defaultdict(dict)
    for write in written:
        by_family[write.family][write.memory_id] = write.index_key
    for family, key_of in by_family.items():
        items = stores.catalog.families.of(family, subject, key_of)
        _upsert(family, list(items.values()), stores)
        if gone := sorted({key for id_, key in key_of.items() if id_ not in items}):
            stores.index_of(family).delete(subject, gone)


def _index_all_of(subject: Subject, stores: Stores) -> int:
    memories = 0
    make_missing(subject, stores, datetime.now(UTC))
    for family in Family:
        for page in stores.catalog.families.pages(family, subject, _A_CALL):
            _upsert(family, page, stores)
            memories += len(page) if family is Family.MEMORIES else 0
    return memories


def _upsert(family: Family, items: Sequence[Indexed], stores: Stores) -> None:
    for start in range(0, len(items), _A_CALL):
        page = items[start : start + _A_CALL]
        with spending("repair"):
            vectors = stores.embedder.embed([text_of(item) for item in page])
        entries = [Entry.of(*pair) for pair in zip(page, vectors, strict=True)]
        drop_newer(family, entries, stores)
        stores.index_of(family).upsert(entries)
