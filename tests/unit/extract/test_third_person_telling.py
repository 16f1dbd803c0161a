"""First-person sentences told of the user."""

from __future__ import annotations

import pytest

from worker.extract.language import parse
from worker.extract.third_person import Narrator, inflected, mended, told_of


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
        ("I'd love to visit Japan.", "Maya would love to visit Japan."),
        ("My sister Anna gave me a book.", "Maya's sister Anna gave them a book."),
        ("I taught myself guitar.", "Maya taught themself guitar."),
        ("When I was young, I wanted to fly.", "When Maya was young, they wanted to fly."),
        ("My wife and I bought a house.", "Maya and their wife bought a house."),
        ("Me and my brother play chess.", "Maya and their brother play chess."),
        ("We have two kids.", "Maya has two kids."),
        ("We're expecting our first child.", "Maya is expecting their first child."),
        ("im vegan and i dont drink", "Maya is vegan and they do not drink"),
        ("Now I live in Berlin.", "Now Maya lives in Berlin."),
    ],
)
def test_a_first_person_sentence_names_the_user_and_agrees(said: str, told: str) -> None:
    (parsed,) = parse([mended(said)])
    assert told_of(parsed, Narrator("Maya")) == told


@pytest.mark.parametrize(
    ("base", "third"),
    [("bake", "bakes"), ("have", "has"), ("study", "studies"), ("play", "plays"), ("watch", "watches"), ("go", "goes")],
)
def test_a_verb_takes_the_ending_of_the_third_person(base: str, third: str) -> None:
    assert inflected(base) == third


def test_a_named_assistant_stands_where_you_was() -> None:
    (parsed,) = parse(["I liked your idea and I called you."])
    assert told_of(parsed, Narrator("Maya", "Bob")) == "Maya liked Bob's idea and they called Bob."
