"""The protocol of an embedder, and what adapters share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from schema import Thresholds
from schema.errors import EmbedderRefused

Vectors = NDArray[np.float32]
TEXTS_QUEUED = 32
"""How many texts of one call are queued at a time, so that a long call delays a short one by few texts."""


class Embedder(Protocol):
    """Makes vectors of texts. Safe to call from many threads.

    `name` says which model and form it is and is stamped on every memory; `thresholds` are dedup's, measured on
    this embedder's scale (`benchmarks/calibrate.py`), or None where nobody has measured them yet.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    @property
    def thresholds(self) -> Thresholds | None: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return unit vectors of shape `(len(texts), dimensions)`, in the order of the texts; the same text always gets
        the same vector, whatever it is embedded with.

        Raises:
            ValueError: a text is empty or blank, or is no Unicode text (a lone surrogate).
            EmbedderUnavailable, EmbedderRefused
        """
        ...


@dataclass(frozen=True)
class Reading:
    """An embedder's way to read: at most so many tokens of a text (None: more than any chunk has), and where in a text
    each token stands, from its first character to behind its last."""

    max_tokens: int | None
    spans: Callable[[str], list[tuple[int, int]]]


@runtime_checkable
class Tokenizing(Protocol):
    """An embedder that knows its tokens."""

    @property
    def reading(self) -> Reading: ...


@runtime_checkable
class Billed(Protocol):
    """An embedder whose provider counts tokens, for money."""

    def embed_billed(self, texts: Sequence[str]) -> tuple[Vectors, int]:
        """Return what `embed` does, and how many tokens the provider counted."""
        ...


_CHARS_A_TOKEN: Final = 4.7
"""English, on average (measured for Titan; see stores/embedding/bedrock.py)."""
_WORD: Final = re.compile(r"\S+")


def reading_of(embedder: Embedder) -> Reading:
    """Return how an embedder reads; of one that does not say, tokens are guessed from the length of words."""
    return embedder.reading if isinstance(embedder, Tokenizing) else Reading(None, guessed_spans)


class AroundEmbedder:
    """An embedder put round another: all but `embed` is as the inner one has it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def thresholds(self) -> Thresholds | None:
        return self._embedder.thresholds

    @property
    def reading(self) -> Reading:
        return reading_of(self._embedder)


def guessed_spans(text: str) -> list[tuple[int, int]]:
    """Return tokens of about 4.7 characters: every word begins one."""
    spans = []
    for word in _WORD.finditer(text):
        count = math.ceil((word.end() - word.start()) / _CHARS_A_TOKEN)
        edges = [word.start() + round(number * (word.end() - word.start()) / count) for number in range(count + 1)]
        spans += list(pairwise(edges))
    return spans


def guessed_tokens(texts: Sequence[str]) -> int:
    """Return about how many tokens texts have, for a provider that does not say."""
    return math.ceil(sum(map(len, texts)) / _CHARS_A_TOKEN)


def refuse_blank(texts: Sequence[str]) -> None:
    """Refuse what has no vector.

    Raises:
        ValueError: a text is empty or blank, or is no Unicode text (a lone surrogate).
    """
    for position, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"text {position} of {len(texts)} is empty: there is nothing to embed")
        text.encode()


def embed_each(
    pool: Executor, embed_one: Callable[[str], tuple[Vectors, int]], texts: Sequence[str], dimensions: int
) -> tuple[Vectors, int]:
    """Return the vectors of texts that are embedded one by one, on threads that all callers share, and the tokens of
    all."""
    vectors = np.empty((len(texts), dimensions), dtype=np.float32)
    tokens = 0
    for start in range(0, len(texts), TEXTS_QUEUED):
        part = texts[start : start + TEXTS_QUEUED]
        for row, (vector, counted) in enumerate(pool.map(embed_one, part), start):
            vectors[row] = vector
            tokens += counted
    return vectors, tokens


def unit(vector: Sequence[float] | Vectors, dimensions: int) -> Vectors:
    """Return the vector at unit length.

    Raises:
        EmbedderRefused: it has other dimensions, or no direction.
    """
    made = np.asarray(vector, dtype=np.float32)
    if made.shape != (dimensions,):
        raise EmbedderRefused(
            f"the embedder's vectors have {made.size} numbers and not {dimensions}; set AFTERTURN_EMBEDDER_DIMENSIONS "
            "to what its model makes, or choose another model"
        )
    length = float(np.linalg.norm(made))
    if not 0 < length < float("inf"):
        raise EmbedderRefused("the embedder answered a vector without a direction; choose another model")
    return np.asarray(made / np.float32(length), dtype=np.float32)
