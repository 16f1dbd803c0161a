"""Judge what was read of the fleet: the health checks that `afterturn doctor` and `afterturn status` have in common.

The alerts of `deploy/alerts.yaml` ask for the same numbers, later: nobody is woken by what these do not name.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from interfaces.fleet_report import FleetReport
from memory.agreement import IndexCounts
from schema.health import HealthCheck, HealthStatus, failed, fine, warning
from schema.settings import variable_of

LATE_SECONDS = 60.0
"""From when on turns, workers and beat are late."""
BEHIND_SECONDS = 120.0
"""From when on the index is behind."""
MANY_EVENTS = 1000
_FEW_UNDER_WAY = 20
"""Memories that may have been committed between the reading of the catalog and of the index."""


def advice_on(report: FleetReport) -> list[str]:
    """Return what a person on call should do next, most urgent first; nothing where all is well."""
    checks = [
        *_check_answers(report),
        *check_workers(report),
        *check_beat(report),
        *_check_each_worker(report),
        *check_queues(report),
        *_check_backlog(report),
        *check_index(report),
        *check_dead_letters(report),
        *check_erasures(report),
        *check_reviews(report),
    ]
    return [f"{check.found}: {check.hint}" for check in checks if check.status is not HealthStatus.OK]


def check_workers(report: FleetReport) -> Iterator[HealthCheck]:
    """Check that somebody works; nothing where they could not be asked."""
    if report.workers:
        busy, slots = (sum(worker.get(name, 0) for worker in report.workers) for name in ("busy", "slots"))
        yield fine("workers", f"{len(report.workers)} answer, {busy} of {slots} slots busy")
    elif report.workers is not None:
        hint = "start one with `afterturn worker` (or all at once: `afterturn run`)"
        yield failed("workers", "no worker answers", hint)


def check_beat(report: FleetReport, sweep_seconds: float = 0.0) -> Iterator[HealthCheck]:
    """Check that a beat leads and starts the sweep in time, every `sweep_seconds`."""
    late = report.beat_late_seconds
    if report.beat_leads is False:
        state = "no beat leads, so nobody looks for stranded turns and no night begins"
        yield failed("beat", state, "start one with `afterturn beat`")
    elif report.beat_leads and late is None:
        yield failed("beat", "beat leads, and has no sweep to start", "start it again: `afterturn beat`")
    elif report.beat_leads and late is not None and late > LATE_SECONDS:
        yield failed(
            "beat", f"beat leads, and its sweep is {late:.0f} s overdue", "look at its log, and start it again"
        )
    elif report.beat_leads:
        yield fine("beat", f"leads, sent the last sweep {max(0.0, (late or 0.0) + sweep_seconds):.0f} s ago")


def check_queues(report: FleetReport, most_pending: float = math.inf) -> Iterator[HealthCheck]:
    """Check for how long turns wait, and for whom; more than `most_pending` are too many for the fleet."""
    waiting = f"{report.pending_turns} turns of {report.subjects_with_pending_turns} users wait"
    if (late := report.oldest_pending_seconds or 0.0) > LATE_SECONDS:
        yield warning("queues", f"turns have waited for {late:.0f} s", _why_turns_wait(report))
    elif (report.pending_turns or 0) > most_pending:
        yield warning("queues", waiting, "start more workers: producers are told that the fleet is overloaded")
    elif report.pending_turns is not None:
        yield fine("queues", waiting)
    if report.subjects_in_line:
        yield warning(
            "wait queues",
            f"{report.subjects_in_line} users wait for a slot of their tenant",
            f"one tenant has a backlog and the others go first; {variable_of('tenant_slots')} gives it more",
        )


def check_reviews(report: FleetReport) -> Iterator[HealthCheck]:
    """Check that nothing waits for a person: what a wish to forget may mean is hidden as long as it does."""
    if report.open_reviews:
        found = f"{report.open_reviews} {'waits' if report.open_reviews == 1 else 'wait'} for a person"
        yield warning("reviews", found, "look at them: `afterturn reviews list`, or the pages")
    elif report.open_reviews is not None:
        yield fine("reviews", "nothing waits for a person")


def check_dead_letters(report: FleetReport) -> Iterator[HealthCheck]:
    """Check that no turn became a dead letter."""
    if report.dead_letters and (count := report.dead_letters["count"]):
        hint = "`afterturn dead-letters list`, and `replay` when their cause is mended"
        waiting = "1 dead letter waits" if count == 1 else f"{count} dead letters wait"
        yield warning("dead letters", waiting, hint)


def check_erasures(report: FleetReport) -> Iterator[HealthCheck]:
    """Check that no erasure still goes on, and name those that do."""
    if report.erasures_going_on:
        named = ", ".join(
            f"{erasure['subject_id']} (tenant {erasure['tenant_id']}) since {erasure['since']}"
            for erasure in report.erasures_going_on
        )
        yield warning(
            "erasures",
            f"erasures have not come to their end, of {named}",
            "the fleet finishes them within the hour (`erasure_goes_on` in a worker's log says that something was "
            "left); `afterturn forget-user` does so at once, with what was said since",
        )


def _check_answers(report: FleetReport) -> Iterator[HealthCheck]:
    if not report.broker_answers:
        hint = f"start it, or set {variable_of('broker_url')}"
        yield failed("broker", f"the broker at {report.broker} does not answer", hint)
    if not report.catalog_answers:
        hint = report.catalog_hint or f"turns wait until it does; check {variable_of('catalog_url')}"
        yield failed("catalog", "the catalog does not answer", hint)


def _check_each_worker(report: FleetReport) -> Iterator[HealthCheck]:
    for worker in report.workers or ():
        name = str(worker["name"])
        if shut := open_circuits(worker):
            state = f"{name} does not ask its {', '.join(shut)}, which kept failing"
            yield warning("circuits", state, "see why in its log")
        if (seconds := worker.get("oldest_seconds", 0.0)) > LATE_SECONDS:
            hint = f"what it asks hangs; it ends itself after {variable_of('turn_deadline_seconds')}"
            yield warning("stuck", f"{name} has had turns in hand for {seconds:.0f} s", hint)


def open_circuits(worker: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts that a worker does not ask just now, each with the state of its circuit."""
    return {part: state for part, state in worker.get("breakers", {}).items() if state != "closed"}


