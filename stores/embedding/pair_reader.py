"""Two statements of any language beside each other: whether the later one ends what the earlier one tells.

A small network on what `MultilingualE5` makes of each alone. It finds fewer endings than the cross-encoder, which sees
both at once, but in English alone. `python -m benchmarks.fit_pair_reader` fits it; docs/reference/languages.md says on
what, and how right it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from schema.packaged_arrays import packaged_arrays
from stores.embedding.base import Embedder, Vectors

WEIGHTS: Final = "pair_reader.npz"
_QUOTATION: Final = re.compile(r'[^"]{1,200}: "(?P<words>.+)"', re.DOTALL)
"""A memory in the speaker's own words: 'Maya: "vivo en Sevilla"'."""


class PairReader:
    """Safe to call from many threads."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        weights = packaged_arrays("stores.embedding", WEIGHTS)
        self._inner = weights["inner"].astype(np.float32)
        self._inner_bias = weights["inner_bias"].astype(np.float32)
        self._outer = weights["outer"].astype(np.float32)
        self._outer_bias = float(weights["outer_bias"])

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return how likely the later statement of each pair (earlier, later) ends what the earlier one tells, 0 to 1.

        Raises:
            EmbedderUnavailable: try again later.
        """
        if not pairs:
            return []
        statements = [_words_of(text) for pair in pairs for text in pair]
        texts = list(dict.fromkeys(statements))
        rows = {text: row for row, text in enumerate(texts)}
        vectors = self._embedder.embed(texts)[[rows[text] for text in statements]]
        hidden = np.maximum(features_of(vectors[::2], vectors[1::2]) @ self._inner + self._inner_bias, 0)
        chances: list[float] = (1.0 / (1.0 + np.exp(-(hidden @ self._outer + self._outer_bias)))).tolist()
        return chances


def features_of(earlier: Vectors, later: Vectors) -> Vectors:
    """Return what the network is given of pairs of vectors, each (pairs, dimensions): (pairs, 4 * dimensions + 1)."""
    both = earlier * later
    return np.concatenate([both, np.abs(earlier - later), both.sum(axis=1, keepdims=True), later, earlier], axis=1)


def _words_of(summary: str) -> str:
    quotation = _QUOTATION.fullmatch(summary)
    return quotation["words"] if quotation else summary
