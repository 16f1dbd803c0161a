"""Fit what reads two statements of any language: `stores/embedding/pair_reader.npz`, and the embedder's centre.

    python -m benchmarks.fit_pair_reader
    python -m benchmarks.fit_pair_reader --centre        # only what the embedder takes from each vector

It learns from authors fa to ff of `benchmarks/data/known` (English), and of its folder `languages` from every other row
of the first author and all of the second (`es_b`); fg, fh and the other rows are judged on. The vectors of 12,000
statements take four minutes of CPU.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from sklearn.metrics import roc_auc_score
from sklearn.neural_network import MLPClassifier

from benchmarks.quality.vectors import KeptVectors
from stores.embedding import Embedder
from stores.embedding.multilingual import CENTRE, MultilingualE5
from stores.embedding.pair_reader import WEIGHTS, PairReader, features_of

_DATA: Final = Path(__file__).parent / "data"
_OUT: Final = Path(__file__).parents[1] / "stores" / "embedding"
_LEARNED: Final = ("fa", "fb", "fc", "fd", "fe", "ff")
_JUDGED: Final = ("fg", "fh")
_LANGUAGES: Final = ("es", "de", "fr", "pl", "zh")
_OF_A_LANGUAGE: Final = 150
"""Utterances of each language whose mean is the centre."""
_STANDING: Final = 2
"""How many things that stay true are learned of a row."""
_MORE_OFTEN: Final = 3
"""How often rows of other languages are learned: there are few."""
_STAYS: Final = 3.5
"""What a thing that stays true counts: so many more of those there are than of what is learned."""
_NETS, _HIDDEN = 3, 64
_CHANCES: Final = (0.3, 0.4, 0.5, 0.6)
console = Console()


Floats = NDArray[np.float32]


class Net(NamedTuple):
    """One hidden layer of rectified sums."""

    inner: NDArray[np.float16]
    inner_bias: Floats
    outer: Floats
    outer_bias: float


class Pair(NamedTuple):
    """What somebody told before and what they say now; whether that ends it."""

    earlier: str
    later: str
    ends: bool


def main(
    vectors: Annotated[Path | None, typer.Option(help="Keep vectors in this file from run to run.")] = None,
    centre: Annotated[bool, typer.Option("--centre", help="Write the embedder's centre, and nothing else.")] = False,
) -> None:
    """Fit on most authors, write the weights, and say how right what reads with them is on the others."""
    if centre:
        _write_centre()
        return
    embedder: Embedder = KeptVectors(MultilingualE5(), vectors) if vectors else MultilingualE5()
    chance = random.Random(0)
    learned = [pair for author in _LEARNED for pair in _few(_rows(_DATA / "known" / f"{author}.jsonl"), chance)]
    files = [_DATA / "known" / f"{author}.jsonl" for author in _JUDGED]
    judged = {"fg, fh": [pair for file in files for pair in _few(_rows(file), chance)]}
    for language in _LANGUAGES:
        rows = list(_rows(_DATA / "known" / "languages" / f"{language}.jsonl"))
        more = _rows(_DATA / "known" / "languages" / f"{language}_b.jsonl")
        learned += [pair for row in (*rows[::2], *more) for pair in row] * _MORE_OFTEN
        judged[language] = [pair for row in rows[1::2] for pair in row]
    judged["languages"] = [pair for language in _LANGUAGES for pair in judged[language]]
    net = _fitted(learned, embedder)
    np.savez_compressed(_OUT / WEIGHTS, **net._asdict())
    reader = PairReader(embedder)
    for name, pairs in judged.items():
        scores = np.array(reader.chances([pair[:2] for pair in pairs]))
        _report(name, scores, np.array([pair.ends for pair in pairs]))


def _rows(file: Path) -> Iterator[list[Pair]]:
    """Yield the pairs of each row of a file."""
    for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
        yield [Pair(known, row["said"], index in row["ends"]) for index, known in enumerate(row["known"])]


def _few(rows: Iterator[list[Pair]], chance: random.Random) -> Iterator[Pair]:
    """Yield what ends of each row, and some of what stays."""
    for row in rows:
        staying = [pair for pair in row if not pair.ends]
        yield from (pair for pair in row if pair.ends)
        yield from chance.sample(staying, min(_STANDING, len(staying)))


def _features(pairs: Sequence[Pair], embedder: Embedder) -> Floats:
    texts = list(dict.fromkeys(text for pair in pairs for text in pair[:2]))
    rows = {text: index for index, text in enumerate(texts)}
    made = np.concatenate([embedder.embed(texts[start : start + 256]) for start in range(0, len(texts), 256)])
    return features_of(made[[rows[pair.earlier] for pair in pairs]], made[[rows[pair.later] for pair in pairs]])


def _fitted(pairs: Sequence[Pair], embedder: Embedder) -> Net:
    """Return several nets side by side as one: the mean of what they score."""
    features, ends = _features(pairs, embedder), np.array([pair.ends for pair in pairs])
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-6
    counts = np.where(ends, 1.0, _STAYS)
    nets = [
        MLPClassifier((_HIDDEN,), alpha=3.0, early_stopping=True, n_iter_no_change=5, max_iter=30, random_state=seed)
        for seed in range(_NETS)
    ]
    for net in nets:
        net.fit((features - mean) / spread, ends, sample_weight=counts)
    inner = np.concatenate([net.coefs_[0] for net in nets], axis=1) / spread[:, None]
    inner_bias = np.concatenate([net.intercepts_[0] for net in nets]) - mean @ inner
    outer = np.concatenate([net.coefs_[1][:, 0] for net in nets]) / _NETS
    outer_bias = sum(float(net.intercepts_[1][0]) for net in nets) / _NETS
    return Net(inner.astype(np.float16), inner_bias.astype(np.float32), outer.astype(np.float32), outer_bias)


def _report(name: str, scores: NDArray[np.float64], ends: NDArray[np.bool_]) -> None:
    rates = []
    for least in _CHANCES:
        called = scores >= least
        right = f"{ends[called].mean():.2f}" if called.any() else "none"
        rates.append(f"from {least}: {right} right, {called[ends].mean():.2f} found")
    console.print(
        f"{name}: {len(ends):,} pairs, {ends.sum()} end, AUC {roc_auc_score(ends, scores):.3f};", "; ".join(rates)
    )


def _write_centre() -> None:
    by_language: dict[str, list[str]] = {}
    for file in sorted((_DATA / "utterances").glob("*.jsonl")):
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            by_language.setdefault(row["lang"], []).append(row["text"])
    chance = random.Random(1)
    texts = [text for statements in by_language.values() for text in chance.sample(statements, _OF_A_LANGUAGE)]
    np.save(_OUT / CENTRE, MultilingualE5().uncentred(texts).mean(axis=0))


if __name__ == "__main__":
    typer.run(main)
