"""What the heads say of an utterance: is it worth a memory, what does it order, whose words are these.

The heads are logistic regressions that `python -m benchmarks.fit_heads` fits on utterances of our own;
docs/reference/heads.md has the features, the data and how right they are on authors held out of the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from policies.language.features import BLOCKS, BUCKETS, FLAG_WEIGHT, Features, features_of
from policies.language.flags import FLAGS
from policies.language.parse import Parsed

Vector: TypeAlias = Sequence[float] | NDArray[np.float32]
Floats: TypeAlias = NDArray[np.float32]

HEADS: Final = ("worth", "intent", "whose", "certainty", "attribute", "change", "planted")
NO_ATTRIBUTE: Final = "null"
CHANGES: Final = ("replaces", "ends", "moves", "corrects")
"""Labels of the head "change" that say that something is otherwise than it was."""
_REASONS: Final = 3
_FILE: Final = "heads.npz"


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the heads say of one utterance. Numbers are probabilities, 0 to 1; `..._sure` is that of the label named.

    `worth` is that somebody would like it on their memory page in a month, `planted` that it wants the assistant to
    keep an order that is not the user's own, `news` that something is told to be otherwise than it was. `reasons` are
    the names of flags and groups of features that weighed most for worth and intent; never words. `intents` has the
    probability of each.
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
    reasons: tuple[str, ...]
    intents: dict[str, float]


@dataclass(frozen=True)
class Weights:
    """All heads beside each other: a row for each bucket and flag, a column for each label of each head."""

    rows: NDArray[np.int8]
    scale: Floats
    bias: Floats
    labels: dict[str, tuple[str, ...]]
    columns: dict[str, slice]


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Return the packaged weights, read once a process."""
    with (files("policies.language") / "data" / _FILE).open("rb") as file, np.load(file, allow_pickle=False) as saved:
        labels = {head: tuple(str(label) for label in saved[f"labels_{head}"]) for head in HEADS}
        columns, start = {}, 0
        for head in HEADS:
            columns[head] = slice(start, start + len(labels[head]))
            start += len(labels[head])
        return Weights(saved["rows"], saved["scale"], saved["bias"], labels, columns)


def judge(
    text: str,
    parsed: Parsed | None,
    before: str = "",
    language: str = "en",
    vector: Vector | None = None,  # noqa: ARG001
) -> Judgement:
    """Return what the heads say of an utterance: a sentence, or a short message.

    `before` is what the assistant said just before it. Without a parse the heads read words, letters and marks alone:
    nearly as right on `worth` and `intent`, less so on `whose` and `certainty`.
    """
    return _judgement(features_of(text, parsed, before, language), weights())


def _judgement(features: Features, weights: Weights) -> Judgement:
    groups = {name: _sum(weights, places, BLOCKS[name]) for name, places in features.blocks.items() if places}
    flags = sorted(features.flags)
    each = weights.rows[[BUCKETS + FLAGS[flag] for flag in flags]].astype(np.float32) * weights.scale * FLAG_WEIGHT
    score: Floats = weights.bias + each.sum(axis=0)
    for group in groups.values():
        score = score + group
    likeliest = {head: _said(score[weights.columns[head]], weights.labels[head]) for head in HEADS}
    worth, planted = (_likely(score[weights.columns[head]]) for head in ("worth", "planted"))
    attribute = likeliest["attribute"][0]
    changes = _chances(score[weights.columns["change"]], weights.labels["change"])
    best = [weights.columns["worth"].start]
    if likeliest["intent"][0] != "none":
        best.append(weights.columns["intent"].start + weights.labels["intent"].index(likeliest["intent"][0]))
    sign = 1.0 if worth >= 0.5 else -1.0
    weighed = {
        name: sign * float(group[best[0]]) + sum(float(group[i]) for i in best[1:]) for name, group in groups.items()
    }
    for flag, row in zip(flags, each, strict=True):
        weighed[flag] = sign * float(row[best[0]]) + sum(float(row[i]) for i in best[1:])
    most = sorted((name for name, weight in weighed.items() if weight > 0), key=lambda name: -weighed[name])
    return Judgement(
        worth=worth,
        intent=likeliest["intent"][0],
        intent_sure=likeliest["intent"][1],
        whose=likeliest["whose"][0],
        whose_sure=likeliest["whose"][1],
        certainty=likeliest["certainty"][0],
        certainty_sure=likeliest["certainty"][1],
        attribute=None if attribute == NO_ATTRIBUTE else attribute,
        attribute_sure=likeliest["attribute"][1],
        change=likeliest["change"][0],
        change_sure=likeliest["change"][1],
        news=sum(changes[label] for label in CHANGES),
        planted=planted,
        reasons=tuple(most[:_REASONS]),
        intents=_chances(score[weights.columns["intent"]], weights.labels["intent"]),
    )


def _sum(weights: Weights, places: frozenset[int], weight: float) -> Floats:
    rows = weights.rows[list(places)].sum(axis=0, dtype=np.int32)
    result: Floats = rows.astype(np.float32) * weights.scale * np.float32(weight / len(places) ** 0.5)
    return result


def _likely(score: Floats) -> float:
    """Return the probability of the one label of a head that says yes or no."""
    return float(1.0 / (1.0 + np.exp(-np.clip(score[0], -30.0, 30.0))))


def _said(score: Floats, labels: tuple[str, ...]) -> tuple[str, float]:
    """Return the likeliest label and its probability."""
    if len(labels) == 1:
        return labels[0], _likely(score)
    grown = np.exp(score - score.max())
    index = int(grown.argmax())
    return labels[index], float(grown[index] / grown.sum())


def _chances(score: Floats, labels: tuple[str, ...]) -> dict[str, float]:
    """Return the probability of each label of a head."""
    grown = np.exp(score - score.max())
    return dict(zip(labels, (grown / grown.sum()).tolist(), strict=True))
