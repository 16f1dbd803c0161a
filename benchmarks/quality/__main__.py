"""Measure the pipeline's judgement on a folder of labelled data.

    python -m benchmarks.quality --data DIR --out DIR

Each part of the data goes through the same code that the worker runs, in process, into a catalog and an index of its
own; what was kept and what a search finds is written as the answer files that the folder's `score.py` reads.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Annotated, Final, TypeVar

import typer
from rich.console import Console

import benchmarks.quality.data as data_folder
from benchmarks.quality.blocks import budget_table, cited_line, fading_table
from benchmarks.quality.house import Spent
from benchmarks.quality.processes import run_all
from benchmarks.quality.report import cost_table, goal_table, recall_table, scored, silence_table
from benchmarks.quality.runs import Answers, Attacks, Chats, Conversation, Pairs, Piece, Row, Secrets

T = TypeVar("T")
PARTS: Final = ("locomo", "msc", "pairs", "attack", "pii")
_CHATS_A_PIECE: Final = 20
_LINES_A_PIECE: Final = 50
_PAIRS_A_PIECE: Final = 500
console = Console()
app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command()
def main(
    data: Annotated[Path, typer.Option(help="The folder with the data.", exists=True, file_okay=False)],
    out: Annotated[Path, typer.Option(help="Where the answer files go; those of an earlier run are replaced.")],
    only: Annotated[str, typer.Option(help="Parts to run, with commas between.")] = ",".join(PARTS),
    every: Annotated[
        int, typer.Option(min=1, help="Take every n-th MSC chat, pair and line only, for a first look.")
    ] = 1,
    llm: Annotated[
        bool, typer.Option("--llm", help="Use AFTERTURN_EXTRACTOR and AFTERTURN_LLM as they are set, not the rules.")
    ] = False,
    processes: Annotated[int, typer.Option(min=1, help="How many processes share the work.")] = os.cpu_count() or 1,
    vectors: Annotated[
        Path | None, typer.Option(help="A file that keeps vectors from run to run: faster when run again and again.")
    ] = None,
) -> None:
    """Measure the judgement of the pipeline: what it keeps, what it merges, what it refuses, what a search finds.

    Reads from DATA whatever is there of

      [bold]locomo[/bold]  locomo_turns.jsonl.gz, locomo_queries.jsonl.gz: conversations and questions about them
      [bold]msc[/bold]     msc_worth.jsonl.gz: turns labelled by whether a person wrote down a fact from them
      [bold]pairs[/bold]   pairs.jsonl.gz: pairs of statements, same, different or contradicting
      [bold]attack[/bold]  attack.jsonl.gz: planted instructions, and texts that only look like them
      [bold]pii[/bold]     pii.jsonl.gz: texts with personal data

    and writes decisions.jsonl, ranked.jsonl, pairs.jsonl, attack.jsonl and pii.jsonl to OUT, which DATA/score.py reads
    if it is there, and memories.jsonl, the LoCoMo memories for a person to read. Policy constants are taken from the
    environment, so SEMANTIC_CHECK_LOW=0.7 before the command tries another threshold.

    A first look in a minute: --only locomo. Everything takes about ten minutes on two cores.
    """
    pieces = {part: _pieces(part, data, every) for part in _chosen(only)}
    out.mkdir(parents=True, exist_ok=True)
    answers = run_all(pieces, llm=llm, processes=processes, vectors=vectors, console=console)
    _write(answers, out)
    _report(answers, data, out, kept=vectors is not None)


def _chosen(only: str) -> list[str]:
    chosen = [part.strip() for part in only.split(",") if part.strip()]
    unknown = sorted(set(chosen) - set(PARTS))
    if unknown or not chosen:
        raise typer.BadParameter(f"--only takes some of {', '.join(PARTS)}; not {', '.join(unknown) or 'nothing'}")
    return [part for part in PARTS if part in chosen]


def _pieces(part: str, data: Path, every: int) -> list[Piece]:
    """Return the work that a part of the data gives, in pieces for the processes, largest first."""
    if missing := data_folder.missing(data, part):
        console.print(f"[yellow]{part} is left out:[/yellow] {data} has no {', '.join(missing)}")
        return []
    if part == "locomo":
        asked = data_folder.questions(data)
        conversations = groupby(data_folder.utterances(data), key=lambda utterance: utterance.conversation)
        turns_of = {name: tuple(turns) for name, turns in conversations}
        names = list(turns_of)
        about = {name: tuple(question for question in asked if question.conversation == name) for name in names}
        others = dict(zip(names, [*names[1:], names[0]], strict=True))
        found = [Conversation(turns_of[name], about[name], about[others[name]]) for name in names]
        return sorted(found, key=lambda piece: -piece.size)
    if part == "msc":
        chats = [list(turns) for _, turns in groupby(data_folder.labelled(data), key=lambda turn: turn.conversation)]
        pieces = _split(chats[::every], _CHATS_A_PIECE)
        return [Chats(tuple(turn for chat in piece for turn in chat)) for piece in pieces]
    if part == "pairs":
        return [Pairs(tuple(piece)) for piece in _split(data_folder.pairs(data)[::every], _PAIRS_A_PIECE)]
    sort = Attacks if part == "attack" else Secrets
    return [sort(tuple(piece)) for piece in _split(data_folder.lines(data, part)[::every], _LINES_A_PIECE)]


def _split(rows: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _write(answers: dict[str, list[Answers]], out: Path) -> None:
    rows: dict[str, list[Row]] = {}
    for answers_of_part in answers.values():
        for answer in answers_of_part:
            for name, found in answer.rows.items():
                rows.setdefault(name, []).extend(found)
    for name in ("decisions", "ranked", "strange", "memories", "blocks", "pairs", "attack", "pii"):
        path = out / f"{name}.jsonl"
        path.unlink(missing_ok=True)
        if name in rows:
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows[name]), encoding="utf-8")
            console.print(f"{path}: {len(rows[name]):,} rows")


def _report(answers: dict[str, list[Answers]], data: Path, out: Path, *, kept: bool) -> None:
    if "locomo" in answers:
        rankings = {row["qid"]: row["ranked"] for answer in answers["locomo"] for row in answer.rows["ranked"]}
        console.print(recall_table(data_folder.questions(data), rankings))
        own = {row["qid"]: row["evidence"] for answer in answers["locomo"] for row in answer.rows["ranked"]}
        strange = [row["evidence"] for answer in answers["locomo"] for row in answer.rows["strange"]]
        console.print(silence_table(data_folder.questions(data), rankings, own, strange))
        blocks = [row for answer in answers["locomo"] for row in answer.rows["blocks"]]
        memories = [row for answer in answers["locomo"] for row in answer.rows["memories"]]
        console.print(budget_table(data_folder.questions(data), blocks))
        console.print(cited_line(blocks, memories, data_folder.utterances(data)))
        console.print(fading_table(data_folder.questions(data), memories))
    scores = scored(data, out)
    if scores is None:
        console.print(f"[yellow]No scores:[/yellow] {data} has no score.py; the answers are in {out}")
    else:
        (out / "scores.json").write_text(json.dumps(scores, indent=1), encoding="utf-8")
        console.print(goal_table(scores))
    costs = {
        part: (_together(answers_of_part), sum(answer.memories for answer in answers_of_part))
        for part, answers_of_part in answers.items()
    }
    console.print(cost_table(costs, kept=kept))


def _together(answers: Sequence[Answers]) -> Spent:
    total = Spent()
    for answer in answers:
        total.add(answer.spent)
    return total


if __name__ == "__main__":
    app()
