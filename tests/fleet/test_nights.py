"""A night and the turns of the same users, on a real fleet: turns go first, nothing is lost and nothing races."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from schema import Status
from stores.embedding.minilm import MiniLM
from stores.queue import DEAD_LETTER_QUEUE
from tests.fleet.fleet import Fleet, wait_until
from tests.fleet.load import names, talk
from worker.context import open_worker_context
from worker.nights.dispatch import begin, request_pages

ARCHIVES_ALL = {"ARCHIVE_WEIGHT": "1.0", "ARCHIVE_IDLE_DAYS": "0", "AFTERTURN_NIGHT_CHUNK_SUBJECTS": "7"}
NIGHTS = 3


@pytest.mark.long
def test_nights_and_turns_of_the_same_users_do_not_race(oracle_fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    # Parts with the oracle are opened in this process too, which it makes embed nothing twice: not for other tests.
    monkeypatch.setattr(MiniLM, "embed", MiniLM.embed)
    fleet = oracle_fleet
    said = talk(names(30), 6)
    fleet.start_worker(**ARCHIVES_ALL)
    fleet.enqueue(said[:120])
    fleet.wait_until_idle()
    context = open_worker_context(fleet.settings, fleet.celery)
    nights = context.catalog.nights
    with fleet.feeding(said[120:], a_second=30):
        for number in range(NIGHTS):
            now = datetime.now(UTC)
            run_id = begin("forget", f"night-{number}", None, context, now)
            assert run_id is not None
            request_pages(run_id, context)

    fleet.wait_until_idle()
    wait_until(lambda: not nights.unfinished("forget"), "the nights are over")
    runs = nights.runs()
    context.close()
    users = len(fleet.stores.catalog.list_subjects())
    assert users == 30
    assert [run.subjects for run in runs] == [users] * NIGHTS
    assert not any("failed" in run.results for run in runs)
    archived = sum(run.results.get("archive", 0) for run in runs)
    counts = fleet.stores.catalog.count_memories()
    assert counts[Status.ARCHIVED] == archived > 0, "each was archived once"
    assert fleet.redis.llen(DEAD_LETTER_QUEUE) == 0
    for subject in fleet.stores.catalog.list_subjects():
        memories = fleet.stores.catalog.list_memories(subject, statuses=tuple(Status))
        entries = fleet.stores.index.fetch(subject, [memory.index_key for memory in memories])
        assert {entry.memory_id: entry.status for entry in entries} == {one.id: one.status for one in memories}
