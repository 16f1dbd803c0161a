"""Fit what a reading and a cosine weigh where both say which of several things a message likely means
(`policies/likely_meant.py`), and print it, with how right it is on each author that was held out.

    python -m benchmarks.fit_likely_meant

It learns from `benchmarks/data/wishes`, of which the reader of wishes (`stores/embedding/forget_reader.npz`) has seen
nothing: each wish beside all that its user told before, of which one thing at most is taken for meant, or nothing is;
and once more beside what it does not mean, of which nothing is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from scipy.optimize import minimize

from benchmarks.fit_pairs import told
from policies.language.wording import READ_AS, called
from policies.likely_meant import log_odds, meant_by_scores
from stores.embedding.cross_encoder import FORGETTING, CrossEncoder
from stores.embedding.minilm import MiniLM

_DATA: Final = Path(__file__).parent / "data" / "wishes"
_STRENGTH: Final = 0.002
console = Console()


@dataclass(frozen=True)
class Wish:
    """A wish beside what was told before: log odds and cosine, (things, 2), and which of them it means."""

    author: str
    things: NDArray[np.float64]
    meant: NDArray[np.bool_]


def main() -> None:
    """Fit, and print the weights and the bias."""
    wishes = _wishes()
    for author in sorted({wish.author for wish in wishes}):
        weights = _fitted([wish for wish in wishes if wish.author != author])
        _report(author, [wish for wish in wishes if wish.author == author], weights)
    console.print(f"of all: reading {(found := _fitted(wishes))[0]:.2f}, cosine {found[1]:.2f}, bias {found[2]:.2f}")


def _wishes() -> list[Wish]:
    reader, embedder = CrossEncoder(FORGETTING), MiniLM()
    wishes = []
    for file in sorted(_DATA.glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            known = [told(called(text, row["user"], READ_AS)) for text in row["known"]]
            read = reader.chances([(text, row["said"]) for text in known])
            [said, *vectors] = np.asarray(embedder.embed([row["said"], *known]))
            things = np.array([(log_odds(chance), vector @ said) for chance, vector in zip(read, vectors, strict=True)])
            meant = np.isin(np.arange(len(known)), row["meant"])
            wishes.append(Wish(file.stem, things, meant))
    return wishes


def _fitted(wishes: Sequence[Wish]) -> NDArray[np.float64]:
    def lost(weights: NDArray[np.float64]) -> float:
        total = _STRENGTH * len(wishes) * float(weights @ weights)
        for wish in wishes:
            score = np.exp(wish.things @ weights[:2] + weights[2])
            total -= np.log(score[wish.meant].sum() / (1 + score.sum()))
            total += np.log(1 + score[~wish.meant].sum())
        return float(total)

    found: NDArray[np.float64] = minimize(lost, np.array([0.5, 3.0, 1.0]), method="Nelder-Mead").x
    return found


def _report(author: str, wishes: Sequence[Wish], weights: NDArray[np.float64]) -> None:
    right = wrong = without = 0
    for wish in wishes:
        scores = (wish.things @ weights[:2] + weights[2]).tolist()
        taken = np.isin(np.arange(len(scores)), meant_by_scores(dict(enumerate(scores))))
        right, wrong = right + int((taken & wish.meant).sum()), wrong + int((taken & ~wish.meant).sum())
        without += bool(meant_by_scores({i: score for i, score in enumerate(scores) if not wish.meant[i]}))
    meant = sum(int(wish.meant.sum()) for wish in wishes)
    others = sum(int((~wish.meant).sum()) for wish in wishes)
    console.print(
        f"author {author}: {right} of {meant} things that are meant, and {wrong} of {others} that are not; "
        f"where what is meant is not known, something of {without} of {len(wishes)} wishes"
    )


if __name__ == "__main__":
    typer.run(main)
