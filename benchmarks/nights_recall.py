"""Conversations lived through with a night each week: what a search finds before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.progress import track

from benchmarks.quality.data import Question, questions, utterances
from benchmarks.quality.house import House, open_house, settings_of, subject_of
from benchmarks.quality.runs import Conversation
from recall.retrieve import retrieve
from schema import MemoryType, Status, Subject
from worker.nights.consolidate import plan
from worker.nights.subject_run import write

_AT: Final = (5, 10, 20)
_TURNS: Final = 3
"""How many turns of a memory count as found: a memory of very many turns would find everything."""
_WEEK: Final = timedelta(days=7)


@dataclass(frozen=True)
class Weeks:
    """How many episodes are live, and the share of the evidence among the first 5, 10 and 20 memories found."""

    episodes: int
    recall: tuple[float, ...]


def live_through(data: Path, broker_url: str, folder: Path, console: Console) -> tuple[Weeks, Weeks]:
    """Return all conversations of a folder, as they are without nights and with them."""
    house = open_house(settings_of(folder, broker_url, llm=False), None)
    conversations = list(_conversations(data))
    for conversation in track(conversations, "living through conversations", console=console, transient=True):
        for name, subject in _subjects(conversation):
            for session in conversation.heard_by(name, subject):
                house.hear(session)
    before = _measured(conversations, house)
    for conversation in track(conversations, "nights", console=console, transient=True):
        for _, subject in _subjects(conversation):
            _nights(subject, house)
    after = _measured(conversations, house)
    house.close()
    return before, after


def _conversations(data: Path) -> Iterator[Conversation]:
    asked: dict[str, list[Question]] = {}
    for question in questions(data):
        asked.setdefault(question.conversation, []).append(question)
    for name, utterances_said in groupby(utterances(data), key=lambda utterance: utterance.conversation):
        yield Conversation(tuple(utterances_said), tuple(asked.get(name, ())))


def _subjects(conversation: Conversation) -> list[tuple[str, Subject]]:
    name = conversation.said[0].conversation
    return [(speaker, subject_of("locomo", name, speaker)) for speaker in conversation.speakers()]


def _nights(subject: Subject, house: House) -> None:
    moments = [memory.created_at for memory in house.memories(subject)]
    now = min(moments) + _WEEK
    while now < max(moments) + timedelta(days=house.context.policy.consolidate_grace_days) + _WEEK:
        tonight = plan(subject, house.context, now)
        if tonight.steps:
            write(tonight, 1_000_000 + next(house.tokens), house.context)
        now += _WEEK


def _measured(conversations: Sequence[Conversation], house: House) -> Weeks:
    shares: list[list[float]] = [[] for _ in _AT]
    episodes = 0
    for conversation in conversations:
        subjects = [subject for _, subject in _subjects(conversation)]
        for subject in subjects:
            live = house.memories(subject, (Status.ACTIVE,))
            episodes += sum(memory.type is MemoryType.EPISODIC for memory in live)
        for question in conversation.asked:
            if question.evidence and question.category != "adversarial":
                ranked = _ranked(question, subjects, house)
                for index, first in enumerate(_AT):
                    found = {turn for turns in ranked[:first] for turn in turns[:_TURNS]}
                    shares[index].append(len(found & set(question.evidence)) / len(set(question.evidence)))
    return Weeks(episodes, tuple(sum(shares_at) / max(1, len(shares_at)) for shares_at in shares))


def _ranked(question: Question, subjects: Sequence[Subject], house: House) -> list[tuple[str, ...]]:
    found = [
        hit
        for subject in subjects
        for hit in retrieve(
            None, [subject], question.text, house.context, limit=max(_AT), relevant_only=False, now=question.asked_at
        )
    ]
    best = sorted(found, key=lambda hit: (-hit.score, hit.memory.id))[: max(_AT)]
    return [hit.memory.source_turn_ids for hit in best]
