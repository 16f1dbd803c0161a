"""Fit the weights by which two statements are compared: `policies/pairs.json`.

    python -m benchmarks.fit_pairs --data DIR

The head "same" is fitted on the labelled pairs of DIR (`pairs.jsonl.gz`); "changed" on
`benchmarks/data/changes.jsonl`, pairs of our own in twenty-one voices, and on what the people of DIR's
`locomo_turns.jsonl.gz` say, which hardly ever changes what they said before. Everyday cases are for measuring, and
are not fitted on. Each head is first fitted without a half, or without one author, and judged on that; what is
written is fitted on all.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from memory.parser.english import parse
from policies.language.attributes import ATTRIBUTES, Prototypes, attribute_shares
from policies.language.heads import judge
from policies.language.wording import read
from policies.pairs import CHANGED_FROM, GUARDS, SAME_FROM, features_of
from schema.settings import load_settings
from stores.embedding import open_embedder
from stores.embedding.base import Embedder

Numbers = NDArray[np.float64]
_WEIGHTS: Final = Path(__file__).parents[1] / "policies" / "pairs.json"
_CHANGES: Final = Path(__file__).parent / "data" / "changes.jsonl"
_OF_SET: Final = {"sick": 8.0, "stsb": 3.0, "mrpc": 6.0, "snli": 0.15, "prosecco": 6.0, "decode_pairs": 0.05}
"""How much a pair of each set counts, so that the small ones are heard."""
_OF_CONTRADICTION: Final = 3.0
_ONLY_CHANGED: Final = ("told", "new ", "old ", "news ", "both ", "only ", "anchor", "unanchor", "behind", "fresh ")
_NAME: Final = "Maya"
_TOLD: Final = (
    ("I'm", "Maya is"),
    ("I've", "Maya has"),
    ("I'd", "Maya would"),
    ("I", "Maya"),
    ("my", "Maya's"),
    ("me", "Maya"),
)
"""How a statement is told of somebody, roughly: so do most memories read."""
_OF_CHATTER: Final = 5_000.0
_OF_ALIKE: Final = 1.5
"""How much a pair counts that only looks like a change."""
_WITH_NEAR_MISSES: Final = frozenset({"aa", "ab", "ac"})
_OF_NEAR_MISSES: Final = 0.5
"""How much a pair counts of authors who wrote a near miss in the same words beside each change: such talk is rarer than
they make it."""
_NEAREST, _EVERY = 10, 4
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")
_TELLS: Final = re.compile(r"\b(?:I|my|we|our)\b.*\w+ \w+ \w+", re.IGNORECASE)
_PARSE_AT_ONCE: Final = 64
_STRANGERS: Final = 150
"""Pairs of statements of two people a set, which change nothing."""
console = Console()


@dataclass(frozen=True)
class Pair:
    """Two statements, the later one second, with the right answer (0 or 1), its weight and where it is from."""

    old: str
    new: str
    label: int
    weight: float
    source: str
    contradicts: bool = False
    name: str = _NAME
    behind: float = 0.0
    told: float = 0.0


def main(
    data: Annotated[Path, typer.Option(help="The folder with pairs.jsonl.gz.", exists=True, file_okay=False)],
) -> None:
    """Fit both heads, say how good they are on what they did not see, and write the weights."""
    embedder = open_embedder(load_settings())
    same = list(_same_pairs(data))
    changed = _with_news([*_changes(), *_chatter(data, embedder)])
    weights = {
        "same": _fitted("same", same, embedder, SAME_FROM),
        "changed": _fitted("changed", changed, embedder, CHANGED_FROM),
    }
    _WEIGHTS.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")


def _same_pairs(data: Path) -> Iterator[Pair]:
    with gzip.open(data / "pairs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            same, contradicts = row["label"] == "same", row["label"] == "contradiction"
            # What one SNLI sentence follows from is not the same statement.
            if row["a"].strip() and row["b"].strip() and not (row["ds"] == "snli" and same):
                weight = _OF_SET.get(row["ds"], 1.0) * (_OF_CONTRADICTION if contradicts else 1.0)
                yield Pair(row["a"][:600], row["b"][:600], int(same), weight, row["ds"], contradicts)


def _changes() -> list[Pair]:
    rows = [json.loads(line) for line in _CHANGES.read_text(encoding="utf-8").splitlines()]
    found: list[Pair] = []
    for author in sorted({row["author"] for row in rows}):
        of_author = _OF_NEAR_MISSES if author in _WITH_NEAR_MISSES else 1.0
        mine = [
            Pair(
                row["old"],
                row["new"],
                row["change"],
                of_author * (1.0 if row["change"] else _OF_ALIKE),
                f"changes {author}",
            )
            for row in rows
            if row["author"] == author
        ]
        found += _with_told(mine + _strangers(mine))
    return found


def _chatter(data: Path, embedder: Embedder) -> list[Pair]:
    """Yield sentences of people who talk for months, each beside the nearest that they said before: hardly any changes
    another.

    All of them together count as much as `_OF_CHATTER` pairs.
    """
    said: dict[tuple[str, str], list[str]] = {}
    with gzip.open(data / "locomo_turns.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            sentences = (one.strip() for one in (*_SENTENCE.findall(row["text"]), row["text"][:400]))
            said.setdefault((row["conv"], row["speaker"]), []).extend(one for one in sentences if _TELLS.search(one))
    found = []
    for (_, speaker), spoken in said.items():
        vectors = embedder.embed(spoken)
        for place in range(_NEAREST, len(spoken), _EVERY):
            cosines = vectors[:place] @ vectors[place]
            near = np.argsort(cosines)[-_NEAREST:]
            found += [
                Pair(
                    spoken[i],
                    spoken[place],
                    0,
                    1.0,
                    "chatter, strangers",
                    name=speaker,
                    behind=float(cosines.max() - cosines[i]),
                )
                for i in near.tolist()
                if spoken[i] != spoken[place]
            ]
    return [replace(pair, weight=_OF_CHATTER / len(found)) for pair in found]


def _with_told(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs as they were said, and as they are told of somebody."""
    return [*pairs, *(replace(pair, old=told(pair.old), new=told(pair.new)) for pair in pairs)]


