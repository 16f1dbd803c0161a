"""Check whether the indexes have of each memory, and of all else with a vector, the version that the catalog has."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

from memory.agreement import Disagreement, disagreements, families_in_use, queue_again
from schema.health import HealthCheck, failed, fine
from stores.open import Stores

_SECONDS = 20.0
"""How long memories are compared: a part of the doctor has a minute."""
_NAMED = 5


def check_versions(stores: Stores, *, optimizes: bool) -> Iterator[HealthCheck]:
    """Compare user by user, for 20 s. With `optimizes` the sweep is asked to tell the index again of what is not the
    same.

    Raises:
        IndexUnavailable: the index cannot be read.
    """
    until = time.monotonic() + _SECONDS
    families = families_in_use(stores)
    disagreeing: list[Disagreement] = []
    subjects, rest = 0, ""
    for subject in stores.catalog.every_subject():
        if time.monotonic() > until:
            rest = ", no time for the others"
            break
        for family in families:
            disagreeing += disagreements(family, subject, stores)
        subjects += 1
    compared = f"{', '.join(families)} of {subjects} users compared{rest}"
    if not disagreeing:
        yield fine("index versions", f"as in the catalog; {compared}")
        return
    state = f"{len(disagreeing)} vectors are not as in the catalog ({', '.join(map(_named, disagreeing[:_NAMED]))}"
    state += f"{', ...' if len(disagreeing) > _NAMED else ''}); {compared}"
    if optimizes:
        queue_again(disagreeing, stores, datetime.now(UTC))
        yield failed("index versions", state, "the next sweep of the fleet tells the index again: look once more then")
    else:
        yield failed(
            "index versions", state, "run `afterturn doctor --optimize`, which has the fleet tell the index again"
        )


def _named(disagreement: Disagreement) -> str:
    held = "missing" if disagreement.in_index is None else f"version {disagreement.in_index}"
    whose = f"{disagreement.memory_id} ({disagreement.family}) of {disagreement.subject.key}"
    return f"{whose}: {held}, not {disagreement.in_catalog or 'erased'}"
