"""How likely a sentence tells something sensitive of somebody who is named in it: a small logistic regression on its
words and letters, and on what its words are said of (`sensitive_words.toml`).

`python -m benchmarks.fit_sensitive_head` fits it, and says how right it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import exp
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.language.features import features_of, normalised
from policies.language.flags import MAX_CHARS
from policies.language.heads import weighed
from policies.language.lexicon import word_set
from schema.packaged_arrays import packaged_arrays

LIKELY: Final = 0.6
"""From which chance on names go."""
SURELY: Final = 0.85
"""And from which where no word of the sentence is said of such things, or those that are seem to be of the user."""
SOMEBODY: Final = "Xx"
"""The name that the head reads in place of every name of another: who it is tells nothing."""
_SOMEBODY_ELSE: Final = SOMEBODY.lower()
_FILE: Final = "sensitive_head.npz"
_WORDS: Final = "sensitive_words.toml"
_WORD: Final = re.compile(r"[^\W\d_]{1,32}(?:['-][^\W\d_]{1,32})*")
"""A word: "she's"."""
_SELF: Final = word_set(
    "i i'm i've i'd im me my we us our ich mich mir mein meine meinen meiner wir uns je j'ai me moi mon ma mes nous "
    "yo mi mis tengo soy estoy tomo mam jestem mój moja mnie"
)
_OTHERS: Final = word_set("she he they she's he's they've sie er elle il ella él ona on")
"""Words of whom the speaker tells: themselves, or somebody else. Whose "her" is they do not tell."""


@dataclass(frozen=True)
class Weights:
    """A weight for each place, (SIZE,), one for each class by its name, and the bias."""

    places: NDArray[np.float32]
    classes: dict[str, float]
    bias: float


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Return the packaged weights, read once a process."""
    saved = packaged_arrays("policies.privacy", _FILE)
    classes = dict(zip(saved["names"].tolist(), saved["head_classes"].tolist(), strict=True))
    return Weights(saved["head_places"].astype(np.float32) * saved["head_scale"], classes, float(saved["bias"]))


def as_read(sentence: str, names: Iterable[str], own: Iterable[str], somebody: str = SOMEBODY) -> str:
    """Return a sentence as the head reads it: others under one name, the user in the first person."""
    sentence = sentence[:MAX_CHARS]
    for name in sorted(names, key=len, reverse=True):
        sentence = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", somebody, sentence)
    for name in sorted(own, key=len, reverse=True):
        sentence = re.sub(rf"(?<!\w)(?:[Tt]he )?{re.escape(name)}['’]s(?!\w)", "my", sentence)
        sentence = re.sub(rf"(?<!\w)(?:[Tt]he )?{re.escape(name)}(?!\w)", "I", sentence)
    return sentence


def chance(text: str) -> float:
    """Return how likely a text that `as_read` gave tells something sensitive of somebody named in it, 0 to 1."""
    fitted = weights()
    score = fitted.bias + sum(fitted.classes.get(name, 0.0) for name in classes_of(text))
    return 1 / (1 + exp(-score - weighed(features_of(text, None), fitted.places)))


def classes_of(text: str) -> frozenset[str]:
    """Return what the words of a text are said of, marked where the speaker is named last before them; and that several
    are."""
    found: set[str] = set()
    several, of_self = 0, False
    for word in _WORD.findall(normalised(text)):
        if word in _SELF or word in _OTHERS or word == _SOMEBODY_ELSE:
            of_self = word in _SELF
        classes = _classes(word)
        several += bool(classes)
        found |= {f"self {name}" if of_self else name for name in classes}
    return frozenset(found | {name for name, least in (("any", 1), ("two", 2), ("three", 3)) if several >= least})


@lru_cache(maxsize=8192)
def _classes(word: str) -> frozenset[str]:
    table = _table()
    beginnings = (f"{word[:size]}*" for size in range(1, min(len(word), 32) + 1))
    return frozenset().union(*(table.get(entry, frozenset()) for entry in (word, *beginnings)))


@lru_cache(maxsize=1)
def _table() -> dict[str, frozenset[str]]:
    """Return the classes of each entry of the list, such as "cancer*"."""
    lists = tomllib.loads((files("policies.privacy") / _WORDS).read_text("utf-8"))
    table: dict[str, frozenset[str]] = {}
    for name, entries in lists.items():
        for entry in entries.split():
            table[entry] = table.get(entry, frozenset()) | {name}
    return table
