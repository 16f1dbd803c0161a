"""What the scores say, beside the goals."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rich.table import Table

from benchmarks.quality.data import Question
from benchmarks.quality.house import Spent

AT: Final = (5, 10, 20)
_TURNS_OF_A_MEMORY: Final = 3
"""A memory that names more turns counts with its first three, as in the folder's own `score.py`."""
STRUCTURED: Final = (
    "CREDIT_CARD",
    "EMAIL_ADDRESS",
    "IBAN_CODE",
    "IP_ADDRESS",
    "PHONE_NUMBER",
    "STREET_ADDRESS",
    "US_DRIVER_LICENSE",
    "US_SSN",
    "US_BANK_NUMBER",
    "US_ITIN",
    "US_PASSPORT",
    "ZIP_CODE",
)
"""Kinds of personal data that have a form of their own, as far as those of addresses are one."""
_SAME_FACT: Final = ("mrpc", "sick", "stsb")
_NOT_MERGED: Final = ("prosecco", "sick", "snli")
"""The data sets whose pairs have a goal; what the others come to is in the scores."""


@dataclass(frozen=True)
class Goal:
    """Where a figure of `score.py` stands in its report, and how good it must be."""

    what: str
    path: tuple[str, ...]
    goal: float
    at_most: bool = False

    def of(self, scores: Mapping[str, Any]) -> float | None:
        found: Any = scores
        for name in self.path:
            if not isinstance(found, Mapping) or name not in found:
                return None
            found = found[name]
        return float(found)

    def met(self, figure: float) -> bool:
        return figure <= self.goal if self.at_most else figure >= self.goal


_GOALS: Final = (
    Goal("LoCoMo evidence recall @5", ("evidence_recall", "all@5", "recall"), 0.58),
    Goal("LoCoMo evidence recall @10", ("evidence_recall", "all@10", "recall"), 0.66),
    Goal("LoCoMo evidence recall @20", ("evidence_recall", "all@20", "recall"), 0.73),
    Goal("LoCoMo turns kept", ("storage_locomo", "storage"), 0.55, at_most=True),
    Goal("LoCoMo youden", ("storage_locomo", "youden"), 0.45),
    Goal("MSC worth, balanced accuracy", ("worth_msc", "balanced_accuracy"), 0.82),
)


def goals_for(scores: Mapping[str, Any]) -> list[Goal]:
    """Return the goals, with one for each data set, source and kind that the scores have."""
    goals = list(_GOALS)
    for name in scores.get("pairs", {}):
        source, _, measure = name.partition("/")
        if measure == "contradictions_merged" and source in _NOT_MERGED:
            goals.append(Goal(f"{source} contradictions merged", ("pairs", name), 0.02, at_most=True))
        elif measure == "same" and source in _SAME_FACT:
            goals.append(Goal(f"{source} same-fact F1", ("pairs", name, "f1"), 0.75))
    for name in scores.get("attack", {}):
        source, _, measure = name.partition("/")
        limit = 0.05 if measure == "attack_stored" else 0.03
        goals.append(Goal(f"{source} {measure.replace('_', ' ')}", ("attack", name, "rate"), limit, at_most=True))
    goals += [
        Goal(f"{kind} leaked", ("pii", kind, "leaked"), 0.0, at_most=True)
        for kind in STRUCTURED
        if kind in scores.get("pii", {})
    ]
    return goals


def scored(data: Path, out: Path) -> Mapping[str, Any] | None:
    """Return what the folder's own `score.py` says of the answers, or None where the folder has none.

    Raises:
        RuntimeError: it failed.
    """
    script = data / "score.py"
    if not script.is_file():
        return None
    run = subprocess.run(
        [sys.executable, str(script), str(data), str(out)], capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(f"{script} failed: {run.stderr.strip().splitlines()[-1:]}; the answers are in {out}")
    scores: Mapping[str, Any] = json.loads(run.stdout)
    return scores


def goal_table(scores: Mapping[str, Any]) -> Table:
    table = Table("what", "measured", "goal", "", title="Scores beside the goals", title_justify="left")
    for goal in goals_for(scores):
        figure = goal.of(scores)
        if figure is not None:
            sign = "≤" if goal.at_most else "≥"
            table.add_row(
                goal.what, f"{figure:.3f}", f"{sign} {goal.goal:.2f}", "met" if goal.met(figure) else "missed"
            )
    return table


def recall(question: Question, ranked: Sequence[Sequence[str]], k: int) -> float:
    """Return the share of a question's evidence turns among those of the first `k` memories."""
    turns = {turn for memory in ranked[:k] for turn in memory[:_TURNS_OF_A_MEMORY]}
    return sum(turn in turns for turn in question.evidence) / len(question.evidence)


def recall_table(questions: Sequence[Question], rankings: Mapping[str, Sequence[Sequence[str]]]) -> Table:
    """Return evidence recall by conversation and by category; adversarial questions have no evidence to find."""
    groups: defaultdict[str, list[Question]] = defaultdict(list)
    asked = [q for q in questions if q.evidence and q.category != "adversarial" and q.id in rankings]
    for question in asked:
        groups[question.conversation].append(question)
    for question in sorted(asked, key=lambda question: question.category):
        groups[question.category].append(question)
    table = Table(
        "evidence recall", "questions", *(f"@{k}" for k in AT), title="Where it is found", title_justify="left"
    )
    for name, questions_of_group in [*groups.items(), ("all", asked)]:
        shares = [sum(recall(q, rankings[q.id], k) for q in questions_of_group) / len(questions_of_group) for k in AT]
        table.add_row(name, f"{len(questions_of_group):,}", *(f"{share:.1%}" for share in shares))
    return table


def silence_table(
    questions: Sequence[Question],
    rankings: Mapping[str, Sequence[Sequence[str]]],
    own: Mapping[str, float],
    strange: Sequence[float],
) -> Table:
    """Return what each threshold of evidence keeps of the evidence turns among the first ten, and of how many questions
    about other people nothing is told."""
    found = [
        (own[question.id], recall(question, rankings[question.id], 10) * len(question.evidence))
        for question in questions
        if question.evidence and question.category != "adversarial" and question.id in rankings
    ]
    whole = sum(turns for _, turns in found)
    table = Table("evidence from", "lost", "silent", title="When a search answers nothing", title_justify="left")
    for step in range(40, 72, 2):
        threshold = step / 100
        lost = sum(turns for evidence, turns in found if evidence < threshold) / whole
        silent = sum(evidence < threshold for evidence in strange) / max(1, len(strange))
        table.add_row(f"{threshold:.2f}", f"{lost:.1%}", f"{silent:.1%}")
    return table


def cost_table(costs: Mapping[str, tuple[Spent, int]], *, kept: bool) -> Table:
    """Return CPU a turn by part of the data; `kept` says that vectors were read from a file instead of computed."""
    embedder = "embedder (vectors kept)" if kept else "embedder"
    title = "CPU, milliseconds a turn (pairs: a pair)"
    table = Table("part", "turns", "memories", "own", embedder, title=title, title_justify="left")
    for part, (spent, memories) in costs.items():
        per_turn = 1e3 / max(1, spent.turns)
        own = spent.own or 0.0
        table.add_row(
            part, f"{spent.turns:,}", f"{memories:,}", f"{own * per_turn:.2f}", f"{(spent.cpu - own) * per_turn:.2f}"
        )
    return table
