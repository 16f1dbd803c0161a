"""Finish what was committed and not told to the indexes."""

from __future__ import annotations

from datetime import datetime

from memory.indexing import index
from memory.metrics import observe_searchable
from memory.spending import spending
from stores.redis import try_lock
from worker.context import WorkerContext

_LOCK = "afterturn:sweep:repair"
_JOBS_AT_ONCE = 50
"""As many texts as are embedded well within a lease, also on a busy machine."""


def index_left(context: WorkerContext, besides: tuple[datetime, datetime]) -> None:
    """Tell the indexes what waits for it; not what was taken between two moments, or is from then.

    One worker of the fleet at a time does. On a machine that is slow for a while each sweep would otherwise do again
    what the sweeps before it are still at, and make it slower.
    """
    with try_lock(context.redis, _LOCK, context.settings.lease_seconds) as lock:
        if lock is None:
            return
        jobs = context.catalog.index_jobs(besides=besides)
        for start in range(0, len(jobs), _JOBS_AT_ONCE):
            if not lock.renew():
                return
            some = jobs[start : start + _JOBS_AT_ONCE]
            with spending("repair"):
                index(some, context)
            observe_searchable([at.timestamp() for at in context.catalog.arrivals([job.memory_id for job in some])])
