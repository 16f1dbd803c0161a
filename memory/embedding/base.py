"""What an embedder promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory.schema import Thresholds

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Makes vectors of texts. Safe to call from many threads.

    `name` says which model and form it is and is stamped on every memory; `thresholds` are dedup's, measured on
    this embedder's scale (`benchmarks/calibrate.py`).
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def thresholds(self) -> Thresholds: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape `(len(texts), dimensions)`, in the order of the texts; the same text always gets the
        same vector, whatever it is embedded with."""
        ...
