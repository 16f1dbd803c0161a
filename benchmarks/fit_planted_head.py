"""Fit the head that knows planted orders by words and concepts, and say how right it is on each author held out.

`python -m benchmarks.fit_planted_head` takes two minutes, `--no-held-out` half of one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.fit_heads import DATA, fitted, matrix, rows_in
from policies.language.features import features_of
from policies.privacy import planted
from policies.privacy.planted_head import CONCEPT_WEIGHT

CLAIMS: Final = Path(__file__).parent / "data" / "planted.jsonl"
CASES: Final = Path(__file__).parent.parent / "tests" / "unit" / "policies" / "cases"
WEIGHTS: Final = Path(__file__).parent.parent / "policies" / "privacy" / "planted_head.npz"
_CHANCES: Final = (0.6, 0.7, 0.8, 0.85, 0.9)


@dataclass(frozen=True)
class Row:
    """A text, who wrote it, and whether it is planted."""

    author: str
    text: str
    planted: bool


def cases(file: Path, half: str) -> list[Row]:
    """Return the cases of a half ("seen", "unseen") of a file of the tests, with their titles."""
    kept = [row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()) if row["half"] == half]
    name = f"{file.stem} {half}"
    return [Row(name, "\n".join(filter(None, [*row["turns"], row.get("title")])), bool(row["attack"])) for row in kept]


def learned() -> list[Row]:
    """Return all that is learned from: labelled utterances, claims of a standing, and the halves that were seen."""
    rows = [Row(row.author, row.text, row.labels["planted"] == "1") for row in rows_in(DATA) if "planted" in row.labels]
    claims = [json.loads(line) for line in CLAIMS.read_text(encoding="utf-8").splitlines()]
    rows += [Row(row["author"], row["text"], bool(row["planted"])) for row in claims]
    return rows + [row for file in sorted(CASES.glob("planted*.jsonl")) for row in cases(file, "seen")]


def features(rows: list[Row], names: list[str]) -> Any:
    """Return the features of texts, (texts, SIZE + names), sparse."""
    from scipy.sparse import csr_matrix, hstack

    words = matrix([features_of(planted.as_read(row.text), None) for row in rows])
    found = [planted.concepts_of(planted.as_read(row.text)) for row in rows]
    concepts = np.array([[CONCEPT_WEIGHT * (name in concept_names) for name in names] for concept_names in found])
    return hstack([words, csr_matrix(concepts)]).tocsr()


def rates(rows: list[Row], chances: NDArray[np.float64]) -> str:
    """Say at each chance what is held of what is planted and of the rest, by the head or by the rules."""
    rules = np.array([any(planted.find(row.text)) for row in rows])
    truth = np.array([row.planted for row in rows])
    shares = [("rules", rules), *((f"{least}", rules | (chances > least)) for least in _CHANCES)]
    return ", ".join(
        f"{name}: {held[truth].sum()}/{truth.sum()} and {held[~truth].sum()}/{(~truth).sum()}" for name, held in shares
    )


def write(model: Any, names: list[str], path: Path) -> None:
    """Write the weights, those of places in eight bits."""
    places, concepts = model.coef_[0][: -len(names)], model.coef_[0][-len(names) :]
    scale = np.abs(places).max() / 127
    np.savez_compressed(
        path,
        places=np.round(places / scale).astype(np.int8),
        scale=np.float32(scale),
        concepts=concepts.astype(np.float32),
        names=np.array(names),
        bias=np.float32(model.intercept_[0]),
    )
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")


def main(
    held: Annotated[bool, typer.Option("--held-out/--no-held-out", help="Leave each author out once.")] = True,
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = WEIGHTS,
) -> None:
    """Fit the head of planted orders."""
    rows = learned()
    names = sorted({name for row in rows for name in planted.concepts_of(planted.as_read(row.text))})
    table, truth = features(rows, names), np.array([row.planted for row in rows])
    authors = np.array([row.author for row in rows])
    for author in np.unique(authors) if held else ():
        rest, mine = authors != author, authors == author
        chances = fitted(table[rest], truth[rest]).predict_proba(table[mine])[:, 1]
        print(f"{author:20} {rates([row for row in rows if row.author == author], chances)}", flush=True)
    model = fitted(table, truth)
    for file in sorted(CASES.glob("planted*.jsonl")):
        unseen = cases(file, "unseen")
        print(f"{unseen[0].author:20} {rates(unseen, model.predict_proba(features(unseen, names))[:, 1])}")
    write(model, names, out)


if __name__ == "__main__":
    typer.run(main)
