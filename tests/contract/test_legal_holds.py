"""Under legal hold nothing goes: not by command, not by the user's own word, not in any night, nor with what it belongs
to."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory.erasure.subjects import erase_subject, erase_turns
from memory.legal_holds import set_legal_hold
from policies.consolidation import consolidated
from policies.merge import supersede
from schema import Fact, Memory, MemoryType, Scope, Status, Subject
from schema.errors import NotFound, UnderLegalHold
from stores.catalog import Changes
from tests.contract.catalogs import a_memory
from tests.contract.pipeline import Worker, on_every_store_at_length, only
from tests.erasing import erase_memory
from tests.turns import a_turn, subject
from worker.nights.forget import FORGET
from worker.nights.subject_run import run_for_subject
from worker.nights.unconsolidate import unconsolidate

pytest_generate_tests = on_every_store_at_length
NOW = datetime.now(UTC)
WHY = "case 17"


def held(worker: Worker, memory: Memory, *, holds: bool = True) -> Memory:
    set_legal_hold(memory.subject, [memory.id], worker.context, why=WHY, by="dora", now=NOW, holds=holds)
    return worker.context.catalog.memories(memory.subject, [memory.id])[memory.id]


def erase_whole(whose: Subject, memory: Memory, worker: Worker) -> None:
    erase_subject(whose, worker.context, by="dora", now=NOW)


def erase_conversation(whose: Subject, memory: Memory, worker: Worker) -> None:
    erase_turns(whose, Scope.CONVERSATION, memory.conversation_id or "", worker.context, by="dora", now=NOW)


def erase_turn(whose: Subject, memory: Memory, worker: Worker) -> None:
    erase_turns(whose, Scope.TURN, memory.source_turn_ids[0], worker.context, by="dora", now=NOW)


def erase_one(whose: Subject, memory: Memory, worker: Worker) -> None:
    erase_memory(whose, memory.id, worker.context, by="dora", now=NOW)


@pytest.mark.parametrize("erasure", [erase_whole, erase_conversation, erase_turn, erase_one])
def test_an_erasure_that_would_take_what_is_held_is_refused_as_a_whole_until_the_hold_is_lifted(
    worker: Worker, anna: str, erasure: Callable[[Subject, Memory, Worker], None]
) -> None:
    worker.hear(anna, "I live in Lisbon", "My brother owns a bakery in Porto")
    whose = subject(anna)
    memory = held(worker, worker.known(whose)[0])
    worker.park(a_turn(anna, 5, "I have a cat"))
    before, told = worker.everywhere(whose), worker.events(whose)
    with pytest.raises(UnderLegalHold, match=str(memory.id)):
        erasure(whose, memory, worker)
    assert (worker.everywhere(whose), worker.events(whose)) == (before, told)
    assert list(worker.context.mailbox.parked(whose)) == [f"{anna}-5"]
    erasure(whose, held(worker, memory, holds=False), worker)
    assert memory.id not in worker.context.catalog.memories(whose, [memory.id])


def test_who_held_it_and_lifted_the_hold_and_why_is_in_the_audit(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    memory = only(worker.known(subject(anna)))
    held(worker, held(worker, memory))
    held(worker, memory, holds=False)
    lines = worker.context.catalog.audit_of(memory.subject, memory.id)
    assert [(line.action, line.by, line.reason) for line in lines[1:]] == [
        ("held", "dora", WHY),
        ("lifted", "dora", WHY),
    ], "what is held already is not held again"


def test_all_that_is_named_is_held_or_nothing(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    memory = only(worker.known(subject(anna)))
    for missing in ({"document_ids": ["no-such-story"]}, {"memory_ids": [memory.id, uuid.uuid4()]}):
        wanted: dict[str, Any] = {"memory_ids": [memory.id]} | missing
        with pytest.raises(NotFound):
            set_legal_hold(memory.subject, context=worker.context, why=WHY, by="dora", now=NOW, **wanted)
    assert only(worker.known(subject(anna))) == memory


def test_a_spoken_wish_to_forget_what_is_held_is_refused_with_a_line_in_the_audit(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    whose = subject(anna)
    memory = held(worker, only(worker.known(whose)))
    worker.hear(anna, "Forget that I live in Lisbon", first=1)
    assert worker.known(whose) == [memory]
    assert worker.outcomes(whose)[f"{anna}-1"] == "refused"
    line = worker.context.catalog.audit_of(whose, memory.id)[-1]
    assert (line.action, line.turn_id, "legal hold" in line.reason) == ("refused", f"{anna}-1", True)
    worker.hear(anna, "I live in Porto", first=2)
    assert only(worker.known(whose, Status.SUPERSEDED)).legal_hold, "a changed fact keeps what it was"


@pytest.fixture
def boat(worker: Worker, anna: str) -> tuple[Memory, list[Memory]]:
    """A consolidated memory and its two originals."""
    whose = subject(anna)
    lives = Fact(entity="user", verb="lives in", object="Lisbon", attribute="home_city")
    said = {"Anna moved to a flat in Lisbon.": (lives,), "Anna painted a boat.": ()}
    moments = {"created_at": NOW, "updated_at": NOW, "type": MemoryType.EPISODIC}
    group = [
        a_memory(f"t{number}", whose).model_copy(update={**moments, "summary": summary, "facts": facts})
        for number, (summary, facts) in enumerate(said.items())
    ]
    whole = consolidated(group, " ".join(said), NOW, worker.context.policy, embedding_model=group[0].embedding_model)
    archived = {"status": Status.ARCHIVED, "consolidated_into": whole.id}
    context = [memory.model_copy(update=archived) for memory in group]
    worker.context.catalog.commit(Changes(subject=whose, at=NOW, created=(whole, *context)))
    return whole, context


def test_a_held_episode_is_not_erased_with_what_it_became_nor_lost_when_that_is_taken_apart(
    worker: Worker, boat: tuple[Memory, list[Memory]]
) -> None:
    whole, [home, painted] = boat
    held(worker, painted)
    with pytest.raises(UnderLegalHold, match=str(painted.id)):
        erase_memory(whole.subject, whole.id, worker.context, by="dora", now=NOW)
    unconsolidate(whole.subject, whole.id, worker.context, by="dora", now=NOW)
    erase_memory(whole.subject, home.id, worker.context, by="dora", now=NOW)
    assert [(one.id, one.legal_hold) for one in worker.known(whole.subject)] == [(painted.id, True)]


def test_a_held_whole_is_not_told_without_a_part_nor_taken_apart_and_survives_that_a_part_changes(
    worker: Worker, boat: tuple[Memory, list[Memory]]
) -> None:
    whole, [home, painted] = boat
    held(worker, whole)
    with pytest.raises(UnderLegalHold, match=str(whole.id)):
        erase_memory(whole.subject, painted.id, worker.context, by="dora", now=NOW)
    with pytest.raises(UnderLegalHold, match=str(whole.id)):
        unconsolidate(whole.subject, whole.id, worker.context, by="dora", now=NOW)
    worker.hear(whole.subject_id, "I live in Porto", occurred_at=(NOW + timedelta(minutes=1)).isoformat())
    kept = only(worker.known(whole.subject, Status.ARCHIVED))
    assert (kept.id, kept.summary, kept.legal_hold) == (whole.id, whole.summary, True)
    assert {one.summary for one in worker.known(whole.subject)} >= {painted.summary}
    assert only(worker.known(whole.subject, Status.SUPERSEDED)).id == home.id
    with pytest.raises(UnderLegalHold, match=str(whole.id)):
        erase_memory(whole.subject, painted.id, worker.context, by="dora", now=NOW)


def test_no_night_deletes_what_is_held_with_what_was_made_of_it(worker: Worker, anna: str) -> None:
    whose, long_ago = subject(anna), NOW - timedelta(days=900)
    rest = a_memory("t1", whose, created_at=long_ago)
    old = supersede(a_memory("t0", whose, created_at=long_ago), rest.id, long_ago)
    rest = rest.model_copy(update={"merged_from": (old.id,), "status": Status.ARCHIVED})
    worker.context.catalog.commit(Changes(subject=whose, at=long_ago, created=(old, rest)))
    held(worker, old)
    assert run_for_subject(whose, FORGET, worker.context, worker.leases, NOW) is None
    held(worker, old, holds=False)
    plan = run_for_subject(whose, FORGET, worker.context, worker.leases, NOW)
    assert plan is not None
    assert {step.memory_id for step in plan.steps} == {old.id, rest.id}


def test_whoever_asks_the_catalog_deletes_nothing_that_is_held(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I live in Lisbon")
    memory = held(worker, only(worker.known(subject(anna))))
    with pytest.raises(UnderLegalHold):
        worker.context.catalog.commit(Changes(subject=memory.subject, at=NOW, deleted=(memory,)))
    assert worker.known(memory.subject) == [memory]
