"""Which of several things a message likely means, by how likely each is read as meant and how near it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

_BY_READING, _BY_COSINE, _BIAS = 0.54, 3.5, 1.3
"""What the log odds of a reading and a cosine weigh, where both together say whether something is likelier meant than
nothing: fitted on the wishes to forget of three authors, each beside what else was known with what it means and without
(docs/reference/utterance-reader.md)."""
_BEHIND_LIKELIEST: Final = 2.0
"""By how much of that score another thing may be behind the likeliest to be meant, too."""
_LEAST_CHANCE: Final = 1e-4


def likely_meant(things: Sequence[tuple[float | None, float | None]]) -> tuple[int, ...]:
    """Return the places of the things that a message likelier means than nothing: each is how likely it is read as
    meant and its cosine to what the message names; of what was not read, none is."""
    scores = {
        place: _BY_READING * _log_odds(read) + _BY_COSINE * cosine + _BIAS
        for place, (read, cosine) in enumerate(things)
        if read is not None and cosine is not None
    }
    least = max(0.0, max(scores.values(), default=0.0) - _BEHIND_LIKELIEST)
    return tuple(place for place, score in scores.items() if score >= least)


def _log_odds(chance: float) -> float:
    chance = min(max(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
    return math.log(chance / (1 - chance))
