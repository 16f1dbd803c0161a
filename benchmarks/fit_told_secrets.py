"""Fit the head that knows secrets told in free words, and say how right it is on each author held out.

`python -m benchmarks.fit_told_secrets` takes a minute.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.fit_heads import DATA
from policies.privacy import secrets
from policies.privacy.rules import find_all
from policies.privacy.told_features import SIZE, features_of, is_candidate
from policies.privacy.told_secrets import LEAST, may_tell
from policies.privacy.told_tokens import tokens_of

SECRETS: Final = Path(__file__).parent / "data" / "told_secrets.jsonl"
DOCS: Final = Path(__file__).parent.parent / "docs"
WEIGHTS: Final = Path(__file__).parent.parent / "policies" / "privacy" / "told_secrets.npz"
_STRENGTH: Final = 1.0
"""Inverse of the regularisation; 0.3 and 3 find less of authors held out."""
_FOLDS: Final = 5


@dataclass(frozen=True)
class Row:
    """A text, who wrote it, and the secrets that it tells, none if it only looks like one that tells any."""

    author: str
    text: str
    secrets: tuple[str, ...]


def learned() -> list[Row]:
    """Return the texts that tell a secret or look like it."""
    return [Row(row["author"], row["text"], tuple(row["secrets"])) for row in _lines(SECRETS)]


def plain_talk() -> list[Row]:
    """Return what else was written for this project in which no rule finds a secret: utterances, statements before and
    after a change, what looks like planted orders, and its documentation."""
    texts = [said["text"] for path in sorted(DATA.glob("author_*.jsonl")) for said in _lines(path)]
    texts += [said[when] for said in _lines(DATA.parent / "changes.jsonl") for when in ("old", "new")]
    texts += [said["text"] for said in _lines(DATA.parent / "planted.jsonl") if not said["planted"]]
    texts += [part for page in sorted(DOCS.rglob("*.md")) for part in page.read_text(encoding="utf-8").split("\n\n")]
    return [Row("plain", text, ()) for text in dict.fromkeys(texts) if not find_all(text, secrets.RULES)]


def _lines(path: Path) -> list[dict[str, Any]]:
    return list(map(json.loads, path.read_text(encoding="utf-8").splitlines()))


@dataclass(frozen=True)
class Table:
    """Return what is read of each token that may be a secret, (tokens, SIZE), whether it is, and of which text."""

    features: Any
    truth: NDArray[np.bool_]
    text: NDArray[np.intp]


def table(rows: list[Row]) -> Table:
    """Return the tokens of texts."""
    from scipy.sparse import csr_matrix

    values: list[float] = []
    places: list[int] = []
    ends, truth, of = [0], [], []
    for number, row in enumerate(rows):
        tokens = tokens_of(row.text) if may_tell(row.text) else []
        spans = [(start, start + len(secret)) for secret in row.secrets for start in _starts(row.text, secret)]
        for at, token in enumerate(tokens):
            if is_candidate(token):
                found = features_of(tokens, at)
                places += found
                values += found.values()
                ends.append(len(places))
                truth.append(any(token.start < end and token.end > start for start, end in spans))
                of.append(number)
    features = csr_matrix((values, places, ends), shape=(len(truth), SIZE))
    return Table(features, np.array(truth), np.array(of))


def _starts(text: str, secret: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(secret, at)]


def fitted(tables: list[tuple[Table, NDArray[np.bool_]]]) -> Any:
    """Return a logistic regression on tokens of tables, those chosen."""
    from scipy.sparse import vstack
    from sklearn.linear_model import LogisticRegression

    features = vstack([table.features[chosen] for table, chosen in tables])
    truth = np.concatenate([table.truth[chosen] for table, chosen in tables])
    return LogisticRegression(C=_STRENGTH, max_iter=300, tol=1e-4).fit(features, truth)


def highest(table: Table, scores: NDArray[np.float64], texts: int) -> NDArray[np.float64]:
    """Return the score of the likeliest token of each text."""
    result = np.full(texts, -np.inf)
    np.maximum.at(result, table.text, scores)
    return result


def held_out(groups: NDArray[Any], mine: Table, others: Table) -> NDArray[np.float64]:
    """Return the score of each text when its group was left out of the fit."""
    result = np.full(len(groups), -np.inf)
    for group in np.unique(groups):
        rest = groups[mine.text] != group
        model = fitted([(mine, rest), (others, np.ones(len(others.truth), dtype=bool))])
        scores = highest(mine, model.decision_function(mine.features), len(groups))
        result[groups == group] = scores[groups == group]
    return result


def report(rows: list[Row], scores: NDArray[np.float64], by_rules: NDArray[np.bool_], least: float) -> None:
    """Print, by author, what is found of secrets and touched of look-alikes: by the rules, by the head, by both."""
    tells = np.array([bool(row.secrets) for row in rows])
    authors = np.array([row.author for row in rows])
    for author in [*np.unique(authors), ""]:
        chosen = (authors == author) | (not author)
        shares = [
            f"{name} {found[chosen & tells].sum()}/{(chosen & tells).sum()} and "
            f"{found[chosen & ~tells].sum()}/{(chosen & ~tells).sum()}"
            for name, found in (("rules", by_rules), ("head", scores > least), ("both", by_rules | (scores > least)))
        ]
        print(f"  {author or 'all':6} {', '.join(shares)}")


def by_the_rules(rows: list[Row]) -> NDArray[np.bool_]:
    """Return in which texts the rules find something."""
    return np.array([bool(find_all(row.text, secrets.RULES)) for row in rows])


def main(
    held: Annotated[bool, typer.Option("--held-out/--no-held-out", help="Leave each author out once.")] = True,
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = WEIGHTS,
) -> None:
    """Fit the head of told secrets."""
    rows, plain = learned(), plain_talk()
    mine, others = table(rows), table(plain)
    if held:
        rules, tells = by_the_rules(rows), np.array([bool(row.secrets) for row in rows])
        authors = np.array([row.author for row in rows])
        folds = np.array([f"{row.author} {number % _FOLDS}" for number, row in enumerate(rows)])
        for name, groups in (("each author held out", authors), (f"{_FOLDS} parts of each held out", folds)):
            scores = held_out(groups, mine, others)
            print(f"{name}; 2% of look-alikes are above {np.quantile(scores[~tells], 0.98):.2f}")
            report(rows, scores, rules, LEAST)
        halves = np.arange(len(plain)) % 2 == 0
        model = fitted([(mine, np.ones(len(mine.truth), dtype=bool)), (others, halves[others.text])])
        scores = highest(others, model.decision_function(others.features), len(plain))
        touched = [
            row.text for row, score, half in zip(plain, scores, halves, strict=True) if score > LEAST and not half
        ]
        print(f"of {(~halves).sum()} texts of plain talk, not learned from: {len(touched)}", *touched, sep="\n  ")
    model = fitted([(one, np.ones(len(one.truth), dtype=bool)) for one in (mine, others)])
    scale = np.abs(model.coef_).max() / 127
    places = np.round(model.coef_[0] / scale).astype(np.int8)
    np.savez_compressed(
        out, allow_pickle=False, places=places, scale=np.float32(scale), bias=np.float32(model.intercept_[0])
    )
    print(f"{out.name}: {out.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    typer.run(main)
