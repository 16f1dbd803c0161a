"""What is counted and what is read at a scrape, on real stores."""

from __future__ import annotations

import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from multiprocessing import TimeoutError as TookTooLong
from typing import Any

import pytest
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from redis import Redis
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from interfaces.fleet_checks import advice_on
from interfaces.fleet_report import FleetReport, fleet_report
from schema import Turn
from schema.errors import CatalogOutage, IndexUnavailable, SettingsError, StaleFence
from schema.settings import Settings
from stores.mailbox import Mailbox
from stores.queue import BEAT_LOCK, INGEST_QUEUE, NIGHTLY_QUEUE, QUEUES, create_celery, open_mailbox
from stores.redis import open_redis
from tests.conftest import free_port
from tests.contract.pipeline import Worker
from tests.e2e.pages import Page
from tests.turns import a_turn, subject
from worker.scrape import FleetCollector, Patient, show_worker


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def page_of(collector: FleetCollector) -> str:
    registry = CollectorRegistry()
    registry.register(collector)
    return generate_latest(registry).decode()


@pytest.fixture
def redis(broker_url: str) -> Iterator[Redis]:
    client = Redis.from_url(broker_url)
    client.flushdb()
    yield client
    client.flushdb()
    client.close()


def mailbox_of(redis: Redis, slots: int = 128) -> Mailbox:
    return Mailbox(redis, notify=lambda _subject: None, slots=slots)


def park(mailbox: Mailbox, user: str, number: int = 1) -> None:
    mailbox.append(Turn.model_validate(a_turn(user, number, "I have a cat.")), 5)


def arrive_earlier(redis: Redis, user: str, seconds: float) -> None:
    """As if the oldest turn of a user had been parked some time ago."""
    key = f"afterturn:mailbox:{{acme:{user}}}:turns"
    turn_id = redis.lindex(f"afterturn:mailbox:{{acme:{user}}}:order", 0)
    assert isinstance(turn_id, bytes)
    record: Any = redis.hget(key, turn_id.decode())
    arrived = int(record[64:80]) - round(seconds * 1e6)
    redis.hset(key, turn_id.decode(), record[:64] + f"{arrived:016d}".encode() + record[80:])
    redis.zadd("afterturn:mailbox:heads", {f"acme:{user}": arrived})


# -- depths -------------------------------------------------------------------------------------------------------


def test_nothing_waits_in_an_empty_broker(redis: Redis) -> None:
    depths = mailbox_of(redis).depths(QUEUES)
    assert depths.queues == dict.fromkeys(QUEUES, 0)
    assert (depths.pending_turns, depths.pending_subjects, depths.waiting_subjects) == (0, 0, 0)
    assert depths.oldest_pending_seconds == 0.0


def test_depths_count_turns_subjects_those_in_line_and_messages(redis: Redis) -> None:
    mailbox = mailbox_of(redis, slots=2)
    for number, user in enumerate(("anna", "bert", "carl", "anna")):
        park(mailbox, user, number)
    redis.lpush(NIGHTLY_QUEUE, "a", "b", "c")
    depths = mailbox.depths(QUEUES)
    assert (depths.pending_turns, depths.pending_subjects, depths.waiting_subjects) == (4, 3, 1)
    assert (depths.queues[INGEST_QUEUE], depths.queues[NIGHTLY_QUEUE]) == (0, 3)
    assert abs((depths.at - datetime.now(UTC)).total_seconds()) < 5


@pytest.mark.parametrize("whose", ["waits", "is held", "backs off"])
def test_the_oldest_turn_is_found_whether_its_subject_waits_is_held_or_backs_off(redis: Redis, whose: str) -> None:
    mailbox = mailbox_of(redis)
    for user in ("anna", "bert", "carl"):
        park(mailbox, user)
    arrive_earlier(redis, "bert", 100)
    if whose != "waits":
        batch = mailbox.acquire(subject("bert"), 8, 30)
        assert batch is not None
        if whose == "backs off":
            mailbox.release(batch, retry_in=60, blamed=True)
    assert mailbox.depths(QUEUES).oldest_pending_seconds == pytest.approx(100, abs=5)


