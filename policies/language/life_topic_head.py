"""How likely a statement is of each everyday topic, by its words and by what the built-in embedder makes of it.

The head is fitted by `python -m benchmarks.fit_heads` on what people said and on what is kept of it;
docs/reference/heads.md says how right it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from policies.language.wording import read
from schema.packaged_arrays import packaged_arrays

Floats = NDArray[np.float32]
LIFE_TOPIC_BUCKETS: Final = 1 << 11
"""How many places the words of a statement fall into; with twice as many nothing was righter."""
LIFE_TOPIC_VECTOR_WEIGHT: Final = 4.0
_WORDS_WEIGHT: Final = 3.0
_FILE: Final = "life_topics.npz"


@dataclass(frozen=True)
class _Weights:
    """A column for each label: `words` is (LIFE_TOPIC_BUCKETS, n), `vector` (d, n), `bias` (n,)."""

    labels: tuple[str, ...]
    words: Floats
    vector: Floats
    bias: Floats


@lru_cache(maxsize=1)
def _weights() -> _Weights:
    saved = packaged_arrays("policies.language", f"data/{_FILE}")
    return _Weights(
        labels=tuple(str(label) for label in saved["labels"]),
        words=saved["words"].astype(np.float32) * saved["words_scale"],
        vector=saved["vector"].astype(np.float32) * saved["vector_scale"],
        bias=saved["bias"],
    )


def places_of(text: str, name: str = "") -> tuple[frozenset[int], float]:
    """Return where the content words of a statement fall, and how much each weighs; `name` is the user's."""
    places = frozenset(crc32(word.encode()) % LIFE_TOPIC_BUCKETS for word in read(text, name).words)
    return places, _WORDS_WEIGHT / max(len(places), 1) ** 0.5


def life_topic_chances(text: str, vector: Iterable[float] | Floats, name: str = "") -> dict[str, float]:
    """Return how likely a statement is of each topic, 0 to 1 each; `vector` is what `heads.EMBEDDER` makes of it,
    `name` what the user is called."""
    fitted = _weights()
    places, weight = places_of(text, name)
    score = fitted.bias + LIFE_TOPIC_VECTOR_WEIGHT * (np.asarray(vector, dtype=np.float32) @ fitted.vector)
    if places:
        score = score + weight * fitted.words[list(places)].sum(axis=0)
    chances = 1.0 / (1.0 + np.exp(-np.clip(score, -30.0, 30.0)))
    return dict(zip(fitted.labels, chances.tolist(), strict=True))
