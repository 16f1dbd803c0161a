"""Choose which of several things a message likely means, by how likely each is read as meant and how near it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

_BY_READING, _BY_COSINE, _BIAS = 0.59, 0.74, -0.12
"""Weights of the log odds of a reading and of a cosine, where both together say whether something is likelier meant
than nothing (`python -m benchmarks.fit_likely_meant`; docs/reference/utterance-reader.md)."""
_FROM: Final = -0.5
"""The score from which something may be meant: what is a little less likely than nothing is hidden and asked about.
Just what is meant is then found of 105 and 94 wishes of 140 and 120 of two authors, from 0 on of 102 and 94."""
_BEHIND_LIKELIEST: Final = 1.0
"""By how much of that score another thing may be behind the likeliest to be meant, too."""
_LEAST_CHANCE: Final = 0.01
"""A reading is never surer than this that something is meant, or is not."""


def likely_meant(things: Sequence[tuple[float | None, float | None]]) -> tuple[int, ...]:
    """Return the places of the things that a message likely means: each is how likely it is read as meant, and its
    cosine to what the message names; of what was not read, none is."""
    return meant_by_scores(
        {
            place: _BY_READING * log_odds(read) + _BY_COSINE * cosine + _BIAS
            for place, (read, cosine) in enumerate(things)
            if read is not None and cosine is not None
        }
    )


def meant_by_scores(scores: Mapping[int, float]) -> tuple[int, ...]:
    """Return the places of what is about as likely meant as nothing, and not far behind the likeliest."""
    least = max(_FROM, max(scores.values(), default=_FROM) - _BEHIND_LIKELIEST)
    return tuple(place for place, score in scores.items() if score >= least)


def log_odds(chance: float) -> float:
    """Return the log odds of a chance, of one that is nearly 0 or 1 as if it were a hundredth away from it."""
    chance = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return math.log(chance / (1 - chance))
