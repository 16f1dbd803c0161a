"""Common ground of indexes on servers of their own: calls that are tried again, rankings whose ties fall by key, and a
look at whether all that they do is allowed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
from tenacity import Retrying, retry_if_exception, stop_after_attempt, stop_after_delay, wait_random_exponential

from schema import Kind, MemoryType, Status, Subject, Visibility
from schema.errors import IndexUnavailable
from schema.health import HealthCheck, failed, fine
from stores.index.base import Entry, Hit, Index, Where
from stores.index.snapshot import first_of

PROBE = Subject(tenant_id="afterturn-doctor", subject_id="afterturn-doctor")
"""Who a look at an index writes for, and removes again."""
SERVERS = frozenset({"qdrant", "s3vectors", "weaviate"})
"""The indexes, by the setting's names, that are servers of their own: of the others the catalog's answer says it."""

_NO_KEY = uuid.UUID(int=0)
_ATTEMPTS = 4
_FIRST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0


def patience(seconds: float, is_passing: Callable[[BaseException], bool]) -> Retrying:
    """Make calls again that fail in passing, four times in all, unless `seconds` went by before: who waits has a
    lease to keep, and is asked again by its queue. All calls of an index may be repeated."""
    return Retrying(
        retry=retry_if_exception(is_passing),
        stop=stop_after_attempt(_ATTEMPTS) | stop_after_delay(seconds),
        wait=wait_random_exponential(multiplier=_FIRST_PAUSE, max=_LONGEST_PAUSE),
        reraise=True,
    )


def ranked(ask: Callable[[int], list[Hit]], limit: int, most: int) -> list[Hit]:
    """Return the first `limit` hits of a server that ranks ties as it likes, ties in the order of keys.

    It is asked for one more, and for more again while what it leaves out may be as near as the last that we want; for
    `most` at most.
    """
    if limit == 0:
        return []
    asked = min(limit + 1, most)
    while True:
        hits = ask(asked)
        first = first_of(hits, limit)
        all_are_here = len(hits) < asked or asked == most
        if all_are_here or min(hit.similarity for hit in hits) < first[-1].similarity:
            return first
        asked = min(asked * 4, most)


def must_answer(index: Index) -> None:
    """Ask the server for an entry that nobody has: the cheapest call of the protocol, which writes nothing.

    Raises:
        IndexUnavailable: it does not answer, or refuses.
    """
    index.fetch(PROBE, [_NO_KEY])


def probed(index: Index, dimensions: int, where: str) -> HealthCheck:
    """Return whether an entry can be written, found, read and deleted: of a subject that nobody is."""
    vector = np.zeros(dimensions, dtype=np.float32)
    vector[0] = 1
    entry = Entry(
        key=uuid.uuid4(),
        memory_id=uuid.uuid4(),
        subject=PROBE,
        vector=vector,
        type=MemoryType.SEMANTIC,
        kind=Kind.USER_FACT,
        category="Other",
        status=Status.ACTIVE,
        visibility=Visibility.PRIVATE,
        created_at=datetime.now(UTC),
    )
    try:
        index.upsert([entry])
        found_keys = [hit.key for hit in index.query(vector, Where(PROBE), 10)]
        read = [stored.key for stored in index.fetch(PROBE, [entry.key])]
        index.delete(PROBE, [entry.key])
    except IndexUnavailable as error:
        return failed("index rights", f"{where} cannot be written, searched, read and deleted from", str(error))
    if entry.key not in found_keys or read != [entry.key]:
        hint = "an index that is behind its own writes has replicas that lag: let writes wait for all of them"
        return failed("index rights", f"{where} does not find what was just written", hint)
    return fine("index rights", f"{where}: written, found, read and deleted; {dimensions} numbers")
