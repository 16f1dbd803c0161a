"""Fit the head that knows what is sensitive about somebody named, and say how right it is on each author held out.

`python -m benchmarks.fit_sensitive_head` takes half a minute.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer

from benchmarks.fit_heads import DATA, fitted, in_eight_bits, matrix
from policies.language.features import SIZE, features_of
from policies.privacy.names import names_in
from policies.privacy.sensitive import special_places
from policies.privacy.sensitive_head import LIKELY, SOMEBODY, as_read, classes_of

HELD_OUT: Final = "r"
"""The author from whom neither the head nor the reader of utterances learns."""
CLAUSES: Final = Path(__file__).parent / "data" / "sensitive.jsonl"
WEIGHTS: Final = Path(__file__).parent.parent / "policies" / "privacy" / "sensitive_head.npz"


@dataclass(frozen=True)
class Row:
    """What somebody tells, with others under one name, who wrote it, and whether it is sensitive about others it
    names."""

    author: str
    text: str
    sensitive: bool


def labelled(somebody: str = SOMEBODY) -> list[Row]:
    """Return the clauses that are labelled, with others called `somebody`."""
    said = map(json.loads, CLAUSES.read_text(encoding="utf-8").splitlines())
    return [Row(one["author"], as_read(one["text"], one["names"], (), somebody), one["sensitive"]) for one in said]


def plain_talk(somebody: str = SOMEBODY) -> list[Row]:
    """Return utterances that name somebody and have no word that is said of what is sensitive."""
    rows = []
    for path in sorted(DATA.glob("author_*.jsonl")):
        for said in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            names = names_in(said["text"], (), (), ())
            text = as_read(said["text"], names, ())
            if names and "any" not in classes_of(text) and not special_places(text):
                rows.append(Row(path.stem, as_read(said["text"], names, (), somebody), sensitive=False))
    return rows


def features(rows: list[Row], names: list[str]) -> Any:
    """Return the features of texts, (texts, SIZE + names), sparse."""
    from scipy.sparse import csr_matrix, hstack

    classes = [classes_of(row.text) for row in rows]
    table = np.array([[float(name in found) for name in names] for found in classes])
    return hstack([matrix([features_of(row.text, None) for row in rows]), csr_matrix(table)]).tocsr()


def main(
    held: Annotated[bool, typer.Option("--held-out/--no-held-out", help="Leave each author out once.")] = True,
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = WEIGHTS,
) -> None:
    """Fit the head of what is sensitive."""
    told = labelled()
    rows = told + plain_talk()
    names = sorted({name for row in told for name in classes_of(row.text)})
    table, truth = features(rows, names), np.array([row.sensitive for row in rows])
    authors = np.array([row.author for row in rows])
    if held:
        by_words = np.array([bool(special_places(row.text)) for row in rows])
        likely = np.zeros(len(rows), dtype=bool)
        for author in np.unique(authors):
            mine = authors == author
            model = fitted(table[~mine], truth[~mine])
            likely[mine] = model.predict_proba(table[mine])[:, 1] > LIKELY
        is_labelled = np.arange(len(rows)) < len(told)
        groups = [(str(author), authors == author) for author in np.unique(authors)]
        for name, chosen in (*groups, ("all labelled", is_labelled), ("plain talk", ~is_labelled)):
            shares = (
                f"{kind} {found[chosen & truth].sum()}/{(chosen & truth).sum()} and "
                f"{found[chosen & ~truth].sum()}/{(chosen & ~truth).sum()}"
                for kind, found in (("words", by_words), ("head", likely), ("both", by_words | likely))
            )
            print(f"{name:14} {', '.join(shares)}", flush=True)
    learned = authors != HELD_OUT
    model = fitted(table[learned], truth[learned])
    places, classes = np.split(model.coef_[0], [SIZE])
    kept = in_eight_bits("head", places) | {"head_classes": classes.astype(np.float32)}
    np.savez_compressed(out, allow_pickle=False, names=np.array(names), bias=np.float32(model.intercept_[0]), **kept)
    print(f"{out.name}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    typer.run(main)