def told(text: str) -> str:
    """Return a statement as it is told of somebody, roughly."""
    for said, retold in _TOLD:
        text = re.sub(rf"\b{said}\b", retold, text, flags=re.IGNORECASE)
    return text if text.startswith(_NAME) else f"{_NAME}: {text}"


def _with_news(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with how likely the later statement tells of a change by itself."""
    texts = list(dict.fromkeys(pair.new for pair in pairs))
    read_in = (
        one for start in range(0, len(texts), _PARSE_AT_ONCE) for one in parse(texts[start : start + _PARSE_AT_ONCE])
    )
    news = {text: judge(text, parsed).news for text, parsed in zip(texts, read_in, strict=True)}
    return [replace(pair, told=news[pair.new]) for pair in pairs]


def _strangers(pairs: Sequence[Pair]) -> list[Pair]:
    chance = np.random.default_rng(1)
    drawn = chance.integers(0, len(pairs), (_STRANGERS, 2))
    return [Pair(pairs[i].old, pairs[j].new, 0, 1.0, f"{pairs[i].source}, strangers") for i, j in drawn if i != j]


def _fitted(head: str, pairs: Sequence[Pair], embedder: Embedder, least: float) -> dict[str, float]:
    names, seen = _seen(head, pairs, embedder)
    labels = np.array([pair.label for pair in pairs], dtype=np.float64)
    weights = np.array([pair.weight for pair in pairs])
    kept = np.array([not row.any() for row in seen["guards"]])
    rows = seen["rows"]
    groups = np.array([pair.source.split(",")[0] for pair in pairs])
    authors = [group for group in dict.fromkeys(groups.tolist()) if group != "chatter"]
    folds = (
        np.random.default_rng(0).integers(0, 2, len(pairs))
        if head == "same"
        else np.array([n % len(authors) if g == "chatter" else authors.index(g) for n, g in enumerate(groups)])
    )
    for fold in np.unique(folds):
        fit, judged = (folds != fold) & kept, folds == fold
        raw = rows[judged] @ _logistic(rows[fit], labels[fit], weights[fit])
        _report(
            head, [pair for pair, one in zip(pairs, judged, strict=True) if one], kept[judged] & (_share(raw) >= least)
        )
    found = _logistic(rows[kept], labels[kept], weights[kept])
    return {name: round(float(weight), 3) for name, weight in zip(names, found, strict=True) if abs(weight) >= 0.0005}


def _seen(head: str, pairs: Sequence[Pair], embedder: Embedder) -> tuple[list[str], dict[str, Any]]:
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.old, pair.new)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True))
    prototypes = Prototypes(embedder.embed(Prototypes.texts()))
    single = np.array([one.single for one in ATTRIBUTES.values()], dtype=np.float64)
    about: dict[str, Numbers] = {}
    if head == "changed":
        about = {text: np.array(list(attribute_shares(vectors[text], prototypes).values())) for text in texts}
    found = []
    for pair in pairs:
        both = about[pair.old] * about[pair.new] if about else np.zeros(1)
        cosine = float(vectors[pair.old] @ vectors[pair.new])
        one = float(both @ single) if about else 0.0
        found.append(
            features_of(
                read(pair.old, pair.name),
                read(pair.new, pair.name),
                cosine,
                float(both.sum()),
                one,
                pair.behind,
                pair.told,
            )
        )
    wanted = [
        name for name in found[0] if head == "changed" or (name != "repeated" and not name.startswith(_ONLY_CHANGED))
    ]
    guards = GUARDS if head == "same" else ()
    return wanted, {
        "rows": np.array([[one[name] for name in wanted] for one in found]),
        "guards": np.array([[one[name] for name in guards] for one in found]),
    }


def _logistic(rows: Numbers, labels: Numbers, weights: Numbers, penalty: float = 1.0) -> Numbers:
    """Return the weights of a logistic regression, by Newton's method."""
    found: Numbers = np.zeros(rows.shape[1], dtype=np.float64)
    for _ in range(40):
        share = _share(rows @ found)
        gradient = rows.T @ (weights * (share - labels)) + penalty * found
        curvature = (rows * (weights * share * (1 - share))[:, None]).T @ rows + penalty * np.eye(rows.shape[1])
        step = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
        found = np.subtract(found, step, dtype=np.float64)
        if np.abs(step).max() < 1e-6:
            break
    return found


def _share(raw: Numbers) -> Numbers:
    share: Numbers = 1.0 / (1.0 + np.exp(-np.clip(raw, -30, 30)))
    return share


def _report(head: str, pairs: Sequence[Pair], said: NDArray[np.bool_]) -> None:
    for source in dict.fromkeys(pair.source for pair in pairs):
        mine = [(pair, bool(yes)) for pair, yes in zip(pairs, said, strict=True) if pair.source == source]
        right, called = sum(pair.label for pair, _ in mine), sum(yes for _, yes in mine)
        hit = sum(yes for pair, yes in mine if pair.label)
        against = [yes for pair, yes in mine if (pair.contradicts if head == "same" else not pair.label)]
        wrong = f"{sum(against) / len(against):.3f} of {len(against)}" if against else "-"
        f1 = f"{2 * hit / (right + called):.3f}" if right else "-"
        recall = f"{hit / right:.3f}" if right else "-"
        console.print(f"{head:>8}  {source:<20} F1 {f1}  recall {recall}  wrongly {wrong}")


if __name__ == "__main__":
    typer.run(main)
