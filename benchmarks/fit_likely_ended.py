"""Fit what a reading, a cosine and what is known beside them weigh where they say together whether a message ends
something known (`policies/likely_ended.py`), and print it, with how right it is on each author that was held out.

    python -m benchmarks.fit_likely_ended

It learns from the messages of `benchmarks/data/endings` whose authors the cross-encoder
(`stores/embedding/cross_encoder.npz`) has not seen: each beside what is remembered of its user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from sklearn.linear_model import LogisticRegression

from benchmarks.remembered import ENDINGS_HELD_OUT, endings
from policies.language.wording import READ_AS, called
from policies.likely_ended import READ_BESIDE, Beside, beside_each_other, features, likely_ended
from stores.embedding.cross_encoder import ENDINGS, CrossEncoder
from stores.embedding.minilm import MiniLM

_LEVELS: Final = (0.3, 0.4, 0.5, 0.6)
console = Console()


@dataclass(frozen=True)
class _Read:
    """The memories beside the messages of an author: what each was read as, and whether the message ends it."""

    author: str
    beside: list[Beside]
    ends: NDArray[np.bool_]

    @property
    def features(self) -> NDArray[np.float64]:
        return np.array([features(one) for one in self.beside])


def main() -> None:
    """Fit, and print the weights and the bias."""
    read = [_read(author) for author in sorted(ENDINGS_HELD_OUT)]
    for one in read:
        model = _fitted([other for other in read if other is not one])
        likely = model.predict_proba(one.features)[:, 1]
        for level in _LEVELS:
            _report(f"author {one.author}, fitted on the others, from {level}", likely >= level, one.ends)
        taken = np.array([likely_ended(beside) for beside in one.beside])
        _report(f"author {one.author}, as the fleet decides", taken, one.ends)
    model = _fitted(read)
    for one in read:
        likely = model.predict_proba(one.features)[:, 1]
        for level in _LEVELS:
            _report(f"author {one.author}, fitted on all, from {level}", likely >= level, one.ends)
    weights = ", ".join(f"{weight:.2f}" for weight in model.coef_[0])
    console.print(f"of all: weights {weights}; bias {model.intercept_[0]:.2f}")


def _read(author: str) -> _Read:
    reader, embedder = CrossEncoder(ENDINGS), MiniLM()
    messages = [message for message in endings() if message.author == author]
    found: list[Beside] = []
    ends: list[bool] = []
    for message in messages:
        said, *known = np.asarray(embedder.embed([message.said, *(texts[0] for texts in message.known)]))
        cosines = np.array([float(vector @ said) for vector in known])
        nearest = np.argsort(-cosines)[:READ_BESIDE]
        chances = reader.chances(
            [(called(message.known[at][0], message.user, READ_AS), message.said) for at in nearest]
        )
        found += beside_each_other(message.said, chances, [float(cosines[at]) for at in nearest], message.among)
        ends += [(int(at), 0) in message.meant for at in nearest]
    return _Read(author, found, np.array(ends))


def _fitted(read: list[_Read]) -> LogisticRegression:
    found, ends = np.concatenate([one.features for one in read]), np.concatenate([one.ends for one in read])
    return LogisticRegression(C=10, max_iter=500).fit(found, ends)


def _report(what: str, taken: NDArray[np.bool_], ends: NDArray[np.bool_]) -> None:
    right = int((taken & ends).sum())
    console.print(f"{what}: {right} of {int(taken.sum())} rightly, of {int(ends.sum())} that end, of {len(ends):,}")


if __name__ == "__main__":
    typer.run(main)
