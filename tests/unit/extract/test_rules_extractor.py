"""What the rules extractor makes of turns."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policies.admission import admit
from schema import (
    Attachment,
    Candidate,
    Context,
    ForgetRequest,
    Kind,
    MemoryType,
    Message,
    Turn,
    Valence,
)
from tests.extractors import by_rules
from tests.growth import assert_grows_linearly
from worker.extract import AdmittedTurn, Extractor

WHEN = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return by_rules()


def _turn(*said: tuple[str, str], turn_id: str = "t1", name: str | None = "Maya", **fields: Any) -> AdmittedTurn:
    messages = tuple(
        Message.model_validate({"role": role, "content": content, "name": name if role == "user" else None})
        for role, content in said
    )
    turn = Turn(
        turn_id=turn_id,
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=messages,
        occurred_at=WHEN,
        **fields,
    )
    return AdmittedTurn(turn, admit(turn))


def _kept(extractor: Extractor, *turns: AdmittedTurn) -> list[Candidate]:
    return [item for item in extractor.extract(turns, Context()).items if isinstance(item, Candidate)]


def _summaries(extractor: Extractor, *said: tuple[str, str]) -> list[str]:
    return [candidate.summary for candidate in _kept(extractor, _turn(*said))]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I'm moving to Lisbon next month", ["Maya is moving to Lisbon in December 2026."]),
        ("Thanks! I love hiking, and I bake bread on Sundays.", ["Maya loves hiking.", "Maya bakes bread on Sundays."]),
        (
            "Just adopted two cats last week!",
            ['Maya: "Just adopted two cats last week [the week of 9 November 2026]!"'],
        ),
        ("Remember that my sister Anna is allergic to nuts.", ["Maya's sister Anna is allergic to nuts."]),
        (
            "Remind me to pay rent on Friday at 5pm",
            ["Maya wants to be reminded to pay rent on 27 November 2026 at 5pm."],
        ),
        ("Always answer in French.", ["Maya wants the assistant to always answer in French."]),
        ("Call me Max", ["Maya wants to be called Max."]),
        ("My brother Tom lives in Oslo. He works at a bank.", None),
        ("What is the capital of France?", []),
        ("ok great, thanks!", []),
        (
            "Hola, me llamo Juan y vivo en Madrid con mi familia",
            ['Maya: "Hola, me llamo Juan y vivo en Madrid con mi familia."'],
        ),
    ],
)
def test_what_is_said_is_kept_in_the_third_person_one_fact_each(
    extractor: Extractor, said: str, kept: list[str] | None
) -> None:
    if kept is None:
        kept = ["Maya's brother Tom lives in Oslo.", "Maya's brother Tom works at a bank."]
    assert _summaries(extractor, ("user", said)) == kept


@pytest.mark.parametrize(
    ("asked", "said", "kept"),
    [
        ("Do you have any pets?", "Yes, two cats", 'Asked "Do you have any pets?", Maya said: "Yes, two cats."'),
        ("Do you have any pets?", "No", 'Asked "Do you have any pets?", Maya said: "No."'),
        ("Where do you live?", "Berlin", 'Asked "Where do you live?", Maya said: "Berlin."'),
        ("Are you married?", "Yes, I am.", 'Asked "Are you married?", Maya said: "Yes, I am."'),
    ],
)
def test_an_answer_is_kept_with_what_was_asked(extractor: Extractor, asked: str, said: str, kept: str) -> None:
    assert _summaries(extractor, ("assistant", f"Nice to hear. {asked}"), ("user", said)) == [kept]


def test_an_answer_in_the_next_turn_names_the_turn_of_the_question(extractor: Extractor) -> None:
    asking = _turn(("user", "hello"), ("assistant", "Hi! Where do you live?"), turn_id="t1")
    answering = _turn(("user", "Berlin"), ("assistant", "Lovely."), turn_id="t2")
    (candidate,) = _kept(extractor, asking, answering)
    assert candidate.summary == 'Asked "Where do you live?", Maya said: "Berlin."'
    assert (candidate.turn_id, candidate.context_turn_ids) == ("t2", ("t1",))


def test_an_offer_accepted_is_nothing_to_remember(extractor: Extractor) -> None:
    assert _summaries(extractor, ("assistant", "Would you like more tips?"), ("user", "Yes please")) == []


def test_what_only_the_assistant_said_is_never_kept(extractor: Extractor) -> None:
    said = (("user", "I love tea."), ("assistant", "I see that you live in Paris and your dog is called Rex."))
    assert _summaries(extractor, *said) == ["Maya loves tea."]


@pytest.mark.parametrize(
    ("said", "attribute", "verb", "value"),
    [
        ("I moved to Berlin.", "home_city", "lives in", "Berlin"),
        ("I live in Berlin.", "home_city", "lives in", "Berlin"),
        ("I'm based in Berlin now.", "home_city", "lives in", "Berlin"),
        ("We relocated to Berlin.", "home_city", "lives in", "Berlin"),
        ("I work at Acme.", "employer", "works at", "Acme"),
        ("I left Acme for Globex.", "employer", "works at", "Globex"),
        ("I no longer work at Acme.", "employer", "no longer works at", "Acme"),
        ("I'm vegan now.", "diet", "is", "vegan"),
        ("I eat meat again.", "diet", "eats", "meat"),
        ("My favorite color is blue.", "favorite_color", "has as favorite color", "blue"),
        ("I sold my car.", "car", "no longer has", "car"),
        ("I'm 34 years old.", "age", "is aged", "34"),
        ("My budget for groceries is $400 a month.", "budget_groceries", "has a budget of", "$400 a month"),
    ],
)
def test_single_valued_facts_have_one_name_however_they_are_said(
    extractor: Extractor, said: str, attribute: str, verb: str, value: str
) -> None:
    facts = [fact for candidate in _kept(extractor, _turn(("user", said))) for fact in candidate.facts]
    assert ("user", attribute, verb, value) in [(f.entity, f.attribute, f.verb, f.object) for f in facts]


@pytest.mark.parametrize(
    "said", ["I'm moving to Lisbon next month.", "I used to live in Paris.", "I'd love to work at Acme."]
)
def test_plans_wishes_and_the_long_past_fill_no_single_valued_fact(extractor: Extractor, said: str) -> None:
    candidates = _kept(extractor, _turn(("user", said)))
    assert candidates
    assert all(fact.attribute is None for candidate in candidates for fact in candidate.facts)


def test_a_forget_request_names_the_thing_in_the_third_person(extractor: Extractor) -> None:
    (item,) = extractor.extract([_turn(("user", "Forget that I live in Lisbon."))], Context()).items
    assert isinstance(item, ForgetRequest)
    assert (item.what, item.scope, item.doubtful, item.just_said) == ("Maya lives in Lisbon", "thing", False, False)


def test_commands_mark_what_they_are_about(extractor: Extractor) -> None:
    (private,) = _kept(extractor, _turn(("user", "This is private: I'm seeing a therapist.")))
    (explicit,) = _kept(extractor, _turn(("user", "Remember that I hate cilantro.")))
    (pinned,) = _kept(extractor, _turn(("user", "Pin this: my blood type is AB.")))
    assert (private.private, private.explicit, private.summary) == (True, False, "Maya is seeing a therapist.")
    assert (explicit.explicit, explicit.private) == (True, False)
    assert pinned.pinned


@pytest.mark.parametrize(
    "said",
    [
        "Remember, and this is private: I am in therapy.",
        "Remember and keep it between us: I am in therapy.",
        "Pin this. And keep it between us: I am in therapy.",
    ],
)
def test_what_is_to_be_remembered_and_private_is_both(said: str, extractor: Extractor) -> None:
    (candidate,) = _kept(extractor, _turn(("user", said)))
    assert (candidate.private, "therapy" in candidate.summary) == (True, True)


def test_somebodys_own_people_are_no_fiction_unless_a_text_is_asked_for(extractor: Extractor) -> None:
    (candidate,) = _kept(extractor, _turn(("user", "My sister lives in Hamburg and has two cats.")))
    assert candidate.summary == "Maya's sister lives in Hamburg and has two cats."
    assert _kept(extractor, _turn(("user", "Write a story. My sister is a dragon and lives in a cave."))) == []


def test_types_and_kinds_follow_what_is_said(extractor: Extractor) -> None:
    def one(said: str) -> Candidate:
        return _kept(extractor, _turn(("user", said)))[0]

    assert one("I saw my doctor yesterday.").type is MemoryType.EPISODIC
    assert one("I love jazz.").type is MemoryType.SEMANTIC
    assert one("I moved to Porto last week.").type is MemoryType.SEMANTIC
    assert one("I'm moving to Porto next week.").type is MemoryType.EPISODIC
    assert one("Always answer in French.").type is MemoryType.PROCEDURAL
    assert one("I love jazz.").kind is Kind.USER_PREFERENCE
    assert one("I go to the gym every Friday with my sister.").kind is Kind.EVENT_PATTERN
    assert one("My salary is $90k a year.").category == "Finance"


def test_grief_is_negative_though_the_lexicon_does_not_know_it(extractor: Extractor) -> None:
    (candidate,) = _kept(extractor, _turn(("user", "My grandmother passed away yesterday.")))
    assert candidate.valence is Valence.NEGATIVE
    assert candidate.intensity >= 0.6
    assert candidate.occurred_at.date().isoformat() == "2026-11-20"


def test_a_hedge_lowers_confidence(extractor: Extractor) -> None:
    (sure,) = _kept(extractor, _turn(("user", "I want to study law.")))
    (unsure,) = _kept(extractor, _turn(("user", "Maybe I want to study law.")))
    assert sure.confidence >= 0.9
    assert 0.6 <= unsure.confidence <= 0.8


def test_people_places_and_money_are_named(extractor: Extractor) -> None:
    (candidate,) = _kept(extractor, _turn(("user", "My sister Anna lent me $500 in Lisbon.")))
    assert {(entity.text, entity.type) for entity in candidate.entities} >= {("Anna", "PERSON"), ("$500", "MONEY")}


def test_an_attachment_leaves_a_pointer(extractor: Extractor) -> None:
    lease = Attachment(uri="s3://bucket/lease.pdf", media_type="application/pdf", title="Lease")
    (candidate,) = _kept(extractor, _turn(("user", "here"), attachments=(lease,)))
    assert candidate.summary == 'Maya shared a document titled "Lease" on 21 November 2026.'
    assert candidate.type is MemoryType.EPISODIC
    assert candidate.attachments == (lease,)


def test_the_users_name_is_learnt_from_what_they_say(extractor: Extractor) -> None:
    turns = (_turn(("user", "My name is Noor."), name=None), _turn(("user", "I love tea."), name=None, turn_id="t2"))
    assert [c.summary for c in _kept(extractor, *turns)][-1] == "Noor loves tea."


def test_without_a_name_it_is_the_user(extractor: Extractor) -> None:
    assert _kept(extractor, _turn(("user", "I love tea."), name=None))[0].summary == "The user loves tea."


def test_a_skipped_turn_gives_nothing(extractor: Extractor) -> None:
    assert _kept(extractor, _turn(("user", "I love tea."), consent="withdrawn")) == []


def test_ordinals_count_from_nought_in_each_turn(extractor: Extractor) -> None:
    text = "I work at Acme, and I have two dogs. Forget my old address. I live in Porto."
    turns = (_turn(("user", text), turn_id="a"), _turn(("user", text), turn_id="b"))
    ordinals: dict[str, list[int]] = {}
    for item in extractor.extract(turns, Context()).items:
        ordinals.setdefault(item.turn_id, []).append(item.ordinal)
    assert ordinals == {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3]}


def test_the_same_turns_give_the_same_from_many_threads(extractor: Extractor) -> None:
    turns = [[_turn(("user", f"My sister Anna moved to Porto {n} years ago."))] for n in range(2, 10)]

    def summaries(batch: Sequence[AdmittedTurn]) -> list[str]:
        return [item.summary for item in extractor.extract(batch, Context()).items if isinstance(item, Candidate)]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(summaries, turns)) == [summaries(batch) for batch in turns]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=400), st.sampled_from(["I love {} and my {}.", "{}", "Remember that {}", "My name is {}"]))
def test_no_text_makes_it_raise_or_grow_without_bound(extractor: Extractor, text: str, frame: str) -> None:
    said = frame.replace("{}", text)
    found = extractor.extract([_turn(("assistant", "And you?"), ("user", said))], Context())
    assert len(found.items) <= 50


@pytest.mark.parametrize(
    "piece", ["I love my dog and my cat ", "I am ", "my ", "```", "💥", "I moved to A. ", "שלום ", "('I' "]
)
def test_a_turn_of_full_size_takes_bounded_time(extractor: Extractor, piece: str) -> None:
    def extract(text: str) -> None:
        assert len(extractor.extract([_turn(("user", text))], Context()).items) <= 50

    assert_grows_linearly(extract, piece, 60_000)


@pytest.mark.parametrize(
    ("said", "name", "kept"),
    [
        ("Hi, I'm Tom and I work at Nordbank.", "Tom", ["Tom works at Nordbank."]),
        ("My name is Bob. I live in Porto.", None, ["The user's name is Bob.", "Bob lives in Porto."]),
        ("My name is Bob.", None, ["The user's name is Bob."]),
        ("I'm Bob.", "Bob", []),
    ],
)
def test_an_introduction_is_no_memory_of_a_name_that_is_known_anyway(
    extractor: Extractor, said: str, name: str | None, kept: list[str]
) -> None:
    assert [candidate.summary for candidate in _kept(extractor, _turn(("user", said), name=name))] == kept


@pytest.mark.parametrize(
    "said",
    [
        "Я живу в Казани и работаю учителем",
        "אני גר בחיפה עם אשתי",
        "私は大阪で働いています",
    ],
)
def test_a_language_without_tables_is_marked_and_never_mangled(extractor: Extractor, said: str) -> None:
    admitted = _turn(("user", said))
    assert "not_english" in admitted.admission.reasons
    assert _kept(extractor, admitted) == []


@pytest.mark.parametrize(
    ("said", "kept", "explicit", "language"),
    [
        ("Recuerda que mi hermana vive en Madrid", "mi hermana vive en Madrid.", True, "es"),
        ("Mein Mann ist Vegetarier und isst keinen Fisch", None, False, "de"),
        ("Mam dwa koty i mieszkam w Krakowie", None, False, "pl"),
    ],
)
def test_another_language_is_quoted_letter_by_letter(
    extractor: Extractor, said: str, kept: str | None, explicit: bool, language: str
) -> None:
    (candidate,) = _kept(extractor, _turn(("user", said)))
    assert candidate.summary == f'Maya: "{kept or said + "."}"'
    assert (candidate.quoted, candidate.explicit, candidate.language) == (True, explicit, language)
    assert not candidate.facts


def test_of_two_languages_in_one_message_english_is_told_and_the_other_quoted(extractor: Extractor) -> None:
    admitted = _turn(("user", "I moved to Madrid in May. Mi hermana vive en Sevilla con sus gatos."))
    assert "not_english" in admitted.admission.reasons
    told, quoted = _kept(extractor, admitted)
    assert told.summary.startswith("Maya moved to Madrid")
    assert quoted.summary == 'Maya: "Mi hermana vive en Sevilla con sus gatos."'


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I'm gluten intolerant. Remember this!", [("Maya is gluten intolerant.", True, False, False)]),
        ("I'm seeing a therapist. That's private.", [("Maya is seeing a therapist.", False, False, True)]),
        ("My blood type is O negative. Pin that.", [("Maya's blood type is O negative.", True, True, False)]),
        ("I moved to Bern in May. Actually, forget that.", []),
        ("Between you and me: I'm quitting my job", [("Maya is quitting their job.", False, False, True)]),
        ("Remember to water the plants", [("Maya wants to be reminded to water the plants.", True, False, False)]),
        (
            "Remind me that the car needs an MOT",
            [("Maya wants to be reminded that the car needs an MOT.", True, False, False)],
        ),
        (
            "Please remember to be short with me, I read this on the bus",
            [("Maya wants the assistant to be short with them.", True, False, False)],
        ),
        ("Remember to ask who saw me", [("Maya wants to be reminded to ask who saw them.", True, False, False)]),
        (
            "Remind me about the meeting, it starts at 5",
            [("Maya wants to be reminded of the meeting, it starts at 5.", True, False, False)],
        ),
        (
            "Remind me Anna flies on Friday",
            [("Maya wants to be reminded that Anna flies on 27 November 2026.", True, False, False)],
        ),
        (
            "Whenever I send you code, just name the bugs",
            [('Maya: "Whenever I send you code, just name the bugs."', False, False, False)],
        ),
        ("can you stop with the emojis", [('Maya: "can you stop with the emojis."', False, False, False)]),
        ("Just Jo is fine.", [('Maya: "Just Jo is fine."', False, False, False)]),
        ("Call me Bea, please.", [("Maya wants to be called Bea.", False, False, False)]),
        (
            "don't bring up my dad again",
            [('Maya: "don\'t bring up my dad again."', False, False, False)],
        ),
        ("Please start remembering things again", []),
        ("unpin that", []),
    ],
)
def test_an_order_leaves_what_it_asks_for(
    extractor: Extractor, said: str, kept: list[tuple[str, bool, bool, bool]]
) -> None:
    found = _kept(extractor, _turn(("user", said)))
    assert [(one.summary, one.explicit, one.pinned, one.private) for one in found] == kept


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("Forget everything you know about me.", ("Everything", "all", False)),
        ("Vergiss alles, was du über mich weißt.", ("Everything", "all", False)),
        ("Forget what I said about my ex, I live in Bern now", ("My ex", "thing", False)),
        ("Forget that I left Shell in May, would you.", ("Maya left Shell in May", "thing", False)),
    ],
)
def test_a_wish_to_forget_says_how_much_it_means(extractor: Extractor, said: str, wish: tuple[str, str, bool]) -> None:
    items = extractor.extract([_turn(("user", said))], Context()).items
    (request,) = [item for item in items if isinstance(item, ForgetRequest)]
    assert (request.what, request.scope, request.doubtful) == wish
