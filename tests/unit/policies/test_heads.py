"""The heads: what they promise of any text, and that the packaged weights are those of these features."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.language.features import SIZE, features_of
from policies.language.flags import FLAGS
from policies.language.heads import judge, weights
from schema.turn import MAX_TURN_BYTES
from tests.growth import assert_grows_linearly

_LANGUAGES = st.sampled_from(["en", "es", "de", "fr", "pl", "zh", "tlh"])


@given(st.text(max_size=600), st.text(max_size=200), _LANGUAGES)
@settings(max_examples=60, deadline=None)
def test_any_text_gets_probabilities_and_the_same_ones_again(text: str, before: str, language: str) -> None:
    said = judge(text, None, before, language)
    sure = (said.worth, said.intent_sure, said.whose_sure, said.certainty_sure, said.attribute_sure, said.change_sure)
    assert all(0.0 <= each <= 1.0 for each in (*sure, said.planted))
    assert said == judge(text, None, before, language)


def test_the_packaged_weights_have_a_row_for_every_feature() -> None:
    known = weights()
    assert known.rows.shape == (SIZE, sum(len(labels) for labels in known.labels.values()))


def test_every_flag_that_is_found_has_a_row() -> None:
    assert features_of('Translate: "I live in Rome"?', None, "Where do you live?").flags <= FLAGS.keys()


@pytest.mark.parametrize("piece", ["I ", '"', 'I "'])
def test_a_huge_text_is_judged_in_time_in_proportion(piece: str) -> None:
    assert_grows_linearly(lambda text: judge.__wrapped__(text, None), piece, MAX_TURN_BYTES)
