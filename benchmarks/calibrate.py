"""Measure the embedder's scale on labelled pairs and choose dedup's thresholds for it.

    python -m benchmarks.calibrate --data DIR

The embedder is that of the settings: AFTERTURN_EMBEDDER=onnx AFTERTURN_EMBEDDER_MODEL=FOLDER, for example.

DIR holds `pairs.jsonl.gz`: JSON lines {ds, a, b, label}, where ds names the data set and label is same, different,
related or contradiction. Every text is embedded once and each pair's cosine taken.

A threshold is chosen by two rates. Recall is the share of "same" pairs at or above it, false alarm the share of
"different" ones, each taken per data set and then averaged over the data sets that have both labels, so that a large
one does not outvote the others; precision is recall / (recall + false alarm), which is precision where same and
different are equally many.

    check_low     the highest cosine that still finds 85% of the same (semantic), 80% (episodic)
    auto_update   the lowest cosine from which precision is and stays 90% (semantic), 93% (episodic)

Episodes are told apart more strictly, as in the "S3 Vectors Memory Implementation Plan (V1)", configuration knobs:
two similar events are more often two events than two similar statements are two facts.

Contradictions have no say: some are as close as duplicates, whatever the threshold. The same-fact test, which runs
above both thresholds, tells them apart.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table

from schema import Thresholds
from schema.settings import load_settings, variable_of
from stores.embedding import Embedder, open_embedder

Cosines = NDArray[np.float64]
Groups = dict[tuple[str, str], Cosines]
"""Cosines by data set and label."""

RECALL = {"semantic_check_low": 0.85, "episodic_check_low": 0.80}
PRECISION = {"semantic_auto_update": 0.90, "episodic_auto_update": 0.93}
RESAMPLES = 200

_GRID = np.round(np.arange(0.0, 1.0, 0.01), 2)
_LABELS = ("same", "related", "different", "contradiction")
_TEXTS_AT_A_TIME = 256
_TABLE_WIDTH = 110


def read_pairs(data: Path) -> list[tuple[str, str, str, str]]:
    """Return (data set, label, a, b) of every pair whose texts are not blank.

    Raises:
        typer.BadParameter: there is no such file, or a line of it is no pair.
    """
    path = data / "pairs.jsonl.gz"
    if not path.is_file():
        raise typer.BadParameter(f"{path} is not there; --data names the folder that holds pairs.jsonl.gz")
    pairs = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                pair = json.loads(line)
                fields = (pair["ds"], pair["label"], pair["a"], pair["b"])
            except (ValueError, KeyError, TypeError) as error:
                raise typer.BadParameter(f"{path}, line {number}: no pair of the fields ds, a, b, label") from error
            if fields[2].strip() and fields[3].strip():
                pairs.append(fields)
    return pairs


def measure(pairs: list[tuple[str, str, str, str]], embedder: Embedder) -> Groups:
    """Return the cosine of every pair, by data set and label; each text is embedded once."""
    texts = list(dict.fromkeys(text for *_, a, b in pairs for text in (a, b)))
    vectors = np.empty((len(texts), embedder.dimensions), dtype=np.float32)
    for start in track(range(0, len(texts), _TEXTS_AT_A_TIME), description=f"Embedding {len(texts):,} texts"):
        part = texts[start : start + _TEXTS_AT_A_TIME]
        vectors[start : start + len(part)] = embedder.embed(part)
    position = {text: number for number, text in enumerate(texts)}
    groups: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for name, label, a, b in pairs:
        groups[name, label].append(float(vectors[position[a]] @ vectors[position[b]]))
    return {group: np.sort(cosines) for group, cosines in groups.items()}


def rates(groups: Groups, label: str) -> Cosines:
    """Return the share of a label's pairs at or above each cosine of the grid, averaged over the data sets that
    have both "same" and "different" pairs.

    Raises:
        typer.BadParameter: none has.
    """
    both = [name for name, kind in groups if kind == "same" and (name, "different") in groups]
    if not both:
        raise typer.BadParameter('no data set has both "same" and "different" pairs, so nothing can be chosen')
    below = [np.searchsorted(groups[name, label], _GRID) / len(groups[name, label]) for name in both]
    return np.asarray(1.0 - np.mean(below, axis=0))


def choose(groups: Groups) -> Thresholds:
    """Return the thresholds by the criterion above, to two decimals."""
    recall, false_alarm = rates(groups, "same"), rates(groups, "different")
    found = recall > 0
    precision = np.where(found, recall / np.where(found, recall + false_alarm, 1.0), 1.0)
    stays = np.minimum.accumulate(precision[::-1])[::-1]
    chosen = {name: _GRID[recall >= least].max() for name, least in RECALL.items()}
    chosen |= {name: _GRID[stays >= least].min(initial=float(_GRID[-1])) for name, least in PRECISION.items()}
    return Thresholds.model_validate(chosen)


def intervals(groups: Groups) -> dict[str, tuple[float, float]]:
    """Return between which values each threshold falls in nine of ten resamplings of the pairs (bootstrap)."""
    random = np.random.default_rng(0)
    resampled = (
        choose({group: np.sort(random.choice(cosines, len(cosines))) for group, cosines in groups.items()})
        for _ in track(range(RESAMPLES), description="Resampling")
    )
    drawn = [thresholds.model_dump(exclude_none=True) for thresholds in resampled]
    ends = {name: np.quantile([draw[name] for draw in drawn], (0.05, 0.95)) for name in drawn[0]}
    return {name: (float(low), float(high)) for name, (low, high) in ends.items()}


def distribution(groups: Groups, thresholds: Thresholds) -> list[list[str]]:
    """Return rows of the table of cosines: all data sets together by label, then each by itself."""
    gathered = {
        ("all", label): np.concatenate([cosines for (_, kind), cosines in groups.items() if kind == label])
        for label in _LABELS
        if any(kind == label for _, kind in groups)
    }
    rows = []
    for (name, label), cosines in [*gathered.items(), *sorted(groups.items())]:
        quantiles = [f"{value:.2f}" for value in np.quantile(cosines, (0.05, 0.25, 0.5, 0.75, 0.95))]
        above = [
            f"{(cosines >= least).mean():.1%}"
            for least in (thresholds.semantic_check_low, thresholds.semantic_auto_update)
        ]
        rows.append([name, label, f"{len(cosines):,}", *quantiles, *above])
    return rows


def chosen_rows(groups: Groups, thresholds: Thresholds, in_code: Thresholds | None) -> list[list[str]]:
    """Return rows of the table of thresholds: chosen, where resampling puts it, its rates, and what the code holds."""
    recall, false_alarm = rates(groups, "same"), rates(groups, "different")
    between = intervals(groups)
    rows = []
    for name, value in thresholds.model_dump(exclude_none=True).items():
        at = int(np.argmin(np.abs(_GRID - value)))
        precision = recall[at] / (recall[at] + false_alarm[at])
        low, high = between[name]
        rows.append(
            [
                name,
                f"{value:.2f}",
                f"{low:.2f} to {high:.2f}",
                *(f"{rate:.1%}" for rate in (recall[at], false_alarm[at], precision)),
                f"{getattr(in_code, name):.2f}" if in_code else "none",
            ]
        )
    return rows


DISTRIBUTION_HEAD = ["data set", "label", "pairs", "p5", "p25", "median", "p75", "p95", "≥ check_low", "≥ auto_update"]
CHOSEN_HEAD = ["threshold", "chosen", "90% of resamples", "recall of same", "false alarm", "precision", "in the code"]


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


def _shown(title: str, head: list[str], rows: list[list[str]]) -> Table:
    table = Table(title=title)
    for number, name in enumerate(head):
        table.add_column(name, justify="left" if number == 0 else "right")
    for row in rows:
        table.add_row(*row)
    return table


def page(embedder: Embedder, groups: Groups, chosen: list[list[str]], distributed: list[list[str]], out: Path) -> str:
    """Return the page for docs/reference."""
    return f"""# Calibration of {embedder.name}

