"""What is sensitive about somebody named, in words that no list has, and whose names are surely people's."""

from __future__ import annotations

import pytest

from policies.privacy import sensitive_head
from policies.privacy.name_evidence import people_in
from policies.privacy.sensitive_head import LIKELY, as_read
from policies.privacy.third_parties import told_in, told_of
from schema import MAX_TURN_BYTES
from tests.growth import assert_grows_linearly
from tests.unit.policies.builders import candidate

SENSITIVE = (
    ("My mate Robbo is back on the booze, he fell asleep in the bus shelter.", "Robbo"),
    ("Steve has had the bailiffs round twice and he can't pay his rent.", "Steve"),
    ("Gaz was sectioned on Friday, they took him to the unit in Leeds.", "Gaz"),
    ("Meine Nachbarin Swetlana säuft wieder seit der Scheidung.", "Swetlana"),
    ("Mi primo Iker debe dinero a media ciudad y está en el paro.", "Iker"),
)
PLAIN = (
    ("My mate Robbo supports Stockport County, he never misses a match.", "Robbo"),
    ("Johanna is scared of dinosaurs, she cries at the museum.", "Johanna"),
    ("Barry has retired and bought his narrowboat.", "Barry"),
    ("Mein Bruder Jonas baut gerade ein Baumhaus für seine Kinder.", "Jonas"),
)


@pytest.mark.parametrize(("text", "name"), SENSITIVE)
def test_names_go_where_something_sensitive_is_told_in_words_that_no_list_has(text: str, name: str) -> None:
    assert name in told_of(candidate(text), ())


@pytest.mark.parametrize(("text", "name"), PLAIN)
def test_names_stay_where_nothing_sensitive_is_told(text: str, name: str) -> None:
    assert name not in told_of(candidate(text), ())


def test_what_the_user_tells_of_themselves_takes_no_name() -> None:
    assert told_of(candidate("Maya has diabetes and Robbo cooks for them."), ("Maya",)) == ()


def test_a_faith_that_somebody_has_is_no_name() -> None:
    assert told_of(candidate("Maya's neighbour is Sikh and brings them sweets."), ("Maya",)) == ()


def test_a_treatment_is_no_name() -> None:
    said = "Physio starts on Monday, then they look if the shoulder needs the knife."
    assert told_in(said, ("Maya",), people=("Physio",)) == ()
    assert told_in("Cast comes off in six weeks, the sister at the clinic counted it.", ("Maya",)) == ()
    assert told_in("Chemo for dad begins on Monday.", ("Maya",)) == ()


def test_who_claps_is_not_ill() -> None:
    said = "Maya's son Zayd plays striker for his school and they clap at the wrong moments."
    assert told_of(candidate(said), ("Maya",)) == ()


def test_a_name_that_is_a_faith_too_tells_nothing_of_its_bearer() -> None:
    assert told_of(candidate("Christian is training for the marathon in May."), ()) == ()


def test_who_works_on_an_illness_does_not_have_it() -> None:
    assert told_of(candidate("Maya's friend Rosalind is a cancer researcher in Cambridge."), ("Maya",)) == ()


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Der Sohn von Frau Wachowiak wohnt oben.", ("Wachowiak",)),
        ("Ma collègue Solène arrive lundi.", ("Solène",)),
        ("T.K. from accounts came along.", ("T.K.",)),
        ("Ines and Paulo came along.", ("Ines", "Paulo")),
        ("The MRI at Argenta was quick.", ()),
    ],
)
def test_what_stands_around_a_name_tells_whether_it_is_somebodys(sentence: str, names: tuple[str, ...]) -> None:
    assert people_in(sentence, (), (), ()) == names


@pytest.mark.parametrize("piece", ["x", "Xx ", "cancer ", "A.", "Ines and ", "my aunt Bo, ", "von Frau "])
def test_a_text_of_one_piece_over_and_over_takes_time_in_proportion(piece: str) -> None:
    def judge(text: str) -> None:
        sensitive_head.chance(as_read(text, people_in(text, (), (), ()), ()))

    assert_grows_linearly(judge, piece, MAX_TURN_BYTES)


def test_the_name_itself_does_not_decide() -> None:
    chances = {sensitive_head.chance(as_read(f"{name} is on dialysis now.", [name], ())) for name in ("Kofi", "Anna")}
    assert len(chances) == 1
    assert chances.pop() > LIKELY
