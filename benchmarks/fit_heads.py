"""Fit the heads on the labelled utterances, say how right they are on each author held out, and write the weights.

`python -m benchmarks.fit_heads` takes some thirteen minutes on two cores, `--no-held-out` two.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.fit_life_topics import WEIGHTS as TOPIC_WEIGHTS
from benchmarks.fit_life_topics import held_out_of_topics, of_topics, write_topics
from memory.parser.english import parse
from policies.language.features import BLOCKS, BUCKETS, FLAG_WEIGHT, SIZE, Features, features_of
from policies.language.flags import FLAGS
from policies.language.heads import HEADS, NO_ATTRIBUTE
from policies.language.parse import Parsed

DATA: Final = Path(__file__).parent / "data" / "utterances"
WEIGHTS: Final = Path(__file__).parent.parent / "policies" / "language" / "data" / "heads.npz"
_STRENGTH: Final = 1.0
"""Inverse of the regularisation; 0.3 and 3 are within half a point on the authors held out."""
_STEPS: Final = 300
_YES_NO: Final = ("worth", "planted")
_INTENT_ALONE: Final = frozenset({"i", "j", "l", "m", "n", "x"})
"""Authors from whom the head of intents alone learns: with them the others brought everyday cases no further."""
_PARSE_AT_ONCE: Final = 64


@dataclass(frozen=True)
class Row:
    """A labelled utterance; `labels` by head, as text. A head of which nothing was said is not fitted on it."""

    author: str
    text: str
    before: str
    language: str
    labels: dict[str, str]


def rows_in(folder: Path) -> list[Row]:
    """Return the utterances of all authors in a folder, `author_NAME.jsonl` each."""
    rows = []
    for path in sorted(folder.glob("author_*.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            author = path.stem.removeprefix("author_")
            heads = [head for head in HEADS if head in row and (author not in _INTENT_ALONE or head == "intent")]
            labels = {head: NO_ATTRIBUTE if row[head] is None else str(row[head]) for head in heads}
            rows.append(Row(author, row["text"], row.get("before", ""), row["lang"], labels))
    return rows


def plain_rows() -> list[Row]:
    """Return what people told in a few words (`data/plain`): all of it is worth a memory."""
    return [
        Row(path.stem, json.loads(line)["told"], "", "en", {"worth": "1"})
        for path in sorted(DATA.with_name("plain").glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]


def parses_of(rows: Sequence[Row]) -> list[Parsed | None]:
    """Return the parse of each English utterance, None for one in another language."""
    english = [row.text for row in rows if row.language == "en"]
    parsed = iter(
        [parsed for i in range(0, len(english), _PARSE_AT_ONCE) for parsed in parse(english[i : i + _PARSE_AT_ONCE])]
    )
    return [next(parsed) if row.language == "en" else None for row in rows]


def matrix(many: Sequence[Features]) -> Any:
    """Return the features as a sparse matrix, (utterances, SIZE)."""
    from scipy.sparse import csr_matrix

    values: list[float] = []
    places: list[int] = []
    ends = [0]
    for features in many:
        row: dict[int, float] = defaultdict(float)
        for name, block in features.blocks.items():
            for bucket in block:
                row[bucket] += BLOCKS[name] / len(block) ** 0.5
        for flag in features.flags:
            row[BUCKETS + FLAGS[flag]] = FLAG_WEIGHT
        places += sorted(row)
        values += [row[bucket] for bucket in sorted(row)]
        ends.append(len(places))
    return csr_matrix((values, places, ends), shape=(len(many), SIZE), dtype=np.float64)


def fitted(features: Any, labels: NDArray[np.str_]) -> Any:
    """Return a logistic regression with classes weighed alike."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=_STRENGTH, max_iter=_STEPS, tol=1e-3, class_weight="balanced")
    return model.fit(features, labels)


def balanced(truth: NDArray[np.str_], predicted: NDArray[np.str_]) -> float:
    """Return the mean, over the labels that occur, of the share of each that was found."""
    return float(np.mean([(predicted[truth == label] == label).mean() for label in np.unique(truth)]))


