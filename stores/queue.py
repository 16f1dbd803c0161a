"""The queues: their names, their contract, and how a message gets onto them.

Any backend in any language may send `memory.ingest_turn` to `memory_ingest_queue`: a Celery task message, JSON, with a
turn as its only argument. The transport options stand here, beside both ends, because the shortest visibility timeout
on a broker applies to everybody on it.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from kombu import Exchange, Queue
from kombu.exceptions import KombuError
from kombu.utils.url import maybe_sanitize_url
from redis import Redis
from redis.exceptions import RedisError

from schema import Subject, Turn
from schema.errors import BrokerOutage
from schema.settings import Settings
from stores.mailbox import Mailbox, TurnQuota
from stores.publisher import Publisher

if TYPE_CHECKING:
    # A chat backend that only enqueues installs no Celery.
    from celery import Celery

INGEST_QUEUE = "memory_ingest_queue"
NIGHTLY_QUEUE = "memory_nightly_queue"
DEAD_LETTER_QUEUE = "memory_dead_letter_queue"
QUEUES = (INGEST_QUEUE, NIGHTLY_QUEUE, DEAD_LETTER_QUEUE)

INGEST_TURN = "memory.ingest_turn"
DRAIN_MAILBOX = "memory.drain_mailbox"
DEAD_LETTER = "memory.dead_letter"
NIGHT = "memory.night"
NIGHT_CHUNK = "memory.night_chunk"
CONDENSE = "memory.condense"
PUT_DOCUMENT = "memory.put_document"
INDEX_DOCUMENT = "memory.index_document"
TIDY = "memory.tidy"
SEND_WEBHOOKS = "memory.send_webhooks"
SWEEP = "memory.sweep"
WORDLESS_TASKS: Final = frozenset(
    {DRAIN_MAILBOX, DEAD_LETTER, NIGHT, NIGHT_CHUNK, CONDENSE, INDEX_DOCUMENT, TIDY, SEND_WEBHOOKS, SWEEP}
)
"""Tasks that are given ids alone; and dead letters, which are read as such."""
BEAT_KEYS = "afterturn:beat:"
"""The prefix of beat's keys in Redis."""
BEAT_LOCK = f"{BEAT_KEYS}:lock"
"""Held by the beat that leads."""
IN_HAND = "afterturn_in_hand"
"""The remote control command by which a worker says what it has in hand."""

_LAST = 9
"""Kombu's lowest priority on Redis: a worker looks there when every other list is empty."""
_BEFORE_NIGHTS = 3
"""Behind the sweep, and before what a night has to do: somebody waits for it, though not as for an answer."""
_VISIBILITY_SECONDS = 30
"""How long a message may be in hand before another worker gets it too. A turn that came as a plain message and whose
worker died before it parked it lies nowhere else. One that is given out twice finds its mailbox held or empty."""


_TRANSPORT_OPTIONS: Final = {
    "visibility_timeout": _VISIBILITY_SECONDS,
    # Past that, a killed worker's messages come back in 6 to 13 s with these two, after about 100 s without.
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    # A worker that dies in a sweep holds up everybody's sweeps for this long (default 300).
    "unacked_mutex_expire": 15,
    "socket_timeout": 10,
    "socket_connect_timeout": 2,
    "socket_keepalive": True,
    "health_check_interval": 10,
}
"""Source of the numbers: measured on kombu 5.7 with Redis, see `docs/decisions/0003-celery-on-redis.md`."""
_RETRIES: Final = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}
"""One try and no pauses: a broker that refuses connections answers within 5 ms instead of 600."""
_TASK_QUEUES: Final = tuple(Queue(name, Exchange(name), routing_key=name) for name in QUEUES)
"""As Celery itself makes a queue that a sender names: exchange and key are called like the queue."""


def create_celery(settings: Settings) -> Celery:
    """Return a Celery application that can send; the worker configures its own side on top of it."""
    from celery import Celery

    app = Celery("afterturn", broker=settings.broker_url)
    app.conf.update(
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        # Without it every new producer thread pays 5 to 8 ms for a result backend that nobody asked for.
        result_backend_thread_safe=True,
        task_default_queue=INGEST_QUEUE,
        task_queues=list(_TASK_QUEUES),
        task_create_missing_queues=False,
        broker_transport_options=dict(_TRANSPORT_OPTIONS),
        task_publish_retry_policy=dict(_RETRIES),
    )
    if tls := _tls(settings):
        app.conf.broker_use_ssl = tls
    return app


def create_publisher(settings: Settings, *, timeout: float) -> Publisher:
    """Return what sends to the queues as a Celery application does, and needs no Celery; each wait of it ends within
    `timeout` seconds."""
    options = {**_TRANSPORT_OPTIONS, "socket_timeout": timeout, "socket_connect_timeout": timeout}
    return Publisher(settings.broker_url, _TASK_QUEUES, options=options, tls=_tls(settings), retries=_RETRIES)


