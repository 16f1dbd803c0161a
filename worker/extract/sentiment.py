"""How a sentence feels."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, Final

from schema import Valence

_GRIEF: Final = re.compile(
    r"\b(?:passed away|passed on|died|death of|lost (?:my|our|his|her|their) (?:job|home|house|"
    r"mom|mum|mother|dad|father|"
    r"grand\w+|wife|husband|son|daughter|baby|dog|cat|sister|brother|friend|partner)|laid off|let "
    r"go from|got fired|"
    r"was fired|broke up|divorced?|miscarr\w+|diagnosed|cancer|funeral|burn(?:ed|t) out|can't sleep|bankrupt\w*|"
    r"in hospital|hospitali[sz]ed|car (?:crash|accident)|foreclos\w+|evicted)\b",
    re.IGNORECASE,
)
"""Events that weigh on a life: "passed away", "got fired"."""
_JOY: Final = re.compile(
    r"\b(?:got engaged|getting married|got married|expecting (?:a|our|my|their)|got promoted|was "
    r"promoted|got the job|"
    r"graduated|cancer[- ]free|in remission|first prize|dream come true|newborn|gave birth)\b",
    re.IGNORECASE,
)
"""Events that gladden one: "got engaged"."""
_NEUTRAL_BELOW: Final = 0.05


@cache
def _analyzer() -> Any:
    from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

    return SentimentIntensityAnalyzer()


def prepare() -> None:
    """Load the lexicon, once a process."""
    _analyzer()


def sentiment_of(text: str) -> tuple[Valence, float]:
    """Return the valence and intensity (0..1) of a sentence.

    VADER's compound score (Hutto and Gilbert 2014; neutral within 0.05 of zero, as its authors advise), with
    blows and joys of life that its lexicon does not know taken as at least 0.6.
    """
    score = float(_analyzer().polarity_scores(text)["compound"])
    if _GRIEF.search(text):
        score = min(score, -0.6)
    elif _JOY.search(text):
        score = max(score, 0.6)
    if abs(score) < _NEUTRAL_BELOW:
        return Valence.NEUTRAL, round(abs(score), 3)
    return (Valence.POSITIVE if score > 0 else Valence.NEGATIVE), round(abs(score), 3)
