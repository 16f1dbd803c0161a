"""The heads' judgement of an utterance: is it worth a memory, what does it order, whose words are these.

The heads are logistic regressions that `python -m benchmarks.fit_heads` fits on utterances of our own;
docs/reference/heads.md has the features, the data and how right they are on authors held out of the fit.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from policies.language.features import BLOCKS, BUCKETS, FLAG_WEIGHT, Features, features_of
from policies.language.flags import FLAGS
from policies.language.parse import Parsed
from schema.packaged_arrays import packaged_arrays

Floats: TypeAlias = NDArray[np.float32]

HEADS: Final = ("worth", "intent", "whose", "certainty", "attribute", "change", "planted")
NO_ATTRIBUTE: Final = "null"
CHANGES: Final = ("replaces", "ends", "moves", "corrects")
"""Labels of the head "change" that say that something is otherwise than it was."""
EMBEDDER: Final = "all-MiniLM-L6-v2-int8"
"""Whose vectors the heads that read vectors have learned from."""
_SETTLED: Final = 0.97
"""From which chance on words settle that an utterance is worth a memory: of 1,159 of two authors of whom no head had
learned, 16 of the 239 above are none. Below it some lie at any chance: "I own a horse" at .02."""
_FILE: Final = "heads.npz"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The heads' judgement of one utterance. Numbers are probabilities, 0 to 1; `..._sure` is that of the label named.

    `worth` is that somebody would like it on their memory page in a month, `planted` that it wants the assistant to
    keep an order that is not the user's own, `news` that something is told to be otherwise than it was. `intents` has
    the probability of each.
    """

    worth: float
    intent: str
    intent_sure: float
    whose: str
    whose_sure: float
    certainty: str
    certainty_sure: float
    attribute: str | None
    attribute_sure: float
    change: str
    change_sure: float
    news: float
    planted: float
    intents: dict[str, float]


@dataclass(frozen=True)
class Weights:
    """All heads beside each other: a row for each bucket and flag, a column for each label of each head.

    Rows are whole numbers from -127 to 127, so that sums of them are exact.
    """

    rows: Floats
    scale: Floats
    bias: Floats
    labels: dict[str, tuple[str, ...]]
    columns: dict[str, slice]
    starts: NDArray[np.intp]
    """Where the columns of each head begin."""
    sizes: NDArray[np.intp]
    """How many columns each head has."""


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Return the packaged weights, read once a process."""
    saved = packaged_arrays("policies.language", f"data/{_FILE}")
    labels = {head: tuple(str(label) for label in saved[f"labels_{head}"]) for head in HEADS}
    columns, start = {}, 0
    for head in HEADS:
        columns[head] = slice(start, start + len(labels[head]))
        start += len(labels[head])
    sizes = np.array([len(labels[head]) for head in HEADS])
    rows = saved["rows"].astype(np.float32)
    return Weights(rows, saved["scale"], saved["bias"], labels, columns, np.cumsum(sizes) - sizes, sizes)


@lru_cache(maxsize=512)
def judge(text: str, parsed: Parsed | None, before: str = "", language: str = "en") -> Judgement:
    """Return what the heads say of an utterance: a sentence, or a short message.

    `before` is what the assistant said just before it. Without a parse the heads read words, letters and marks alone:
    nearly as right on `worth` and `intent`, less so on `whose` and `certainty`.
    """
    return _judgement(features_of(text, parsed, before, language), weights())


def leaves_worth_open(judgement: Judgement) -> bool:
    """Return whether words do not settle if an utterance is worth a memory, so that it is to be read whole."""
    return judgement.worth < _SETTLED


def weighed(features: Features, places: Floats) -> float:
    """Return what an utterance scores by the weights of buckets and flags of one label, (SIZE,)."""
    score = float(places[[BUCKETS + FLAGS[flag] for flag in features.flags]].sum()) * FLAG_WEIGHT
    for name, block in features.blocks.items():
        if block:
            score += float(places[list(block)].sum()) * BLOCKS[name] / len(block) ** 0.5
    return score


def _judgement(features: Features, weights: Weights) -> Judgement:
    score = weights.bias.copy()
    for name, places in features.blocks.items():
        if places:
            score += _sum(weights, places, BLOCKS[name] / len(places) ** 0.5)
    score += _sum(weights, [BUCKETS + FLAGS[flag] for flag in features.flags], FLAG_WEIGHT)
    chances = _chances(score, weights)
    likeliest = {head: _likeliest(chances[head], weights.labels[head]) for head in HEADS}
    attribute, attribute_sure = likeliest["attribute"]
    intents = dict(zip(weights.labels["intent"], chances["intent"], strict=True))
    changes = dict(zip(weights.labels["change"], chances["change"], strict=True))
    return Judgement(
        worth=chances["worth"][0],
        intent=likeliest["intent"][0],
        intent_sure=likeliest["intent"][1],
        whose=likeliest["whose"][0],
        whose_sure=likeliest["whose"][1],
        certainty=likeliest["certainty"][0],
        certainty_sure=likeliest["certainty"][1],
        attribute=None if attribute == NO_ATTRIBUTE else attribute,
        attribute_sure=attribute_sure,
        change=likeliest["change"][0],
        change_sure=likeliest["change"][1],
        news=sum(changes[label] for label in CHANGES),
        planted=chances["planted"][0],
        intents=intents,
    )


def _sum(weights: Weights, places: Collection[int], weight: float) -> Floats:
    result: Floats = weights.rows[list(places)].sum(axis=0) * weights.scale
    return result * np.float32(weight)


def _chances(score: Floats, weights: Weights) -> dict[str, list[float]]:
    """Return the probability of each label of each head; of a head that says yes or no that of its one label."""
    highest = np.repeat(np.maximum.reduceat(score, weights.starts), weights.sizes)
    grown = np.exp(score - highest)
    shares = (grown / np.repeat(np.add.reduceat(grown, weights.starts), weights.sizes)).tolist()
    return {
        head: shares[columns] if columns.stop - columns.start > 1 else [_yes(float(score[columns.start]))]
        for head, columns in weights.columns.items()
    }


def _yes(score: float) -> float:
    return 1.0 / (1.0 + exp(-min(max(score, -30.0), 30.0)))


def _likeliest(chances: list[float], labels: tuple[str, ...]) -> tuple[str, float]:
    """Return the likeliest label and its probability."""
    highest = max(chances)
    return labels[chances.index(highest)], highest