def _tls(settings: Settings) -> dict[str, Any]:
    # Unless the URL says more, kombu takes any certificate: whoever stands between reads what people say.
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED} if settings.broker_url.startswith("rediss://") else {}


def open_mailbox(settings: Settings, redis: Redis, sender: Celery | Publisher) -> Mailbox:
    """Return the mailboxes in a Redis, whose notifications are messages of a sender."""
    return Mailbox(redis, notify=lambda subject: notify(sender, subject), slots=settings.tenant_slots)


def turn_quota(settings: Settings) -> TurnQuota:
    """Return how many turns a minute are taken of a user and of a tenant."""
    return TurnQuota(settings.quota_user_turns_per_minute, settings.quota_tenant_turns_per_minute)


def send_turn(sender: Celery | Publisher, turn: Turn) -> None:
    """Put one turn onto the ingest queue.

    Raises:
        BrokerOutage: the broker does not take it.
    """
    _send(sender, INGEST_TURN, [turn.model_dump(mode="json", exclude_none=True)], INGEST_QUEUE, f"turn {turn.turn_id}")


def notify(sender: Celery | Publisher, subject: Subject) -> None:
    """Ask any worker to look into a subject's mailbox."""
    _send(sender, DRAIN_MAILBOX, [subject.tenant_id, subject.subject_id], INGEST_QUEUE, "one subject")


def request_night_page(app: Celery, run_id: str) -> None:
    """Ask any worker to do a page of a nightly run. It waits behind whatever else waits: turns, and the sweep."""
    _send(app, NIGHT_CHUNK, [run_id], NIGHTLY_QUEUE, "", priority=_LAST)


def request_condensing(app: Celery, subject: Subject) -> None:
    """Ask any worker to condense the episodes of a subject that tells too much to wait for its night."""
    _send(app, CONDENSE, [subject.tenant_id, subject.subject_id], NIGHTLY_QUEUE, "one subject", priority=_LAST)


def request_indexing(app: Celery, subject: Subject, document_id: str) -> None:
    """Ask any worker to make a document searchable that the catalog has. Turns do not wait for it.

    Raises:
        BrokerOutage: the broker does not take it; the sweep finds the document.
    """
    arguments = [subject.tenant_id, subject.subject_id, document_id]
    _send(app, INDEX_DOCUMENT, arguments, NIGHTLY_QUEUE, "one document", priority=_BEFORE_NIGHTS)


def request_webhooks(app: Celery, endpoint_id: str) -> None:
    """Ask any worker to send what waits for an endpoint."""
    _send(app, SEND_WEBHOOKS, [endpoint_id], NIGHTLY_QUEUE, "")


def send_dead_letter(app: Celery, *, reason: str, turn_id: str | None, body: Any) -> None:
    """Put a turn that cannot be processed onto the dead letter queue, whole, with the reason.

    `body` is the turn as it came: a JSON value, or the text where it is none.
    """
    letter = {"reason": reason, "turn_id": turn_id, "at": datetime.now(UTC).isoformat(), "turn": body}
    _send(app, DEAD_LETTER, [letter], DEAD_LETTER_QUEUE, f"turn {turn_id}")


def ask_workers(app: Celery, timeout: float) -> list[dict[str, Any]]:
    """Return what each worker that answers within `timeout` seconds has in hand, by its name.

    Raises:
        BrokerOutage: the broker does not answer.
    """
    with _translated(app.conf.broker_url):
        return app.control.broadcast(IN_HAND, reply=True, timeout=timeout) or []


def who_works(app: Celery, redis: Redis, timeout: float) -> list[str]:
    """Return the names of the workers that answer on the broker within `timeout` seconds, and `beat` where one leads.

    Raises:
        BrokerFailed: the broker does not answer.
    """
    leads = bool(redis.exists(BEAT_LOCK))
    with _translated(app.conf.broker_url):
        replies: list[dict[str, Any]] = app.control.ping(timeout=timeout) or []
    return [*sorted(name for reply in replies for name in reply), *(["beat"] if leads else [])]


def _send(
    sender: Celery | Publisher, task: str, args: list[Any], queue: str, shown_as: str, *, priority: int | None = None
) -> None:
    options: dict[str, Any] = {} if priority is None else {"priority": priority}
    url = sender.url if isinstance(sender, Publisher) else sender.conf.broker_url
    with _translated(url):
        sender.send_task(
            task, args=args, queue=queue, ignore_result=True, argsrepr=f"({shown_as})", kwargsrepr="{}", **options
        )


@contextmanager
def _translated(url: str) -> Iterator[None]:
    """Raise what keeps a broker from a message as what it is, whichever library says so."""
    try:
        yield
    except (KombuError, RedisError, OSError) as error:
        raise BrokerOutage(
            f"the broker at {maybe_sanitize_url(url)} takes no message: {error}. Start one "
            "(`afterturn run` brings its own) or set AFTERTURN_BROKER_URL"
        ) from error
