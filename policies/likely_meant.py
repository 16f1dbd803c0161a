"""Choose which of several things a message likely means, by how likely each is read as meant and how near it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

_BY_READING, _BY_COSINE, _BIAS = 0.49, 3.2, 1.74
"""Weights of the log odds of a reading and of a cosine, where both together say whether something is likelier meant
than nothing (`python -m benchmarks.fit_likely_meant`; docs/reference/utterance-reader.md)."""
_BEHIND_LIKELIEST: Final = 2.0
"""By how much of that score another thing may be behind the likeliest to be meant, too."""
_LEAST_CHANCE: Final = 1e-4


def likely_meant(things: Sequence[tuple[float | None, float | None]]) -> tuple[int, ...]:
    """Return the places of the things that a message likelier means than nothing: each is how likely it is read as
    meant and its cosine to what the message names; of what was not read, none is."""
    return meant_by_scores(
        {
            place: _BY_READING * log_odds(read) + _BY_COSINE * cosine + _BIAS
            for place, (read, cosine) in enumerate(things)
            if read is not None and cosine is not None
        }
    )


def meant_by_scores(scores: Mapping[int, float]) -> tuple[int, ...]:
    """Return the places of what is likelier meant than nothing (from 0 on), and not far behind the likeliest."""
    least = max(0.0, max(scores.values(), default=0.0) - _BEHIND_LIKELIEST)
    return tuple(place for place, score in scores.items() if score >= least)


def log_odds(chance: float) -> float:
    """Return the log odds of a chance, of one that is nearly 0 or 1 as if it were a ten-thousandth away from it."""
    chance = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return math.log(chance / (1 - chance))
