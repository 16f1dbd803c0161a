"""What may be a change is read beside what it may end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from memory import decisions, endings
from memory.same_fact import Judge
from policies.dedup import decide
from policies.likely_ended import Beside, beside_each_other
from schema import Candidate, Decision, Status
from stores.embedding import cross_encoder
from stores.embedding.cross_encoder import CrossEncoder
from tests.contract.pipeline import Worker
from tests.contract.test_pipeline_model import asking
from tests.scripted import Scripted, answer, guarded, told
from tests.turns import subject

ENDINGS = [
    ("I drive an old Polo.", "the Polo went to the scrapyard yesterday, I have a Clio now"),
    ("I am learning Italian.", "I switched to Portuguese, Italian bored me."),
    ("I smoke a pack a day.", "I gave up smoking three weeks ago."),
]
OTHERS = [
    ("I drive an old Polo.", "My neighbour sold her Polo and has a Clio now."),
    ("I smoke a pack a day.", "My brother gave up smoking three weeks ago."),
    ("My rent is 900 euros.", "My phone bill is 30 euros."),
]
OF_ANOTHER_MATTER = [
    ("I have a peanut allergy.", "I'm getting divorced."),
    ("I have epilepsy.", "I quit my job today!"),
    ("I'm a vegan.", "We sold the house."),
    ("My son has a nut allergy.", "My son stopped playing football."),
    ("I live in Bath.", "I quit the gym."),
    ("I'm pregnant.", "I've finished my PhD."),
]
NAMES = ["Maya", "Anna36", "Bo", "Bartholomew", "Łucja", "李伟", "Will", "May", "Jean-Luc", "Dr. O'Neil"]
NEAR_THE_THRESHOLD = [
    ("I go swimming every Tuesday.", "No pool this week, they are repairing it."),
    ("I go swimming every Tuesday.", "The pool has closed for good, so running it is."),
    ("I work at Siemens.", "Back from the office party at Siemens, never again."),
    ("I live in Lisbon.", "On 3 May I'm leaving Lisbon for the beach house, finally."),
]


def active(worker: Worker, user: str, *said: str) -> list[str]:
    first = len(worker.known(subject(user), *Status))
    worker.hear(user, *said, first=first)
    return [memory.summary for memory in worker.known(subject(user), Status.ACTIVE)]


@pytest.mark.parametrize(("before", "now"), ENDINGS)
def test_what_shares_few_words_with_a_fact_ends_it(worker: Worker, anna: str, before: str, now: str) -> None:
    (known,) = active(worker, anna, before)

    assert known not in active(worker, anna, now)


@pytest.mark.parametrize(("before", "now"), OTHERS)
def test_what_anothers_life_brings_ends_nothing(worker: Worker, anna: str, before: str, now: str) -> None:
    (known,) = active(worker, anna, before)

    assert known in active(worker, anna, now)


@pytest.mark.parametrize(("before", "now"), OF_ANOTHER_MATTER)
def test_what_ends_something_else_ends_nothing(worker: Worker, anna: str, before: str, now: str) -> None:
    (known,) = active(worker, anna, before)

    assert known in active(worker, anna, now)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I live in Rome.", "I lived in Oslo until 2019."),
        ("I am allergic to peanuts.", "As a child I was not allergic to peanuts."),
        ("My car is a Volvo.", "In 2012 my car was a Fiat."),
        ("I'm married to Clara.", "I was married to Bea before that."),
        ("I live in Rome.", "When we retire we live in Crete."),
    ],
)
def test_what_was_or_will_be_so_ends_nothing_that_is(worker: Worker, anna: str, before: str, now: str) -> None:
    known = active(worker, anna, before)

    assert set(known) <= set(active(worker, anna, now))


def test_what_a_message_has_told_is_nothing_that_was_known_before_it(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    active(worker, anna, "I have two cats. My sister lives in Ghent.")
    among: list[int] = []

    def noted(said: str, chances: Sequence[float], cosines: Sequence[float], held: int) -> list[Beside]:
        among.append(held)
        return beside_each_other(said, chances, cosines, held)

    monkeypatch.setattr(endings, "beside_each_other", noted)
    active(worker, anna, "I quit my job today! My rent went up to 900. My son gave up football.")

    assert len(among) > 1
    assert set(among) == {2}


def test_without_the_model_that_reads_both_words_decide_alone(worker: Worker, anna: str) -> None:
    by_words = worker.with_parts(cross_encoder=None)
    (known,) = active(by_words, anna, "I live in Lisbon.")

    (moved,) = active(by_words, anna, "I moved to Berlin.")

    assert known != moved
    assert "Berlin" in moved


@pytest.mark.parametrize(("before", "now"), NEAR_THE_THRESHOLD)
def test_the_same_words_change_the_same_whatever_the_user_is_called(
    worker: Worker, anna: str, before: str, now: str
) -> None:
    left = set()
    for number, name in enumerate(NAMES):
        user = f"{anna}-{number}"
        for place, text in enumerate((before, now)):
            worker.hear(user, text, first=place, messages=[{"role": "user", "name": name, "content": text}])
        left.add(tuple(sorted((memory.said_at, memory.status) for memory in worker.known(subject(user), *Status))))

    assert len(left) == 1


class _Noting(CrossEncoder):
    """Notes the pairs that it reads."""

    def __init__(self) -> None:
        super().__init__(cross_encoder.ENDINGS)
        self.read: list[tuple[str, str]] = []

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.read += pairs
        return super().chances(pairs)


def test_what_a_language_model_tells_is_not_read_beside_what_it_was_shown(worker: Worker, anna: str) -> None:
    noting = _Noting()
    by_rules = worker.with_parts(cross_encoder=noting)
    by_model, _ = asking(
        by_rules,
        answer(told("I smoke a pack a day", "The user smokes a pack a day.")),
        answer(told("I gave up smoking", "The user has given up smoking.")),
    )
    active(by_model, anna, "I smoke a pack a day.")
    active(by_model, anna, "I gave up smoking three weeks ago.")
    assert noting.read == []

    active(by_rules, f"{anna}-too", "I smoke a pack a day.")
    active(by_rules, f"{anna}-too", "I gave up smoking three weeks ago.")
    assert noting.read


def test_beside_a_judge_each_candidate_is_read_and_decided_once(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    noting, decided = _Noting(), list[str]()

    def counted(candidate: Candidate, *rest: Any) -> Decision:
        decided.append(candidate.summary)
        return decide(candidate, *rest)

    active(worker, anna, "I smoke a pack a day.")
    monkeypatch.setattr(decisions, "decide", counted)
    beside_a_judge = worker.with_parts(cross_encoder=noting, judge=Judge(guarded(Scripted()), waits=True))
    active(beside_a_judge, anna, "I gave up smoking three weeks ago.")
    assert len(noting.read) == len(set(noting.read)) > 0
    assert len(decided) == len(set(decided)) > 0
