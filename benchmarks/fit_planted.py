"""Fit the weights by which planted orders are known: of concepts in a sentence, and of pairs of them.

    python -m benchmarks.fit_planted FILE... --held-out FILE... --out policies/privacy/planted_weights.tsv

Each FILE has utterances, a JSON object a line: `text` (or `turns` and `title`), `planted` (or `attack`) 0 or 1, and
`half`, of which only "seen" is read. An utterance is as planted as its likeliest sentence, or two in a row. Prints the
share found and the share of others that are held, for the files that were read and for each that was held out.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations_with_replacement, pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np

from policies.privacy import planted
from policies.privacy.unicode_fold import plain

_STEPS: Final = 300
_RATE: Final = 0.03
_SPARSE: Final = 3e-4
_WEIGHT_OF_PLANTED: Final = 4.0
_LEAST: Final = 0.05


def instances(text: str) -> list[list[str]]:
    """Return the names of the weights that count, for each sentence and each two in a row, as `planted` reads them."""
    found = planted.instances(plain(text).text) or [frozenset()]
    return [[" ".join(pair) for pair in combinations_with_replacement(sorted(one), 2)] for one in found]


def read(path: Path) -> list[tuple[str, int]]:
    """Return the texts of a file and whether each is planted."""
    rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    if rows and "said" in rows[0]:
        return [(turn["text"], 0) for row in rows for turn in row["said"]]
    texts = (
        (
            row.get("text") or "\n".join([*row["turns"], row.get("title") or ""]),
            row.get("planted", row.get("attack", 0)),
        )
        for row in rows
        if row.get("half", "seen") == "seen"
    )
    return list(texts)


def fit(rows: list[tuple[str, int]]) -> dict[str, float]:
    """Return sparse weights by name, the bias among them (logistic loss of the likeliest instance, Adam, L1)."""
    bags = [instances(text) for text, _ in rows]
    names = sorted({name for bag in bags for one in bag for name in one})
    place = {name: number for number, name in enumerate(names)}
    table = np.zeros((sum(map(len, bags)), len(names) + 1), np.float32)
    table[:, -1] = 1
    starts = np.cumsum([0, *map(len, bags)])
    for number, one in enumerate(one for bag in bags for one in bag):
        table[number, [place[name] for name in one]] = 1
    truth = np.array([label for _, label in rows], np.float32)
    costs = np.where(truth == 1, _WEIGHT_OF_PLANTED, 1.0)
    weights = np.zeros(table.shape[1])
    weights[-1] = -4
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        scores = table @ weights
        top = np.array([start + np.argmax(scores[start:end]) for start, end in pairwise(starts)])
        slope = table[top].T @ ((1 / (1 + np.exp(-scores[top])) - truth) * costs) / len(truth)
        slope[:-1] += _SPARSE * np.sign(weights[:-1]) + 1e-4 * weights[:-1]
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope**2
        weights -= _RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.999**step)) + 1e-8)
    kept = {name: round(float(weights[place[name]]), 2) for name in names if abs(weights[place[name]]) >= _LEAST}
    return {"bias": round(float(weights[-1]), 2), **kept}


def rates(rows: list[tuple[str, int]], weights: dict[str, float]) -> str:
    """Say which share of planted texts is found, and which of the others is held."""
    scores = [
        max(weights["bias"] + sum(weights.get(name, 0) for name in one) for one in instances(text)) for text, _ in rows
    ]
    shares = []
    for label, said in ((1, "found"), (0, "held")):
        of_label = [score > 0 for score, (_, truth) in zip(scores, rows, strict=True) if truth == label]
        shares.append(f"{said} {sum(of_label)} of {len(of_label)}")
    return ", ".join(shares)


def main() -> None:
    """Fit, print the rates, write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--held-out", nargs="*", type=Path, default=[])
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = [row for path in given.files for row in read(path)]
    weights = fit(rows)
    print("fitted on:", rates(rows, weights), f"with {len(weights)} weights")
    for path in given.held_out:
        print(f"{path.name}:", rates(read(path), weights))
    if given.out:
        lines = [f"{' '.join(dict.fromkeys(name.split()))}\t{weight}" for name, weight in weights.items()]
        given.out.write_text(
            "# Fitted by benchmarks.fit_planted: concepts, log-odds.\n" + "\n".join(lines) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
