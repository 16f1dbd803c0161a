"""Check whether the index has of each memory the version that the catalog has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from memory.agreement import Disagreement, disagreements, tell_again
from schema import Subject
from schema.health import HealthCheck, failed, fine
from stores.open import Stores

_SECONDS = 20.0
"""How long memories are compared: a part of the doctor has a minute."""
_SUBJECTS_A_PAGE = 100
_NAMED = 5


def check_versions(stores: Stores, *, tend: bool) -> Iterator[HealthCheck]:
    """Compare user by user, for 20 s. With `tend` the sweep is asked to tell the index again of what is not the same.

    Raises:
        IndexUnavailable: the index cannot be read.
    """
    until = time.monotonic() + _SECONDS
    subjects, disagreeing = 0, list[Disagreement]()
    cursor: Subject | None = None
    while page := stores.catalog.list_subjects(after=cursor, limit=_SUBJECTS_A_PAGE):
        for subject in page:
            disagreeing += disagreements(subject, stores)
            subjects += 1
        cursor = page[-1]
        if time.monotonic() > until:
            break
    compared = f"{subjects} users compared" + (", no time for the others" if page else "")
    if not disagreeing:
        yield fine("index versions", f"as in the catalog; {compared}")
        return
    state = f"{len(disagreeing)} memories are not as in the catalog ({', '.join(map(_named, disagreeing[:_NAMED]))}"
    state += f"{', ...' if len(disagreeing) > _NAMED else ''}); {compared}"
    if tend:
        tell_again(disagreeing, stores, datetime.now(UTC))
        yield failed("index versions", state, "the next sweep of the fleet tells the index again: look once more then")
    else:
        yield failed("index versions", state, "run `afterturn doctor --tend`, which has the fleet tell the index again")


def _named(disagreement: Disagreement) -> str:
    held = "missing" if disagreement.in_index is None else f"version {disagreement.in_index}"
    return f"{disagreement.memory_id} of {disagreement.subject.key}: {held}, not {disagreement.in_catalog or 'erased'}"
