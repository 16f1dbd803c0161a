"""What a memory that told several things still tells when some of it is over."""

from __future__ import annotations

import pytest

from policies.pieces import left_after, left_standing


@pytest.mark.parametrize(
    ("pieces", "gone", "left"),
    [
        (("Tom works at Nordbank", "Tom's sister lives in Turku."), (True, False), "Tom's sister lives in Turku."),
        (("Tom works at Nordbank", "so spreadsheets are fine with them."), (True, False), None),
        (("Tom has a dog", "it sleeps all day."), (True, False), None),
        (('Tom: "on naproxen 500"', 'Tom: "two a day."'), (True, False), None),
        (("Tom looks at houses in Romford", "up to 420k with three beds"), (True, False), None),
        (("Tom is an officer at Lowdham", "B wing."), (True, False), None),
        (("Tom is an officer", "Tom swims."), (True, False), "Tom swims."),
        (("Tom has a violin", "need to insure it."), (True, False), None),
        (("Dr Ames put Tom on lisinopril", "10 mg"), (True, False), None),
        (("Tom is married to Sami", "who runs a bakery."), (True, False), None),
        (("Tom eats keto", "no sugar and no bread"), (True, False), None),
        (('Tom: "keto again"', 'Tom: "no bread"'), (True, False), None),
        (("Tom lives with their boyfriend Max", "their dog Rex"), (True, False), "Tom has a dog Rex."),
        (("Tom lives with their boyfriend Max", "their two kids"), (True, False), "Tom has two kids."),
        (("Tom has a dog", "Tom works at Nordbank."), (False, False), None),
        (("Tom marries in May", "and so they are in charge"), (True, False), "Tom said that they are in charge."),
        (
            ("Tom marries in May", "and they must remind Tom of it"),
            (True, False),
            "Tom said that they must remind Tom of it.",
        ),
        (("Tom's mum is out of hospital", "staying with them until May"), (True, False), None),
        (("Tom's mum bakes", "has sold some to their friends."), (True, False), None),
        (("Tom's cat is on a diet", "vet says she has to lose a kilo"), (True, False), None),
        (("Tom has a dentist", "help Tom to ask him"), (True, False), None),
        (
            ('Tom: "I cook for six."', 'Tom: "No shrimp for me though"', 'Tom: "I get hives"'),
            (True, False, False),
            'Tom: "No shrimp for me though, I get hives."',
        ),
        (('Tom: "Booked the marquee"', 'Tom: "60 guests"'), (True, False), None),
        (('Tom: "Booked the marquee"', 'Tom: "sells soaps on Etsy"'), (True, False), 'Tom: "sells soaps on Etsy."'),
    ],
)
def test_what_follows_from_what_is_over_goes_with_it(
    pieces: tuple[str, ...], gone: tuple[bool, ...], left: str | None
) -> None:
    assert left_after(pieces, gone, "Tom") == left


@pytest.mark.parametrize(
    ("summary", "read", "left"),
    [
        (
            "Tom collects teapots, and they have nine thousand pounds in a tin.",
            {"Tom collects teapots": 0.0, "they have nine thousand pounds in a tin.": 0.9},
            "Tom collects teapots.",
        ),
        (
            'Tom: "Planning to quit in the autumn. I am lactose intolerant, so oat milk in everything."',
            {
                'Tom: "Planning to quit in the autumn."': 0.9,
                'Tom: "I am lactose intolerant"': 0.0,
                'Tom: "so oat milk in everything."': 0.0,
            },
            'Tom: "I am lactose intolerant, so oat milk in everything."',
        ),
        (
            'Tom: "Allergic to shellfish, badly. Off to Penang with the in-laws."',
            {
                'Tom: "Allergic to shellfish, badly."': 0.0,
                'Tom: "Off to Penang with the in-laws."': 0.9,
            },
            'Tom: "Allergic to shellfish, badly."',
        ),
        ("Tom sees a doctor, two times a week.", {"Tom sees a doctor": 0.9, "two times a week.": 0.0}, None),
        ("Tom plays golf, and they sing.", {"Tom plays golf": 0.9, "they sing.": 0.3}, None),
        ("Tom plays golf, and they sing.", {"Tom plays golf": 0.2, "they sing.": 0.0}, None),
    ],
)
def test_of_what_is_hidden_in_doubt_a_clause_that_is_surely_not_meant_stays(
    summary: str, read: dict[str, float], left: str | None
) -> None:
    assert left_standing(summary, read, "Tom") == left
