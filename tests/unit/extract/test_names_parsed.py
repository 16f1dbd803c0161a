"""What the parser takes for names."""

from __future__ import annotations

import pytest

from memory.parser.english import parse

_FINITE = {"VBD", "VBP", "VBZ", "MD"}


@pytest.mark.parametrize("end", ["", "."])
@pytest.mark.parametrize("name", ["Anna87", "J0nas", "Zoe5", "Tom_22"])
@pytest.mark.parametrize("told", ["drove jonas to his chemo", "saw Tina4 at the clinic", "brought kevin his insulin"])
def test_a_persons_name_holds_no_finite_verb(name: str, told: str, end: str) -> None:
    (parsed,) = parse([f"{name} {told}{end}"])
    people = [found for found in parsed.names if found.label == "PERSON"]
    assert not [found for found in people if {t.tag for t in parsed.tokens[found.start : found.end]} & _FINITE]


def test_who_stands_on_either_side_of_the_verb_is_named() -> None:
    (parsed,) = parse(["Anna87 saw Tina4 at the clinic."])
    assert [(found.text, found.start, found.end) for found in parsed.names] == [("Anna87", 0, 1), ("Tina4", 2, 3)]


def test_a_name_that_looks_like_a_verb_stays_whole() -> None:
    (parsed,) = parse(["Will Smith lives here."])
    assert [found.text for found in parsed.names] == ["Will Smith"]
