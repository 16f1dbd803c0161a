"""What somebody puts right is told with the value that they meant."""

from __future__ import annotations

import pytest

import memory.parser.english as language
from policies.language.corrections import announces, corrected, is_correction, is_plain


@pytest.mark.parametrize(
    ("told", "said", "right"),
    [
        ("the aso-ebi is teal lace", "sorry o, not teal, TURQUOISE.", "the aso-ebi is TURQUOISE lace"),
        ("Ana's blood group is B", "O, not B", "Ana's blood group is O"),
        ("Priya's code is 4410.", "*4401", "Priya's code is 4401."),
        ("Bo weighs 250 pounds.", "*255 sorry", "Bo weighs 255 pounds."),
        ("Bo paid 70 for 2 lamps.", "sorry, 17, not 70", "Bo paid 17 for 2 lamps."),
        ("Bo's train leaves at 9:12.", "wait, wrong line, 9:21", "Bo's train leaves at 9:21."),
        ("Bo's teacher is Ms Brand.", "*brandt", "Bo's teacher is Ms Brandt."),
        ("Ann is Bo's sister.", "cousin, sorry", "Ann is Bo's cousin."),
        (
            'Bo: "The wedding is in December [December 2026]."',
            "not December, January [January 2026]",
            'Bo: "The wedding is in January [January 2027]."',
        ),
        ("Bo flies on 3 February 2027.", "not February, November", "Bo flies on 3 November 2026."),
        ("Leo marries on 26 September 2026.", "no wait, the 19th", "Leo marries on 19 September 2026."),
        ("Bo flies on the 24th [24 November 2026].", "*27th, typo", "Bo flies on 27 November 2026."),
        ("Bo moved to Olso.", "no Oslo", "Bo moved to Oslo."),
        ("Bo plays on Friday.", "no tuesday", "Bo plays on tuesday."),
        ("Bo's blood type is A negative.", "hang on, B negative", "Bo's blood type is B negative."),
        ("Bo takes 50mg of sertraline.", "*75", "Bo takes 75mg of sertraline."),
        (
            'Bo: "dentist is thursday [12 March 2026] at 3."',
            "scratch that it's friday [13 March 2026]",
            'Bo: "dentist is friday [13 March 2026] at 3."',
        ),
        (
            "Bo sees the dentist on 24 February 2026.",
            "sorry, I meant wednesday [25 February 2026]",
            "Bo sees the dentist on 25 February 2026.",
        ),
        (
            'Bo: "I fly on Tuesday [1 December 2026] at 6."',
            "sorry, I meant Wednesday, not Tuesday",
            'Bo: "I fly on Wednesday [2 December 2026] at 6."',
        ),
        (
            "Bo's exam is moved from 1 December 2026 to 3 December 2026.",
            "I meant Friday [27 November 2026], not Thursday [26 November 2026]",
            "Bo's exam is moved from 1 December 2026 to 4 December 2026.",
        ),
        (
            "Bo's truck is a 2009 tacoma, 240k miles.",
            "2008 actually, just looked at the title",
            "Bo's truck is a 2008 tacoma, 240k miles.",
        ),
    ],
)
def test_a_correction_puts_the_right_value_in_the_place_of_the_wrong_one(told: str, said: str, right: str) -> None:
    (parsed,) = language.parse([said.partition(" [")[0]])
    assert is_correction(said.partition(" [")[0], parsed)
    assert corrected(told, said) == right


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("Eve meets Dan on Tuesday and Kim on Friday.", "*thursday"),
        ("Bo works three days a week.", "sorry, I meant Friday, not Thursday"),
        ("Bo has 3 kids.", "I meant 30, not 20"),
        ("Bo likes tea.", "no worries"),
        ("Bo likes tea.", "sorry about that"),
        ("Bo is 31.", "not yet"),
        ("Bo flies on 3 December 9999.", "not December, January"),
        ("It snowed and every tram was late", "oh no, van!"),
    ],
)
def test_where_it_is_not_plain_what_is_corrected_nothing_is(told: str, said: str) -> None:
    assert corrected(told, said) is None


@pytest.mark.parametrize(
    "said",
    [
        "I'm sorry, my dog ate it",
        "no, I live in Oslo now",
        "thanks, that's not bad",
        "not any more",
        "No worries.",
        "Oh no, that van!",
        "No problem!",
        "no kidding",
        "books another 412, not paid yet",
    ],
)
def test_what_says_something_by_itself_is_no_correction(said: str) -> None:
    (parsed,) = language.parse([said])
    assert not is_correction(said, parsed)


def test_only_an_asterisk_or_a_word_for_it_makes_a_correction_plain() -> None:
    assert is_plain("181* typo")
    assert is_plain("Perth in Scotland I mean, not Australia")
    assert not is_plain("sorry about that")


def test_a_sentence_may_announce_that_the_next_one_corrects() -> None:
    assert announces("I misspoke.")
    assert not announces("I misspoke about the 19th.")
    assert not announces("My sister was born in 1941.")
