"""What the values promise: what they take, what they refuse, and ids that come out the same everywhere."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schema import (
    MAX_TURN_BYTES,
    Kind,
    Memory,
    MemoryType,
    Message,
    Policy,
    Subject,
    Thresholds,
    Turn,
    index_key,
    memory_id,
)
from schema.turn import MAX_WHOLE_TURN_BYTES
from schema.wrong_fields import wrong_fields
from tests.turns import a_turn

NOW = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
identifiers = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=30)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"))
subjects = st.builds(lambda tenant, user: Subject(tenant_id=tenant, subject_id=user), identifiers, identifiers)
memory_types = st.sampled_from(MemoryType)


def turn(**fields: Any) -> Turn:
    return Turn.model_validate(a_turn("anna", 1, "I live in Lisbon.") | fields)


HISTORY: dict[str, Any] = {"history": [{"role": "user", "content": "Hello!"}]}


def said(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}


# -- turns ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("why", "fields"),
    [
        ("a field that nobody knows", {"colour": "red"}),
        ("a version that nobody knows", {"schema_version": 3}),
        ("a history in a turn of version 1", {"history": [{"role": "user", "content": "Hello!"}]}),
        ("metadata in a turn of version 1", {"metadata": {"plan": "free"}}),
        ("metadata with something in it", {"schema_version": 2, "metadata": {"plan": {"name": "free"}}}),
        ("metadata without end", {"schema_version": 2, "metadata": {"plan": "x" * 1001}}),
        ("metadata that is no number", {"schema_version": 2, "metadata": {"score": float("nan")}}),
        ("more metadata than a turn may have", {"schema_version": 2, "metadata": {f"n{n}": n for n in range(33)}}),
        (
            "a history beyond the text that a turn may have",
            {"schema_version": 2, "history": [{"role": "user", "content": "x" * MAX_TURN_BYTES}]},
        ),
        ("no time zone", {"occurred_at": "2026-11-02T08:00:00"}),
        ("no message", {"messages": []}),
        ("a role that nobody has", {"messages": [{"role": "robot", "content": "hi"}]}),
        ("an unknown field in a message", {"messages": [{"role": "user", "content": "hi", "colour": "red"}]}),
        ("an empty id", {"turn_id": ""}),
        ("an id of 201 characters", {"turn_id": "t" * 201}),
        ("a line break in an id", {"user_id": "an\nna"}),
        ("a NUL in an id", {"tenant_id": "ac\x00me"}),
        ("half a character in an id", {"user_id": "\ud800"}),
        ("half a character in a text", said("I live in \ud800")),
        ("a source that nobody knows", {"source": "fax"}),
        ("a place before the first", {"sequence": -1}),
    ],
)
def test_a_turn_that_breaks_the_contract_is_refused(why: str, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        turn(**fields)


@pytest.mark.parametrize("value", [["free"], "x" * 1001, float("nan"), "\ud800", None])
def test_what_is_wrong_with_a_value_of_metadata_is_told_once(value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        turn(schema_version=2, metadata={"plan": value})
    assert wrong_fields(refused.value).startswith("metadata.plan: should be a text")
    assert ";" not in wrong_fields(refused.value)


def test_a_message_is_text_wherever_it_stands() -> None:
    with pytest.raises(ValidationError, match="half a character"):
        Message(role="user", content="\ud800 where do I live?")


@pytest.mark.parametrize("missing", ["turn_id", "tenant_id", "user_id", "conversation_id", "messages", "occurred_at"])
def test_a_turn_without_a_required_field_is_refused(missing: str) -> None:
    fields = a_turn("anna", 1, "I live in Lisbon.")
    del fields[missing]
    with pytest.raises(ValidationError, match=missing):
        Turn.model_validate(fields)


@pytest.mark.parametrize("character", ["a", "ü", "🏔"])
def test_the_size_of_a_turn_is_counted_in_bytes_over_all_its_messages(character: str) -> None:
    half = character * (MAX_TURN_BYTES // 2 // len(character.encode()))
    messages = [{"role": "user", "content": half}, {"role": "assistant", "content": half}]
    assert turn(messages=messages).messages[0].content == half
    with pytest.raises(ValidationError, match="send a longer text as a document"):
        turn(messages=[*messages, {"role": "user", "content": "a"}])


def test_no_turn_is_lost_for_a_character_that_no_text_has() -> None:
    attachment = {"uri": "file:\0a", "media_type": "text/plain", "title": "A\0B"}
    taken = turn(messages=[{"role": "user", "content": "I live in\0 Lisbon."}], attachments=[attachment])
    assert taken.messages[0].content == "I live in Lisbon."
    assert "\0" not in taken.attachments[0].uri + (taken.attachments[0].title or "")


def test_a_refusal_does_not_repeat_what_was_said() -> None:
    with pytest.raises(ValidationError) as refused:
        turn(messages=[{"role": "user", "content": "I am ill", "name": "I am ill\n"}], occurred_at="I am ill")
    assert "ill" not in str(refused.value)


def test_the_same_turn_is_the_same_bytes_however_it_was_built() -> None:
    fields = a_turn("anna", 1, "I live in Zürich 🏔")
    reordered = dict(reversed(fields.items()))
    moments: list[Any] = [
        datetime(2026, 11, 2, 8, 1, tzinfo=UTC),
        datetime(2026, 11, 2, 8, 1, tzinfo=ZoneInfo("UTC")),
        "2026-11-02T08:01:00Z",
        "2026-11-02T08:01:00+00:00",
    ]
    built = [Turn.model_validate(reordered | {"occurred_at": moment, "agent_id": None}) for moment in moments]
    built.append(Turn.model_validate_json(json.dumps(fields)))
    built.append(Turn.model_validate_json(built[0].canonical_json()))
    assert {one.canonical_json() for one in built} == {Turn.model_validate(fields).canonical_json()}
    assert len({one.digest() for one in built}) == 1


def test_a_turn_without_a_history_is_written_as_it_was_before_there_were_any() -> None:
    before = {**a_turn("anna", 1, "I live in Lisbon."), "source": "chat", "attachments": []}
    assert json.loads(turn().canonical_json()) == {**before, "occurred_at": "2026-11-02T08:01:00Z"}
    assert Turn.model_validate_json(turn(schema_version=2, **HISTORY).canonical_json()) == turn(
        schema_version=2, **HISTORY
    )


def test_metadata_comes_back_as_it_was_in_whatever_order_it_was_given() -> None:
    noted = {"plan": "free", "turns": 3, "score": 0.5, "beta": True}
    one, other = (turn(schema_version=2, metadata=dict(given)) for given in (noted, reversed(noted.items())))
    assert Turn.model_validate_json(one.canonical_json()).metadata == noted
    assert type(one.metadata["beta"]) is bool
    assert one.digest() == other.digest() != turn(schema_version=2).digest()


@given(texts, texts)
def test_digests_tell_two_texts_apart_and_the_text_comes_back(one: str, other: str) -> None:
    first, second = turn(**said(one)), turn(**said(other))
    assert (first.digest() == second.digest()) == (one == other)
    assert Turn.model_validate_json(first.canonical_json()).text_of("user") == one


def test_when_it_was_said_is_no_part_of_a_digest_and_all_else_is() -> None:
    later = turn(occurred_at="2026-11-02T09:01:00+01:00")
    assert later.canonical_json() != turn().canonical_json()
    assert later.digest() == turn().digest()
    others = [turn(conversation_id="other"), turn(sequence=7), turn(agent_id="a"), turn(consent="granted")]
    assert len({turn().digest(), *(other.digest() for other in others)}) == 5


def test_a_turn_gives_what_each_side_said_and_the_users_name() -> None:
    exchange = turn(
        messages=[
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "name": "Bot", "content": "Hello"},
            {"role": "user", "name": "Anna", "content": "I live in Lisbon."},
        ]
    )
    assert exchange.text_of("user") == "Hi\nI live in Lisbon."
    assert exchange.text_of("assistant") == "Hello"
    assert exchange.user_name() == "Anna"


# -- subjects and ids -------------------------------------------------------------------------------------------


@given(subjects, subjects)
def test_a_subjects_key_is_its_own_and_leads_back_to_it(one: Subject, other: Subject) -> None:
    assert Subject.from_key(one.key) == one
    assert (one.key == other.key) == (one == other)
    assert not set("{} \n") & set(one.key)


@given(subjects, subjects, memory_types, memory_types, identifiers, identifiers, st.integers(0, 9), st.integers(0, 9))
def test_a_memorys_id_is_the_same_for_the_same_place_and_no_other(
    one: Subject,
    other: Subject,
    type_: MemoryType,
    other_type: MemoryType,
    turn_id: str,
    other_turn: str,
    a: int,
    b: int,
) -> None:
    same = (one, type_, turn_id, a) == (other, other_type, other_turn, b)
    assert (memory_id(one, type_, turn_id, a) == memory_id(other, other_type, other_turn, b)) == same
    assert memory_id(one, type_, turn_id, a) == memory_id(one, type_, turn_id, a)


def test_memory_ids_of_two_subjects_never_meet_whatever_separators_their_ids_hold() -> None:
    tricky = ["a", "a:b", "b", "a%3Ab", ":", "%", "semantic:0:a"]
    ids = {
        memory_id(Subject(tenant_id=tenant, subject_id=user), type_, turn_id, ordinal)
        for tenant in tricky
        for user in tricky
        for type_ in MemoryType
        for turn_id in tricky
        for ordinal in range(2)
    }
    assert len(ids) == len(tricky) ** 3 * len(MemoryType) * 2


def test_the_index_key_is_the_plans_formula() -> None:
    id_ = uuid.UUID(int=7)
    assert index_key("anna", MemoryType.EPISODIC, id_) == uuid.uuid5(uuid.NAMESPACE_URL, f"anna|episodic::{id_}")


# -- memories ---------------------------------------------------------------------------------------------------


def memory(**fields: Any) -> Memory:
    return Memory.model_validate(
        {
            "id": uuid.UUID(int=1),
            "tenant_id": "acme",
            "subject_id": "anna",
            "type": "semantic",
            "kind": Kind.USER_FACT,
            "category": "Personal",
            "summary": "Anna lives in Lisbon.",
            "importance": 0.5,
            "trust_score": 0.85,
            "confidence": 0.9,
            **dict.fromkeys(("occurred_at", "said_at", "created_at", "updated_at", "last_accessed"), NOW),
            "embedding_model": "m",
            "policy_version": "p",
        }
        | fields
    )


def test_tags_are_lower_case_trimmed_and_stand_once_in_their_order() -> None:
    assert memory(tags=(" Travel", "home", "TRAVEL", "home ")).tags == ("travel", "home")


@pytest.mark.parametrize("field", ["importance", "trust_score", "confidence", "intensity", "proactivity_weight"])
@pytest.mark.parametrize("value", [-0.01, 1.01, float("nan"), float("inf")])
def test_a_share_outside_0_to_1_is_refused(field: str, value: float) -> None:
    with pytest.raises(ValidationError):
        memory(**{field: value})


@pytest.mark.parametrize("summary", ["", "   ", "a" * 601])
def test_an_empty_or_overlong_summary_is_refused(summary: str) -> None:
    with pytest.raises(ValidationError):
        memory(summary=summary)


def test_a_memory_comes_back_from_json_as_it_was() -> None:
    before = memory(tags=("a",), supersedes=(uuid.UUID(int=2),), entities=({"text": "Lisbon", "type": "LOCATION"},))
    assert Memory.model_validate_json(before.model_dump_json()) == before


def test_values_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(memory(), "summary", "Anna lives in Berlin.")  # noqa: B010


# -- the policy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("field", Policy.model_fields)
def test_the_version_changes_with_every_constant(field: str) -> None:
    default = Policy()
    value = getattr(default, field)
    other: object
    if isinstance(value, str):
        other = "drop"
    else:
        other = not value if isinstance(value, bool) else value + 1 if isinstance(value, int) else value * 0.99
    assert default.model_copy(update={field: other}).version != default.version


def test_the_version_depends_on_the_numbers_alone_and_not_on_who_set_them() -> None:
    assert Policy(semantic_auto_update=Policy().semantic_auto_update).version == Policy().version


MEASURED = Thresholds(
    semantic_auto_update=0.88, semantic_check_low=0.65, episodic_auto_update=0.91, episodic_check_low=0.7
)


def test_an_embedders_thresholds_stand_where_none_was_set_by_hand() -> None:
    policy = Policy(semantic_auto_update=0.95).on_scale_of(MEASURED)
    assert policy.semantic_auto_update == 0.95
    assert (policy.semantic_check_low, policy.episodic_auto_update, policy.episodic_check_low) == (0.65, 0.91, 0.7)
    assert policy.memory_neighbors_k == Policy().memory_neighbors_k


def test_a_threshold_set_by_hand_that_contradicts_the_embedders_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"SEMANTIC_CHECK_LOW \(0.89\) is above SEMANTIC_AUTO_UPDATE"):
        Policy(semantic_check_low=0.89).on_scale_of(MEASURED)


@pytest.mark.parametrize("kind", ["semantic", "episodic"])
def test_a_check_range_above_the_automatic_threshold_is_refused_by_name(kind: str) -> None:
    crossed = Policy.model_validate({f"{kind}_check_low": 0.8, f"{kind}_auto_update": 0.7})
    with pytest.raises(ValueError, match=rf"{kind.upper()}_CHECK_LOW \(0.8\) is above {kind.upper()}_AUTO_UPDATE"):
        crossed.on_scale_of(MEASURED)


def test_every_constant_of_the_policy_says_what_it_is() -> None:
    assert [name for name, info in Policy.model_fields.items() if not info.description] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("messages", [{"role": "user", "content": ""}] * 501),
        ("attachments", [{"uri": "s3://x", "media_type": "image/png"}] * 101),
        ("attachments", [{"uri": "s3://" + "x" * 2000, "media_type": "image/png"}] * 100),
        ("candidate", {"id": "c", "summary": "s", "category": "x" * 61}),
        ("sequence", 10**30),
    ],
)
def test_every_field_of_a_turn_has_a_bound(field: str, value: object) -> None:
    with pytest.raises(ValidationError):
        turn(**{field: value})


@pytest.mark.parametrize(
    "fields",
    [
        {"messages": [{"role": "user", "content": "\x01" * 60_000}]},
        {"messages": [{"role": "user", "content": "\x01" * 87}] * 500},
        {"attachments": [{"uri": "\x01" * 400, "media_type": "\x01" * 50, "title": "\x01" * 20}] * 100},
    ],
)
def test_a_turn_is_as_large_as_it_is_written_out(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="as JSON and at most"):
        turn(**fields)


def test_a_long_text_of_quotation_marks_and_lines_is_taken() -> None:
    content = '"\n' * (MAX_TURN_BYTES // 2)
    assert len(turn(messages=[{"role": "user", "content": content}]).canonical_json()) <= MAX_WHOLE_TURN_BYTES
