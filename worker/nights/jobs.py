"""The nightly jobs by their names."""

from __future__ import annotations

from worker.nights.base import Job
from worker.nights.consolidate import CONSOLIDATE
from worker.nights.forget import FORGET
from worker.nights.promote import PROMOTE

NIGHTLY_JOBS: dict[str, Job] = {job.name: job for job in (CONSOLIDATE, PROMOTE, FORGET)}
