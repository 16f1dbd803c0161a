"""Measure what the pipeline makes of everyday cases.

    python -m benchmarks.everyday --cases FILE --out FILE [--llm record DIR | --llm replay DIR]

Each case is a new user whose turns go, in order and one by one, through the same code that the worker runs, in
process, into stores of its own. The summaries of the memories that are active afterwards are the answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.console import Console

from benchmarks.everyday.cases import Case, Cases, read_cases
from benchmarks.everyday.recorded import sizes, use
from benchmarks.everyday.score import Score, Tally, table, unheard_words
from benchmarks.quality.processes import run_all

_CASES_A_PIECE: Final = 10
console = Console()
app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command()
def main(
    cases: Annotated[Path, typer.Option(help="The cases, JSON lines.", exists=True, dir_okay=False)],
    out: Annotated[Path, typer.Option(help="Where the answers go, a case a line.", dir_okay=False)],
    kinds: Annotated[str, typer.Option(help="Kinds of cases to run, with commas between; all unless said.")] = "",
    show: Annotated[str, typer.Option(help='List the wrong cases of a kind, or of "all".')] = "",
    llm: Annotated[
        tuple[str, Path] | None,
        typer.Option(
            help="Ask a language model: `record DIR` answers from *.jsonl in DIR and writes what it cannot answer to "
            "DIR/prompts, `replay DIR` answers only."
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Use AFTERTURN_EXTRACTOR and AFTERTURN_LLM as they are set, not the rules.")
    ] = False,
    processes: Annotated[int, typer.Option(min=1, help="How many processes share the work.")] = 2,
) -> None:
    """Measure what is known after everyday talk: facts that change, plans, wishes to forget, tasks that tell nothing.

    Writes {"id", "active": [summaries]} to OUT and prints, by kind, how many cases are right; in how many something is
    missing, false, or kept where nothing should be; and how many memories have words that nobody said.
    """
    chosen = read_cases(cases, [kind.strip() for kind in kinds.split(",") if kind.strip()])
    if not chosen:
        raise typer.BadParameter(f"{cases} has no case of the kinds {kinds}", param_hint="--kinds")
    if llm and llm[0] not in ("record", "replay"):
        raise typer.BadParameter("say `record DIR` or `replay DIR`", param_hint="--llm")
    if llm:
        use(llm[1], record=llm[0] == "record")
    pieces = [Cases(tuple(chosen[at : at + _CASES_A_PIECE])) for at in range(0, len(chosen), _CASES_A_PIECE)]
    answered = run_all(
        {"cases": pieces}, llm=live or llm is not None, processes=processes, vectors=None, console=console
    )["cases"]
    found = {row["id"]: row for one in answered for row in one.rows["everyday"]}
    answers = {id_: row["active"] for id_, row in found.items()}
    rows = (found[case.id] for case in chosen)
    out.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    _report(chosen, answers, show)
    if llm:
        _report_calls(llm[1], chosen, [row["unanswered"] for row in found.values() if "unanswered" in row])


def _report(cases: Sequence[Case], answers: Mapping[str, Sequence[str]], show: str) -> None:
    tallies: dict[str, Tally] = {}
    for case in cases:
        found = tallies.setdefault(case.kind, Tally()).add(case, answers[case.id])
        if not found.right and show in (case.kind, "all"):
            _show(case, answers[case.id], found)
    console.print(table(tallies), soft_wrap=True)


def _report_calls(folder: Path, cases: Sequence[Case], unanswered: Sequence[str]) -> None:
    sent = list(sizes(folder))
    turns = sum(len(case.said) for case in cases)
    console.print(
        f"{len(sent):,} calls of {turns:,} turns; characters sent with the schema: "
        f"{sum(sent) / max(1, len(sent)):,.0f} a call, {max(sent, default=0):,} at most, "
        f"{sum(sent) / max(1, turns):,.0f} a turn."
    )
    if unanswered:
        console.print(f"{len(unanswered):,} cases wait for an answer to a prompt:", ", ".join(sorted(set(unanswered))))


def _show(case: Case, active: Sequence[str], found: Score) -> None:
    """Print a case that is wrong: what was said, what is known, what is amiss."""
    lines = [case.id]
    for saying in case.said:
        lines.append(f"  {saying.at:%Y-%m-%d %H:%M}  {saying.text}")
        lines += [f"             (assistant: {saying.assistant})"] if saying.assistant else []
    for summary in active:
        wrong = "false" if summary in found.false else "needless" if summary in found.needless else "known"
        unheard = ", ".join(unheard_words(summary, case))
        lines.append(f"    {wrong}: {summary}" + (f"   [unheard: {unheard}]" if unheard else ""))
    lines += [f"    missing: {' + '.join(group)}" for group in found.missing]
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    app()
