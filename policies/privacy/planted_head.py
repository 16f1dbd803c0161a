"""How likely a text is a planted order, by its words and its concepts together: a small logistic regression.

`python -m benchmarks.fit_planted_head` fits it; docs/reference/heads.md says on what, and how right it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from math import exp
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.language.features import BLOCKS, BUCKETS, FLAG_WEIGHT, features_of
from policies.language.flags import FLAGS

CONCEPT_WEIGHT: Final = 0.5
"""How much a concept weighs beside the words: as much as a flag."""
_FILE: Final = "planted_head.npz"


@dataclass(frozen=True)
class Weights:
    """A weight for each bucket and flag, (SIZE,), one for each concept by its name, and the bias."""

    places: NDArray[np.float32]
    concepts: dict[str, float]
    bias: float


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Return the packaged weights, read once a process."""
    with (files("policies.privacy") / _FILE).open("rb") as file, np.load(file, allow_pickle=False) as saved:
        concepts = dict(zip(saved["names"].tolist(), saved["concepts"].tolist(), strict=True))
        return Weights(saved["places"].astype(np.float32) * saved["scale"], concepts, float(saved["bias"]))


def chance(text: str, concepts: Iterable[str], language: str = "en") -> float:
    """Return how likely a text of these concepts is a planted order, 0 to 1."""
    fitted = weights()
    features = features_of(text, None, "", language)
    score = fitted.bias + CONCEPT_WEIGHT * sum(fitted.concepts.get(name, 0.0) for name in concepts)
    for name, places in features.blocks.items():
        if places:
            score += float(fitted.places[list(places)].sum()) * BLOCKS[name] / len(places) ** 0.5
    score += float(fitted.places[[BUCKETS + FLAGS[flag] for flag in features.flags]].sum()) * FLAG_WEIGHT
    return 1 / (1 + exp(-score))
