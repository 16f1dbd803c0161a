"""What the rules make of speech as people type and dictate it: unfinished, corrected, run together, asked in passing.

Said on Saturday 21 November 2026.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.admission import admit
from policies.language.beside import told_beside
from schema import Candidate, Context, Fact, ForgetRequest, Message, Policy, Turn
from schema.settings import Settings
from worker.extract import AdmittedTurn, Extractor, open_extractor
from worker.extract.attributes import attribute_facts
from worker.extract.corrections import corrected, corrects
from worker.extract.stated import stated_facts

WHEN = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return open_extractor(Settings(), None, Policy())


def _kept(extractor: Extractor, said: str, asked: str | None = None) -> Sequence[Candidate]:
    messages = [Message(role="assistant", content=asked)] if asked else []
    turn = Turn(
        turn_id="t1",
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=(*messages, Message(role="user", content=said, name="Maya")),
        occurred_at=WHEN,
    )
    items = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
    return [item for item in items if isinstance(item, Candidate)]


def _summaries(extractor: Extractor, said: str, asked: str | None = None) -> list[str]:
    return [candidate.summary for candidate in _kept(extractor, said, asked)]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("sprained my ankle at practice on tuesday", ["Maya sprained their ankle at practice on 17 November 2026."]),
        ("hurt my knee again", ["Maya hurt their knee again."]),
        ("not seeing my ex any more", ["Maya is not seeing their ex any more."]),
        ("ill be in Rome with my aunt til friday", ["Maya will be in Rome with their aunt til 27 November 2026."]),
        ("uh my boat is um leaking", ["Maya's boat is leaking."]),
        ("my days off are wed and sun", ["Maya's days off are wed and sun."]),
        ("My mum wants me to sell the boat, but I don't want to", None),
        ("my nan's name is Elif, E L I F", ["Maya's nan's name is Elif, E L I F."]),
        ("According to my coach I run too fast", ["According to Maya's coach they run too fast."]),
        ("My ferry got cancelled and I'm stuck in Dover", ["Maya's ferry got cancelled.", "Maya is stuck in Dover."]),
        ("In May we're all moving to Ghent", ["In May 2027 Maya is moving to Ghent."]),
        ("Dad's ill and mum is away", ["Maya's dad's ill and their mum is away."]),
        ("traded in the boat for a van", ["Maya traded in the boat for a van."]),
        ("hired six more people so we are 20", ["Maya hired six more people so they are 20."]),
        ("We are a family of five", ["Maya and those with them are a family of five."]),
        ("My US visa ran out", ["Maya's US visa ran out."]),
        ("Beth quit her job to study", ["Beth quit her job to study."]),
        ("The operation was put back to the 3rd of May", ["The operation was put back to 3 May 2027."]),
        ("I used to row but I stopped when I was 15", ["Maya used to row but they stopped when they were 15."]),
        (
            "I used to live in Ghent but since March I live in Rome",
            ["Maya used to live in Ghent.", "Since March 2026 Maya lives in Rome."],
        ),
        ("About us: 1) I own a bakery 2) we have 9 vans", ["Maya owns a bakery.", "Maya has 9 vans."]),
        ("I'm Maya, 58, a retired nurse", ["Maya is 58, a retired nurse."]),
        ("ok so long story short my landlord sold the building", ["Maya's landlord sold the building."]),
        ("not gonna lie I've been feeling low", ["Maya has been feeling low."]),
        ("stopped biting my nails", ["Maya stopped biting their nails."]),
        ("stop suggesting soups, I hate them", ["Maya wants the assistant to stop suggesting soups, they hate them."]),
    ],
)
def test_what_is_typed_in_a_hurry_is_told_as_it_was_meant(
    extractor: Extractor, said: str, kept: list[str] | None
) -> None:
    whole = ["Maya's mum wants them to sell the boat, but they do not want to."]
    assert _summaries(extractor, said) == (kept or whole)


def test_a_number_or_a_day_answers_whatever_was_asked(extractor: Extractor) -> None:
    asked = "What time does Leo go to bed?"
    assert _summaries(extractor, "7:30", asked) == [f'Asked "{asked}", Maya said: 7:30.']


@pytest.mark.parametrize("word", ["forget", "scratch"])
def test_what_is_said_after_what_is_to_be_forgotten_is_kept(extractor: Extractor, word: str) -> None:
    said = f"{word} what I said about Rome, I want to go to Oslo instead"
    turn = Turn(
        turn_id="t1",
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=(Message(role="user", content=said, name="Maya"),),
        occurred_at=WHEN,
    )
    forgotten, kept = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
    assert isinstance(forgotten, ForgetRequest)
    assert isinstance(kept, Candidate)
    assert (forgotten.what, kept.summary) == ("Rome", "Maya wants to go to Oslo instead.")


def test_sentences_that_run_together_are_memories_of_their_own(extractor: Extractor) -> None:
    kept = _summaries(extractor, "im 52 and new here I live in Ghent with my two sons I work for the post office")
    assert "Maya lives in Ghent with their two sons." in kept
    assert "Maya works for the post office." in kept


@pytest.mark.parametrize("said", ["The house I live in Ghent calls mine is old", "I think the firm I work for is big"])
def test_a_clause_about_a_noun_is_no_sentence_of_its_own(extractor: Extractor, said: str) -> None:
    assert not [kept for kept in _summaries(extractor, said) if kept.startswith(("Maya lives", "Maya works"))]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("I moved to Ghent no wait I meant Bruges in May", "I moved to Bruges in May"),
        ("We meet at 5, sorry, 6pm", "We meet at 6pm"),
        ("It is on the 7th, actually the 8th of May", "It is on the 8th of May"),
        ("My sister is called Noor, I mean Nora", "My sister is called Nora"),
        ("we leave friday, no, saturday", "we leave saturday"),
        ("I have $300, make that $400, no wait, $500 left", "I have $500 left"),
    ],
)
def test_what_is_taken_back_in_a_sentence_is_not_said(said: str, meant: str) -> None:
    assert corrected(said) == meant


@pytest.mark.parametrize(
    "said",
    [
        "I love Ghent, actually Bruges is nice too",
        "I have 2 cats, no dogs",
        "I said no to Ben",
        "We flew from Ghent to Rome",
        "I have no 5 euro notes",
    ],
)
def test_what_only_looks_like_a_correction_stays(said: str) -> None:
    assert corrected(said) == said


def test_a_sentence_that_corrects_the_one_before_it_mends_that(extractor: Extractor) -> None:
    assert corrects("No wait, I meant Bruges.", "I moved to Ghent.") == "I moved to Bruges."
    assert corrects("I meant to call.", "I moved to Ghent.") is None
    assert _summaries(extractor, "My dentist is in Ghent. Sorry, I meant Bruges.") == ["Maya's dentist is in Bruges."]


@given(st.text(alphabet="aIN o,wait5.$-", max_size=400))
def test_anything_can_be_looked_through_for_corrections(text: str) -> None:
    assert len(corrected(text)) <= len(text)
    corrects(text, "I moved to Ghent.")


@pytest.mark.parametrize("text", ["A, no wait " * 4000, "1 no " * 8000, "sorry " * 8000, "I mean it is the " * 3000])
def test_the_time_to_look_for_corrections_grows_with_the_text_alone(text: str) -> None:
    begun = time.thread_time()
    corrected(text)
    assert time.thread_time() - begun < 1


@pytest.mark.parametrize(
    ("said", "beside"),
    [
        ("Can you help me pack, we're going to Crete with my parents", ["we're going to Crete with my parents"]),
        ("Since I'm a vegan, what should I cook?", ["I'm a vegan"]),
        ("My dog Rex is twelve, how much should he eat?", ["My dog Rex is twelve"]),
        ("What can I cook because my son is allergic to nuts", ["my son is allergic to nuts"]),
        ("How tall is it, and why?", []),
        ("Write me a poem, a short one", []),
    ],
)
def test_what_a_question_says_of_its_asker_in_passing_is_found(said: str, beside: list[str]) -> None:
    assert list(told_beside(said)) == beside


def test_what_is_said_beside_a_task_is_kept_and_the_task_is_not(extractor: Extractor) -> None:
    said = "Can you help me plan a menu, my in-laws are both allergic to nuts"
    assert _summaries(extractor, said) == ["Maya's in-laws are both allergic to nuts."]
    assert _summaries(extractor, "how do i tell my boss that i am late") == []


@pytest.mark.parametrize(
    "said",
    [
        "I'm hungry",
        "i'm so bored rn",
        "I love this song",
        "I like your idea",
        "I'll be right back",
        "hold on my phone is ringing",
        "I need a synonym for brave",
        "I have a question",
        "I'm speechless",
        "I'd like a shorter answer",
        "I need 200 words on tides",
        "I prefer the second version",
        "explain tides like I'm five",
        "yeah right, like I'd ever sell my boat",
    ],
)
def test_what_passes_with_the_moment_is_not_kept(extractor: Extractor, said: str) -> None:
    assert _summaries(extractor, said) == []


@pytest.mark.parametrize(
    ("asked", "said", "kept"),
    [
        ("What do you do for a living?", "im a plumber", "Maya works as a plumber."),
        ("What are your hobbies?", "chess and rowing", "Maya's hobbies are chess and rowing."),
        ("How many cousins do you have?", "four, all boys", "Maya has four cousins, all boys."),
        (
            "Do you have any allergies?",
            "latex and wool, well wool is just itchy",
            'Asked "Do you have any allergies?", Maya said: latex and wool.',
        ),
    ],
)
def test_an_answer_is_read_as_it_was_meant(extractor: Extractor, asked: str, said: str, kept: str) -> None:
    assert _summaries(extractor, said, asked) == [kept]


def test_what_others_did_to_the_user_and_the_days_of_others_are_kept(extractor: Extractor) -> None:
    [told] = _summaries(extractor, "The doctor has put me on iron pills, I must not skip them")
    assert told.startswith("The doctor has put Maya on iron pills")
    [day] = _summaries(extractor, "Karin's birthday is on the 5th of March")
    assert day == "Karin's birthday is on the 5th of March."


def test_they_are_those_who_were_named_just_before(extractor: Extractor) -> None:
    kept = _summaries(extractor, "What do I give my grandparents? They're both fond of opera and my aunt hates it.")
    assert kept == ["Maya's grandparents are both fond of opera and their aunt hates it."]


def _values(facts: Sequence[Fact]) -> list[tuple[str, str | None, str]]:
    return [(fact.entity, fact.attribute, fact.object) for fact in facts]


@pytest.mark.parametrize(
    ("said", "values"),
    [
        ("I live in Ghent. I love it.", [("user", "home_city", "Ghent")]),
        ("I live in St. Louis", [("user", "home_city", "St. Louis")]),
        ("I live in Washington, D.C.", [("user", "home_city", "Washington, D.C")]),
        ("I work at Initech. I like it.", [("user", "employer", "Initech")]),
        ("I work at Booking.com now", [("user", "employer", "Booking.com")]),
        ("I told you I work at Initech but I left", []),
        ("I'm with Vodafone now", []),
        ("I broke up with Sven and I'm with Noor now", [("user", "partner", "Noor")]),
        ("My grandchildren call me Oma", []),
        ("I hate it when people call me Liz", []),
        (
            "My name is Aleksandra but everyone calls me Ola",
            [("user", "name", "Aleksandra"), ("user", "preferred_name", "Ola")],
        ),
    ],
)
def test_a_value_ends_where_its_sentence_ends(said: str, values: list[tuple[str, str, str]]) -> None:
    assert _values(attribute_facts(said)) == values


@pytest.mark.parametrize(
    ("summary", "values"),
    [
        ("Maya's parents still live in Ghent, they work at Initech.", []),
        ("Maya's friend moved and she works at Initech.", []),
        ("Maya got a dog, her name is Waffles.", []),
        ("Maya visited her aunt, who said that she lives in Ghent.", []),
        (
            "Maya's sister Ines lives in Porto, she's a nurse.",
            [("user's sister ines", "home_city", "Porto"), ("user's sister ines", "job_title", "nurse")],
        ),
        ("Maya said they work at Initech.", [("user", "employer", "Initech")]),
    ],
)
def test_a_value_is_of_whom_was_spoken(summary: str, values: list[tuple[str, str, str]]) -> None:
    assert _values(stated_facts(summary, ("Maya",))) == values


def test_a_user_without_a_name_is_written_small_within_a_sentence(extractor: Extractor) -> None:
    turn = Turn(
        turn_id="t1",
        tenant_id="acme",
        user_id="maya",
        conversation_id="c1",
        messages=(
            Message(role="user", content="Since May I run a bakery. My aunt calls me Bee and my dad told me to rest."),
        ),
        occurred_at=WHEN,
    )
    items = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
    assert [item.summary for item in items if isinstance(item, Candidate)] == [
        "Since May 2026 the user runs a bakery.",
        "The user's aunt calls them Bee and their dad told them to rest.",
    ]
