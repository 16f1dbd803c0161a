"""Say whether a message likely ends what is known, by how it was read, how near that is and how much is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

from policies.likely_meant import log_odds

READ_BESIDE: Final = 6
"""How many memories, the nearest first, a message is read beside."""
_WEIGHTS, _BIAS = (0.60, 0.38, 4.72, -1.08), 0.71
"""Weights of `features`, where these say together how likely a message ends something
(`python -m benchmarks.fit_likely_ended`; docs/reference/cross-encoder.md)."""
_FROM: Final = 0.15
"""The score, log odds, from which it is taken to: what is wrongly taken for ended is not told any more. Of what lies
between 0 and this 6 of 14 were rightly ended in the data."""
_GOES_ON: Final = re.compile(r"(?:(?:oh|ok|okay|so|yeah),? )?(?:and|also|plus)\b", re.IGNORECASE)
"""The opening of a message that goes on with what was said before: "and the dermatologist is the 14th"."""
_WHERE_IT_GOES_ON: Final = -2.0
"""Added to the score by such an opening: of 13 messages with one by eight authors of
`benchmarks/data/endings` one ends something, of 25 of everyday cases by seven others two, of the rest of the data four
in ten: two or three less in log odds."""
_MOST: Final = 50
"""Memories of a user from which on one more says nothing: in the data hardly anybody has more (54 at the most)."""


@dataclass(frozen=True)
class Beside:
    """Something known beside a message: how likely it was read to end that, 0 to 1, the cosine of both, how much
    nearer it is than the rest beside which the message was read, among how many memories of its user it is, and
    whether the message goes on with what was said before."""

    read: float
    cosine: float
    apart: float
    among: int
    goes_on: bool = False


def beside_each_other(said: str, chances: Sequence[float], cosines: Sequence[float], among: int) -> list[Beside]:
    """Return the memories beside which a message was read, in their order."""
    goes_on = _GOES_ON.match(said) is not None
    found = []
    for place, (chance, cosine) in enumerate(zip(chances, cosines, strict=True)):
        others = [*cosines[:place], *cosines[place + 1 :]]
        found.append(Beside(chance, cosine, cosine - sum(others) / len(others) if others else 0.0, among, goes_on))
    return found


def features(beside: Beside) -> tuple[float, ...]:
    """Return what is weighed. The more somebody told, the less likely a message ends a given piece of it."""
    return log_odds(beside.read), beside.cosine, beside.apart, log(min(max(beside.among, 1), _MOST))


def of_whom_it_tells(said: str, named: Sequence[Collection[str]]) -> list[bool]:
    """Return, of each of what a message likely ends, by whom that names (`named`), whether the message may tell of
    them: of two daughters it tells of the one that it names, and not of the other."""
    of_named = [any(re.search(rf"\b{re.escape(who)}\b", said) for who in names) for names in named]
    return [is_named or not names or not any(of_named) for names, is_named in zip(named, of_named, strict=True)]


def likely_ended(beside: Beside) -> bool:
    """Return whether a message likely ends something known."""
    score = sum(weight * feature for weight, feature in zip(_WEIGHTS, features(beside), strict=True)) + _BIAS
    return score + _WHERE_IT_GOES_ON * beside.goes_on >= _FROM
