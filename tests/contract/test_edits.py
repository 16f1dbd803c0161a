"""What a person or an agent does to a memory, and what they state outright, over real stores."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory.edits import Edit, NotPossible, Verb, apply_verb, edit
from memory.preferences import set_preference
from memory.remember import Statement, remember
from memory.statement_screening import NotKept
from memory.versions import VersionMismatch
from recall.listing import list_memories
from recall.retrieve import retrieve
from schema import (
    Capability,
    Kind,
    Memory,
    Preference,
    PreferenceName,
    Principal,
    Status,
    Subject,
    Visibility,
)
from schema.errors import NotAllowed, NotAMember, NotFound
from tests.contract.pipeline import Worker, only
from tests.turns import subject

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
READER = frozenset({Capability.READ})
WRITER = frozenset({Capability.READ, Capability.WRITE, Capability.DELETE})


def of(user: str | None = None, agent: str | None = None, can: frozenset[Capability] = READER) -> Principal:
    return Principal(tenant_id="acme", user_id=user, agent_id=agent, capabilities=can, key_id="key_1")


def found_by(principal: Principal | None, whose: Subject, query: str, worker: Worker) -> list[str]:
    return [hit.memory.summary for hit in retrieve(principal, [whose], query, worker.context, now=NOW)]


@pytest.fixture
def memory(worker: Worker, anna: str) -> Memory:
    worker.hear(anna, "I live in Lisbon.")
    return only(worker.known(subject(anna)))


def test_an_edit_says_the_new_words_and_nothing_of_the_old(worker: Worker, memory: Memory) -> None:
    whose = memory.subject
    edited = edit(
        of(whose.subject_id, can=WRITER),
        whose,
        memory.id,
        Edit(summary="Anna lives in Porto."),
        worker.context,
        now=NOW,
    )
    assert (edited.summary, edited.version) == ("Anna lives in Porto.", memory.version + 1)
    assert "Lisbon" not in str(edited.facts)
    assert found_by(None, whose, "Porto", worker) == ["Anna lives in Porto."]
    [*_, line] = worker.context.catalog.audit_of(whose, memory.id)
    assert (line.by, line.reason) == ("key_1", "edited: summary")


def facts_of(memory: Memory | None) -> set[tuple[str, str, str | None]]:
    assert memory is not None
    return {(fact.entity, fact.object, fact.attribute) for fact in memory.facts}


def test_the_facts_of_an_edit_are_read_off_its_words_and_walked_in_the_graph(worker: Worker, memory: Memory) -> None:
    whose = memory.subject
    edited = edit(None, whose, memory.id, Edit(summary="The user met Ben in Porto."), worker.context, now=NOW)
    assert "Porto" in {fact.object for fact in edited.facts}
    assert {"Porto", "Ben"} <= {entity.text for entity in edited.entities}
    told = {relation.object for relation in worker.context.graph.facts_of_memories(whose, [memory.id], limit=10)}
    assert "Porto" in told
    assert "Lisbon" not in told


def test_an_edit_takes_the_place_of_what_gives_the_same_another_value(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "I live in Lisbon.", "My favourite colour is green.")
    home, colour = sorted(worker.known(whose), key=lambda one: "Lisbon" not in one.summary)
    edited = edit(None, whose, colour.id, Edit(summary="The user lives in Oslo."), worker.context, now=NOW)
    assert edited.supersedes == (home.id,)
    before = worker.context.catalog.memories(whose, [home.id])[home.id]
    assert (before.status, before.superseded_by) == (Status.SUPERSEDED, edited.id)
    assert [line.by for line in worker.context.catalog.audit_of(whose, home.id)][-1] == "operator"
    assert worker.event_names(whose)[-2:] == ["memory.updated", "memory.changed_fact"]


def test_an_edit_that_says_the_same_value_again_replaces_nothing(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "I live in Lisbon.")
    old = only(worker.known(whose))
    later = remember(None, whose, Statement("The user lives in Porto."), worker.context, now=NOW).memory
    assert later is not None
    assert later.supersedes == (old.id,)
    edited = edit(None, whose, later.id, Edit(summary="The user lives in Porto!"), worker.context, now=NOW)
    assert edited.supersedes == (old.id,)


def test_a_turn_that_was_said_before_an_edit_does_not_undo_it(worker: Worker, memory: Memory) -> None:
    whose = memory.subject
    edit(None, whose, memory.id, Edit(summary="The user lives in Porto."), worker.context, now=datetime.now(UTC))
    worker.hear(whose.subject_id, "I moved to Berlin.", first=3)
    assert only(worker.known(whose)).summary == "The user lives in Porto."


def test_an_agents_edit_does_not_contradict_the_user(worker: Worker, anna: str) -> None:
    whose, coach = subject(anna), of(anna, "coach", WRITER)
    worker.hear(anna, "I live in Lisbon.")
    own = remember(coach, whose, Statement("The user loves sailing."), worker.context, now=NOW).memory
    assert own is not None
    with pytest.raises(NotPossible, match="said it themself"):
        edit(coach, whose, own.id, Edit(summary="The user lives in Oslo."), worker.context, now=NOW)


def test_who_may_not_edit_learns_of_no_blocked_topic_by_trying(worker: Worker, memory: Memory) -> None:
    whose = memory.subject
    chess = Preference(name=PreferenceName.BLOCKED_TOPIC, value="chess")
    set_preference(whose, chess, worker.context, by="ann", now=NOW)
    stranger, reader = of("stranger", can=WRITER), of(whose.subject_id)
    for summary in ("Anna plays chess.", "Anna plays cards."):
        for principal, refused in ((stranger, NotAMember), (reader, NotAllowed)):
            with pytest.raises(refused):
                edit(principal, whose, memory.id, Edit(summary=summary), worker.context, now=NOW)
        with pytest.raises(NotFound):
            edit(of(whose.subject_id, can=WRITER), whose, uuid.uuid4(), Edit(summary=summary), worker.context, now=NOW)


def test_an_edit_of_a_version_that_is_gone_is_refused(worker: Worker, memory: Memory) -> None:
    apply_verb(None, memory.subject, memory.id, "pin", worker.context, now=NOW)
    with pytest.raises(VersionMismatch):
        edit(None, memory.subject, memory.id, Edit(importance=1.0), worker.context, now=NOW, versions=[memory.version])


def test_an_agent_does_not_change_the_users_own_words(worker: Worker, memory: Memory) -> None:
    agent = Principal(
        tenant_id=memory.tenant_id,
        user_id=memory.subject_id,
        agent_id="coach",
        capabilities=frozenset({Capability.READ, Capability.WRITE}),
        key_id="k",
    )
    with pytest.raises(NotPossible, match="said it themself"):
        edit(agent, memory.subject, memory.id, Edit(summary="Anna lives in Oslo."), worker.context, now=NOW)
    assert edit(agent, memory.subject, memory.id, Edit(importance=0.9), worker.context, now=NOW).importance == 0.9


@pytest.mark.parametrize(
    "wanted",
    [
        Edit(confidence=0.0),
        Edit(confidence=0.01),
        Edit(importance=0.0),
        Edit(importance=0.01, tags=("home",)),
        Edit(visibility=Visibility.INDIVIDUAL),
        Edit(visibility=Visibility.PUBLIC),
    ],
    ids=str,
)
def test_an_agent_neither_hides_nor_shows_around_nor_lessens_what_the_user_said(
    worker: Worker, memory: Memory, wanted: Edit
) -> None:
    coach = of(memory.subject_id, "coach", WRITER)
    with pytest.raises(NotPossible, match="said it themself"):
        edit(coach, memory.subject, memory.id, wanted, worker.context, now=NOW)
    assert worker.known(memory.subject) == [memory]


def test_who_is_no_agent_and_an_agent_of_its_own_words_may_have_them_count_for_less(
    worker: Worker, memory: Memory
) -> None:
    whose, coach = memory.subject, of(memory.subject_id, "coach", WRITER)
    own = remember(coach, whose, Statement("The user loves sailing."), worker.context, now=NOW).memory
    assert own is not None
    less = Edit(importance=0.0, confidence=0.01)
    for principal, one in ((coach, own), (None, memory)):
        edited = edit(principal, whose, one.id, less, worker.context, now=NOW)
        assert (edited.importance, edited.confidence) == (0.0, 0.01)


@pytest.mark.parametrize("verb", ["pin", "unpin", "archive", "restore", "suppress", "unsuppress"])
def test_an_agent_does_to_its_own_words_what_it_may_not_do_to_the_users(
    worker: Worker, memory: Memory, verb: Verb
) -> None:
    whose, coach = memory.subject, of(memory.subject_id, "coach", WRITER)
    own = remember(coach, whose, Statement("The user loves sailing."), worker.context, now=NOW).memory
    assert own is not None
    apply_verb(coach, whose, own.id, verb, worker.context, now=NOW)
    with pytest.raises(NotPossible, match="said it themself"):
        apply_verb(coach, whose, memory.id, verb, worker.context, now=NOW)
    assert memory in worker.known(whose)


def test_an_edit_keeps_no_secret(worker: Worker, memory: Memory) -> None:
    with pytest.raises(NotKept):
        edit(None, memory.subject, memory.id, Edit(summary="The password is hunter2!x9."), worker.context, now=NOW)


def test_what_is_suppressed_is_kept_and_never_told(worker: Worker, memory: Memory) -> None:
    whose = memory.subject
    apply_verb(None, whose, memory.id, "suppress", worker.context, now=NOW)
    assert found_by(None, whose, "Lisbon", worker) == []
    assert [one.id for one in list_memories(None, whose, worker.context).memories] == [memory.id]
    apply_verb(None, whose, memory.id, "unsuppress", worker.context, now=NOW)
    assert found_by(None, whose, "Lisbon", worker) == [memory.summary]


def test_what_is_archived_is_not_told_until_it_is_restored(worker: Worker, memory: Memory) -> None:
    whose = memory.subject
    apply_verb(None, whose, memory.id, "archive", worker.context, now=NOW)
    assert found_by(None, whose, "Lisbon", worker) == []
    assert apply_verb(None, whose, memory.id, "restore", worker.context, now=NOW).status is Status.ACTIVE
    assert found_by(None, whose, "Lisbon", worker) == [memory.summary]


@pytest.mark.parametrize(
    ("verbs", "event"),
    [
        (["pin"], "memory.updated"),
        (["pin", "unpin"], "memory.updated"),
        (["suppress"], "memory.updated"),
        (["suppress", "unsuppress"], "memory.updated"),
        (["archive"], "memory.archived"),
        (["archive", "restore"], "memory.updated"),
    ],
)
def test_what_is_done_by_hand_is_announced_as_the_page_of_events_says(
    worker: Worker, memory: Memory, verbs: list[Verb], event: str
) -> None:
    for verb in verbs:
        apply_verb(None, memory.subject, memory.id, verb, worker.context, now=NOW)
    assert worker.event_names(memory.subject)[-1] == event
    page = (Path(__file__).parents[2] / "docs" / "reference" / "events.md").read_text()
    [row] = [line for line in page.splitlines() if line.startswith(f"| `{event}` |")]
    assert f"`{verbs[-1]}`" in row


def test_what_was_superseded_cannot_be_restored(worker: Worker, memory: Memory) -> None:
    worker.hear(memory.subject_id, "I moved to Berlin.", first=3)
    with pytest.raises(NotPossible, match="superseded"):
        apply_verb(None, memory.subject, memory.id, "restore", worker.context, now=NOW)


def test_who_may_only_read_changes_nothing(worker: Worker, memory: Memory) -> None:
    with pytest.raises(NotAllowed):
        apply_verb(of(memory.subject_id), memory.subject, memory.id, "pin", worker.context, now=NOW)


def test_a_memory_that_one_may_not_see_does_not_exist(worker: Worker, memory: Memory) -> None:
    other = subject(f"not-{memory.subject_id}")
    with pytest.raises(NotFound):
        apply_verb(of(other.subject_id, can=WRITER), other, memory.id, "pin", worker.context, now=NOW)


# -- remembering outright -----------------------------------------------------------------------------------------


def test_a_statement_is_kept_and_the_same_again_is_one(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    first = remember(None, whose, Statement("Anna plays the violin."), worker.context, now=NOW)
    again = remember(None, whose, Statement("Anna plays the violin."), worker.context, now=NOW)
    assert (first.outcome, again.outcome) == ("created", "updated")
    assert len(worker.known(whose)) == 1


def test_a_statement_leaves_facts_and_named_things(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    statement = Statement("The user lives in Lisbon with their brother Ben.")
    made = remember(None, whose, statement, worker.context, now=NOW).memory
    assert {("user", "Lisbon", "home_city"), ("Ben", "user's brother", None)} <= facts_of(made)
    assert made is not None
    assert {"Lisbon", "Ben"} <= {entity.text for entity in made.entities}
    assert {"Lisbon", "user's brother"} <= {
        relation.object for relation in worker.context.graph.about(whose, ["user", "ben"], limit=10)
    }


def test_what_is_stated_and_what_is_said_take_each_others_place(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "I live in Lisbon.")
    stated = remember(None, whose, Statement("Works at Acme. Lives in Porto."), worker.context, now=NOW).memory
    assert [one.summary for one in worker.known(whose)] == ["Works at Acme. Lives in Porto."]
    assert stated is not None
    worker.hear(anna, "I moved to Berlin.", first=3, occurred_at="2026-11-03T12:00:00Z")
    [moved] = [one for one in worker.known(whose) if "Berlin" in one.summary]
    assert moved.supersedes == (stated.id,)
    assert ("user", "Acme", "employer") in {fact for one in worker.known(whose) for fact in facts_of(one)}


def test_an_agents_statement_that_contradicts_the_user_waits_for_them(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    worker.hear(anna, "I live in Lisbon.")
    said = remember(of(anna, "coach", WRITER), whose, Statement("The user lives in Oslo."), worker.context, now=NOW)
    assert said.outcome == "held"


def test_what_is_an_agents_own_never_takes_the_place_of_what_is_shared(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    coach = of(anna, "coach", frozenset({Capability.READ, Capability.WRITE_OWN}))
    remember(None, whose, Statement("Anna wants short answers.", Kind.USER_PREFERENCE), worker.context, now=NOW)
    same = Statement("Anna wants short answers.", Kind.USER_PREFERENCE, visibility=Visibility.INDIVIDUAL)
    own = remember(coach, whose, same, worker.context, now=NOW)
    assert own.outcome == "created"
    assert remember(coach, whose, same, worker.context, now=NOW).outcome == "updated"
    assert own.memory is not None
    assert own.memory.visibility is Visibility.INDIVIDUAL
    assert len(found_by(coach, whose, "short answers", worker)) == 2
    assert len(found_by(of(anna), whose, "short answers", worker)) == 1


def test_an_agent_that_writes_its_own_alone_does_not_write_what_is_shared(worker: Worker, anna: str) -> None:
    coach = of(anna, "coach", frozenset({Capability.READ, Capability.WRITE_OWN}))
    with pytest.raises(NotAllowed):
        remember(coach, subject(anna), Statement("Anna plays the violin."), worker.context, now=NOW)


def test_nothing_is_remembered_outright_while_consent_is_withdrawn(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    wish = Preference(name=PreferenceName.CONSENT, value="withdrawn")
    set_preference(whose, wish, worker.context, by="dora", now=NOW)
    with pytest.raises(NotKept, match="consent"):
        remember(None, whose, Statement("Anna plays the violin."), worker.context, now=NOW)


def test_what_is_stated_of_importance_and_category_is_kept(worker: Worker, anna: str) -> None:
    statement = Statement("Anna saves for a house.", category="goals", importance=0.9)
    memory = remember(None, subject(anna), statement, worker.context, now=NOW).memory
    assert memory is not None
    assert (memory.importance, memory.category) == (0.9, "Goals")
    edited = edit(None, memory.subject, memory.id, Edit(category="conversation summary"), worker.context, now=NOW)
    assert edited.category == "Conversation_Summary"


def test_who_states_what_another_called_private_is_not_told_what_they_said(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin. That's private.")
    service = of(None, "coach", WRITER)
    said = remember(service, subject(anna), Statement("Anna plays the violin."), worker.context, now=NOW)
    assert said.memory is None or said.memory.labels.visibility is Visibility.PRIVATE


def test_an_agent_makes_a_memory_its_own_and_shares_it_again(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    coach, anna_herself = of(anna, "coach", WRITER), of(anna, can=WRITER)
    memory = remember(coach, whose, Statement("The user lives in Lisbon."), worker.context, now=NOW).memory
    assert memory is not None
    edit(coach, whose, memory.id, Edit(visibility=Visibility.INDIVIDUAL), worker.context, now=NOW)
    assert found_by(coach, whose, "Lisbon", worker) == [memory.summary]
    assert found_by(anna_herself, whose, "Lisbon", worker) == []
    edit(coach, whose, memory.id, Edit(visibility=Visibility.PRIVATE), worker.context, now=NOW)
    assert found_by(anna_herself, whose, "Lisbon", worker) == [memory.summary]


def test_nobody_makes_a_memory_what_they_could_not_see_then(worker: Worker, memory: Memory) -> None:
    anna = of(memory.subject_id, can=WRITER)
    with pytest.raises(NotAllowed):
        edit(anna, memory.subject, memory.id, Edit(visibility=Visibility.INDIVIDUAL), worker.context, now=NOW)
