"""A memory must be understood by who has not read the conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from memory.parser.english import parse
from policies.admission import admit
from policies.language.coreference import depends_on_context
from schema import Candidate, Context, Message, Turn
from tests.extractors import by_rules
from tests.growth import assert_grows_linearly
from worker.extract import AdmittedTurn, Extractor
from worker.extract.utterances import question_of

WHEN = datetime(2026, 11, 21, 18, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return by_rules()


def _summaries(extractor: Extractor, *said: tuple[str, str], news: bool = False) -> Sequence[str]:
    """Return what is worth a memory by itself, with `news` also what is only if it ends something."""
    messages = tuple(
        Message.model_validate({"role": role, "content": content, "name": "Maya" if role == "user" else None})
        for role, content in said
    )
    turn = Turn(
        turn_id="t1", tenant_id="acme", user_id="maya", conversation_id="c1", messages=messages, occurred_at=WHEN
    )
    items = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
    return [item.summary for item in items if isinstance(item, Candidate) and (news or not item.only_as_news)]


@pytest.mark.parametrize(
    "text",
    [
        "I painted it because it was calming.",
        "I love this series.",
        "It's the best part of my week.",
        "I sold some.",
        "I had a similar idea.",
        "I did too.",
        "My kids made me.",
        "I've been there twice.",
        "They keep me company.",
    ],
)
def test_a_sentence_that_points_back_leans(text: str) -> None:
    assert depends_on_context(*parse([text]))


def test_a_sentence_in_capital_letters_that_points_back_leans_too() -> None:
    assert depends_on_context(*parse(["I LOVE IT."]))


@pytest.mark.parametrize(
    "text",
    [
        "I love jazz.",
        "I bought a bike and it rattles.",
        "It's hard to wait for summer.",
        "I think that I will go.",
        "There is a park near my flat.",
        "I start at the bakery this week.",
        "My sister and her husband moved.",
        "They moved my exam to Friday.",
        "I've been at this company since 2019.",
        "I'm 63 and they put a stent in last year.",
        "I've been divorced since 2014 and am happier for it.",
        "I work in IT support for a bank.",
    ],
)
def test_a_sentence_that_says_what_it_means_does_not(text: str) -> None:
    assert not depends_on_context(*parse([text]))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "We go sailing with my cousins every June. It's the best part of our year!",
            ["Maya goes sailing with their cousins every June. It's the best part of their year!"],
        ),
        (
            "I joined a choir in the old brewery. It rehearses in a cellar under the market hall.",
            ["Maya joined a choir in the old brewery. It rehearses in a cellar under the market hall."],
        ),
        (
            "The old harbour boat was rotting. I restored it with two friends.",
            ['Maya: "The old harbour boat was rotting. I restored it with two friends."'],
        ),
    ],
)
def test_what_leans_on_a_sentence_is_one_memory_with_it(extractor: Extractor, said: str, kept: list[str]) -> None:
    assert _summaries(extractor, ("user", said)) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "How do I prune roses? I've about twenty of them out the front.",
            ["Maya has about twenty of them [roses] out the front."],
        ),
        ("Names for a bakery? I'm opening one in Ghent.", ["Maya is opening one [bakery] in Ghent."]),
        (
            "When does the market in Nakuru open? I've lived here since May.",
            ["Maya has lived here [Nakuru] since May 2026."],
        ),
        ("Which dentist in Bonn is good? We moved there in January.", ["Maya moved there [Bonn] in January 2026."]),
        ("Is Bonn nicer than Kiel? I moved here in January.", ["Maya moved here in January 2026."]),
        ("Is there a place near Braga, where I live, that mends typewriters?", ["In Braga Maya lives."]),
        ("Is there a place, where I live, that mends typewriters?", []),
        ("I'm 63 and it has been hard.", ["Maya is 63."]),
    ],
)
def test_what_the_sentence_before_names_is_written_beside_what_stands_for_it(
    extractor: Extractor, said: str, kept: list[str]
) -> None:
    assert _summaries(extractor, ("user", said)) == kept


def test_a_reply_that_leans_on_the_question_is_kept_with_it(extractor: Extractor) -> None:
    said = (
        ("assistant", "What do the tortoises eat?"),
        ("user", "They mostly eat dandelions, clover and squash from the garden."),
    )
    assert _summaries(extractor, *said) == [
        'Asked "What do the tortoises eat?", Maya said: '
        '"They mostly eat dandelions, clover and squash from the garden."'
    ]


def test_what_the_assistant_states_is_never_quoted(extractor: Extractor) -> None:
    said = (("assistant", "You live in Paris with a dog called Rex."), ("user", "I really love it here in my flat."))
    assert all("Paris" not in summary and "Rex" not in summary for summary in _summaries(extractor, *said))


def test_what_the_memory_was_told_to_forget_explains_nothing(extractor: Extractor) -> None:
    said = "Forget that I lived in Bergen near the fish market. I never liked it there with my uncle."
    assert all("Bergen" not in summary for summary in _summaries(extractor, ("user", said)))


def test_a_new_sentence_of_a_memory_names_the_user_again(extractor: Extractor) -> None:
    (summary,) = _summaries(extractor, ("user", "I keep bees on the roof. I sell their honey at the market."))
    assert summary == "Maya keeps bees on the roof. Maya sells their honey at the market."


def test_what_a_transcript_says_was_sent_is_kept_with_the_memory(extractor: Extractor) -> None:
    (summary,) = _summaries(extractor, ("user", "I finished my quilt! [sends a photo of a blue quilt on a sofa]"))
    assert summary == "Maya finished their quilt (sent a photo of a blue quilt on a sofa)."


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Lovely! Where was the picnic?", "Where was the picnic?"),
        ("Where was the picnic? Tell me all.", "Where was the picnic?"),
        ("I know you like tea.", None),
        ("", None),
    ],
)
def test_only_a_question_is_answered(text: str, question: str | None) -> None:
    assert question_of(text) == question


@pytest.mark.parametrize("piece", ["it ", "[shares ", "that that ", "it is so ", "a b, It ", "what? "])
def test_the_longest_text_is_read_in_bounded_time(piece: str) -> None:
    assert_grows_linearly(question_of, piece, 16_000)


@pytest.mark.parametrize(
    ("question", "reply", "kept"),
    [
        ("Hi Maya! How can I help?", "I live in Lisbon with my sister.", "Maya lives in Lisbon with their sister."),
        ("Great. Anything else I should note?", "I work as a nurse.", "Maya works as a nurse."),
        (
            "How is the new flat?",
            "I am starting a job at the harbour museum in January.",
            "Maya is starting a job at the harbour museum in January 2027.",
        ),
    ],
)
def test_a_question_that_the_reply_does_not_take_up_is_not_noted(
    extractor: Extractor, question: str, reply: str, kept: str
) -> None:
    assert _summaries(extractor, ("assistant", question), ("user", reply)) == [kept]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Big news: I got a job at Initech.", ["Maya got a job at Initech."]),
        ("I live in Ghent and work at Initech.", ["Maya lives in Ghent.", "Maya works at Initech."]),
        ("My sister had a baby and I got promoted.", ["Maya got promoted.", "Maya's sister had a baby."]),
        ("I bought a bike and it rattles.", ["Maya bought a bike and it rattles."]),
    ],
)
def test_a_memory_has_one_fact_and_all_that_it_leans_on(extractor: Extractor, said: str, told: list[str]) -> None:
    assert sorted(_summaries(extractor, ("user", said))) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "I have a hand-painted bowl from home. A friend made it for my birthday.",
            "Maya has a hand-painted bowl from home. A friend made it for their birthday.",
        ),
        (
            "Found a place! It's a two bedroom terrace in Hull, 1100 a month",
            'Maya: "Found a place! It\'s a two bedroom terrace in Hull, 1100 a month."',
        ),
        (
            "When I'm away from the office, baking is therapy for me.",
            "When Maya is away from the office, baking is therapy for them.",
        ),
        ("I moved to Porto since we last talked.", "Maya moved to Porto since they last talked."),
    ],
)
def test_what_hangs_together_stays_together(extractor: Extractor, said: str, told: str) -> None:
    assert _summaries(extractor, ("user", said)) == [told]


def test_a_verb_that_is_no_whole_word_is_quoted(extractor: Extractor) -> None:
    assert not any("do-s" in summary for summary in _summaries(extractor, ("user", "I do- Oscar, my guinea pig.")))


def test_what_is_said_of_everybody_or_of_what_is_shown_is_told_of_nobody(extractor: Extractor) -> None:
    assert _summaries(extractor, ("user", "It's amazing how music can change our lives.")) == []
    assert _summaries(extractor, ("user", "Wow, that photo's amazing! I love it.")) == []


def test_what_surely_tells_of_the_user_is_quoted_though_nothing_says_what_it_leans_on(extractor: Extractor) -> None:
    said = "We have lived in the same house since the war."
    assert _summaries(extractor, ("user", said)) == [f'Maya: "{said}"']
    assert _summaries(extractor, ("user", "It was the same for me.")) == []


def test_a_bare_yes_is_worth_what_its_question_says(extractor: Extractor) -> None:
    assert _summaries(extractor, ("assistant", "Wow, did you make that?"), ("user", "Yeah, definitely!")) == []
    assert _summaries(extractor, ("assistant", "Are you vegan?"), ("user", "Yes")) != []


def test_a_thing_that_a_clause_describes_is_understood_without_what_was_said_before() -> None:
    assert not depends_on_context(*parse(["I still have that lamp that my aunt made."]))
    assert depends_on_context(*parse(["I still have that lamp."]))


def test_a_clause_at_whose_thing_somebody_broke_off_is_not_told_alone(extractor: Extractor) -> None:
    said = "I'm at the uh whats it called the sleep doctor and she say I got apnea"
    assert not any(summary.endswith(" the.") for summary in _summaries(extractor, ("user", said)))


def test_a_clause_that_is_understood_alone_is_told_without_the_one_that_is_not(extractor: Extractor) -> None:
    assert _summaries(
        extractor, ("user", "It was hard, but I have moved into Briarwood, the retirement community.")
    ) == ["Maya has moved into Briarwood, the retirement community."]


def test_what_one_thing_comes_to_is_told_though_nobody_is_named(extractor: Extractor) -> None:
    assert _summaries(extractor, ("user", "Actually the budget for the trip is 6,000."), news=True) == [
        'Maya: "Actually the budget for the trip is 6,000."'
    ]


def test_an_answer_about_somebody_else_is_told_with_its_question(extractor: Extractor) -> None:
    asked = "Of course! Does he have any allergies?"
    told = _summaries(
        extractor, ("user", "Suggest a cake for my son."), ("assistant", asked), ("user", "Yes, hazelnuts.")
    )
    assert told == ['Asked "Does he have any allergies?", Maya said: "Yes, hazelnuts."']


def test_relatives_whose_names_are_typed_in_small_letters_are_several(extractor: Extractor) -> None:
    turn = Turn(
        turn_id="t1", tenant_id="acme", user_id="maya", conversation_id="c1", occurred_at=WHEN,
        messages=(Message(role="user", name="Maya", content="my brother leo is 19"),),
    )  # fmt: skip
    [item] = extractor.extract([AdmittedTurn(turn, admit(turn))], Context()).items
    assert isinstance(item, Candidate)
    assert [(fact.entity, fact.object) for fact in item.facts if fact.attribute == "age"] == [("leo", "19")]


def test_of_two_sentences_without_a_mark_between_the_one_that_stands_alone_is_told(extractor: Extractor) -> None:
    told = _summaries(extractor, ("user", "it's dark and grim so I'm on the bus again until spring"))
    assert [summary.partition(" until ")[0] for summary in told] == ["Maya is on the bus again"]


@pytest.mark.parametrize(
    "said",
    [
        "Why does the upload hang? version 7.x",
        "Regex for ink codes, old and new, case-insensitive",
    ],
)
def test_a_bit_without_a_verb_that_says_little_is_no_memory(extractor: Extractor, said: str) -> None:
    assert not [one for one in _summaries(extractor, ("user", said)) if "7.x" in one or "ink" in one]


def test_a_bit_without_a_verb_that_says_much_is_kept(extractor: Extractor) -> None:
    assert _summaries(extractor, ("user", "Dinner for four please? Peanut allergy, me."))


def test_what_answers_the_speakers_own_question_is_told_with_it(extractor: Extractor) -> None:
    said = "My favorite book is Emma. Favorite movie? Alien, no contest."
    assert 'Maya: "Favorite movie? Alien, no contest."' in _summaries(extractor, ("user", said))


def test_a_question_puts_nothing_right(extractor: Extractor) -> None:
    said = "I write reports now, fix my text please, max 1 mistake ok?"
    assert not any("max 1" in one for one in _summaries(extractor, ("user", said), news=True))


def test_a_thing_whose_name_stands_behind_it_points_at_nothing() -> None:
    assert not depends_on_context(*parse(["I am trying this new app Filo at work."]))
    assert depends_on_context(*parse(["I am trying this new app at work."]))


@pytest.mark.parametrize(
    "said",
    ["Write to our guest: the room is free from 4, breakfast is at 8", "calculate: floor 7,35 x 4,20, tile 60x60"],
)
def test_what_a_task_is_about_is_no_memory_of_whoever_sets_it(extractor: Extractor, said: str) -> None:
    assert _summaries(extractor, ("user", said)) == []


def test_what_a_task_says_of_people_is_kept(extractor: Extractor) -> None:
    said = "Plan our weekend: my wife Ana is on night shifts, two kids at home, breakfast at 8"
    assert _summaries(extractor, ("user", said)) == ["Maya's wife Ana is on night shifts.", 'Maya: "two kids at home."']


def test_a_bit_is_told_with_the_news_before_it(extractor: Extractor) -> None:
    said = "The round is closed. 400k from angels in Lagos."
    assert any("closed" in one for one in _summaries(extractor, ("user", said)) if "400k" in one)
