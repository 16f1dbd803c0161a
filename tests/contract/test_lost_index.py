"""An index whose files were deleted: status says so, and the fleet tells it again."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from interfaces.doctor.agreement import check_versions
from interfaces.fleet_checks import check_index
from interfaces.fleet_report import FleetReport, fleet_report
from memory.agreement import disagreements, queue_lost_entries
from memory.indexing import index_all
from schema import Status
from schema.health import HealthCheck, HealthStatus
from stores.index import open_index
from stores.index.base import BESIDE, Family
from tests.contract.pipeline import Worker, on_every_store
from tests.contract.test_documents import MILL, carry, put, story
from tests.contract.test_selectors import assert_in_order, kept, switched
from tests.turns import subject

pytest_generate_tests = on_every_store
NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def lose(worker: Worker, user: str) -> None:
    """As if the file with a user's vectors had been deleted."""
    memories = worker.known(subject(user), *Status)
    worker.context.index.delete(subject(user), [memory.index_key for memory in memories])


def test_what_the_index_lost_is_found_and_told_again_and_nothing_where_it_lost_nothing(
    worker: Worker, anna: str
) -> None:
    users = [f"{anna}{letter}" for letter in "abc"]
    for user in users:
        worker.hear(user, "I live in Lisbon.", "I moved to Oslo. I live in Oslo now.", "I am allergic to peanuts.")
    assert queue_lost_entries(worker.context, NOW, most_subjects=10_000) == 0
    lose(worker, users[0])
    lose(worker, users[2])
    while queue_lost_entries(worker.context, NOW, most_subjects=1) == 0:
        assert worker.context.redis.get("afterturn:index:looked-at:memories") is not None
    assert worker.context.catalog.count_index_jobs() > 0
    while queue_lost_entries(worker.context, NOW, most_subjects=10_000):
        pass

    for user in users:
        index_all(subject(user), worker.context)
        assert disagreements(Family.MEMORIES, subject(user), worker.context) == []
        assert len(worker.indexed(subject(user))) == len(worker.known(subject(user), *Status))


@pytest.mark.parametrize(
    "family", [BESIDE[0], *(pytest.param(family, marks=pytest.mark.long) for family in BESIDE[1:])]
)
def test_what_the_index_of_another_family_lost_or_has_at_another_version_is_named_and_told_again(
    worker: Worker, anna: str, family: Family
) -> None:
    at = switched(worker)
    at.hear(anna, "I live in Lisbon", "My brother owns a bakery in Porto")
    put(at, story(subject(anna), MILL * 40))
    carry(at, subject(anna))
    first, second, *_ = kept(at, subject(anna), family).values()
    index = at.context.index_of(family)
    [entry] = index.fetch(subject(anna), [second.index_key])
    assert told_versions(at).status is HealthStatus.OK

    index.delete(subject(anna), [first.index_key])
    assert f"{first.id} ({family}) of {subject(anna).key}: missing, not {first.version}" in told_versions(at).found
    assert queue_lost_entries(at.context, NOW, most_subjects=10_000) == 1
    index_all(subject(anna), at.context)
    assert told_versions(at).status is HealthStatus.OK

    index.upsert([replace(entry, version=second.version + 1)])
    assert f"{second.id} ({family}) of" in told_versions(at, optimizes=True).found
    index_all(subject(anna), at.context)
    assert_in_order(at, subject(anna))


def told_versions(worker: Worker, *, optimizes: bool = False) -> HealthCheck:
    [check] = check_versions(worker.context, optimizes=optimizes)
    return check


def test_files_that_are_deleted_under_a_worker_at_work_are_made_and_filled_again(alone: Worker, anna: str) -> None:
    settings, embedder = alone.context.settings, alone.context.embedder
    users = [f"{anna}{letter}" for letter in "abc"]
    for user in users:
        alone.hear(user, "I live in Lisbon.")
        assert len(alone.hits(subject(user), "Lisbon")) == 1
    for file in settings.index_dir.iterdir():
        file.unlink()

    assert queue_lost_entries(alone.context, NOW, most_subjects=10_000) == len(users)
    for user in users:
        index_all(subject(user), alone.context)
        assert len(alone.hits(subject(user), "Lisbon")) == 1
    with closing(open_index(settings, embedder)) as another:
        assert another.count() == len(users)


def test_status_says_how_much_the_index_lost_and_not_what_is_under_way() -> None:
    def report(indexed: int, waiting: int) -> FleetReport:
        return FleetReport(
            broker="", broker_answers=True, memories={"active": 600, "superseded": 24}, indexed=indexed,
            waiting_for_the_index=waiting,
        )  # fmt: skip

    [warned] = check_index(report(366, 0))
    assert "258 of 624" in warned.found
    assert list(check_index(report(620, 0))) == []
    assert list(check_index(report(366, 258))) == []
    chunks, facts = (
        {"in_catalog": 300, "indexed": indexed, "waiting": waiting} for indexed, waiting in ((0, 0), (0, 299))
    )
    [warned] = check_index(replace(report(624, 299), beside={"chunks": chunks, "facts": facts}))
    assert "300 of 300 chunks" in warned.found
    [warned] = check_index(replace(report(366, 299), beside={"facts": facts}))
    assert "258 of 624 memories" in warned.found, "those who wait are facts"


def test_status_counts_what_each_index_has(alone: Worker, anna: str) -> None:
    put(alone, story(subject(anna), MILL * 40))
    carry(alone, subject(anna))
    count = alone.context.catalog.families.count(Family.CHUNKS)
    report, _ = fleet_report(alone.context.settings)
    assert report.beside == {"chunks": {"in_catalog": count, "indexed": count, "waiting": 0}}
