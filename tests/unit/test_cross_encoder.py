"""Two statements read together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from stores.embedding.adapted import adapted, of_about_one_length
from stores.embedding.cross_encoder import ENDINGS, CrossEncoder

ENDED = [
    ("I live in Lisbon.", "I moved to Berlin last week."),
    ("Maya works at Siemens.", "Maya quit Siemens and starts at Bosch on Monday."),
    ("My rent is 900 euros.", "My rent went up to 985 euros."),
    ("I'm a vegetarian.", "I'm not a vegetarian any more, I eat chicken again."),
]
STANDING = [
    ("I live in Lisbon.", "My brother moved to Berlin last week."),
    ("Maya works at Siemens.", "Maya's flatmate quit Ikea."),
    ("My rent is 900 euros.", "My sister pays 700 euros."),
    ("I have two cats.", "I signed up for a pottery class on Thursdays."),
]


@pytest.fixture(scope="module")
def cross_encoder() -> CrossEncoder:
    return CrossEncoder(ENDINGS)


def test_what_plainly_ends_a_fact_is_likelier_to_than_what_is_of_others_and_other_things(
    cross_encoder: CrossEncoder,
) -> None:
    assert min(cross_encoder.chances(ENDED)) > max(cross_encoder.chances(STANDING))


def test_a_pair_is_read_the_same_alone_and_among_others(cross_encoder: CrossEncoder) -> None:
    pairs = [*ENDED, ("I have a cat. " * 60, "The cat died. " * 60), *STANDING]

    alone = [cross_encoder.chances([pair])[0] for pair in pairs]

    assert cross_encoder.chances(pairs) == pytest.approx(alone, abs=1e-5)


def test_nothing_is_read_of_no_pairs(cross_encoder: CrossEncoder) -> None:
    assert cross_encoder.chances([]) == []


def test_changed_weights_come_to_lie_where_those_of_the_model_were() -> None:
    """A matrix in eight bits with its scale, and a vector behind them."""
    scale = np.array([0.5, 0.25], dtype=np.float32)
    kept = np.array([[100, -100], [50, 20], [0, 127]], dtype=np.int8)
    content = bytearray(b"head" + kept.tobytes() + scale.tobytes() + np.ones(2, np.float32).tobytes() + b"tail")
    weights: dict[str, NDArray[Any]] = {
        "matrices": np.array([(4, 10, 3, 2)]),
        "down_0": np.array([[1], [2], [3]], dtype=np.int8),
        "down_0_scale": np.array(1, dtype=np.float32),
        "up_0": np.array([[10, -10]], dtype=np.int8),
        "up_0_scale": np.array(1, dtype=np.float32),
        "vectors_at": np.array([(18, 2)]),
        "vectors": np.array([7, 8], dtype=np.float16),
    }

    changed = bytes(adapted(content, weights))

    new_scale = np.frombuffer(changed, np.float32, 2, 10)
    matrix = np.frombuffer(changed, np.int8, 6, 4).reshape(3, 2) * new_scale
    wanted = kept * scale + np.array([[10, -10], [20, -20], [30, -30]])
    assert matrix == pytest.approx(wanted, abs=float(new_scale.max()))
    assert np.frombuffer(changed, np.float32, 2, 18).tolist() == [7, 8]
    assert changed.startswith(b"head") and changed.endswith(b"tail")


@given(st.lists(st.integers(min_value=1, max_value=96)))
def test_each_text_is_read_once_among_those_of_about_its_length(lengths: list[int]) -> None:
    groups = list(of_about_one_length(lengths))
    assert sorted(place for group in groups for place in group) == list(range(len(lengths)))
    for group in groups:
        room = max(lengths[place] for place in group) * len(group)
        assert sum(lengths[place] for place in group) >= 0.8 * room
