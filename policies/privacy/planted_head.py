"""How likely a text is a planted order, by its words and concepts, and by its vector where there is one: two small
logistic regressions.

`python -m benchmarks.fit_planted_head` fits them; docs/reference/heads.md says on what, and how right they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import exp
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.language.features import features_of
from policies.language.heads import weighed
from schema.packaged_arrays import packaged_arrays

CONCEPT_WEIGHT: Final = 0.5
"""How much a concept weighs beside the words: as much as a flag."""
VECTOR_WEIGHT: Final = 4.0
"""How much the vector weighs beside the words: 2 finds less of an author held out, 8 holds more of what is harmless."""
_FILE: Final = "planted_head.npz"


@dataclass(frozen=True)
class Weights:
    """A weight for each bucket and flag, (SIZE,), one for each concept by its name, one for each number of a vector
    (none where no vector is read), and the bias."""

    places: NDArray[np.float32]
    concepts: dict[str, float]
    vector: NDArray[np.float32]
    bias: float


@lru_cache(maxsize=2)
def weights(*, of_vectors: bool) -> Weights:
    """Return the packaged weights, read once a process."""
    kind = "vector_" if of_vectors else "words_"
    saved = packaged_arrays("policies.privacy", _FILE)
    concepts = dict(zip(saved["names"].tolist(), saved[f"{kind}concepts"].tolist(), strict=True))
    places = saved[f"{kind}places"].astype(np.float32) * saved[f"{kind}scale"]
    return Weights(places, concepts, saved[f"{kind}vector"], float(saved[f"{kind}bias"]))


def chance(text: str, concepts: Iterable[str], vector: NDArray[np.float32] | None = None) -> float:
    """Return how likely a text is a planted order, 0 to 1; `vector` is what `heads.EMBEDDER` makes of it."""
    fitted = weights(of_vectors=vector is not None)
    score = fitted.bias + CONCEPT_WEIGHT * sum(fitted.concepts.get(name, 0.0) for name in concepts)
    if vector is not None:
        score += VECTOR_WEIGHT * float(vector @ fitted.vector)
    score += weighed(features_of(text, None), fitted.places)
    return 1 / (1 + exp(-score))
