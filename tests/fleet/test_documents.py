"""Workers die while many documents change: at the end each is at its last version, and no vector is left over."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import numpy as np
import pytest

from producers.documents import put_document
from schema import Document, DocumentState, Subject
from schema.settings import Settings
from stores.failpoints import Failpoint
from stores.index.base import Where
from stores.queue import DEAD_LETTER_QUEUE, INGEST_QUEUE, create_celery
from tests.fleet.fleet import ORACLE, Fleet, locked, wait_until

POINTS: tuple[Failpoint, ...] = (
    "after_acquire",
    "after_extract",
    "after_commit",
    "before_index",
    "after_index",
    "before_ack",
)


@pytest.fixture(scope="module")
def fleet(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """A fleet with beat and one worker that lives."""
    with closing(Fleet(broker_url, tmp_path_factory.mktemp("documents"), max_deliveries=50, **ORACLE)) as fleet:
        fleet.start("beat")
        fleet.start_worker()
        yield fleet


def archive_of(name: str) -> Subject:
    return Subject(tenant_id="acme", subject_id=f"archive-{name}")


def story(archive: Subject, number: int, version: str) -> Document:
    return Document(document_id=f"story-{number}", **archive.model_dump(), content=content(number, version))


def content(number: int, version: str) -> str:
    return f"Story {number}, as it was told in {version}.\n\nThe mill of {version} stood at the river for long."


def put_twice(fleet: Fleet, archive: Subject, last: dict[int, str], count: int, name: str) -> None:
    """Put two versions of each of so many documents, one right behind the other, so that workers race."""
    for number, half in itertools.product(range(count), ("spring", "autumn")):
        last[number] = f"{name}-{half}"
        put_document(None, story(archive, number, last[number]), fleet.stores, fleet.celery, now=datetime.now(UTC))


def assert_the_last_of_each(fleet: Fleet, archive: Subject, last: dict[int, str]) -> None:
    documents = fleet.stores.catalog.documents

    def is_settled() -> bool:
        heads = documents.heads(archive, [f"story-{number}" for number in last])
        return all(head.state is DocumentState.SEARCHABLE for head in heads.values())

    wait_until(is_settled, "all documents are searchable")
    wait_until(lambda: not fleet.stores.catalog.index_jobs(archive), "the index was told of everything")
    told = set()
    for number, version in last.items():
        chunks = documents.chunks_of(archive, f"story-{number}")
        assert "\n\n".join(chunk.content for chunk in chunks) == content(number, version)
        told |= {(chunk.id, chunk.version) for chunk in chunks}
    anywhere = np.eye(1, fleet.stores.embedder.dimensions, dtype=np.float32)[0]
    hits = fleet.stores.chunks.query(anywhere, Where(archive), 10_000)
    assert {(hit.memory_id, hit.version) for hit in hits} == told


@pytest.mark.long
@pytest.mark.parametrize("point", POINTS)
def test_a_worker_that_dies_at_a_point_leaves_each_document_at_its_last_version(fleet: Fleet, point: Failpoint) -> None:
    crash = {"CRASH_AT": point, "CRASH_MARK": str(fleet.folder / f"documents-{point}"), "CRASH_PASSAGE": "5"}
    # Ready before there is work: one that starts while the catalog is busy may end with 1, for its supervisor.
    dying = fleet.start_worker(**crash)
    archive, last = archive_of(point), dict[int, str]()
    for round_ in itertools.count():
        put_twice(fleet, archive, last, 200, f"{point}-{round_}")
        wait_until(
            lambda: dying.poll() is not None or not fleet.stores.catalog.documents.counts().waiting,
            f"it died at {point}",
        )
        if dying.poll() is not None:
            break
    assert dying.poll() == -signal.SIGKILL, fleet.log()[-2000:]
    fleet.workers.remove(dying)
    assert_the_last_of_each(fleet, archive, last)


@pytest.mark.long
def test_a_worker_that_dies_between_catalog_and_index_leaves_the_last_version_of_each(fleet: Fleet) -> None:
    crash = {"CRASH_AT": "before_index", "CRASH_MARK": str(fleet.folder / "documents-few"), "CRASH_PASSAGE": "2"}
    dying = fleet.start_worker(**crash)
    archive, last = archive_of("few"), dict[int, str]()
    for round_ in itertools.count():
        put_twice(fleet, archive, last, 8, f"few-{round_}")
        wait_until(
            lambda: dying.poll() is not None or not fleet.stores.catalog.documents.counts().waiting,
            "it died or is done",
        )
        if dying.poll() is not None:
            break
    assert dying.poll() == -signal.SIGKILL, fleet.log()[-2000:]
    fleet.workers.remove(dying)
    assert_the_last_of_each(fleet, archive, last)


def test_a_plain_message_keeps_a_document_and_what_is_none_is_a_dead_letter(fleet: Fleet) -> None:
    archive = archive_of("message")
    for given in ({"document_id": "none"}, story(archive, 0, "message").model_dump(mode="json")):
        fleet.celery.send_task("memory.put_document", args=[given], queue=INGEST_QUEUE)
    wait_until(lambda: bool(fleet.stores.catalog.documents.heads(archive, ["story-0"])), "the message was taken")
    assert_the_last_of_each(fleet, archive, {0: "message"})
    wait_until(lambda: fleet.redis.llen(DEAD_LETTER_QUEUE) == 1, "what is no document is a dead letter")


@pytest.mark.embedded
def test_an_index_of_documents_that_is_away_is_behind_and_catches_up(fleet: Fleet) -> None:
    archive, last = archive_of("away"), dict[int, str]()
    put_twice(fleet, archive, last, 4, "before")
    assert_the_last_of_each(fleet, archive, last)
    settings = fleet.stores.settings
    files = sorted((settings.data_dir / f"index-{settings.index_name}-chunks").glob("*.sqlite3"))
    with locked(files):
        put_twice(fleet, archive, last, 8, "away")
        wait_until(lambda: fleet.stores.catalog.documents.counts().waiting < 8, "the catalog goes on without the index")
    assert_the_last_of_each(fleet, archive, last)


def test_a_bell_that_nobody_heard_costs_a_sweep_and_not_the_story(fleet: Fleet) -> None:
    archive = archive_of("silence")
    nobody = create_celery(Settings(broker_url="redis://127.0.0.1:9/0"))
    last = dict.fromkeys(range(10), "silence")
    for number, version in last.items():
        put_document(None, story(archive, number, version), fleet.stores, nobody, now=datetime.now(UTC))
    assert_the_last_of_each(fleet, archive, last)
