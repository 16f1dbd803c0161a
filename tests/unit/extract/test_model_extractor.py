"""What the extractor that asks a language model takes of its answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info

from schema import (
    Candidate,
    Context,
    ForgetRequest,
    MemoryType,
    OpenTopic,
    Policy,
    Question,
)
from schema.errors import LLMAnswerInvalid, LLMUnavailable, SettingsError
from schema.settings import Settings
from tests.scripted import Scripted, answer, guarded, told
from tests.unit.extract.asking import CATEGORIES, NOTHING, WHEN, a_turn, ask, candidates, said
from worker.extract import open_extractor
from worker.extract.model import PROMPT, ModelExtractor
from worker.extract.rules import RulesExtractor


def test_an_answer_becomes_candidates_of_the_turns_that_were_shown() -> None:
    memory = told(
        "moving to Lisbon next month",
        "Maya is moving to Lisbon in December 2026.",
        kind="event",
        entities=["LOCATION Lisbon", "PERSON Maya", "LOCATION Porto", "CITY Lisbon"],
        of="Maya",
        attribute="moves to",
        value="Lisbon",
        when="2026-12",
        unknown_field="x",
    )
    extraction = ask(Scripted(answer(memory)), said("I'm moving to Lisbon next month!"))
    [candidate] = candidates(extraction)
    assert (candidate.turn_id, candidate.ordinal, candidate.type) == ("turn-id-1", 0, MemoryType.EPISODIC)
    assert candidate.summary == "Maya is moving to Lisbon in December 2026."
    assert (candidate.category, candidate.tags, candidate.by_model) == ("Personal", ("home",), True)
    assert [entity.text for entity in candidate.entities] == ["Lisbon"]
    assert [(fact.entity, fact.verb, fact.attribute) for fact in candidate.facts] == [("user", "moves to", None)]
    assert (candidate.occurred_at.date().isoformat(), candidate.said_at) == ("2026-12-01", WHEN)
    assert (extraction.model, extraction.prompt_version) == ("scripted", PROMPT)
    assert (extraction.prompt_tokens, extraction.completion_tokens) == (100, 10)


@pytest.mark.parametrize(
    ("user", "assistant", "memory", "why"),
    [
        pytest.param(
            "I love pottery.", "Try Kyoto!", told("I saw Kyoto", "Maya loves pottery."), "no_evidence", id="made up"
        ),
        pytest.param(
            "I love pottery.",
            "You live in Kyoto.",
            told("You live in Kyoto", "Maya lives in Kyoto."),
            "no_evidence",
            id="the assistant's words",
        ),
        pytest.param(
            "I love pottery, thanks.",
            "You could go to Kyoto.",
            told("thanks", "Maya goes to Kyoto."),
            "not_the_users",
            id="quoting what says nothing",
        ),
        pytest.param(
            "I love pottery. My aunt wrote:\nFrom: Ida <ida@example.org>\nSubject: Kyoto\n\nI moved to Kyoto in May.",
            "",
            told("I moved to Kyoto in May", "Maya lives in Kyoto."),
            "pasted",
            id="a pasted mail",
        ),
        pytest.param(
            "I love pottery. Summarize this article:\n\n"
            "I am a potter and I love glazes. My kiln is older than my house, "
            "and I have never sold a bowl that I did not like myself.",
            "",
            told("I am a potter", "Maya is a potter."),
            "pasted",
            id="a pasted article",
        ),
        pytest.param("I love pottery.", "", told("", "Maya loves pottery."), "no_evidence", id="nothing quoted"),
        pytest.param("I love pottery.", "", told("...", "Maya loves pottery."), "no_evidence", id="an ellipsis quoted"),
        pytest.param("I love pottery.", "", told("I love pottery", "x" * 601), "no_sentence", id="too long"),
        pytest.param("I love pottery.", "", told("I love pottery", ""), "no_sentence", id="empty"),
        pytest.param(
            "I love pottery.",
            "",
            told("I love pottery", "Maya loves pottery.", turn="turn-id-1"),
            "unknown_turn",
            id="an id instead of a label",
        ),
    ],
)
def test_what_the_user_did_not_say_is_no_candidate(user: str, assistant: str, memory: dict[str, Any], why: str) -> None:
    dropped: list[str] = []
    exchange = [("user", user)] + ([("assistant", assistant)] if assistant else [])
    assert candidates(ask(Scripted(answer(memory)), a_turn(*exchange), dropped=dropped)) == []
    assert dropped == [why]


@pytest.mark.parametrize(
    ("quoted", "user"),
    [
        pytest.param("i LOVE  “pottery”", 'I love "pottery" very much', id="letter case, spaces, quotation marks"),
        pytest.param("I love ... since 2019.", "I love pottery, and have since 2019.", id="an ellipsis"),
        pytest.param("'pottery, and more'", "I love pottery, and more.", id="marks around it"),
    ],
)
def test_a_quotation_need_not_be_typed_alike(quoted: str, user: str) -> None:
    found = ask(Scripted(answer(told(quoted, "Maya loves pottery since 2019."))), said(user))
    assert len(candidates(found)) == 1


def test_an_answer_to_a_question_may_be_short_and_names_the_turn_that_asked() -> None:
    asked = Question(conversation_id="conversation-id", text="Do you own a boat?", turn_id="asked-in")
    extraction = ask(
        Scripted(answer(told("Yes", "Maya owns a boat."))),
        said("Yes, I do."),
        context=Context(questions={"conversation-id": asked}),
    )
    [candidate] = candidates(extraction)
    assert candidate.context_turn_ids == ("asked-in",)


def test_a_turn_that_was_skipped_or_that_is_another_ones_gets_nothing() -> None:
    dropped: list[str] = []
    memory = told("Good morning", "Maya gets up early in the morning.", turn="T2")
    kept = said("I live in Lisbon."), said("Good morning!", turn_id="t2")
    assert candidates(ask(Scripted(answer(memory)), *kept, dropped=dropped)) == []
    assert dropped == ["unknown_turn"]


@pytest.mark.parametrize("turn", [1, "1", "t1", "T1.", "Turn T1", "[T1]"])
def test_a_turn_need_not_be_named_alike(turn: object) -> None:
    memory = told("I live in Lisbon", "Maya lives in Lisbon.") | {"turn": turn}
    assert len(candidates(ask(Scripted(answer(memory)), said("I live in Lisbon.")))) == 1


def test_what_is_no_memory_costs_nothing_but_itself() -> None:
    dropped: list[str] = []
    memories: list[Any] = ["Maya lives in Lisbon.", None, told("I live in Lisbon", "Maya lives in Lisbon.")]
    provider = Scripted({"memories": memories})
    assert len(candidates(ask(provider, said("I live in Lisbon."), dropped=dropped))) == 1
    assert (len(provider.prompts), dropped) == (1, ["unknown_turn", "unknown_turn"])


def test_candidates_of_one_turn_are_counted_and_not_said_twice() -> None:
    text = " ".join(f"I love hobby{number}." for number in range(14))
    memories = [told(f"I love hobby{number}", f"Maya loves hobby{number}.") for number in range(14)]
    dropped: list[str] = []
    found = candidates(ask(Scripted(answer(memories[0], *memories)), said(text), dropped=dropped))
    assert [candidate.ordinal for candidate in found] == list(range(10))
    assert dropped == ["said_twice", *["too_many"] * 4]


@pytest.mark.parametrize(
    ("when", "day"),
    [
        ("2027-04-01", "2027-04-01"),
        ("2027-04", "2027-04-01"),
        ("2027", "2027-01-01"),
        ("2027-04-01T10:00:00+02:00", "2026-11-02"),
        ("next spring", "2026-11-02"),
        ("9999-12-31", "2026-11-02"),
        ("0001-01-01", "2026-11-02"),
        ("2027-13-45", "2026-11-02"),
        (20270401, "2026-11-02"),
        (None, "2026-11-02"),
        ("", "2026-11-02"),
    ],
)
def test_the_models_date_stands_when_it_is_one_that_can_be_meant(when: object, day: str) -> None:
    memory = told("I am off to Peru", "Maya is off to Peru.", when=when)
    [candidate] = candidates(ask(Scripted(answer(memory)), said("I am off to Peru then.")))
    assert candidate.occurred_at.date().isoformat() == day


def test_a_relative_date_that_the_model_left_has_the_day_behind_it() -> None:
    memory = told("my exam is tomorrow", "Maya has an exam tomorrow.", when="2026-11-03")
    [candidate] = candidates(ask(Scripted(answer(memory)), said("I am nervous, my exam is tomorrow.")))
    assert candidate.summary == "Maya has an exam tomorrow [3 November 2026]."


@pytest.mark.parametrize(
    ("fields", "attribute"),
    [
        pytest.param({"attribute": "home_city", "value": "Lisbon"}, "home_city", id="one that dedup knows"),
        pytest.param({"attribute": "Home City", "value": "Lisbon"}, "home_city", id="written otherwise"),
        pytest.param({"attribute": "DROP TABLE", "value": "Lisbon"}, None, id="one that it does not know"),
        pytest.param({"attribute": "home_city", "value": "Lisbon", "sure": False}, None, id="a guess"),
    ],
)
def test_an_attribute_is_one_that_dedup_knows_of_what_is_sure(fields: dict[str, Any], attribute: str | None) -> None:
    memory = told("I live in Lisbon", "Maya lives in Lisbon.", of="user", **fields)
    [candidate] = candidates(ask(Scripted(answer(memory)), said("I live in Lisbon.")))
    assert [(fact.attribute, fact.object) for fact in candidate.facts] == [(attribute, "Lisbon")]


@pytest.mark.parametrize(
    "fields",
    [{"attribute": "home_city", "value": "Porto"}, {"attribute": "home_city", "value": "Lisbon", "ended": True}],
)
def test_a_value_that_its_sentence_does_not_say_or_that_is_over_is_no_fact(fields: dict[str, Any]) -> None:
    memory = told("I live in Lisbon", "Maya lives in Lisbon.", of="user", **fields)
    [candidate] = candidates(ask(Scripted(answer(memory)), said("I live in Lisbon.")))
    assert candidate.facts == ()


# -- what the user ordered --------------------------------------------------------------------------------------


def test_what_is_to_be_remembered_private_or_pinned_is_the_users_order_and_not_the_models() -> None:
    memory = told("my sister is allergic to nuts", "Maya's sister is allergic to nuts.", explicit=True, pinned=True)
    plainly, ordered, private = (
        candidates(ask(Scripted(answer(memory)), said(text)))[0]
        for text in (
            "You know, my sister is allergic to nuts.",
            "Remember that my sister is allergic to nuts.",
            "My sister is allergic to nuts. This is private.",
        )
    )
    assert [one.explicit for one in (plainly, ordered, private)] == [False, True, False]
    assert [one.private for one in (plainly, ordered, private)] == [False, False, True]
    assert not any(one.pinned for one in (plainly, ordered, private))


def test_an_order_is_done_though_the_model_overlooks_it() -> None:
    found = candidates(ask(Scripted(NOTHING), said("Remember that my sister is allergic to nuts.")))
    assert [(one.summary, one.explicit) for one in found] == [("Maya's sister is allergic to nuts.", True)]


def test_forgetting_is_the_users_order_too() -> None:
    asks = {"turn": "T1", "evidence": "I live in Lisbon", "what": "Maya lives in Lisbon"}
    dropped: list[str] = []
    assert ask(Scripted(answer(forget=[asks])), said("I live in Lisbon."), dropped=dropped).items == ()
    assert dropped == ["nothing_to_forget"]
    [request] = ask(Scripted(NOTHING), said("Forget that I live in Lisbon.")).items
    assert isinstance(request, ForgetRequest)
    asks["evidence"] = "Vergiss bitte, dass ich in Lissabon wohne"
    [request] = ask(Scripted(answer(forget=[asks])), said("Vergiss bitte, dass ich in Lissabon wohne.")).items
    assert isinstance(request, ForgetRequest)


def test_another_language_is_the_models() -> None:
    memory = told("Ich wohne in Lissabon", "Maya lives in Lisbon.")
    found = candidates(ask(Scripted(answer(memory)), said("Ich wohne in Lissabon und habe zwei Katzen.")))
    assert [one.summary for one in found] == ["Maya lives in Lisbon."]


# -- what stays open --------------------------------------------------------------------------------------------


def test_a_topic_is_open_with_the_agent_of_its_turn() -> None:
    topics = [{"turn": "T1", "topic": "a trip to Japan, no dates yet"}, {"turn": "T9", "topic": "nobody's"}]
    turn = said("I'm planning a trip to Japan but have no dates yet.", agent_id="planner")
    extraction = ask(Scripted(answer(open_topics=topics)), turn)
    [topic] = extraction.open_topics
    assert (topic.agent_id, topic.text, topic.turn_id) == ("planner", "a trip to Japan, no dates yet", "turn-id-1")


def test_what_completes_a_topic_names_the_turn_that_opened_it() -> None:
    japan = OpenTopic(agent_id=None, text="a trip to Japan, no dates yet", turn_id="opened-in")
    memory = told("I think I'll go in April next year", "Maya is planning a trip to Japan in April 2027.")
    extraction = ask(
        Scripted(answer(memory)),
        said("I think I'll go in April next year."),
        context=Context(open_topics={None: japan}),
    )
    assert candidates(extraction)[0].context_turn_ids == ("opened-in",)
    assert extraction.open_topics == ()


# -- when it fails ----------------------------------------------------------------------------------------------


def test_nonsense_is_asked_about_once_more_and_then_fails() -> None:
    provider = Scripted("no JSON", answer(told("I live in Lisbon", "Maya lives in Lisbon.")))
    assert len(candidates(ask(provider, said("I live in Lisbon.")))) == 1
    for nonsense in ("no JSON", "[]", "{}", '{"memories": null}'):
        provider = Scripted(nonsense)
        with pytest.raises(LLMAnswerInvalid):
            ask(provider, said("I live in Lisbon."))
        assert len(provider.prompts) == 2


@pytest.mark.parametrize("failing", ["no JSON", LLMUnavailable("throttled")])
def test_the_rules_answer_instead_where_the_settings_say_so(failing: object) -> None:
    topic = OpenTopic(text="a trip to Japan", turn_id="t")
    fell_back: list[None] = []
    extraction = ask(
        Scripted(failing),
        said("I live in Lisbon."),
        context=Context(open_topics={None: topic}),
        fallback="rules",
        fell_back=lambda: fell_back.append(None),
    )
    assert [one.summary for one in candidates(extraction)] == ["Maya lives in Lisbon."]
    assert (extraction.model, extraction.prompt_version, extraction.open_topics) == ("rules-2", None, (topic,))
    assert len(fell_back) == 1


NAMED = "Priya Raman showed us around Kyoto"


def test_where_the_rules_stand_in_their_names_are_looked_for() -> None:
    llm = guarded(Scripted(LLMUnavailable("503")))
    extractor = open_extractor(Settings(extractor="llm", llm_fallback="rules"), llm, Policy())
    [found] = candidates(extractor.extract([said(f"In Japan {NAMED} and taught me to cook.")], Context()))
    assert any("Priya" in entity.text for entity in found.entities)


def test_a_parse_takes_one_thread() -> None:
    RulesExtractor(CATEGORIES).prepare()
    assert {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"} <= {1}


def test_the_settings_open_it() -> None:
    extractor = open_extractor(Settings(extractor="llm"), guarded(Scripted(NOTHING)), Policy())
    assert isinstance(extractor, ModelExtractor)


def test_an_extractor_that_asks_a_model_needs_one() -> None:
    with pytest.raises(SettingsError, match="AFTERTURN_LLM"):
        open_extractor(Settings(extractor="llm"), None, Policy())


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
_JSON = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner), max_leaves=8
)
_WORDS = st.sampled_from(
    ["T1", "T2", "I live in Lisbon", "Lisbon", "Maya lives in Lisbon.", "another-tenant", "9999-99-99"]
)
_FIELDS = (
    "turn",
    "evidence",
    "summary",
    "kind",
    "entities",
    "replaces",
    "of",
    "attribute",
    "value",
    "ended",
)
_TOLD = st.dictionaries(
    st.sampled_from([*_FIELDS, "when", "sure", "turn_id", "tenant_id", "what", "topic", "known"]), _WORDS | _JSON
)
_ANSWERS = st.fixed_dictionaries(
    {"memories": st.lists(_TOLD | _JSON, max_size=5)},
    optional={"forget": _JSON | st.lists(_TOLD), "open_topics": _JSON},
)


@settings(max_examples=60)
@given(_ANSWERS | _JSON)
def test_whatever_a_model_answers_ids_are_of_the_turns_and_lengths_are_bounded(answered: object) -> None:
    turns = said("I live in Lisbon."), said("I have two cats.", turn_id="turn-id-2")
    try:
        extraction = ask(Scripted(json.dumps(answered)), *turns)
    except LLMAnswerInvalid:
        return
    for item in extraction.items:
        assert item.turn_id in ("turn-id-1", "turn-id-2")
        if isinstance(item, Candidate):
            assert set(item.context_turn_ids) <= {"turn-id-1"}
            assert item.category in CATEGORIES
            assert "tenant-id" not in item.summary
    places = [(item.turn_id, item.ordinal) for item in extraction.items]
    assert len(set(places)) == len(places)
    assert {topic.turn_id for topic in extraction.open_topics} <= {"turn-id-1", "turn-id-2"}
