"""What agents do with memories by their tools, over real stores."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.edits import apply_verb
from memory.members import set_member
from memory.preferences import set_preference
from memory.remember import Statement, remember
from recall.tools import EXAMPLE_TOOLS, MEMORY_TOOLS, SUMMARY_TOOLS, TOOLS, Failure, ToolContext, call
from schema import Capability, Kind, MemberRole, Preference, PreferenceName, Principal, Subject
from tests.contract.pipeline import Worker, only
from tests.turns import subject

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
READER = frozenset({Capability.READ})
WRITER = frozenset({Capability.READ, Capability.WRITE, Capability.DELETE})
VIOLIN = {"content": "Anna plays the violin.", "memory_type": "user_fact"}


class Agent:
    """An agent that calls tools about a subject."""

    def __init__(self, worker: Worker, whose: Subject, principal: Principal) -> None:
        self.worker, self.whose, self.principal = worker, whose, principal

    def answer(self, tool: str, **arguments: Any) -> dict[str, Any]:
        context = ToolContext(self.principal, self.whose, self.worker.context, NOW)
        return call(TOOLS[tool], arguments, context).model_dump(mode="json")

    def remembers(self, **arguments: Any) -> str:
        created = self.answer("create_memory", **{**VIOLIN, **arguments})
        assert created["status"] == "SUCCESS", created
        return str(created["memory_id"])

    def found(self, query: str, **filters: Any) -> list[str]:
        answer = self.answer("search_memory", query=query, filters=filters)
        return [memory["content"] for memory in answer["memories"]]

    def code(self, tool: str, **arguments: Any) -> str:
        return str(self.answer(tool, **arguments)["code"])


def agent(
    worker: Worker, whose: Subject, can: frozenset[Capability] = WRITER, user: str | None = None, name: str = "coach"
) -> Agent:
    asker = user or whose.subject_id
    return Agent(
        worker,
        whose,
        Principal(tenant_id=whose.tenant_id, user_id=asker, agent_id=name, capabilities=can, key_id="key_1"),
    )


@pytest.fixture
def coach(worker: Worker, anna: str) -> Agent:
    return agent(worker, subject(anna))


# -- the five -----------------------------------------------------------------------------------------------------


def test_what_a_tool_created_is_found_and_told_as_it_was_stated(coach: Agent) -> None:
    id_ = coach.remembers(importance=0.9, confidence=0.95, tags=["Music", "hobby"], category="personal")
    [found] = coach.answer("search_memory", query="Which instrument does Anna play?")["memories"]
    assert (found["memory_id"], found["importance"], found["confidence"]) == (id_, 0.9, 0.95)
    assert (found["tags"], found["category"], found["scope"]) == (["music", "hobby"], "Personal", "shared")
    assert found["distance"] == pytest.approx(1 - found["similarity"], abs=1e-4)
    memory = coach.answer("get_memory", memory_id=id_)["memory"]
    assert (memory["content"], memory["status"], memory["source"]) == (VIOLIN["content"], "active", "agent")


def test_what_a_tool_writes_leaves_facts(worker: Worker, coach: Agent) -> None:
    def facts() -> list[tuple[str, str]]:
        return [(fact.attribute or "", fact.object) for fact in only(worker.known(coach.whose)).facts]

    id_ = coach.remembers(content="The user lives in Lisbon.")
    assert facts() == [("home_city", "Lisbon")]
    coach.answer("update_memory", memory_id=id_, updates={"content": "The user lives in Porto."})
    assert facts() == [("home_city", "Porto")]
    coach.answer("semantic_memory_put", summary="The user moved to Oslo.")
    assert facts() == [("home_city", "Oslo")]


def test_a_question_about_nothing_known_finds_nothing(coach: Agent) -> None:
    coach.remembers()
    assert coach.found("How do I compile a kernel module?") == []


def test_the_same_again_is_one_memory(coach: Agent) -> None:
    first = coach.remembers()
    again = coach.answer("create_memory", **VIOLIN)
    assert (again["outcome"], again["memory_id"]) == ("updated", first)


def test_an_agent_does_not_overrule_what_the_user_said(worker: Worker, anna: str, coach: Agent) -> None:
    worker.hear(anna, "I live in Lisbon.")
    before = only(worker.known(subject(anna)))
    coach.answer("create_memory", content=before.summary, memory_type="user_fact")
    assert only(worker.known(subject(anna))).source == "chat"


def test_a_filter_leaves_out_what_it_does_not_name(coach: Agent) -> None:
    coach.remembers(tags=["music"], importance=0.9)
    assert coach.found("violin", tags=["music"], min_importance=0.8) == [VIOLIN["content"]]
    for other in ({"tags": ["work"]}, {"min_importance": 0.95}, {"memory_type": "knowledge"}, {"scope": "individual"}):
        assert coach.found("violin", **other) == [], other


def test_a_correction_of_what_another_has_changed_since_it_was_read_is_refused(coach: Agent) -> None:
    id_ = coach.remembers()
    read = coach.answer("get_memory", memory_id=id_)["memory"]["version"]
    assert coach.answer("update_memory", memory_id=id_, updates={"tags": ["a"]}, version=read)["status"] == "SUCCESS"
    refused = coach.answer("update_memory", memory_id=id_, updates={"tags": ["b"]}, version=read)
    assert (refused["code"], "read it again" in refused["message"]) == ("refused", True)
    assert coach.answer("get_memory", memory_id=id_)["memory"]["tags"] == ["a"]


def test_a_tool_corrects_and_forgets(coach: Agent) -> None:
    id_ = coach.remembers()
    updated = coach.answer("update_memory", memory_id=id_, updates={"content": "Anna plays the cello.", "tags": ["a"]})
    assert updated["status"] == "SUCCESS"
    assert coach.found("Which instrument does Anna play?") == ["Anna plays the cello."]
    assert coach.answer("delete_memory", memory_id=id_)["status"] == "SUCCESS"
    assert coach.code("get_memory", memory_id=id_) == "not_found"
    assert coach.code("delete_memory", memory_id=id_) == "not_found"


def test_what_a_tool_did_is_audited_with_whose_key_did_it(worker: Worker, coach: Agent) -> None:
    id_ = uuid.UUID(coach.remembers())
    coach.answer("update_memory", memory_id=str(id_), updates={"importance": 1.0})
    lines = worker.context.catalog.audit_of(coach.whose, id_)
    assert [line.by for line in lines] == ["key_1", "key_1"]


def test_a_confidence_of_zero_takes_a_memory_out_of_what_is_recalled(coach: Agent) -> None:
    id_ = coach.remembers()
    coach.answer("update_memory", memory_id=id_, updates={"confidence": 0})
    assert coach.found("violin") == []
    assert coach.answer("get_memory", memory_id=id_)["memory"]["status"] == "archived"


def test_what_other_agents_keep_does_not_stand_between_an_agent_and_its_own(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    ours = {"content": "Answer Anna in Portuguese.", "memory_type": "agent_procedure"}
    for number in range(worker.context.policy.memory_neighbors_k):
        agent(worker, whose, name=f"banker {number}").remembers(**ours)
    coach = agent(worker, whose)
    first = coach.remembers(**ours)
    assert coach.remembers(**ours) == first


def test_what_one_member_called_private_is_not_merged_with_what_another_says(worker: Worker, anna: str) -> None:
    whose = subject(anna)
    catalog = worker.context.catalog
    set_member(whose, "tom", MemberRole.ADMIN, catalog, by="dora", now=NOW, policy_version="p")
    worker.hear(anna, "I play the violin. That's private.")
    private = only(worker.known(whose))
    statement = Statement("Anna plays the violin.", kind=Kind.USER_FACT)
    remembered = remember(agent(worker, whose, user="tom").principal, whose, statement, worker.context, now=NOW)
    assert remembered.memory is not None
    assert remembered.memory.id != private.id


def test_an_agents_procedure_is_its_own_until_it_shares_it(worker: Worker, anna: str, coach: Agent) -> None:
    other = agent(worker, subject(anna), name="banker")
    id_ = coach.remembers(content="Praise Anna before correcting her.", memory_type="agent_procedure")
    assert other.code("get_memory", memory_id=id_) == "not_found"
    coach.answer("update_memory", memory_id=id_, updates={"scope": "shared"})
    assert other.answer("get_memory", memory_id=id_)["memory"]["scope"] == "shared"


# -- failures -----------------------------------------------------------------------------------------------------


def test_nobody_is_told_that_another_users_memory_exists(worker: Worker, anna: str, coach: Agent) -> None:
    id_ = coach.remembers()
    stranger = agent(worker, subject(anna), user="stranger")
    namesake = agent(worker, subject(f"not-{anna}"))
    for asker in (stranger, namesake):
        assert asker.code("get_memory", memory_id=id_) == "not_found"
        assert asker.code("update_memory", memory_id=id_, updates={"importance": 1}) == "not_found"
        assert asker.code("delete_memory", memory_id=id_) == "not_found"
        assert asker.code("semantic_memory_update", key=id_, category="Goals") == "not_found"
    assert stranger.code("search_memory", query="violin") == "not_found"
    assert stranger.code("create_memory", **VIOLIN) == "forbidden"
    assert namesake.found("violin") == []


def test_what_a_user_called_private_is_not_told_to_an_agent_of_nobody(worker: Worker, anna: str, coach: Agent) -> None:
    worker.hear(anna, "I play the violin. That's private.")
    memory = only(worker.known(subject(anna)))
    service = Principal(tenant_id="acme", agent_id="coach", capabilities=WRITER, key_id="key_2")
    nobodys = Agent(worker, subject(anna), service)
    assert nobodys.found("violin") == []
    assert nobodys.code("get_memory", memory_id=str(memory.id)) == "not_found"
    assert nobodys.answer("create_memory", **VIOLIN)["memory_id"] != str(memory.id)
    assert coach.found("violin") == [memory.summary]


def test_what_is_suppressed_or_blocked_is_spoken_of_to_no_agent(worker: Worker, anna: str, coach: Agent) -> None:
    id_ = coach.remembers()
    apply_verb(None, subject(anna), uuid.UUID(id_), "suppress", worker.context, now=NOW)
    assert coach.code("get_memory", memory_id=id_) == "not_found"
    apply_verb(None, subject(anna), uuid.UUID(id_), "unsuppress", worker.context, now=NOW)
    blocked = Preference(name=PreferenceName.BLOCKED_TOPIC, value="violin")
    set_preference(subject(anna), blocked, worker.context, by="anna", now=NOW)
    assert coach.code("get_memory", memory_id=id_) == "not_found"
    assert coach.found("violin") == []


def test_who_may_only_read_writes_nothing(worker: Worker, anna: str, coach: Agent) -> None:
    id_ = coach.remembers()
    reader = agent(worker, subject(anna), READER)
    assert reader.code("create_memory", **VIOLIN) == "forbidden"
    assert reader.code("update_memory", memory_id=id_, updates={"importance": 1}) == "forbidden"
    assert reader.code("delete_memory", memory_id=id_) == "forbidden"
    assert reader.code("episodic_memory_put", summary="Anna was in Porto.") == "forbidden"
    assert reader.found("violin") == [VIOLIN["content"]]


def test_a_secret_is_refused_and_not_repeated(coach: Agent) -> None:
    answer = coach.answer("create_memory", content="The password is hunter2!x9.", memory_type="user_fact")
    assert answer["code"] == "refused"
    assert "hunter2" not in str(answer)


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("create_memory", {**VIOLIN, "importance": 4}, "importance"),
        ("create_memory", {**VIOLIN, "memory_type": "gossip"}, "memory_type"),
        ("create_memory", {**VIOLIN, "colour": "red"}, "colour"),
        ("create_memory", {**VIOLIN, "content": "One. Two. Three."}, "content"),
        ("create_memory", {**VIOLIN, "content": "x" * 601}, "content"),
        ("search_memory", {"query": "  "}, "query"),
        (
            "create_memory",
            {"content": VIOLIN["content"]},
            "memory_type: Field required: 'user_preference', 'user_fact'",
        ),
        ("get_memory", {"memory_id": "anna"}, "memory_id: Input should be a UUID: The memory's id, as a search"),
        ("update_memory", {"memory_id": str(uuid.uuid4()), "updates": {}}, "updates"),
        ("semantic_memory_put", {"summary": "Anna skis.", "importance": 0.8}, "importance"),
        ("semantic_memory_put", {"summary": "Anna skis.", "importance": 6}, "importance"),
        ("episodic_memory_update", {"key": str(uuid.uuid4())}, "change"),
    ],
)
def test_a_wrong_argument_is_named(coach: Agent, tool: str, arguments: dict[str, Any], named: str) -> None:
    answer = coach.answer(tool, **arguments)
    assert answer["code"] == "invalid"
    assert named in answer["message"]


# -- the six ------------------------------------------------------------------------------------------------------


def test_a_summary_is_put_and_found_by_its_type_category_and_query(coach: Agent) -> None:
    coach.answer("semantic_memory_put", summary="Anna saves for a house.", category="goals", importance=4)
    [found] = coach.answer("semantic_memory_search", query="What does Anna save for?", topic="GOALS")["memories"]
    assert (found["category"], found["importance"], found["type"]) == ("Goals", 4, "semantic")
    assert coach.answer("semantic_memory_search", query="house", topic="Finance")["memories"] == []
    assert coach.answer("episodic_memory_fetch", query="What does Anna save for?")["memories"] == []


@pytest.mark.parametrize("tool", ["semantic_memory_search", "episodic_memory_fetch"])
def test_an_empty_query_finds_nothing(coach: Agent, tool: str) -> None:
    coach.remembers()
    assert coach.answer(tool, topic="Personal")["memories"] == []


@pytest.mark.parametrize("stars", [1, 2, 3, 4, 5])
def test_stars_are_kept_on_our_scale_and_told_as_they_were_given(coach: Agent, stars: int) -> None:
    key = coach.answer("episodic_memory_put", summary="Anna was in Porto.", importance=stars)["memory_id"]
    coach.answer("episodic_memory_update", key=key, importance=stars)
    assert coach.answer("get_memory", memory_id=key)["memory"]["importance"] == pytest.approx(stars / 5)
    [found] = coach.answer("episodic_memory_fetch", query="When was Anna in Porto?")["memories"]
    assert found["importance"] == stars


def test_a_key_names_the_summary_that_is_written_over(coach: Agent) -> None:
    key = coach.answer("semantic_memory_put", summary="Anna saves for a house.")["memory_id"]
    put = coach.answer("semantic_memory_put", key=key, summary="Anna saves for a boat.", category="Budget")
    assert put["memory_id"] == key
    [found] = coach.answer("semantic_memory_search", query="What does Anna save for?")["memories"]
    assert (found["summary"], found["category"]) == ("Anna saves for a boat.", "Budget")
    assert coach.code("episodic_memory_update", key=key, category="Goals") == "not_found"
    assert coach.code("semantic_memory_put", key=str(uuid.uuid4()), summary="Anna skis.") == "not_found"


# -- how they are offered -----------------------------------------------------------------------------------------


def test_every_tool_takes_and_gives_an_object() -> None:
    assert {tool.name for tool in (*MEMORY_TOOLS, *SUMMARY_TOOLS, *EXAMPLE_TOOLS)} == set(TOOLS)
    for tool in TOOLS.values():
        for schema in (tool.input_schema(), tool.output_schema()):
            assert schema["type"] == "object", tool.name
        assert set(tool.output_schema()["required"]) <= set(tool.output_schema()["properties"])


def test_a_failure_says_what_to_do_and_nothing_more(coach: Agent) -> None:
    context = ToolContext(coach.principal, coach.whose, coach.worker.context, NOW)
    failure = call(TOOLS["get_memory"], {"memory_id": str(uuid.uuid4())}, context)
    assert isinstance(failure, Failure)
    assert failure.message == "there is no such memory"
