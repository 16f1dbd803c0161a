"""First-person sentences told of the user, or left to be quoted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.parser.english import parse
from policies.language.fidelity import is_faithful, strange_words
from policies.language.inflection import inflected
from policies.language.narration import Narrator, narrated
from policies.language.spelling import mended, spelt


def _told(said: str, narrator: Narrator | None = None) -> str | None:
    (parsed,) = parse([mended(said)])
    return narrated(parsed, narrator or Narrator("Maya"))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I have two cats.", "Maya has two cats."),
        ("I've two cats and love them.", "Maya has two cats and loves them."),
        ("I love and collect old maps.", "Maya loves and collects old maps."),
        ("I don't like olives.", "Maya does not like olives."),
        ("I can't eat gluten.", "Maya cannot eat gluten."),
        ("I won't renew my lease.", "Maya will not renew their lease."),
        ("I was born in Oslo and grew up in Bergen.", "Maya was born in Oslo and grew up in Bergen."),
        ("I'd been there before.", "Maya had been there before."),
        ("We'd had a cat for fourteen years.", "Maya had had a cat for fourteen years."),
        ("I'd better go.", "Maya had better go."),
        ("I've got type 2 diabetes and take metformin.", "Maya has got type 2 diabetes and takes metformin."),
        ("I've had two operations and need a third.", "Maya has had two operations and needs a third."),
        ("I'd been to Rome twice and want to go again.", "Maya had been to Rome twice and wants to go again."),
        ("I'd love to visit Japan.", "Maya would love to visit Japan."),
        ("My sister Anna gave me a book.", "Maya's sister Anna gave them a book."),
        ("I taught myself guitar.", "Maya taught themself guitar."),
        (
            "For podcasts I'd say In Our Time is my favourite.",
            "For podcasts Maya would say In Our Time is their favourite.",
        ),
        ("I watched My Octopus Teacher with my wife.", "Maya watched My Octopus Teacher with their wife."),
        ("I told My Mum that I moved.", "Maya told their Mum that they moved."),
        ("When I was young, I wanted to fly.", "When Maya was young, they wanted to fly."),
        ("My wife and I bought a house.", "Maya and their wife bought a house."),
        ("Me and my brother play chess.", "Maya and their brother play chess."),
        ("We have two kids.", "Maya has two kids."),
        ("We're expecting our first child.", "Maya is expecting their first child."),
        ("im vegan and i dont drink", "Maya is vegan and they do not drink"),
        ("Now I live in Berlin.", "Now Maya lives in Berlin."),
        ("I need a new bed.", "Maya needs a new bed."),
        ("Dad's ill and I miss him.", "Maya's dad's ill and they miss him."),
        ("I completely forgot to ask among all the nappies.", "Maya completely forgot to ask among all the nappies."),
        ("My parents say they like me.", "Maya's parents say they like Maya."),
        ("Forget-me-nots are my favourite flowers.", "Forget-me-nots are Maya's favourite flowers."),
        ("It's over between Ana and me.", "It's over between Ana and Maya."),
        ("My boss took Ana and me to lunch.", "Maya's boss took Ana and Maya to lunch."),
        ("I need a bit of me-time.", "Maya needs a bit of me-time."),
    ],
)
def test_a_first_person_sentence_names_the_user_and_agrees(said: str, told: str) -> None:
    assert _told(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "Just adopted two cats!",
        "boiler died again",
        "I'm wondering if you like your job",
        "We are a family of five",
        "Should I sell my car?",
        'He said "I quit my job" and I laughed',
        "Been having some wild games lately, we played a top team",
        "Call me back",
        "",
    ],
)
def test_what_has_no_clause_of_its_own_or_another_speaker_is_left_to_be_quoted(said: str) -> None:
    assert _told(said) is None


def test_considering_is_not_doing() -> None:
    assert _told("I'm considering quitting my job.") == "Maya is considering quitting their job."


@pytest.mark.parametrize(
    ("base", "third"),
    [("bake", "bakes"), ("have", "has"), ("study", "studies"), ("play", "plays"), ("watch", "watches"), ("go", "goes")],
)
def test_a_verb_takes_the_ending_of_the_third_person(base: str, third: str) -> None:
    assert inflected(base) == third


def test_a_named_assistant_stands_where_you_was() -> None:
    assert _told("I liked your idea and I called you.", Narrator("Maya", "Bob")) == (
        "Maya liked Bob's idea and they called Bob."
    )


_WORDS = st.sampled_from(
    (
        "I", "my", "we", "our", "was", "were", "diagnosed", "wed", "well", "ill", "id", "with", "in", "considering",
        "quitting", "the", "job", "a", "dog", "and", "'m", "'ve", "n't", "not", "am", "is", "have", "never", "Anna",
        "sister", "who", "that", ",", ".", "love", "US", "i", "me", "mine", "us", "hurt", "need", "to", "be",
    )
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(_WORDS, min_size=1, max_size=14).map(" ".join))
def test_whatever_is_told_has_no_word_that_nobody_said(said: str) -> None:
    plain = mended(said)
    (parsed,) = parse([plain])
    told = narrated(parsed, Narrator("Maya"))
    assert told is None or strange_words(told, plain, ["Maya"]) == []


@given(st.text(max_size=200))
def test_every_place_of_a_mended_text_stands_in_what_was_typed(text: str) -> None:
    found = spelt(text)
    places = [found.typed(place) for place in range(len(found.plain) + 1)]
    assert all(0 <= place <= len(text) for place in places)
    assert places == sorted(places) or len(found.edges) > 1


@pytest.mark.parametrize(
    ("summary", "said", "faithful"),
    [
        ("Maya bakes bread.", "I bake bread", True),
        ("Maya wdiagnosed with diabetes.", "I was diagnosed with diabetes", False),
        ("Maya is quitting their job in Rome.", "I'm considering quitting my job", False),
        ("Maya does not eat meat.", "I eat meat", False),
        ("Maya loves tea. Maya loves tea.", "I love tea", False),
        ("Maya was born on 3 May 1990.", "I was born on May 3, 1990", True),
    ],
)
def test_a_summary_says_what_was_said_and_nothing_twice(summary: str, said: str, faithful: bool) -> None:
    assert is_faithful(summary, said, ["Maya"]) is faithful
