"""Read how the fleet is from broker, workers, catalog and index, within a bounded time.

Whatever does not answer leaves its fields at None; the rest is told all the same. `interfaces.fleet_checks` judges it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing import TimeoutError as TookTooLong
from typing import Any

from redis import Redis
from sqlalchemy.exc import SQLAlchemyError

from interfaces.local.progress import percentile
from interfaces.timeouts import ask_all
from schema import utc_iso
from schema.errors import AfterturnError, CatalogUnavailable, Outage
from schema.settings import Settings, variable_of
from stores.catalog import Catalog, open_catalog, require_catalog
from stores.dead_letters import count_dead_letters, latest_dead_letters
from stores.embedding import open_embedder
from stores.index import open_index
from stores.index.base import BESIDE
from stores.queue import BEAT_KEYS, BEAT_LOCK, QUEUES, ask_workers, create_celery, open_mailbox
from stores.redis import open_redis

_SECONDS = 4.0
_WORKERS_SECONDS = 1.5
_LETTERS_SHOWN = 3
_ERASURES_SHOWN = 20
_TURNS_MEASURED = 10_000
_BEATS_SCHEDULE, _SWEEP = f"{BEAT_KEYS}:schedule", f"{BEAT_KEYS}sweep"


class NoAnswer(Outage):
    """A part did not answer in time. The message says which, and what to look at."""


@dataclass
class FleetReport:
    """State of the fleet. Times are in seconds; a field is None where what it comes from did not answer.

    `last_hour` has turns by outcome, and the lag from arrival to commit of its latest 10,000 turns as p50 and p95.
    """

    broker: str
    broker_answers: bool = False
    catalog_answers: bool = False
    catalog_hint: str | None = None
    """Remedy that a person must apply first, where that is why the catalog does not answer."""
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
    open_reviews: int | None = None
    indexed: int | None = None
    beside: dict[str, dict[str, int]] | None = None
    """Of chunks, windows and facts, where there are any: how many the catalog has, and how many are indexed."""
    waiting_for_the_index: int | None = None
    oldest_index_job_seconds: float | None = None
    waiting_events: int | None = None
    dead_letters: dict[str, Any] | None = None
    erasures_going_on: list[dict[str, str]] | None = None
    beat_late_seconds: float | None = None
    """For how long the sweep has been due; below 0 before it is."""


def fleet_report(settings: Settings) -> tuple[FleetReport, Exception | None]:
    """Return how the fleet is, and the failure of the first part that did not answer: its message says what to mend."""
    report = FleetReport(broker=settings.broker_shown)
    failed: Exception | None = None
    for part, answer in ask_all({part: partial(read, settings) for part, read in _PARTS.items()}, _SECONDS):
        match answer:
            case dict():
                report = replace(report, **answer)
            case CatalogUnavailable():
                report = replace(report, catalog_hint=str(answer))
                failed = failed or answer
            case TookTooLong():
                failed = failed or NoAnswer(f"the {part} did not answer within {_SECONDS} s. {_LOOK_AT[part]}")
            case AfterturnError():
                failed = failed or answer
            case SQLAlchemyError():
                name = type(answer).__name__
                failed = failed or NoAnswer(f"the {part} cannot be read ({name}). {_LOOK_AT[part]}")
            case _:
                raise answer
    return report, failed


def _of_broker(settings: Settings) -> dict[str, Any]:
    with open_redis(settings, timeout=_WORKERS_SECONDS, retries=0) as redis:
        return {"broker_answers": True, **read_queues(redis, settings), **read_beat(redis)}


def read_queues(redis: Redis, settings: Settings) -> dict[str, Any]:
    """Read the fields of a report that tell what waits in the broker.

    Raises:
        BrokerFailed: it does not answer, or refuses.
    """
    depths = open_mailbox(settings, redis, create_celery(settings)).depths(QUEUES)
    latest = latest_dead_letters(redis, _LETTERS_SHOWN)
    return {
        "queues": depths.queues,
        "pending_turns": depths.pending_turns,
        "subjects_with_pending_turns": depths.pending_subjects,
        "subjects_in_line": depths.waiting_subjects,
        "oldest_pending_seconds": depths.oldest_pending_seconds,
        "dead_letters": {
            "count": count_dead_letters(redis),
            "last": [
                {"turn_id": letter.turn_id, "reason": letter.reason, "at": utc_iso(letter.at)} for letter in latest
            ],
        },
    }


def read_beat(redis: Redis) -> dict[str, Any]:
    """Read the fields of a report that tell of beat.

    Raises:
        BrokerFailed: the broker does not answer.
    """
    due = redis.zscore(_BEATS_SCHEDULE, _SWEEP)
    late = None if due is None else redis.time()[0] - due
    return {"beat_leads": bool(redis.exists(BEAT_LOCK)), "beat_late_seconds": late}


def read_workers(settings: Settings, patience: float = _WORKERS_SECONDS) -> dict[str, Any]:
    """Ask the workers what they have in hand; those count that answer within `patience` seconds.

    Raises:
        BrokerFailed: the broker does not answer.
    """
    with open_redis(settings, timeout=_WORKERS_SECONDS, retries=0) as redis:
        # Celery's own client would try again for longer than anybody wants to wait.
        redis.ping()
    replies = ask_workers(create_celery(settings), patience)
    workers = [{"name": name, **answer} for reply in replies for name, answer in reply.items()]
    return {"workers": sorted(workers, key=lambda worker: str(worker["name"]))}


def _of_catalog(settings: Settings) -> dict[str, Any]:
    now = datetime.now(UTC)
    hour_ago = now - timedelta(hours=1)
    with closing(open_catalog(settings, makes_catalog=False)) as catalog:
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
            "open_reviews": catalog.reviews.count_open(),
            "memories": {status.value: count for status, count in catalog.count_memories().items()},
            "waiting_for_the_index": backlog.index_jobs,
            "oldest_index_job_seconds": (now - (backlog.oldest_index_job or now)).total_seconds(),
            "waiting_events": backlog.events,
            **read_erasures(catalog),
        }


def read_erasures(catalog: Catalog) -> dict[str, Any]:
    """Read the field of a report that names the erasures under way."""
    going_on = catalog.tombstones.unfinished(_ERASURES_SHOWN)
    return {"erasures_going_on": [{**subject.model_dump(), "since": utc_iso(since)} for subject, since in going_on]}


def _of_index(settings: Settings) -> dict[str, Any]:
    # An embedded one is made where it is not.
    require_catalog(settings)
    embedder = open_embedder(settings)
    with closing(open_index(settings, embedder)) as index:
        indexed = index.count()
    with closing(open_catalog(settings, makes_catalog=False)) as catalog:
        in_catalog = {
            family: {"in_catalog": count, "waiting": catalog.count_index_jobs(family)}
            for family in BESIDE
            if (count := catalog.families.count(family))
        }
    beside: dict[str, dict[str, int]] = {}
    for family, counts in in_catalog.items():
        with closing(open_index(settings, embedder, family=family)) as index:
            beside[family.value] = counts | {"indexed": index.count()}
    return {"indexed": indexed, "beside": beside}


_PARTS: dict[str, Callable[[Settings], dict[str, Any]]] = {
    "broker": _of_broker,
    "workers": read_workers,
    "catalog": _of_catalog,
    "index": _of_index,
}
_LOOK_AT = {
    "broker": f"Check {variable_of('broker_url')}",
    "workers": f"Check {variable_of('broker_url')}",
    "catalog": f"Check {variable_of('catalog_url')}, and who else is writing to it",
    "index": f"Check {variable_of('index')}, and {variable_of('data_dir')} or {variable_of('index_url')}",
}
