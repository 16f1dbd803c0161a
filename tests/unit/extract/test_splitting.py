"""What a sentence tells beside what it asks for."""

from __future__ import annotations

import pytest

from memory.parser.english import parse
from policies.language.discourse_markers import discourse_margins
from policies.language.sentences import prose_of, split_sentences
from policies.language.splitting import statements_in, without_request


def _told(said: str) -> str:
    (parsed,) = parse([said])
    told = without_request(parsed)
    return told.text_of(range(len(told.tokens)))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I'm flying to Oslo on Friday, find me a hotel near the station.", "I'm flying to Oslo on Friday"),
        ("We have 80 guests coming, help me plan the seating.", "We have 80 guests coming"),
        ("My dog is scared of fireworks, please suggest something calming", "My dog is scared of fireworks"),
        ("my son is allergic to nuts so plan a menu without them", "my son is allergic to nuts"),
        ("I hate coriander, don't suggest it", "I hate coriander"),
        ("Help me out, my car died on the motorway", "my car died on the motorway"),
    ],
)
def test_a_request_beside_what_is_told_is_left_out(said: str, told: str) -> None:
    assert _told(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "I get up at six, eat breakfast, go to work by bus.",
        "He used to smoke, drink and gamble.",
        "My plan is to save money, buy a van, drive to Spain.",
        "We moved to Ghent last May, bought a house, and have two cats.",
        "The funeral is on Saturday, need to travel to Leeds on Friday.",
        "Our son was told he's diabetic, type one.",
    ],
)
def test_what_somebody_does_one_after_the_other_is_no_request(said: str) -> None:
    assert _told(said) == said


@pytest.mark.parametrize(
    "said",
    [
        "Bonuses came out and mine is 4,000.",
        "Everyone has a locker and ours is number 12.",
        "I used to smoke but I quit in 2019.",
    ],
)
def test_a_clause_that_leaves_unsaid_what_it_is_about_is_not_cut_off(said: str) -> None:
    [parsed] = parse([said])
    assert statements_in(parsed) == [parsed]


@pytest.mark.parametrize(
    ("said", "statements"),
    [
        (
            "I'm vegetarian and my partner Jonas is celiac, we also have a son with asthma.",
            ["I'm vegetarian", "my partner Jonas is celiac", "we also have a son with asthma."],
        ),
        ("I'm a nurse in Pune, my salary is 62,000.", ["I'm a nurse in Pune", "my salary is 62,000."]),
        ("My wife earns 4100 net and I earn 2900.", ["My wife earns 4100 net", "I earn 2900."]),
        (
            "I speak fluent Italian, my mother is from Turin and her cousins still live there.",
            ["I speak fluent Italian", "my mother is from Turin and her cousins still live there."],
        ),
        ("Our cabin is in Raglan, we go most weekends.", ["Our cabin is in Raglan, we go most weekends."]),
        ("I play chess with old men, I'm the youngest at 61.", ["I play chess with old men, I'm the youngest at 61."]),
        ("I have two kids, Ben is 4 and Mia is 7.", ["I have two kids, Ben is 4 and Mia is 7."]),
    ],
)
def test_each_statement_that_stands_by_itself_is_one_and_what_leans_on_it_stays_with_it(
    said: str, statements: list[str]
) -> None:
    (parsed,) = parse([said])
    assert [piece.text_of(range(len(piece.tokens))) for piece in statements_in(parsed)] == statements


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Thanks to your tips I sleep seven hours a night now.", "I sleep seven hours a night now."),
        ("Thank you so much, the interview went well.", "the interview went well."),
        ("Because of you I finally quit smoking.", "I finally quit smoking."),
        ("Thanks again for the help, my exam is on Friday.", "my exam is on Friday."),
        ("Thanks to my wife I eat well now.", "Thanks to my wife I eat well now."),
        ("Because of the rain we stayed in Ghent.", "Because of the rain we stayed in Ghent."),
    ],
)
def test_thanks_to_the_other_side_are_left_out_and_whom_else_is_thanked_is_told(said: str, told: str) -> None:
    [parsed] = parse([said])
    part = parsed.slice(*discourse_margins(parsed))
    assert part.text_of(range(len(part.tokens))) == told


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("I have two kids, Anton (11) and Sveta (7).", ("I have two kids, Anton (11) and Sveta (7).",)),
        ("Buy: 1) milk 2) eggs", ("Buy:", "1) milk", "2) eggs")),
    ],
)
def test_numbers_in_brackets_part_a_list_and_no_ages(text: str, sentences: tuple[str, ...]) -> None:
    assert tuple(sentence.text for sentence in split_sentences(text)) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("On 2.5. I run in Zagreb. Wish me luck", ("On 2.5. I run in Zagreb.", "Wish me luck")),
        ("Ich fahre am 14.6. nach Split.", ("Ich fahre am 14.6. nach Split.",)),
        ("My grade is 3.5. I passed.", ("My grade is 3.5.", "I passed.")),
    ],
)
def test_the_full_stop_of_a_day_and_its_month_ends_no_sentence(text: str, sentences: tuple[str, ...]) -> None:
    assert tuple(sentence.text for sentence in split_sentences(text)) == sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            "a fox got two last night :( how do I keep the four",
            ("a fox got two last night :(", "how do I keep the four"),
        ),
        ("passed at last :-D thanks for the plan", ("passed at last :-D", "thanks for the plan")),
        ("we meet at 5:30 (PM) on Friday", ("we meet at 5:30 (PM) on Friday",)),
        ("bring: (a) bread (b) wine", ("bring: (a) bread (b) wine",)),
    ],
)
def test_a_face_ends_a_sentence(text: str, sentences: tuple[str, ...]) -> None:
    assert tuple(sentence.text for sentence in split_sentences(text)) == sentences


@pytest.mark.parametrize(
    ("said", "sentences"),
    [
        ("For the licence (class 1) I go to Leeuwarden.", ["For the licence (class 1) I go to Leeuwarden."]),
        ("Three things: 1) milk 2) rice", ["Three things:", "1) milk", "2) rice"]),
        ("I'm at Av. Larco 743 until six.", ["I'm at Av. Larco 743 until six."]),
    ],
)
def test_a_number_in_brackets_and_a_shortened_word_end_no_sentence(said: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in split_sentences(said)] == sentences


def test_keys_of_a_file_with_values_below_them_are_no_prose() -> None:
    assert prose_of("Why does it fail?\nuser:\n  name: Ana\n  city: Rome\n").split() == ["Why", "does", "it", "fail?"]
    assert "gym" in prose_of("My week:\n  Monday: gym\n  Friday: choir\n")
