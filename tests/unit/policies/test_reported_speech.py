"""Whose words stand where: every form's examples, and texts of any kind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.language.reported_speech import (
    announces_words,
    drafted_places,
    given_places,
    is_attributed,
    reported_places,
    table,
)
from schema.turn import MAX_TURN_BYTES
from tests.growth import assert_grows_linearly


def _examples(kind: str) -> Iterator[tuple[str, str]]:
    for part in ("given", "draft", "mouth", "order"):
        for row in table()[part].values():
            yield from ((part, text) for text in row.get(kind, ()))


def _letters(text: str) -> str:
    return "".join(char for char in text if char.isalnum())


def _of_others(part: str, text: str) -> str:
    if part == "order":
        return text.rpartition(",")[0] if is_attributed(text) else ""
    places = {"given": given_places, "draft": drafted_places, "mouth": reported_places}[part]
    return " ".join(text[start:end] for start, end in places(text))


@pytest.mark.parametrize(("part", "text"), list(_examples("yes")))
def test_words_that_are_introduced_as_no_statement_of_the_speaker_are_found(part: str, text: str) -> None:
    said = text.partition("«")[2].partition("»")[0]
    found = _of_others(part, text.replace("«", "").replace("»", ""))
    assert _letters(found) == _letters(said)


@pytest.mark.parametrize(("part", "text"), list(_examples("no")))
def test_what_somebody_says_for_themself_is_theirs(part: str, text: str) -> None:
    assert not _of_others(part, text)


@pytest.mark.parametrize("head", table()["announced"]["words"]["yes"])
def test_what_names_a_text_or_an_act_of_saying_announces_words(head: str) -> None:
    assert announces_words(head)


@pytest.mark.parametrize("head", table()["announced"]["words"]["no"])
def test_what_announces_news_announces_no_words(head: str) -> None:
    assert not announces_words(head)


@given(st.text(max_size=300) | st.lists(st.sampled_from([text for _, text in _examples("yes")])).map("\n".join))
def test_places_stand_in_the_text_one_behind_the_other(text: str) -> None:
    for places in (list(given_places(text)), list(drafted_places(text)), list(reported_places(text))):
        flat = [at for place in places for at in place]
        assert flat == sorted(flat)
        assert not flat or (flat[0] >= 0 and flat[-1] <= len(text))


@pytest.mark.parametrize(
    "piece", ["translate this: ", "he said, ", "so and ", '"', "a: ", "in my ", "please ", "chat:\n"]
)
def test_a_hostile_text_is_read_in_time_in_proportion(piece: str) -> None:
    assert_grows_linearly(lambda text: (list(given_places(text)), list(reported_places(text))), piece, MAX_TURN_BYTES)