def test_the_oldest_is_found_among_many(redis: Redis) -> None:
    mailbox = mailbox_of(redis, slots=10)
    for number in range(400):
        park(mailbox, f"user{number}")
    arrive_earlier(redis, "user200", 100)
    depths = mailbox.depths(QUEUES)
    assert (depths.pending_subjects, depths.waiting_subjects) == (400, 390)
    assert depths.oldest_pending_seconds == pytest.approx(100, abs=10)


def test_once_the_oldest_turn_is_processed_the_one_behind_it_tells_the_age(redis: Redis) -> None:
    mailbox = mailbox_of(redis)
    for number in range(3):
        park(mailbox, "anna", number)
    arrive_earlier(redis, "anna", 100)
    batch = mailbox.acquire(subject("anna"), 1, 30)
    assert batch is not None
    left = mailbox.commit(batch.lease, [batch.turns[0].turn_id], 2, 30)
    assert left is not None
    assert 0 < mailbox.depths(QUEUES).oldest_pending_seconds < 50
    mailbox.commit(left.lease, [turn.turn_id for turn in left.turns], 0, 30)
    assert mailbox.depths(QUEUES).oldest_pending_seconds == 0


def test_looking_changes_nothing(redis: Redis) -> None:
    mailbox = mailbox_of(redis, slots=1)
    park(mailbox, "anna")
    park(mailbox, "bert")
    before = {key: redis.dump(key) for key in redis.scan_iter()}
    mailbox.depths(QUEUES)
    assert {key: redis.dump(key) for key in redis.scan_iter()} == before


# -- counters -------------------------------------------------------------------------------------------------------


def test_a_turn_that_is_kept_is_counted_once_with_its_lags(alone: Worker, anna: str) -> None:
    names = [
        ("afterturn_turns_total", {"outcome": "kept"}),
        ("afterturn_turn_commit_lag_seconds_count", {}),
        ("afterturn_turn_searchable_lag_seconds_count", {}),
        ("afterturn_decisions_total", {"action": "create"}),
        ("afterturn_screenings_total", {"verdict": "allow"}),
    ]
    before = [counted(name, **labels) for name, labels in names]
    alone.hear(anna, "I live in Lisbon.")
    alone.hear(anna, "I live in Lisbon.")
    assert [counted(name, **labels) for name, labels in names] == [value + 1 for value in before]


def test_the_lag_is_from_the_arrival_in_the_mailbox(alone: Worker, anna: str) -> None:
    before = counted("afterturn_turn_commit_lag_seconds_sum")
    alone.park(a_turn(anna, 1, "I live in Lisbon."))
    arrive_earlier(alone.context.redis, anna, 500)
    alone.work(subject(anna))
    assert counted("afterturn_turn_commit_lag_seconds_sum") - before == pytest.approx(500, abs=20)


def test_a_skipped_turn_waits_for_no_index(alone: Worker, anna: str) -> None:
    before = counted("afterturn_turn_searchable_lag_seconds_count")
    alone.hear(anna, "Thanks!")
    assert alone.outcomes(subject(anna)) == {f"{anna}-0": "skipped"}
    assert counted("afterturn_turn_searchable_lag_seconds_count") == before


def test_a_mailbox_whose_worker_was_not_heard_of_again_is_a_takeover(alone: Worker, anna: str) -> None:
    alone.park(a_turn(anna, 1, "I live in Lisbon."))
    assert alone.context.mailbox.acquire(subject(anna), 8, 30) is not None
    alone.lose_lease(subject(anna))
    before = counted("afterturn_lease_takeovers_total")
    alone.work(subject(anna))
    assert counted("afterturn_lease_takeovers_total") == before + 1


def test_the_arrivals_of_memories_that_wait_for_the_index_are_those_of_their_last_turns(
    alone: Worker, anna: str
) -> None:
    start = datetime.now(UTC)
    alone.hear(anna, "I live in Lisbon.")
    [memory] = alone.known(subject(anna))
    [arrived] = alone.context.catalog.arrivals([memory.id])
    assert abs((arrived - start).total_seconds()) < 30
    assert alone.context.catalog.arrivals([]) == []


