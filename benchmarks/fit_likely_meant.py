"""Fit what a reading, a cosine and a word weigh where they say which of several things a message likely means
(`policies/likely_meant.py`), and print it, with how right it is on each author that was held out.

    python -m benchmarks.fit_likely_meant

It learns from the wishes of `benchmarks/data/wishes` whose authors the reader of wishes
(`stores/embedding/forget_reader.npz`) has not seen: each beside all that is remembered of its user, each memory as
likely and as near as the likeliest and the nearest of its pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from scipy.optimize import minimize

from benchmarks.remembered import WISHES_HELD_OUT, wishes
from policies.language.wording import READ_AS, called
from policies.likely_meant import Beside, features, meant_by_scores
from policies.wish_words import naming_words
from stores.embedding.cross_encoder import FORGETTING, CrossEncoder
from stores.embedding.minilm import MiniLM

_STRENGTH: Final = 0.002
console = Console()


@dataclass(frozen=True)
class _Read:
    """A wish beside what is known: what is weighed of it, (things, 3), and which of it the wish means."""

    author: str
    things: NDArray[np.float64]
    meant: NDArray[np.bool_]


def main() -> None:
    """Fit, and print the weights and the bias."""
    read = _read()
    for author in sorted(WISHES_HELD_OUT):
        weights = _fitted([wish for wish in read if wish.author != author])
        _report(author, [wish for wish in read if wish.author == author], weights)
    found = _fitted(read)
    console.print(f"of all: weights {np.round(found[:-1], 2)}; bias {found[-1]:.2f}")


def _read() -> list[_Read]:
    reader, embedder = CrossEncoder(FORGETTING), MiniLM()
    read = []
    for wish in (wish for wish in wishes() if wish.author in WISHES_HELD_OUT and wish.known):
        texts = [text for memory in wish.known for text in memory]
        chances = iter(reader.chances([(called(text, wish.user, READ_AS), wish.said) for text in texts]))
        [said, *vectors] = np.asarray(embedder.embed([wish.said, *texts]))
        cosines = iter(np.array(vectors) @ said)
        named = naming_words(wish.said, wish.user)
        things = features(
            [
                Beside(
                    max(next(chances) for _ in memory),
                    max(next(cosines) for _ in memory),
                    not named.isdisjoint(naming_words(memory[0], wish.user)),
                )
                for memory in wish.known
            ]
        )
        meant = np.isin(np.arange(len(wish.known)), [place for place, _ in wish.meant])
        read.append(_Read(wish.author, np.array(things), meant))
    return read


def _fitted(read: Sequence[_Read]) -> NDArray[np.float64]:
    def lost(weights: NDArray[np.float64]) -> float:
        total = _STRENGTH * len(read) * float(weights @ weights)
        for wish in read:
            score = wish.things @ weights[:-1] + weights[-1]
            total += float(np.logaddexp(0.0, np.where(wish.meant, -score, score)).mean())
        return total

    found: NDArray[np.float64] = minimize(lost, np.array([0.5, 1.0, 0.0, 0.0]), method="BFGS").x
    return found


def _report(author: str, read: Sequence[_Read], weights: NDArray[np.float64]) -> None:
    right = wrong = whole = 0
    for wish in read:
        scores = (wish.things @ weights[:-1] + weights[-1]).tolist()
        taken = np.isin(np.arange(len(scores)), meant_by_scores(dict(enumerate(scores))))
        right, wrong = right + int((taken & wish.meant).sum()), wrong + int((taken & ~wish.meant).sum())
        whole += bool((taken == wish.meant).all())
    meant = sum(int(wish.meant.sum()) for wish in read)
    others = sum(int((~wish.meant).sum()) for wish in read)
    console.print(
        f"author {author}: {right} of {meant} things that are meant, and {wrong} of {others} that are not; "
        f"just what is meant of {whole} of {len(read)} wishes"
    )


if __name__ == "__main__":
    typer.run(main)
