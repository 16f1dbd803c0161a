"""Two things of one kind are not the same thing."""

from __future__ import annotations

import pytest

from memory.parser.english import parse
from policies.language.kinds import tells_of_another


def of_another(known: str, *said: str) -> bool:
    (parsed,) = parse([known])
    return tells_of_another(parsed, parse(said), "Priya")


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Priya's chemistry exam is on 11 May 2026.", "The physics exam got fixed too, 18 May."),
        ("Priya's car insurance is with State Farm.", "My health insurance went up to 140 a month."),
        ("Priya's phone number ends in 07.", "My mum's number ends in 70."),
        ("Priya's piano teacher is Ana.", "Our maths teacher is Ben."),
        ("Priya's car insurance is with Aviva, £410 this year.", "home insurance renewal in from Direct Line, £198."),
        ("Priya had Priya's left knee replaced in 2019.", "the right knee's getting replaced this winter"),
        ("Priya's older brother is 30.", "My younger brother turned 21."),
        ("Priya's mum is 71 and wants a tablet.", "My mother-in-law is 78 and wants one too now."),
        ("Priya's dad is in hospital.", "my uncle got out of hospital today"),
        ("Priya's brother lives in Perth.", "The other brother lives in Toronto."),
    ],
)
def test_what_another_noun_says_which_it_is_is_another_thing(known: str, said: str) -> None:
    assert of_another(known, said)


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Priya's chemistry exam is on 11 May 2026.", "The chemistry exam was moved to 18 May."),
        ("Priya's chemistry exam is on 11 May 2026.", "The exam was moved to 18 May."),
        ("Priya's exam is on 11 May 2026.", "The chemistry exam was moved to 18 May."),
        ("Priya works the night shift.", "They moved me to the day shift."),
        ("Priya lives in Porto.", "My lease is signed."),
        ("Priya had Priya's left knee replaced in 2019.", "they had to do the left knee again"),
        ("Priya's mum is 71.", "Mother turned 72 and my sister flew in."),
        ("Priya's boyfriend lives in Leeds.", "My husband moved to York with me."),
        ("Priya's dad is in hospital.", "My brother says dad came home."),
        ("Priya's baby is due in June.", "our son was born yesterday!"),
        ("Priya studies law, second year.", "Third year started, and I changed to history."),
        ("Priya's dog Biscuit weighs 31 kilos, vet says too much.", "Biscuit's at 27! operation skinny dog works"),
    ],
)
def test_what_may_be_the_same_thing_is_not_another(known: str, said: str) -> None:
    assert not of_another(known, said)
