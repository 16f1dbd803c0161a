"""Two statements side by side: whether they are one fact, and whether the later one takes the place of the other.

The weights in `pairs.json` are fitted by `python -m benchmarks.fit_pairs`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

from policies.language import lexicon
from policies.language.wording import MEASURES, Quantity, Wording, content, contents

Features = Mapping[str, float]
_BRIEF, _FEW = 2, 14
"""Sentences and content words up to which a statement is of one thing."""
_Sides = tuple[frozenset[str], frozenset[str]]
SAME_FROM: Final = 0.52
"""Share from which two statements are one fact: of contradictions fewer than two in a hundred pass for it."""
CHANGED_FROM: Final = 0.40
"""Share from which the later statement takes the place of the other. With earlier weights 462 of 600 everyday cases
came out right, three more than at 0.45 (`python -m benchmarks.everyday`), and LoCoMo's evidence among the first ten was
.671, at 0.36 .661 and at 0.45 .674: what is wrongly replaced is not told (`benchmarks.quality --only locomo`)."""
ENDS_FROM: Final = 0.4
"""Share from which a statement that tells of a change ends another, where both were read together: of near
misses of two authors who were held out .41 and .34 of those above it are an ending, and about as many are above it as
are one (docs/reference/cross-encoder.md); LoCoMo, where hardly anything changes, loses less than a point of its
evidence."""
SURELY_ENDS_FROM: Final = 0.6
"""The same of a planned event that words alone could not end: another event of the kind is likelier."""
NEWS: Final = frozenset({"ends", "moves", "replaces", "corrects"})
"""Cues that something is otherwise than it was."""


def same_share(features: Features) -> float:
    """Return how likely two statements say the same, 0 to 1; 0 where a number, a name or an opposite stands between."""
    if any(features[name] for name in GUARDS):
        return 0.0
    if features["repeated"]:
        return 1.0
    return _share("same", features)


def changed_share(features: Features) -> float:
    """Return how likely the later of two statements takes the place of the other by their words, 0 to 1; 1 where it
    denies the other in its own words."""
    if features["same words"] and features["polarity"]:
        return 1.0
    if features["repeated"]:
        return 0.0
    return _share("changed", features)


def features_of(
    old: Wording,
    new: Wording,
    cosine: float,
    attribute: float = 0.0,
    single: float = 0.0,
    behind: float = 0.0,
    tells_change: float = 0.0,
) -> Features:
    """Return what is seen of two statements, the later one second; each feature is about 0 to 1.

    `cosine` is on the scale of MiniLM, `attribute` how likely both speak of one attribute, `single` of one that has one
    value at a time; `behind` is how much nearer than the old one another statement is to the new one, `tells_change`
    how likely the new one by itself tells that something is otherwise (the head "change").
    """
    cues = cues_about(new, old)
    here, there, shared = old.words - new.words, new.words - old.words, old.words & new.words
    smaller, larger = sorted((len(old.words), len(new.words)))
    jaccard, contained = len(shared) / (len(old.words | new.words) or 1), len(shared) / (smaller or 1)
    names_here, names_there = old.names - new.words, new.names - old.words
    values_here, values_there = ({q.value for q in wording.quantities} for wording in (old, new))
    # Whose it is says nothing of what it is: "my sister Ines" stands in all that is told of her.
    anchors = len(shared - _COMMON - old.bearers - _named_bearers(old) - _named_bearers(new))
    # In the same words 1899 and 1900 are two numbers of one thing, though only one of them reads like a year.
    is_same_but_numbers = not here and not there and bool(values_here - values_there and values_there - values_here)
    clash = is_same_but_numbers or numbers_clash(old.quantities, new.quantities)
    news = max(float(bool(cues & NEWS)), tells_change)
    anchored = min(anchors, 3) / 3
    seen: dict[str, float] = {
        "one": 1.0,
        "cosine": cosine,
        "cosine squared": cosine * abs(cosine),
        "contained": contained,
        "cosine and jaccard": cosine * jaccard,
        "size ratio": smaller / (larger or 1),
        "size": math.log1p(smaller) / 3,
        "numbers clash": clash,
        "only numbers": is_same_but_numbers,
        "one for another": len(here) == len(there) == 1,
        "name for name": len(here) == len(there) == 1 and bool(names_here) and bool(names_there),
        "rival for rival": len(here) == len(there) == 1 and bool(_classes(here) & _classes(there)),
        "numbers shared": bool(values_here & values_there),
        "numbers of one": bool(values_here) != bool(values_there),
        "polarity": old.negations % 2 != new.negations % 2,
        "opposed": _opposed(here, there),
        "state": _oppose(old.words, new.words, _STATES),
        "rivals": bool(_classes(here) & _classes(there)),
        "particles": _oppose(old.particles - new.particles, new.particles - old.particles, _PARTICLES),
        "names clash": bool(names_here) and bool(names_there),
        "name of one": bool(names_here) != bool(names_there),
        "name shared": bool((old.names | new.names | old.bearers) & shared),
        "bearers clash": bool(old.bearers ^ new.bearers),
        "bearers apart": another_bearer(old, new),
        "bearer shared": bool(old.bearers & new.bearers),
        "kind clash": _another_kind(old, new),
        "stance": bool((here | there) & _STANCES),
        "same words": not here and not there,
        "repeated": _is_repeated(old, new),
        "anchored": anchored,
        "unanchored": not anchors,
        "told": tells_change,
        "told and cosine": tells_change * cosine,
        "told and contained": tells_change * contained,
        "told and anchored": tells_change * anchored,
        "news and anchored": news * anchored,
        "fresh and contained": ("fresh" in cues) * contained,
        "fresh and single": ("fresh" in cues) * single,
        "fresh and anchored": ("fresh" in cues) * anchored,
        "behind": behind,
        "both ended": "ends" in old.cues & cues,
        "news and contained": news * contained,
        "news and cosine": news * cosine,
        "news and attribute": news * attribute,
        "news and single": news * single,
    }
    seen |= {f"new {cue}": cue in cues for cue in _CUES} | {f"old {cue}": cue in old.cues for cue in _CUES}
    return {name: float(value) for name, value in seen.items()}


def cues_about(new: Wording, old: Wording) -> frozenset[str]:
    """Return the cues of change in a statement that may be of what another one says: of several sentences, those in one
    that shares a telling word with it."""
    if len(new.by_clause) <= _BRIEF and len(new.words) <= _FEW:
        return new.cues
    telling = old.words - _COMMON
    return frozenset(cue for words, cues in new.by_clause if words & telling for cue in cues)


def share_a_telling_word(old: Wording, new: Wording) -> bool:
    """Return whether two statements share a word that most statements do not have."""
    return bool((old.words & new.words) - _COMMON)


def _is_repeated(old: Wording, new: Wording) -> bool:
    """Return whether both say the same in the same words: for or against it, and of the same numbers."""
    return (
        bool(old.order)
        and old.order == new.order
        and old.quantities == new.quantities
        and old.negations % 2 == new.negations % 2
        and old.cues == new.cues
    )


def another_bearer(old: Wording, new: Wording) -> bool:
    """Return whether one statement tells of somebody beside the user whom the other does not name, nor means by a
    pronoun."""
    named_in_old, named_in_new = _named_bearers(old), _named_bearers(new)
    # Two friends by name are two, unless news make one of them the other: "my new boss is Ruth".
    if named_in_old and named_in_new and not named_in_old & named_in_new and not new.cues & {*NEWS, "fresh"}:
        return True
    if old.bearers == new.bearers:
        return False
    shared_names = (old.names | new.names) & old.words & new.words
    named_bearers = named_in_old | named_in_new
    if shared_names and (not named_bearers or named_bearers & shared_names):
        return False
    if old.bearers and new.bearers:
        return not old.bearers & new.bearers
    return not (old if new.bearers else new).pronouns


def begins_with_another(old: Wording, new: Wording) -> bool:
    """Return whether the later statement begins with somebody of whom the other does not tell: "My flatmate quit". Of
    230 such pairs of our own 24 are a change, and of those that the head took for one 9 of 26."""
    return another_bearer(old, new) and bool(new.order) and new.order[0] in new.bearers


def _named_bearers(wording: Wording) -> frozenset[str]:
    """Return the names beside those of whom a statement tells: "my flatmate Dario"."""
    return frozenset(
        name
        for pair in pairwise(wording.order)
        for bearer, name in (pair, pair[::-1])
        if bearer in wording.bearers and name in wording.names
    )


def shares_only_a_unit(old: Wording, new: Wording) -> bool:
    """Return whether all that two statements have in common is what they count in: a rent and savings are both euros,
    and neither takes the place of the other."""
    shared = old.words & new.words
    units = {quantity.unit for quantity in (*old.quantities, *new.quantities)} & MEASURES
    return bool(shared) and shared <= units and bool(old.words - shared) and bool(new.words - shared)


def numbers_clash(a: frozenset[Quantity], b: frozenset[Quantity]) -> bool:
    """Return whether each counts something otherwise than the other; a number without a unit may count anything but
    years."""
    here = {q for q in a if q.value not in {p.value for p in b}}
    there = {q for q in b if q.value not in {p.value for p in a}}
    return any(
        first.unit == second.unit or ("" in (first.unit, second.unit) and "year" not in (first.unit, second.unit))
        for first in here
        for second in there
    )


def _another_kind(old: Wording, new: Wording) -> bool:
    """Return whether the same thing is called after another kind of it: a chemistry exam and a physics exam."""
    here, there = ({word: kind for kind, word in pairwise(wording.order)} for wording in (old, new))
    return any(here[word] not in new.words and there[word] not in old.words for word in here.keys() & there.keys())


def _sides(
    pairs: tuple[tuple[str, str], ...], form: Callable[[list[str]], frozenset[str]] = contents
) -> tuple[_Sides, ...]:
    return tuple((form(left.split()), form(right.split())) for left, right in pairs)


GUARDS: Final = ("polarity", "opposed", "numbers clash", "name for name", "rival for rival", "particles")
"""Features of which one is enough for two statements not to be the same."""
_CUES: Final = tuple(sorted(set(lexicon.CUES.values()) - {"nothing"}))
_COMMON: Final = contents(lexicon.COMMON | lexicon.LIGHT_VERBS)
_OPPOSITES: Final = _sides(lexicon.OPPOSITES)
_STATES: Final = _sides(lexicon.STATES)
_PARTICLES: Final = _sides(lexicon.PARTICLES, frozenset)
_STANCES: Final = contents(lexicon.STANCES)
_CLASSES: Final = {content(word): name for name, words in lexicon.RIVALS.items() for word in words.split()}


def _classes(words: frozenset[str]) -> set[str]:
    return {_CLASSES[word] for word in words if word in _CLASSES}


def _opposed(here: frozenset[str], there: frozenset[str]) -> bool:
    return _oppose(here, there, _OPPOSITES) or _turned(here, there) or _turned(there, here)


def _oppose(a: frozenset[str], b: frozenset[str], pairs: tuple[_Sides, ...]) -> bool:
    return any((a & left and b & right) or (a & right and b & left) for left, right in pairs)


def _turned(a: frozenset[str], b: frozenset[str]) -> bool:
    """Return whether a word stands against itself with a prefix: happy, unhappy."""
    return any(prefix + word in b for word in a if len(word) > 3 for prefix in lexicon.PREFIXES)


@cache
def _weights() -> Mapping[str, Mapping[str, float]]:
    loaded: Mapping[str, Mapping[str, float]] = json.loads(
        files(__package__).joinpath("pairs.json").read_text(encoding="utf-8")
    )
    return loaded


def _share(head: str, features: Features) -> float:
    raw = sum(weight * features[name] for name, weight in _weights()[head].items())
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, raw))))