# -- log lines ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "call", "error", "event"),
    [
        ("index", "upsert", IndexUnavailable("of Lisbon"), "index_or_events_behind"),
        ("catalog", "subject_state", CatalogOutage("of Lisbon"), "retry_later"),
        ("catalog", "commit", StaleFence("of Lisbon"), "lease_lost"),
        ("catalog", "subject_state", RuntimeError("of Lisbon"), "batch_failed"),
        ("catalog", "subject_state", RuntimeError("of Lisbon"), "turn_failed"),
        ("catalog", "subject_state", RuntimeError("of Lisbon"), "dead_letter"),
    ],
)
def test_every_line_on_a_batch_that_fails_has_its_batch_its_turns_and_its_stage(
    alone: Worker, anna: str, part: str, call: str, error: Exception, event: str
) -> None:
    failing = alone.with_parts(**{part: _Failing(getattr(alone.context, part), call, error)})
    with capture_logs(processors=[merge_contextvars]) as lines:
        failing.hear(anna, "I live in Lisbon.")
    [line] = [line for line in lines if line["event"] == event]
    assert line["turn_ids"] == [f"{anna}-0"]
    assert (len(line["batch"]), bool(line["stage"])) == (8, True)
    assert "Lisbon" not in str(line)
    if event == "retry_later":
        assert {*line, "level"} - {"log_level"} == Page("see-what-the-fleet-does").json(event).keys()


@dataclass
class _Failing:
    """A part of which one call fails."""

    part: Any
    call: str
    error: Exception

    def __getattr__(self, name: str) -> Any:
        return self._fail if name == self.call else getattr(self.part, name)

    def _fail(self, *_: object) -> None:
        raise self.error


# -- a scrape -------------------------------------------------------------------------------------------------------


def test_a_scrape_shows_what_waits(alone: Worker, anna: str) -> None:
    alone.park(a_turn(anna, 1, "I live in Lisbon."))
    page = page_of(FleetCollector(alone.context.redis, alone.context.mailbox, alone.context.catalog))
    assert "afterturn_index_jobs_waiting 0.0" in page
    assert 'afterturn_queue_messages{queue="memory_ingest_queue"}' in page
    assert "Lisbon" not in page
    assert anna not in page
    alone.work(subject(anna))


def test_a_scrape_shows_whether_a_beat_leads(alone: Worker) -> None:
    fleet = FleetCollector(alone.context.redis, alone.context.mailbox, alone.context.catalog)
    assert "afterturn_beat_leads 0.0" in page_of(fleet)
    alone.context.redis.set(BEAT_LOCK, "a beat", ex=60)
    assert "afterturn_beat_leads 1.0" in page_of(fleet)
    alone.context.redis.delete(BEAT_LOCK)


def test_a_broker_that_is_away_takes_its_own_numbers_off_the_page_and_no_more(alone: Worker) -> None:
    settings = alone.context.settings.model_copy(update={"broker_url": f"redis://127.0.0.1:{free_port()}/0"})
    away = open_mailbox(settings, open_redis(settings, timeout=0.5, retries=0), create_celery(settings))
    before = counted("afterturn_scrape_errors_total", store="broker")
    page = page_of(FleetCollector(alone.context.redis, away, alone.context.catalog))
    assert ("afterturn_pending_turns" in page, "afterturn_index_jobs_waiting" in page) == (False, True)
    assert counted("afterturn_scrape_errors_total", store="broker") == before + 1


def test_a_catalog_that_is_away_takes_its_own_numbers_off_the_page_and_no_more(alone: Worker) -> None:
    class Away:
        def backlog(self) -> None:
            raise CatalogOutage("disk I/O error")

    away: Any = Away()
    before = counted("afterturn_scrape_errors_total", store="catalog")
    page = page_of(FleetCollector(alone.context.redis, alone.context.mailbox, away))
    assert ("afterturn_pending_turns" in page, "afterturn_index_jobs_waiting" in page) == (True, False)
    assert counted("afterturn_scrape_errors_total", store="catalog") == before + 1


def test_what_hangs_is_waited_for_once_and_asked_again_when_it_has_answered() -> None:
    asked, may_answer = threading.Semaphore(0), threading.Event()

    def hang() -> str:
        asked.release()
        may_answer.wait(30)
        return "here"

    patient = Patient(hang)
    for _ in range(3):
        with pytest.raises(TookTooLong):
            patient.answer(0.01)
    assert asked.acquire(timeout=5)
    assert not asked.acquire(blocking=False)
    may_answer.set()
    assert patient.last(5) == "here"
    assert patient.answer(5) == "here"


