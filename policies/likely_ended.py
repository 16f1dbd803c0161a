"""Say whether a message likely ends what is known, by how likely it was read to and how near it is."""

from __future__ import annotations

from typing import Final

from policies.likely_meant import log_odds

_BY_READING, _BY_COSINE, _BIAS = 0.87, 0.86, -0.97
"""Weights of the log odds of a reading and of a cosine, where both together say how likely a message ends something
(`python -m benchmarks.fit_likely_ended`; docs/reference/cross-encoder.md)."""
_FROM: Final = 0.0
"""The score, log odds, from which it is taken to: of two authors from whom nothing was learned 66 of 70 and 30 of 51 of
what is taken for ended are, from -.4 on 70 of 78 and 32 of 60. What is wrongly taken for it is not told any more."""


def likely_ended(read: float, cosine: float) -> bool:
    """Return whether something known likely ended: how likely a message was read to end it, 0 to 1, and the cosine of
    both."""
    return _BY_READING * log_odds(read) + _BY_COSINE * cosine + _BIAS >= _FROM
