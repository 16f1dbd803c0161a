"""MiniLM fine-tuned to read two statements at once: whether the later one ends what the earlier one tells, or asks for
it to be forgotten.

Two vectors made apart do not say it: "handed in my badge" is as near to "works at Siemens" as to "Siemens called".
`python -m benchmarks.fit_cross_encoder` and `python -m benchmarks.fit_forget_reader` fit the weights;
docs/reference/cross-encoder.md says on what, and how right they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stores.embedding.adapted import AdaptedMiniLM

ENDINGS: Final = "cross_encoder.npz"
"""The weights that say how likely the later statement ends what the earlier one tells: takes its place, corrects, moves
or cancels it."""
FORGETTING: Final = "forget_reader.npz"
"""The weights that say how likely the later statement asks for what the earlier one tells to be forgotten."""


class CrossEncoder:
    """all-MiniLM-L6-v2, adapted, with a regression on what it makes of both statements of a pair: `ENDINGS` or
    `FORGETTING`. Safe to call from many threads; loaded with the first pair."""

    def __init__(self, weights: str) -> None:
        self._model = AdaptedMiniLM(weights)

    def chances(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return how likely what the weights say is so of each pair (earlier, later), 0 to 1."""
        if not pairs:
            return []
        chances: list[float] = self._model.chances(pairs)[:, 0].tolist()
        return chances
