"""What a memory that told several things still tells when some of it is over."""

from __future__ import annotations

import pytest

from policies.pieces import left_after


@pytest.mark.parametrize(
    ("pieces", "gone", "left"),
    [
        (("Tom works at Nordbank", "Tom's sister lives in Turku."), (True, False), "Tom's sister lives in Turku."),
        (("Tom works at Nordbank", "so spreadsheets are fine with them."), (True, False), None),
        (("Tom has a dog", "it sleeps all day."), (True, False), None),
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
        (("Tom has a dentist", "help Tom to ask him"), (True, False), None),
    ],
)
def test_what_follows_from_what_is_over_goes_with_it(
    pieces: tuple[str, ...], gone: tuple[bool, ...], left: str | None
) -> None:
    assert left_after(pieces, gone, "Tom") == left
