"""Context blocks: how much of the evidence stands in so many tokens, and whether what is cited bears out what is said;
and what of it all the nights leave of what is not used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from rich.table import Table

from benchmarks.quality.data import Question, Utterance
from benchmarks.quality.house import House
from policies.decay import DecayState, Fate, fate
from policies.language.stems import stems
from recall.context_block import context_block
from schema import Memory, Policy, Status, Subject

BUDGETS: Final = (300, 600, 1_200)
"""Tokens that a block may take."""
_CITED_AT: Final = 600
_IDLE_DAYS: Final = (30, 60, 120, 365, 730)
_BORNE_OUT: Final = 0.5
"""Share of a summary's words, names and dates left out, that its turns have at least where they bear it out: the others
are inflections, and what a pronoun or a question before it stood for."""
Row = dict[str, Any]


def blocks_for(question: Question, subjects: Sequence[Subject], house: House) -> Row:
    """Return the turns of the memories that stand in a block of each budget, and the memories of one of them."""
    turns = {memory.id: list(memory.source_turn_ids) for subject in subjects for memory in house.memories(subject)}
    row: Row = {"qid": question.id, "turns": {}, "tokens": {}}
    for budget in BUDGETS:
        block = context_block(None, subjects, question.text, house.context, budget_tokens=budget, now=question.asked_at)
        row["turns"][budget] = [turns[id_] for id_ in block.used]
        row["tokens"][budget] = block.tokens
        if budget == _CITED_AT:
            row["cited"] = [str(id_) for id_ in block.used]
    return row


def fading(memory: Memory, policy: Policy) -> list[int]:
    """Return the numbers of days without use after which a memory is still recalled."""
    days_left = []
    for days in _IDLE_DAYS:
        now = memory.created_at + timedelta(days=days)
        state = DecayState(
            memory.status, memory.importance, memory.pinned, memory.legal_hold, memory.created_at, memory.updated_at
        )
        if fate(state, now, policy)[0] is Fate.KEEP:
            days_left.append(days)
    return days_left


def borne_out(memory: Row, heard: Mapping[str, str], names: set[str]) -> float:
    """Return the share of what a memory says, names of the speakers and numbers left out, that stands in the turns it
    cites or in what came just before them."""
    wanted = {stem for stem in stems(memory["summary"]) if not stem[0].isdigit()} - names
    words = stems(" ".join(heard.get(turn, "") for turn in memory["turns"]))
    return len(wanted & words) / len(wanted) if wanted else 1.0


def budget_table(questions: Sequence[Question], blocks: Sequence[Row]) -> Table:
    """Return the share of evidence turns in the blocks; adversarial questions have none."""
    asked = {
        question.id: question for question in questions if question.evidence and question.category != "adversarial"
    }
    found = [(asked[row["qid"]], row) for row in blocks if row["qid"] in asked]
    table = Table("budget", "evidence", "tokens", "memories", title="What a context block holds", title_justify="left")
    for budget in BUDGETS:
        shares, tokens, memories = 0.0, 0, 0
        for question, row in found:
            turns = {turn for memory in row["turns"][budget] for turn in memory[:3]}
            shares += sum(turn in turns for turn in question.evidence) / len(question.evidence)
            tokens += row["tokens"][budget]
            memories += len(row["turns"][budget])
        count = max(1, len(found))
        table.add_row(f"{budget:,}", f"{shares / count:.1%}", f"{tokens / count:.0f}", f"{memories / count:.1f}")
    return table


def cited_line(blocks: Sequence[Row], memories: Sequence[Row], utterances: Sequence[Utterance]) -> str:
    """Say how many of the memories in blocks cite turns that bear out what they say."""
    heard: dict[str, dict[str, str]] = {}
    last: Utterance | None = None
    for utterance in utterances:
        before = last.text if last is not None and last.conversation == utterance.conversation else ""
        heard.setdefault(utterance.conversation, {})[utterance.turn] = f"{before} {utterance.text}"
        last = utterance
    names = {name for utterance in utterances for name in stems(utterance.speaker)}
    cited = {id_ for row in blocks for id_ in row["cited"]}
    shown = [(memory, heard[_conversation(memory)]) for memory in memories if memory["id"] in cited]
    known = sum(set(memory["turns"]) <= turns.keys() for memory, turns in shown)
    held = sum(borne_out(memory, turns, names) >= _BORNE_OUT for memory, turns in shown)
    return (
        f"{len(shown):,} memories cited in blocks: {known:,} cite turns that there are, {held:,} are borne out by them"
    )


def fading_table(questions: Sequence[Question], memories: Sequence[Row]) -> Table:
    """Return what is recalled after so many days without use: of what answers a question, and of the rest."""
    evidence = {(question.conversation, turn) for question in questions for turn in question.evidence}
    active = [memory for memory in memories if memory["status"] == Status.ACTIVE]
    asked: list[Row] = []
    rest: list[Row] = []
    for memory in active:
        is_asked = any((_conversation(memory), turn) in evidence for turn in memory["turns"])
        (asked if is_asked else rest).append(memory)
    table = Table(
        "days without use", f"of {len(asked):,} asked about", f"of {len(rest):,} others", title="What is still recalled"
    )
    for days in _IDLE_DAYS:
        shares = [sum(days in memory["left"] for memory in group) / max(1, len(group)) for group in (asked, rest)]
        table.add_row(str(days), *(f"{share:.1%}" for share in shares))
    return table


def _conversation(memory: Row) -> str:
    return str(memory["subject"]).split("/")[1]
