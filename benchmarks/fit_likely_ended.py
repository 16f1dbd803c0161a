"""Fit what a reading and a cosine weigh where both say whether a message ends something known
(`policies/likely_ended.py`), and print it, with how right it is on each author that was held out.

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
from policies.likely_ended import likely_ended
from policies.likely_meant import log_odds
from stores.embedding.cross_encoder import ENDINGS, CrossEncoder
from stores.embedding.minilm import MiniLM

_BATCH: Final = 64
_LEVELS: Final = (0.3, 0.4, 0.5, 0.6)
console = Console()


@dataclass(frozen=True)
class _Read:
    """The memories beside the messages of an author: how likely each was read to end, its cosine, and whether it
    does."""

    author: str
    chances: NDArray[np.float64]
    cosines: NDArray[np.float64]
    ends: NDArray[np.bool_]

    @property
    def features(self) -> NDArray[np.float64]:
        return np.stack([[log_odds(chance) for chance in self.chances], self.cosines], axis=1)


def main() -> None:
    """Fit, and print the weights and the bias."""
    read = [_read(author) for author in sorted(ENDINGS_HELD_OUT)]
    for one in read:
        model = _fitted([other for other in read if other is not one])
        likely = model.predict_proba(one.features)[:, 1]
        for level in _LEVELS:
            _report(f"author {one.author}, fitted on the others, from {level}", likely >= level, one.ends)
        taken = np.array([likely_ended(*pair) for pair in zip(one.chances, one.cosines, strict=True)])
        _report(f"author {one.author}, as the fleet decides", taken, one.ends)
    model = _fitted(read)
    console.print(
        f"of all: reading {model.coef_[0][0]:.2f}, cosine {model.coef_[0][1]:.2f}, bias {model.intercept_[0]:.2f}"
    )


def _read(author: str) -> _Read:
    reader, embedder = CrossEncoder(ENDINGS), MiniLM()
    messages = [message for message in endings() if message.author == author]
    pairs = [(called(known[0], one.user, READ_AS), one.said) for one in messages for known in one.known]
    chances = [chance for at in range(0, len(pairs), _BATCH) for chance in reader.chances(pairs[at : at + _BATCH])]
    cosines: list[float] = []
    for one in messages:
        said, *known = np.asarray(embedder.embed([one.said, *(texts[0] for texts in one.known)]))
        cosines += [float(vector @ said) for vector in known]
    ends = [(place, 0) in one.meant for one in messages for place in range(len(one.known))]
    return _Read(author, np.array(chances), np.array(cosines), np.array(ends))


def _fitted(read: list[_Read]) -> LogisticRegression:
    features, ends = np.concatenate([one.features for one in read]), np.concatenate([one.ends for one in read])
    return LogisticRegression().fit(features, ends)


def _report(what: str, taken: NDArray[np.bool_], ends: NDArray[np.bool_]) -> None:
    right = int((taken & ends).sum())
    console.print(f"{what}: {right} of {int(taken.sum())} rightly, of {int(ends.sum())} that end, of {len(ends):,}")


if __name__ == "__main__":
    typer.run(main)