def _why_turns_wait(report: FleetReport) -> str:
    if not report.workers:
        return "look at `afterturn status`: it says who works and what holds them up"
    if all(worker.get("busy", 0) >= worker.get("slots", 1) for worker in report.workers):
        return "all slots are busy: start more workers"
    return "look for `retry_later` in the workers' logs"


def check_index(report: FleetReport) -> Iterator[HealthCheck]:
    """Check that the indexes have what the catalog has, but for what it is yet to be told; a few may be under way."""
    if report.indexed is None or report.memories is None or report.waiting_for_the_index is None:
        return
    beside = {
        family: IndexCounts(count["in_catalog"], count["indexed"], count["waiting"])
        for family, count in (report.beside or {}).items()
    }
    # All families wait in one line.
    waiting = report.waiting_for_the_index - sum(counts.waiting for counts in beside.values())
    memories = IndexCounts(sum(report.memories.values()), report.indexed, max(waiting, 0))
    for family, counts in ({"memories": memories} | beside).items():
        if counts.missing > max(_FEW_UNDER_WAY, counts.rows / 100):
            yield warning(
                "index",
                f"the index has lost {counts.missing} of {counts.rows} {family}",
                "were its files deleted? The fleet tells it again within the hour; `afterturn doctor --optimize` asks "
                "for it",
            )


def _check_backlog(report: FleetReport) -> Iterator[HealthCheck]:
    hint = "look for `index_or_events_behind` in the workers' logs; the sweep tells them later"
    if (report.oldest_index_job_seconds or 0.0) > BEHIND_SECONDS:
        yield warning("index", "searches do not find what is new", hint)
    elif (report.waiting_events or 0) > MANY_EVENTS:
        yield warning("events", "listeners do not hear what is new", hint)
