"""What becomes of what the hot path said it would remember."""

from __future__ import annotations

import pytest

from schema import Candidate, Context
from tests.extractors import by_rules
from tests.unit.extract.asking import CATEGORIES, said
from worker.extract.hot_path import CONFIDENCE

POINTS_AT_NOTHING = "He's called Bruno, he sleeps by the harbour."
NOTED = "Bruno sleeps by the harbour"
EXTRACTOR = by_rules()


def noted(summary: str, category: str = "Personal") -> dict[str, str]:
    return {"id": "hot-1", "summary": summary, "type": "semantic", "category": category}


def candidates(text: str, summary: str, **fields: str) -> list[Candidate]:
    turn = said(text, candidate=noted(summary, **fields))
    return [item for item in EXTRACTOR.extract([turn], Context()).items if isinstance(item, Candidate)]


def test_what_the_users_words_bear_out_is_one_more_candidate_that_is_believed_less() -> None:
    [only] = [one for one in candidates(POINTS_AT_NOTHING, NOTED, category="Haustiere") if not one.only_as_news]
    assert only.summary == NOTED
    assert (only.confidence, only.category, only.turn_id) == (CONFIDENCE, CATEGORIES[-1], "turn-id-1")
    assert not only.explicit


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        pytest.param("I live in Lisbon.", "The user owns a villa and two boats in Monaco.", id="not what was said"),
        pytest.param("I live in Lisbon.", "Lives in Lisbon.", id="what the rules said already"),
        pytest.param("Forget that I live in Lisbon.", "Lives in Lisbon.", id="what is to be forgotten"),
        pytest.param("Good morning!", "Good morning!", id="of a turn that is skipped"),
        pytest.param("I live in Lisbon.", "... !", id="nothing"),
    ],
)
def test_nothing_else_comes_of_it(text: str, summary: str) -> None:
    assert summary not in [candidate.summary for candidate in candidates(text, summary)]