def held_out(rows: Sequence[Row], parsed: Any, unparsed: Any) -> None:
    """Print how right each head is on each author when fitted on the others, with and without a parse."""
    every_author = np.array([row.author for row in rows])
    every_parsed, every_unparsed = parsed, unparsed
    print("head        majority  accuracy  balanced  without parse  by author")
    for head in HEADS:
        labelled = np.array([head in row.labels for row in rows])
        truth = np.array([row.labels[head] for row in rows if head in row.labels])
        authors, parsed, unparsed = every_author[labelled], every_parsed[labelled], every_unparsed[labelled]
        found = truth.copy()
        plainly = truth.copy()
        by_author, majority = [], []
        for author in np.unique(authors):
            rest, mine = authors != author, authors == author
            model = fitted(_both(parsed[rest], unparsed[rest]), np.concatenate([truth[rest], truth[rest]]))
            found[mine], plainly[mine] = model.predict(parsed[mine]), model.predict(unparsed[mine])
            by_author.append(f"{author} {(found[mine] == truth[mine]).mean():.2f}")
            common = Counter(truth[rest].tolist()).most_common(1)[0][0]
            majority.append((truth[mine] == common).sum())
        print(
            f"{head:12}{sum(majority) / len(truth):8.3f}{(found == truth).mean():10.3f}{balanced(truth, found):10.3f}"
            f"{(plainly == truth).mean():8.3f}/{balanced(truth, plainly):.3f}  {', '.join(by_author)}",
            flush=True,
        )
        if head not in ("attribute", *_YES_NO):
            for label in np.unique(truth):
                right = (found == label) & (truth == label)
                print(
                    f"    {label:14} {int((truth == label).sum()):5}  found {right.sum() / (truth == label).sum():.2f}"
                    f"  right {right.sum() / max((found == label).sum(), 1):.2f}"
                )


def _both(parsed: Any, unparsed: Any) -> Any:
    from scipy.sparse import vstack

    return vstack([parsed, unparsed])


def in_eight_bits(head: str, places: NDArray[Any]) -> dict[str, Any]:
    """Return the weights of buckets and flags of one label as they are kept."""
    scale = np.abs(places).max() / 127
    return {f"{head}_places": np.round(places / scale).astype(np.int8), f"{head}_scale": np.float32(scale)}


def write(rows: Sequence[Row], features: Any, path: Path) -> None:
    """Write the weights of all heads, fitted on all authors, in eight bits each with a scale a label."""
    columns, bias = [], []
    labels: dict[str, Any] = {}
    for head in HEADS:
        labelled = np.array([head in row.labels for row in rows])
        truth = np.array([row.labels[head] for row in rows if head in row.labels])
        model = fitted(features[np.concatenate([labelled, labelled])], np.concatenate([truth, truth]))
        columns.append(model.coef_.T)
        bias.append(model.intercept_)
        labels[f"labels_{head}"] = np.array(["1"]) if head in _YES_NO else model.classes_.astype("U")
    every = np.concatenate(columns, axis=1)
    scale = np.abs(every).max(axis=0) / 127
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        path,
        rows=np.round(every / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        bias=np.concatenate(bias).astype(np.float32),
        **labels,
    )
    print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB, {every.shape[1]} labels")


def main(
    data: Annotated[Path, typer.Option(help="The folder with the utterances.")] = DATA,
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = WEIGHTS,
    held: Annotated[bool, typer.Option("--held-out/--no-held-out", help="Leave each author out once.")] = True,
) -> None:
    """Fit the heads on labelled utterances."""
    rows = [*rows_in(data), *plain_rows()]
    parsed = matrix([features_of(r.text, p, r.before, r.language) for r, p in zip(rows, parses_of(rows), strict=True)])
    unparsed = matrix([features_of(r.text, None, r.before, r.language) for r in rows])
    if held:
        held_out(rows, parsed, unparsed)
    write(rows, _both(parsed, unparsed), out)
    topics = of_topics(data)
    if held:
        held_out_of_topics(topics)
    write_topics(topics, out.with_name(TOPIC_WEIGHTS.name))


if __name__ == "__main__":
    typer.run(main)