def test_a_worker_serves_its_page_and_a_port_that_is_taken_is_named(worker: Worker) -> None:
    port = free_port()
    settings = worker.context.settings.model_copy(update={"metrics_port": port})
    context = worker.with_parts(settings=settings).context
    stop = show_worker(context, worker.leases, lambda: 3)
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
            page = answer.read().decode()
        assert "afterturn_worker_slots_busy 3.0" in page
        assert "\nafterturn_pending_turns " in page
        with pytest.raises(SettingsError, match=f"AFTERTURN_METRICS_PORT: port {port} is taken"):
            show_worker(context, worker.leases, lambda: 3)
        elsewhere = settings.model_copy(update={"metrics_address": "192.0.2.1"})
        with pytest.raises(SettingsError, match="AFTERTURN_METRICS_ADDRESS"):
            show_worker(worker.with_parts(settings=elsewhere).context, worker.leases, lambda: 3)
    finally:
        stop()


# -- the report -----------------------------------------------------------------------------------------------------


def test_a_report_tells_what_it_can_when_the_broker_is_away(
    alone: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interfaces.fleet_report._SECONDS", 60.0)
    alone.hear(anna, "I live in Lisbon.")
    url = f"redis://127.0.0.1:{free_port()}/0"
    told, failed = fleet_report(alone.context.settings.model_copy(update={"broker_url": url}))
    assert failed is not None
    assert (told.broker_answers, told.catalog_answers, told.workers, told.pending_turns) == (False, True, None, None)
    assert (told.turns, told.indexed, told.waiting_for_the_index) == ({"kept": 1}, 1, 0)
    assert told.last_hour is not None
    assert told.last_hour["lag_p95_seconds"] > 0
    assert url in advice_on(told)[0]


def test_a_report_tells_what_it_can_when_the_catalog_is_away(alone: Worker, tmp_path: Any) -> None:
    (tmp_path / "broken.sqlite3").write_bytes(b"this is no database" * 100)
    broken: Settings = alone.context.settings.model_copy(update={"catalog_url": f"sqlite:///{tmp_path}/broken.sqlite3"})
    told, failed = fleet_report(broken)
    assert "restore the file from a backup" in str(failed)
    assert (told.broker_answers, told.catalog_answers, told.memories) == (True, False, None)
    assert any("catalog does not answer" in line for line in advice_on(told))


def well() -> FleetReport:
    worker = {"name": "w", "busy": 1, "slots": 64, "oldest_seconds": 0.2, "breakers": {"index": "closed"}}
    return FleetReport(
        broker="redis://here",
        broker_answers=True,
        catalog_answers=True,
        workers=[worker],
        beat_leads=True,
        beat_late_seconds=-2.0,
    )


def test_a_fleet_that_is_well_needs_no_advice() -> None:
    assert advice_on(well()) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"workers": []}, "afterturn worker"),
        ({"beat_leads": False}, "afterturn beat"),
        ({"oldest_pending_seconds": 90.0}, "retry_later"),
        ({"subjects_in_line": 3}, "AFTERTURN_TENANT_SLOTS"),
        ({"oldest_index_job_seconds": 500.0}, "index_or_events_behind"),
        ({"waiting_events": 5000}, "listeners"),
        ({"dead_letters": {"count": 2, "last": []}}, "dead-letters list"),
        ({"catalog_answers": False}, "AFTERTURN_CATALOG_URL"),
    ],
)
def test_an_odd_number_comes_with_what_to_do(change: dict[str, Any], says: str) -> None:
    told = well()
    for name, value in change.items():
        setattr(told, name, value)
    [line] = advice_on(told)
    assert says in line


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"breakers": {"index": "open"}}, "does not ask its index"),
        ({"oldest_seconds": 300.0}, "AFTERTURN_TURN_DEADLINE_SECONDS"),
    ],
)
def test_a_worker_that_is_unwell_is_named(change: dict[str, Any], says: str) -> None:
    told = well()
    assert told.workers is not None
    told.workers[0].update(change)
    [line] = advice_on(told)
    assert line.startswith("w ")
    assert says in line


def test_waiting_with_all_slots_busy_asks_for_more_workers() -> None:
    told = well()
    assert told.workers is not None
    told.workers[0]["busy"] = 64
    told.oldest_pending_seconds = 90.0
    assert "start more workers" in advice_on(told)[0]
