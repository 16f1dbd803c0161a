"""Choose which of several things a message likely means, by how likely each is read as meant, how near it is, and
whether it has a word of the message."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

_WEIGHTS, _BIAS = (0.46, 0.67, -1.18), -0.13
"""Weights of `features`, where these say together whether something is likelier meant than nothing
(`python -m benchmarks.fit_likely_meant`; docs/reference/utterance-reader.md)."""
_FROM: Final = -0.5
"""The score from which something may be meant: what is a little less likely than nothing is hidden and asked about."""
_BEHIND_LIKELIEST: Final = 1.0
"""By how much of that score another thing may be behind the likeliest to be meant, too."""
_READ_FROM: Final = 0.5
"""How likely what has a word of the message must be read as meant, to pass over what has none."""
_LEAST_CHANCE: Final = 0.01
"""A reading is never surer than this that something is meant, or is not."""
_LEAST_OF_A_WISH: Final = 0.002
"""The same beside what else a wish may mean: of two that are surely read the surer one is likelier meant."""


@dataclass(frozen=True)
class Beside:
    """Something beside a message that may mean it: how likely it was read as meant, its cosine to what the message
    names, each where it is known, and whether it has a word with which the message names something."""

    read: float | None
    cosine: float | None
    is_named: bool = False


def likely_meant(things: Sequence[Beside]) -> tuple[int, ...]:
    """Return the places of the things that a message likely means; of what was not read, none is."""
    return meant_by_scores(
        {
            place: sum(weight * one for weight, one in zip(_WEIGHTS, found, strict=True)) + _BIAS
            for place, found in enumerate(features(things))
            if found is not None
        }
    )


def features(things: Sequence[Beside]) -> list[tuple[float, float, float] | None]:
    """Return what is weighed of each: its reading, its cosine, and whether it is passed over, for the message has no
    word of it, and of another that is read as meant it has one. None of what was not read."""
    names_one = any(thing.is_named and thing.read is not None and thing.read >= _READ_FROM for thing in things)
    return [
        None
        if thing.read is None or thing.cosine is None
        else (log_odds(thing.read, _LEAST_OF_A_WISH), thing.cosine, float(names_one and not thing.is_named))
        for thing in things
    ]


def meant_by_scores(scores: Mapping[int, float]) -> tuple[int, ...]:
    """Return the places of what is about as likely meant as nothing, and not far behind the likeliest."""
    least = max(_FROM, max(scores.values(), default=_FROM) - _BEHIND_LIKELIEST)
    return tuple(place for place, score in scores.items() if score >= least)


def log_odds(chance: float, least: float = _LEAST_CHANCE) -> float:
    """Return the log odds of a chance, of one that is nearly 0 or 1 as if it were `least` away from it."""
    chance = min(max(chance, least), 1 - least)
    return math.log(chance / (1 - chance))