Cosine scales differ from model to model, so dedup's thresholds belong to the embedder and are measured. This page is
written by

    python -m benchmarks.calibrate --data DIR --out {out.as_posix()}

on {datetime.now(UTC):%d %B %Y}, from {sum(map(len, groups.values())):,} labelled pairs of statements.

## Thresholds

{_markdown(CHOSEN_HEAD, chosen)}

Recall is the share of "same" pairs at or above the threshold, false alarm that of "different" ones, each averaged over
the data sets that have both; precision is recall / (recall + false alarm).

- `check_low` is the highest cosine that still finds {RECALL["semantic_check_low"]:.0%} of the same pairs (semantic) or
  {RECALL["episodic_check_low"]:.0%} (episodic). Above it a candidate is compared with the memory fact by fact.
- `auto_update` is the lowest cosine from which precision is and stays {PRECISION["semantic_auto_update"]:.0%}
  (semantic) or {PRECISION["episodic_auto_update"]:.0%} (episodic). Above it a candidate counts as the same unless the
  same-fact test finds a difference.

Contradictions have no say in this. As the table below shows, some lie above either threshold, so no cosine keeps them
out: the same-fact test does (numbers, dates, places, names, polarity), and it runs above both thresholds.

"90% of resamples" says between which values the choice falls when the pairs are drawn again with replacement
({RESAMPLES} times): how much of it is chance.

## Cosines

The last two columns are the share of pairs at or above the semantic thresholds.

{_markdown(DISTRIBUTION_HEAD, distributed)}
"""


def main(
    data: Annotated[Path, typer.Option(help="folder that holds pairs.jsonl.gz (lines {ds, a, b, label})")],
    out: Annotated[Path | None, typer.Option(help="write the page there as Markdown too")] = None,
) -> None:
    """Measure the cosines of labelled pairs with the embedder of the settings, and choose dedup's thresholds for it.

    Prints which thresholds the pairs call for, beside those in the code, and how the cosines are spread. With
    --out docs/reference/calibration.md it also writes the page that the thresholds in the code refer to.
    """
    pairs = read_pairs(data)
    embedder = open_embedder(load_settings())
    groups = measure(pairs, embedder)
    thresholds = choose(groups)
    chosen = chosen_rows(groups, thresholds, embedder.thresholds)
    distributed = distribution(groups, thresholds)
    console = Console()
    console.width = max(console.width, _TABLE_WIDTH)
    console.print(_shown(f"Thresholds of {embedder.name}", CHOSEN_HEAD, chosen))
    console.print(_shown("Cosines", DISTRIBUTION_HEAD, distributed))
    if embedder.thresholds is None:
        console.print("To use this embedder, set what was chosen:")
        for name, value in thresholds.model_dump(exclude_none=True).items():
            console.print(f"{variable_of(name)}={value:.2f}")
    if out is not None:
        out.write_text(page(embedder, groups, chosen, distributed, out), encoding="utf-8")
        console.print(f"Written to {out}")


if __name__ == "__main__":
    typer.run(main)
