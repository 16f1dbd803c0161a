"""How the fleet is, gathered from broker, workers, catalog and index within a bounded time, and what to do about it.

Whatever does not answer leaves its fields at None; the rest is told all the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing import TimeoutError as TookTooLong
from multiprocessing.pool import ThreadPool
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from interfaces.local.progress import percentile
from schema import utc_iso
from schema.errors import AfterturnError, OperatorError
from schema.settings import Settings, variable_of
from stores.catalog import open_catalog
from stores.dead_letters import count_dead_letters, latest_dead_letters
from stores.embedding import open_embedder
from stores.index import open_index
from stores.queue import BEAT_LOCK, QUEUES, ask_workers, create_celery, open_mailbox
from stores.redis import open_redis

_SECONDS = 4.0
_WORKERS_SECONDS = 1.5
_LETTERS_SHOWN = 3
_ERASURES_SHOWN = 20
_TURNS_MEASURED = 10_000
_LONG_PENDING = 60.0
_LONG_BEHIND = 120.0
_MANY_EVENTS = 1000


ERASURES_GO_ON = (
    "erasures have not come to their end: the fleet finishes them within the hour (`erasure_goes_on` in a worker's log "
    "says that something was left); `afterturn forget-user` does so at once, with what was said since"
)


class NoAnswer(OperatorError):
    """A part did not answer in time. The message says which, and what to look at."""


@dataclass
class FleetReport:
    """How the fleet is. Times are in seconds; a field is None where what it comes from did not answer.

    `last_hour` has turns by outcome, and the lag from arrival to commit of its latest 10,000 turns as p50 and p95.
    """

    broker: str
    broker_answers: bool = False
    catalog_answers: bool = False
    queues: dict[str, int] | None = None
    pending_turns: int | None = None
    subjects_with_pending_turns: int | None = None
    subjects_in_line: int | None = None
    oldest_pending_seconds: float | None = None
    workers: list[dict[str, Any]] | None = None
    beat_leads: bool | None = None
    last_hour: dict[str, Any] | None = None
    turns: dict[str, int] | None = None
    memories: dict[str, int] | None = None
    indexed: int | None = None
    waiting_for_the_index: int | None = None
    oldest_index_job_seconds: float | None = None
    waiting_events: int | None = None
    dead_letters: dict[str, Any] | None = None
    erasures_going_on: list[dict[str, str]] | None = None
    advice: list[str] = field(default_factory=list)


def fleet_report(settings: Settings) -> tuple[FleetReport, Exception | None]:
    """How the fleet is, and the failure of the first part that did not answer: its message says what to mend."""
    told = FleetReport(broker=settings.broker_shown)
    failed: Exception | None = None
    deadline = time.monotonic() + _SECONDS
    # The pool's threads are daemons: a store that hangs does not hold up the command's end.
    pool = ThreadPool(len(_PARTS))
    asked = [(part, pool.apply_async(read, (settings,))) for part, read in _PARTS.items()]
    for part, answer in asked:
        try:
            fields = answer.get(max(0.0, deadline - time.monotonic()))
        except TookTooLong:
            failed = failed or NoAnswer(f"the {part} did not answer within {_SECONDS} s. {_LOOK_AT[part]}")
        except AfterturnError as error:
            failed = failed or error
        except SQLAlchemyError as error:
            failed = failed or NoAnswer(f"the {part} cannot be read ({type(error).__name__}). {_LOOK_AT[part]}")
        else:
            for name, value in fields.items():
                setattr(told, name, value)
    told.advice = advice_on(told)
    return told, failed


def _of_broker(settings: Settings) -> dict[str, Any]:
    with open_redis(settings, timeout=_WORKERS_SECONDS, retries=0) as redis:
        depths = open_mailbox(settings, redis, create_celery(settings)).depths(QUEUES)
        last = latest_dead_letters(redis, _LETTERS_SHOWN)
        return {
            "broker_answers": True,
            "queues": depths.queues,
            "pending_turns": depths.pending_turns,
            "subjects_with_pending_turns": depths.pending_subjects,
            "subjects_in_line": depths.waiting_subjects,
            "oldest_pending_seconds": depths.oldest_pending_seconds,
            "beat_leads": bool(redis.exists(BEAT_LOCK)),
            "dead_letters": {
                "count": count_dead_letters(redis),
                "last": [{"turn_id": one.turn_id, "reason": one.reason, "at": utc_iso(one.at)} for one in last],
            },
        }


def _of_workers(settings: Settings) -> dict[str, Any]:
    with open_redis(settings, timeout=_WORKERS_SECONDS, retries=0) as redis:
        # Celery's own client would try again for longer than anybody wants to wait.
        redis.ping()
    replies = ask_workers(create_celery(settings), _WORKERS_SECONDS)
    workers = [{"name": name, **said} for reply in replies for name, said in reply.items()]
    return {"workers": sorted(workers, key=lambda worker: str(worker["name"]))}


def _of_catalog(settings: Settings) -> dict[str, Any]:
    now = datetime.now(UTC)
    hour_ago = now - timedelta(hours=1)
    catalog = open_catalog(settings)
    try:
        lags = sorted(catalog.lags(hour_ago, _TURNS_MEASURED))
        backlog = catalog.backlog()
        return {
            "catalog_answers": True,
            "last_hour": {
                "turns": {outcome.value: count for outcome, count in catalog.count_turns(hour_ago).items()},
                "lag_p50_seconds": percentile(lags, 0.50) if lags else None,
                "lag_p95_seconds": percentile(lags, 0.95) if lags else None,
            },
            "turns": {outcome.value: count for outcome, count in catalog.count_turns().items()},
            "memories": {status.value: count for status, count in catalog.count_memories().items()},
            "waiting_for_the_index": backlog.index_jobs,
            "oldest_index_job_seconds": (now - (backlog.oldest_index_job or now)).total_seconds(),
            "waiting_events": backlog.events,
            "erasures_going_on": [
                {**subject.model_dump(), "since": utc_iso(since)}
                for subject, since in catalog.tombstones.unfinished(_ERASURES_SHOWN)
            ],
        }
    finally:
        catalog.close()


def _of_index(settings: Settings) -> dict[str, Any]:
    index = open_index(settings, open_embedder(settings))
    try:
        return {"indexed": index.count()}
    finally:
        index.close()


_PARTS: dict[str, Callable[[Settings], dict[str, Any]]] = {
    "broker": _of_broker,
    "workers": _of_workers,
    "catalog": _of_catalog,
    "index": _of_index,
}
_LOOK_AT = {
    "broker": f"Check {variable_of('broker_url')}",
    "workers": f"Check {variable_of('broker_url')}",
    "catalog": f"Check {variable_of('catalog_url')}, and who else is writing to it",
    "index": f"Check {variable_of('index')}, and {variable_of('data_dir')} or {variable_of('index_url')}",
}


def advice_on(told: FleetReport) -> list[str]:
    """What a person on call should do next, most urgent first; nothing where all is well."""
    return [*_about_who_works(told), *_about_what_waits(told), *_about_what_failed(told)]


def _about_who_works(told: FleetReport) -> list[str]:
    advice = []
    if not told.broker_answers:
        advice.append(f"the broker at {told.broker} does not answer: start it, or set {variable_of('broker_url')}")
    if not told.catalog_answers:
        advice.append(f"the catalog does not answer: turns wait until it does; check {variable_of('catalog_url')}")
    if told.workers == []:
        advice.append("no worker answers: start one with `afterturn worker`")
    if told.beat_leads is False:
        advice.append("no beat leads, so nobody looks for stranded turns: start one with `afterturn beat`")
    for worker in told.workers or ():
        shut = [part for part, state in worker.get("breakers", {}).items() if state != "closed"]
        if shut:
            advice.append(
                f"{worker['name']} does not ask its {', '.join(shut)}, which kept failing: see why in its log"
            )
        if worker.get("oldest_seconds", 0.0) > _LONG_PENDING:
            advice.append(
                f"{worker['name']} has had turns in hand for {worker['oldest_seconds']:.0f} s: what it asks hangs; "
                f"it ends itself after {variable_of('turn_deadline_seconds')}"
            )
    return advice


def _about_what_waits(told: FleetReport) -> list[str]:
    advice = []
    if told.workers and (told.oldest_pending_seconds or 0.0) > _LONG_PENDING:
        busy = all(worker.get("busy", 0) >= worker.get("slots", 1) for worker in told.workers)
        why = "all slots are busy: start more workers" if busy else "look for `retry_later` in the workers' logs"
        advice.append(f"turns have waited for {told.oldest_pending_seconds:.0f} s: {why}")
    if told.subjects_in_line:
        advice.append(
            f"{told.subjects_in_line} users wait for a seat of their tenant: one tenant has a backlog and the others "
            f"go first; {variable_of('tenant_seats')} gives it more"
        )
    behind = (told.oldest_index_job_seconds or 0.0) > _LONG_BEHIND
    if behind or (told.waiting_events or 0) > _MANY_EVENTS:
        what = "searches do not find what is new" if behind else "listeners do not hear what is new"
        advice.append(f"{what}: look for `index_or_events_behind` in the workers' logs; the sweep tells them later")
    return advice


def _about_what_failed(told: FleetReport) -> list[str]:
    advice = []
    if told.dead_letters and told.dead_letters["count"]:
        advice.append("dead letters wait: `afterturn dead-letters list`, and `replay` when their cause is mended")
    if told.erasures_going_on:
        advice.append(ERASURES_GO_ON)
    return advice
