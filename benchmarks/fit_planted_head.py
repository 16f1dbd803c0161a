"""Fit the head that knows planted orders by words, concepts and vectors, and say how right it is on each author held
out.

`python -m benchmarks.fit_planted_head` takes some minutes, `--no-held-out` one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.fit_heads import DATA, fitted, in_eight_bits, matrix
from policies.language.features import SIZE, features_of
from policies.privacy import planted
from policies.privacy.planted_head import CONCEPT_WEIGHT, VECTOR_WEIGHT
from schema.settings import load_settings
from stores.embedding import open_embedder
from stores.embedding.base import Embedder

CLAIMS: Final = Path(__file__).parent / "data" / "planted.jsonl"
CASES: Final = Path(__file__).parent.parent / "tests" / "unit" / "policies" / "cases"
WEIGHTS: Final = Path(__file__).parent.parent / "policies" / "privacy" / "planted_head.npz"
_LEFT_OUT: Final = frozenset({"author_l"})
"""Who is not learned from: with these plain sentences 5 of 40 look-alikes of an author who had seen none of this are
not kept, without them 2."""
_BY_WORDS_ALONE: Final = frozenset({"f"})
"""Author of sentences in languages of which no vector is asked: with them the head that reads vectors holds 3 of 60
look-alikes that it had not seen, without them 2."""
_CHANCES: Final = (0.5, 0.6, 0.7, 0.8)


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
    rows = [
        Row(path.stem.removeprefix("author_"), said["text"], bool(said["planted"]))
        for path in sorted(DATA.glob("author_*.jsonl"))
        for said in _lines(path)
        if "planted" in said and path.stem not in _LEFT_OUT
    ]
    return rows + cases_and_claims()


def cases_and_claims() -> list[Row]:
    """Return claims of a standing and what looks like them, and the halves of the tests' cases that were seen."""
    claims = [Row(row["author"], row["text"], bool(row["planted"])) for row in _lines(CLAIMS)]
    return claims + [row for file in sorted(CASES.glob("planted*.jsonl")) for row in cases(file, "seen")]


def _lines(path: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


def features(rows: list[Row], names: list[str]) -> Any:
    """Return the features of texts, (texts, SIZE + names), sparse."""
    from scipy.sparse import csr_matrix, hstack

    words = matrix([features_of(planted.as_read(row.text), None) for row in rows])
    found = [planted.concepts_of(planted.as_read(row.text)) for row in rows]
    concepts = np.array([[CONCEPT_WEIGHT * (name in concept_names) for name in names] for concept_names in found])
    return hstack([words, csr_matrix(concepts)]).tocsr()


def with_vectors(table: Any, rows: list[Row], embedder: Embedder) -> Any:
    """Return the features with the texts' vectors beside them, (texts, SIZE + names + dimensions), sparse."""
    from scipy.sparse import csr_matrix, hstack

    vectors = embedder.embed([planted.as_read(row.text) or "." for row in rows])
    return hstack([table, csr_matrix(VECTOR_WEIGHT * vectors)]).tocsr()


@dataclass(frozen=True)
class Chances:
    """How likely texts are planted, by their words alone and with their vectors."""

    by_words: NDArray[np.float64]
    with_vector: NDArray[np.float64]


def chances_of(table: Any, full: Any, models: tuple[Any, Any]) -> Chances:
    """Return what two fitted models say of texts."""
    return Chances(*(model.predict_proba(part)[:, 1] for model, part in zip(models, (table, full), strict=True)))


def rates(rows: list[Row], chances: Chances) -> str:
    """Say at each chance what is held of what is planted and of the rest, by the rules, and by them or the head."""
    rules = np.array([any(planted.find(row.text)) for row in rows])
    truth = np.array([row.planted for row in rows])
    asked = chances.by_words > planted.UNLIKELY
    shares = [("rules", rules), ("words alone", rules | (chances.by_words > planted.LIKELY))]
    shares += [(f"{least}", rules | (asked & (chances.with_vector > least))) for least in _CHANCES]
    return ", ".join(
        f"{name}: {held[truth].sum()}/{truth.sum()} and {held[~truth].sum()}/{(~truth).sum()}" for name, held in shares
    )


def arrays(kind: str, model: Any, names: list[str]) -> dict[str, NDArray[Any]]:
    """Return the weights of a model as they are kept, those of places in eight bits."""
    places, concepts, vector = np.split(model.coef_[0], [SIZE, SIZE + len(names)])
    return in_eight_bits(kind, places) | {
        f"{kind}_concepts": concepts.astype(np.float32),
        f"{kind}_vector": vector.astype(np.float32),
        f"{kind}_bias": np.float32(model.intercept_[0]),
    }


def main(
    held: Annotated[bool, typer.Option("--held-out/--no-held-out", help="Leave each author out once.")] = True,
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = WEIGHTS,
) -> None:
    """Fit the head of planted orders."""
    rows = learned()
    embedder = open_embedder(load_settings())
    names = sorted({name for row in rows for name in planted.concepts_of(planted.as_read(row.text))})
    table, truth = features(rows, names), np.array([row.planted for row in rows])
    full = with_vectors(table, rows, embedder)
    authors = np.array([row.author for row in rows])
    for author in np.unique(authors) if held else ():
        rest, mine = authors != author, authors == author
        models = fitted(table[rest], truth[rest]), fitted(full[rest], truth[rest])
        said = rates([row for row in rows if row.author == author], chances_of(table[mine], full[mine], models))
        print(f"{author:20} {said}", flush=True)
    of_vectors = np.array([author not in _BY_WORDS_ALONE for author in authors])
    models = fitted(table, truth), fitted(full[of_vectors], truth[of_vectors])
    for file in sorted(CASES.glob("planted*.jsonl")):
        unseen = cases(file, "unseen")
        unseen_table = features(unseen, names)
        chances = chances_of(unseen_table, with_vectors(unseen_table, unseen, embedder), models)
        print(f"{unseen[0].author:20} {rates(unseen, chances)}")
    kept = {"names": np.array(names)} | arrays("words", models[0], names) | arrays("vector", models[1], names)
    np.savez_compressed(out, allow_pickle=False, **kept)
    print(f"{out.name}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    typer.run(main)
