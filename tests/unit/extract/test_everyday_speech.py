"""What the rules make of speech as people type and dictate it: unfinished, corrected, run together, asked in passing.

Said on Saturday 21 November 2026.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

import memory.parser.english as language
from policies.admission import admit
from policies.language.reading.attributes import attribute_facts
from policies.language.sentences import split_sentences
from schema import Candidate, Context, Fact, ForgetRequest, Message, Turn
from tests.extractors import by_rules
from worker.extract import AdmittedTurn, Extractor

WHEN = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return by_rules()


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
    """Return what is worth a memory by itself."""
    return [
        candidate.summary
        for candidate in _kept(extractor, said, asked)
        if candidate.explicit or not candidate.only_as_news
    ]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("ill be in Rome with my aunt til friday", "Maya will be in Rome with their aunt til 27 November 2026."),
        ("uh my boat is um leaking", "Maya's boat is leaking."),
        ("My mum wants me to sell the boat, but I don't want to", None),
        ("my nan's name is Elif, E L I F", "Maya's nan's name is Elif, E L I F."),
        ("In May we're all moving to Ghent", "In May 2027 Maya is moving to Ghent."),
        ("Dad's ill and mum is away", "Maya's dad's ill and their mum is away."),
        ("My US visa ran out", "Maya's US visa ran out."),
        ("I own a horse.", "Maya owns a horse."),
        ("I have a question.", ""),
        ("Tom and I work together on the newsletter", "Tom and Maya work together on the newsletter."),
        ("As I said, I am a vegetarian", "Maya is a vegetarian."),
        ("Guess what - I got a kayak!", "Maya got a kayak!"),
        ("On another note, I bought this old loom at a sale", "Maya bought this old loom at a sale."),
        ("I've glazed forty bowls for the fair, take a look!", "Maya has glazed forty bowls for the fair."),
        ("Nate, I moved to Ghent", "Maya moved to Ghent."),
        ("Monday, I fly to Ghent", 'Maya: "Monday [23 November 2026], I fly to Ghent."'),
        ("Here's my sister's new boat", "Here's Maya's sister's new boat."),
        ("Nah we never ended up going to Crete", "Maya never ended up going to Crete."),
        ("ngl I hate my job at the depot", "Maya hates their job at the depot."),
        ("sooo I got the job at the zoo", "Maya got the job at the zoo."),
        ("heyyy so I moved to Ghent", "Maya moved to Ghent."),
        ("My girlfriend plays bass n drums", "Maya's girlfriend plays bass and drums."),
        ("welp I quit the choir", "Maya quit the choir."),
        ("Sorry for the typos, my sister is in hospital", "Maya's sister is in hospital."),
        ("No telly in this house, it's the radio for us", "No telly in this house, it's the radio for Maya."),
        ("Right eye's the bad one", 'Maya: "Right eye\'s the bad one."'),
        (
            "Nan's ninetieth is this coming Saturday and I bake for sixty people, send help",
            "Maya's nan's ninetieth is this coming Saturday [28 November 2026] and they bake for sixty people, "
            "send help.",
        ),
        (
            "We lost the roof in the storm the night before last",
            "Maya lost the roof in the storm the night before last [the night of 19 November 2026].",
        ),
        ("I'm hungry", ""),
        ("I love this song", ""),
    ],
)
def test_what_is_typed_in_a_hurry_is_told_as_it_was_meant(extractor: Extractor, said: str, kept: str | None) -> None:
    whole = "Maya's mum wants them to sell the boat, but they do not want to."
    assert _summaries(extractor, said) == [one for one in (whole if kept is None else kept,) if one]


@pytest.mark.parametrize(
    "said",
    [
        "sprained my ankle at practice",
        "my van is in for its MOT and the exhaust is blowing, roughly what am i looking at",
        "hurt my knee again",
        "not seeing my ex any more",
        "hired six more people so we are 20",
        "We are a family of five",
        "stopped biting my nails",
        "I prefer window seats, use that for the booking",
        "im 52 and new here I live in Ghent with my two sons I work for the post office",
        "I moved to Ghent no wait I meant Bruges",
        "They binned us all in the spring",
        "the twins just turned nine and want a hamster",
        "also have asthma",
        "been single since 2019 and fine with it",
        "been divorced since 2014 and happier for it",
        "dentist at 9:15 on Fridays",
        "my girl tasha likes tea n mine the coffee dont let me mix em up",
    ],
)
def test_what_cannot_be_told_surely_is_quoted_letter_by_letter(extractor: Extractor, said: str) -> None:
    assert [candidate.summary for candidate in _kept(extractor, said)] == [f'Maya: "{said}."']


def test_the_date_of_a_quotation_stands_in_brackets(extractor: Extractor) -> None:
    said = "got the keys tmrw at 5pm, moving in on Friday!!"
    kept = 'Maya: "got the keys tmrw [22 November 2026] at 5pm, moving in on Friday [27 November 2026]!!"'
    assert _summaries(extractor, said) == [kept]


def test_what_one_will_do_on_a_day_is_no_order_to_the_assistant(extractor: Extractor) -> None:
    assert _summaries(extractor, "Start driving for UPS on 4 December") == [
        'Maya: "Start driving for UPS on 4 December [4 December 2026]."'
    ]
    assert _summaries(extractor, "Start the plan on Monday") == []


def test_what_is_asked_of_a_supposition_is_not_told_and_what_follows_is(extractor: Extractor) -> None:
    said = "Suppose I won ten million, what would be the tax? My wife plays the lottery every week."
    assert _summaries(extractor, said) == ["Maya's wife plays the lottery every week."]
    assert not _summaries(extractor, "Imagine you are a pirate, what would you say? I have a parrot and one leg.")


def test_what_stands_before_a_question_that_begins_with_so_is_told(extractor: Extractor) -> None:
    assert _summaries(extractor, "I play handball on Thursdays so maybe study Tuesdays?") == [
        "Maya plays handball on Thursdays."
    ]


def test_a_number_answers_though_more_is_said_of_it(extractor: Extractor) -> None:
    [told] = _summaries(extractor, "Seven, and one is round", "How many windows do you have?")
    assert "window" in told and "seven" in told.lower()


def test_a_number_or_a_day_answers_whatever_was_asked(extractor: Extractor) -> None:
    asked = "What time does Leo go to bed?"
    assert _summaries(extractor, "7:30", asked) == [f'Asked "{asked}", Maya said: "7:30."']


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


@pytest.mark.parametrize("said", ["The house I live in Ghent calls mine is old", "I think the firm I work for is big"])
def test_a_clause_about_a_noun_is_no_sentence_of_its_own(extractor: Extractor, said: str) -> None:
    assert not [kept for kept in _summaries(extractor, said) if kept.startswith(("Maya lives", "Maya works"))]


@pytest.mark.parametrize("said", ["Wow, that's stunning! My loom is from 1920.", "Big news! My loom is from 1920."])
def test_praise_and_announcements_answer_no_question(extractor: Extractor, said: str) -> None:
    assert _summaries(extractor, said, "What have you been up to?") == ["Maya's loom is from 1920."]


def test_what_is_said_beside_a_task_is_kept_and_the_task_is_not(extractor: Extractor) -> None:
    moved = "Jamie moved out of my flat, so help me write an ad for a new roommate?"
    assert _summaries(extractor, moved) == ["Jamie moved out of Maya's flat."]
    letter = "draft a text to the landlord: we've a newborn in the flat"
    assert _summaries(extractor, letter) == ['Maya: "we\'ve a newborn in the flat."']
    assert _summaries(extractor, "Write an email from a tenant: my boiler has been out since Sunday.") == []
    assert _summaries(extractor, "sold the caravan so which tent do you recommend") == ['Maya: "sold the caravan."']
    said = "Can you help me plan a menu, my in-laws are both allergic to nuts"
    assert _summaries(extractor, said) == ["Maya's in-laws are both allergic to nuts."]
    assert _summaries(extractor, "how do i tell my boss that i am late") == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Make a card for our daughter Lila's first birthday", ["Maya's daughter is Lila."]),
        ("What should I get my boss Helen for her birthday?", ["Maya's boss is Helen."]),
        ("Write a story about my sister Anna and a dragon", []),
        ("Plan a party for my twins Ava and Ben", []),
        ("Translate: what does my wife Lucy want?", []),
    ],
)
def test_whom_a_request_calls_by_name_is_known_by_it(extractor: Extractor, said: str, kept: list[str]) -> None:
    assert _summaries(extractor, said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("As a type 1 diabetic, can I have dates before a run?", ["Maya is a type 1 diabetic."]),
        ("As a nurse I work nights, any tips for sleeping?", ["Maya is a nurse.", "Maya works nights."]),
        ("As a lawyer, what would you advise me to do?", []),
        ("As a student I lived in Oslo", ["Maya lived in Oslo."]),
        ("if i had three kids and made 60k what would my tax be", []),
    ],
)
def test_in_what_capacity_one_asks_is_told_and_what_is_supposed_is_not(
    extractor: Extractor, said: str, kept: list[str]
) -> None:
    assert _summaries(extractor, said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("nut allergy, remember this please", ['Maya: "nut allergy."']),
        ("gluten intolerant, remember this", ['Maya: "gluten intolerant."']),
        (
            "dentist the 16th of April 9am, put that somewhere",
            ['Maya: "dentist the 16th of April [16 April 2027] 9am."'],
        ),
        ("write me a poem, remember this", []),
    ],
)
def test_few_words_are_enough_where_they_are_to_be_remembered(extractor: Extractor, said: str, kept: list[str]) -> None:
    assert _summaries(extractor, said) == kept


def test_what_others_did_to_the_user_and_the_days_of_others_are_kept(extractor: Extractor) -> None:
    [told] = _summaries(extractor, "The doctor has put me on iron pills, I must not skip them")
    assert told.startswith("The doctor has put Maya on iron pills")
    [day] = _summaries(extractor, "Karin's birthday is on the 5th of March")
    assert "Karin's birthday is on the 5th of March" in day


def test_they_are_those_who_were_named_just_before(extractor: Extractor) -> None:
    kept = _summaries(extractor, "What do I give my grandparents? They're both fond of opera and my aunt hates it.")
    assert kept == ["Maya's grandparents are both fond of opera.", "Maya's aunt hates it."]


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
    facts = [
        fact
        for sentence in split_sentences(said)
        for parsed in language.parse([sentence.text])
        for fact in attribute_facts(parsed)
    ]
    assert _values(facts) == values


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
        "The user's aunt calls them Bee.",
        "The user's dad told them to rest.",
    ]


@pytest.mark.parametrize(
    "said",
    [
        "Own a sailboat, moored on Lake Zug.",
        "Have two cats.",
        "Work nights at Asda.",
        "Think it's my left knee that hurts again.",
    ],
)
def test_how_things_are_with_somebody_is_no_order_to_the_assistant(extractor: Extractor, said: str) -> None:
    assert len(_summaries(extractor, said)) == 1


@pytest.mark.parametrize(
    "said",
    [
        "Have a look at this",
        "Have a nice day!",
        "Work out 12 times 13",
        "Own it!",
        "Guess who called me",
        "Hope you can help",
    ],
)
def test_what_the_assistant_or_nobody_is_to_do_is_not_kept(extractor: Extractor, said: str) -> None:
    assert _summaries(extractor, said) == []


def test_what_is_asked_for_next_is_more_of_a_task_and_tells_nothing(extractor: Extractor) -> None:
    said = "Explain fixed and reducing rate loans in two lines, then a tiny example with 10,000 at 5%."
    assert _summaries(extractor, said) == []


@pytest.mark.parametrize("said", ["allergic to penicillin btw", "on metformin since june"])
def test_health_in_three_words_is_kept(extractor: Extractor, said: str) -> None:
    assert len(_summaries(extractor, said)) == 1


def test_a_name_of_a_thing_is_nobodys(extractor: Extractor) -> None:
    facts = _kept(extractor, "I go to the office in Umeda by Hankyu train every day.")[0].facts
    assert not any(fact.attribute == "preferred_name" for fact in facts)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I LIVE IN LEEDS WITH MY TWO KIDS", ["Maya lives in leeds with their two kids."]),
        ("From now on call me Dr. Berg", ["Maya wants to be called Dr. Berg."]),
        ("a poem for my wife's 50th birthday please", []),
        ("I'd a dog called Rex as a child", ["Maya had a dog called Rex as a child."]),
        ("My last drink was New Year's Day 2019.", ["Maya's last drink was New Year's Day 2019."]),
        (
            "it was a nightmare but I moved to Leeds in May and I got a job at the hospital",
            ["Maya moved to Leeds in May 2026.", "Maya got a job at the hospital."],
        ),
    ],
)
def test_what_is_shouted_asked_politely_or_told_in_one_breath(extractor: Extractor, said: str, kept: list[str]) -> None:
    assert _summaries(extractor, said) == kept


@pytest.mark.parametrize(
    ("said", "summary"),
    [
        ("Me flatmate Obi is a keen cook", "Maya's flatmate Obi is a keen cook."),
        (
            'Auditor query: "Explain the variance in March." 52 bags were sold on credit in March',
            'Maya: "Auditor query: "Explain the variance in March." 52 bags were sold on credit in March."',
        ),
        ("give me kids' menus", None),
        ("What happened was that I lost my job at Tesco", "Maya lost their job at Tesco."),
        ("btw did I mention I'm vegan?", "Maya is vegan."),
        ("Did I tell you that we moved to Oslo in May?", "Maya moved to Oslo in May 2026."),
        ("Did I tell you where I live?", None),
        ("anyway what's 12% of 84,500", None),
        ("and can I still have a pint is what I really want to know", None),
        (
            'Auditor query: "Kindly explain the variance of KES 184,600." 52 bags were sold on credit in March',
            'Maya: "Auditor query: "Kindly explain the variance of KES 184,600." 52 bags were sold on credit in March '
            '[March 2026]."',
        ),
    ],
)
def test_speech_is_told_as_it_is_meant_and_a_question_without_its_mark_is_none(
    extractor: Extractor, said: str, summary: str | None
) -> None:
    assert [item.summary for item in _kept(extractor, said)] == ([summary] if summary else [])


def test_what_is_dictated_between_quote_and_unquote_is_anothers(extractor: Extractor) -> None:
    said = "The will says quote the meadow goes to my surviving children unquote and I am 61"
    assert not any("Maya's surviving children" in item.summary for item in _kept(extractor, said))
