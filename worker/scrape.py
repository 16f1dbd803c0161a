"""Metrics of this worker and of the whole fleet for Prometheus: the page behind `AFTERTURN_METRICS_PORT`.

How much waits is read from the broker and the catalog when somebody looks, within a bounded time. A store that is away
takes its own numbers off the page and nothing else: a scrape never fails.
"""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from multiprocessing import TimeoutError as TookTooLong
from multiprocessing.pool import AsyncResult, ThreadPool
from typing import Generic, TypeVar

import structlog
from prometheus_client import REGISTRY, start_http_server
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import Redis
from sqlalchemy.exc import SQLAlchemyError

from memory.leases import LeaseKeeper
from memory.metrics import SCRAPE_ERRORS
from schema.errors import BrokerFailed, CatalogOutage, SettingsError
from schema.settings import variable_of
from stores.catalog import Backlog, Catalog
from stores.mailbox import Depths, Mailbox
from stores.queue import BEAT_LOCK, QUEUES, open_mailbox
from stores.redis import open_redis
from worker.context import WorkerContext
from worker.gauges import OLDEST_IN_HAND, SLOTS, SLOTS_BUSY

T = TypeVar("T")
_log = structlog.get_logger()
_BROKER_SECONDS = 1.0
_CATALOG_SECONDS = 2.0
_NO_DEPTHS = Depths(datetime.fromtimestamp(0, UTC), {}, 0, 0, 0, 0.0)
_NO_BACKLOG = Backlog(0, None, 0)


class Patient(Generic[T]):
    """Asks something that may hang, for a bounded time. Before that question is answered, no other is asked."""

    def __init__(self, ask: Callable[[], T]) -> None:
        self._ask = ask
        # Its thread is a daemon: one that hangs holds up nobody's exit.
        self._pool = ThreadPool(1)
        self._asked: AsyncResult[T] | None = None

    def answer(self, seconds: float) -> T:
        """Return the answer.

        Raises:
            multiprocessing.TimeoutError: there was none within `seconds`, or the question before this one still waits.
            Exception: whatever asking raised.
        """
        if self._asked is not None and not self._asked.ready():
            raise TookTooLong
        self._asked = self._pool.apply_async(self._ask)
        return self.last(seconds)

    def last(self, seconds: float) -> T:
        """Return the answer to the last question.

        Raises:
            multiprocessing.TimeoutError, Exception: as `answer`; the first too where nothing was asked.
        """
        if self._asked is None:
            raise TookTooLong
        return self._asked.get(seconds)


class FleetCollector(Collector):
    """Collector of what waits in the broker and the catalog, read when it is asked for."""

    def __init__(self, redis: Redis, mailbox: Mailbox, catalog: Catalog) -> None:
        self._redis = redis
        self._mailbox = mailbox
        self._backlog = Patient(catalog.backlog)

    def describe(self) -> Iterator[Metric]:
        """Yield the metrics by their names: nothing is read."""
        yield _shown_beat(leads=False)
        yield from _shown_depths(_NO_DEPTHS, 0.0)
        yield from _shown_backlog(_NO_BACKLOG, 0.0)

    def collect(self) -> Iterator[Metric]:
        try:
            yield _shown_beat(leads=bool(self._redis.exists(BEAT_LOCK)))
            yield from _shown_depths(self._mailbox.depths(QUEUES), time.time())
        except BrokerFailed as error:
            _not_read("broker", error)
        try:
            yield from _shown_backlog(self._backlog.answer(_CATALOG_SECONDS), time.time())
        except (CatalogOutage, SQLAlchemyError, TookTooLong) as error:
            _not_read("catalog", error)


def show_worker(context: WorkerContext, leases: LeaseKeeper, busy: Callable[[], int]) -> Callable[[], None]:
    """Show what this worker has in hand, and serve the page if the settings name a port; answers what ends that.

    Raises:
        SettingsError: the port cannot be had.
    """
    settings = context.settings
    SLOTS.set(settings.worker_slots)
    SLOTS_BUSY.set_function(busy)
    OLDEST_IN_HAND.set_function(leases.oldest)
    if not settings.metrics_port:
        return lambda: None
    redis = open_redis(settings, timeout=_BROKER_SECONDS, retries=0)
    try:
        server, _ = start_http_server(settings.metrics_port, settings.metrics_address)
    except OSError as error:
        raise SettingsError(_cannot_listen(settings.metrics_port, settings.metrics_address, error)) from error
    collector = FleetCollector(redis, open_mailbox(settings, redis, context.celery), context.catalog)
    REGISTRY.register(collector)

    def stop() -> None:
        server.shutdown()
        server.server_close()
        REGISTRY.unregister(collector)
        redis.close()

    return stop


def _cannot_listen(port: int, address: str, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"{variable_of('metrics_port')}: port {port} is taken on {address}, by another worker or another program; "
            "give each worker of a host its own, or 0 for none"
        )
    return f"{variable_of('metrics_address')}: cannot listen on {address} port {port}: {error.strerror or error}"


def _not_read(store: str, error: Exception) -> None:
    SCRAPE_ERRORS.labels(store).inc()
    _log.warning("scrape_incomplete", stage="scrape", store=store, error=type(error).__name__)


def _shown_beat(*, leads: bool) -> Metric:
    return GaugeMetricFamily("afterturn_beat_leads", "1 where a beat leads, 0 where none does.", value=leads)


def _shown_depths(depths: Depths, now: float) -> Iterator[Metric]:
    queues = GaugeMetricFamily("afterturn_queue_messages", "Messages that wait in a queue.", labels=["queue"])
    for queue, messages in depths.queues.items():
        queues.add_metric([queue], messages)
    yield queues
    for name, meaning, value in (
        ("pending_turns", "Turns in the mailboxes, those in hand included.", depths.pending_turns),
        ("dirty_subjects", "Subjects with pending turns.", depths.pending_subjects),
        ("subjects_in_line", "Subjects that wait for a slot of their tenant.", depths.waiting_subjects),
        (
            "oldest_pending_turn_age_seconds",
            "For how long the oldest pending turn has waited; 0 without one.",
            depths.oldest_pending_seconds,
        ),
        ("clock_offset_seconds", "How far this worker's clock is before the broker's.", now - depths.at.timestamp()),
    ):
        yield GaugeMetricFamily(f"afterturn_{name}", meaning, value=value)


def _shown_backlog(backlog: Backlog, now: float) -> Iterator[Metric]:
    oldest = backlog.oldest_index_job
    for name, meaning, value in (
        ("index_jobs_waiting", "Memories of which the index must still be told.", backlog.index_jobs),
        (
            "oldest_index_job_age_seconds",
            "For how long the oldest of them has waited; 0 without one.",
            max(0.0, now - oldest.timestamp()) if oldest else 0.0,
        ),
        ("outbox_events_waiting", "Events not yet announced.", backlog.events),
    ):
        yield GaugeMetricFamily(f"afterturn_{name}", meaning, value=value)
