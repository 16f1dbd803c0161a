"""Calls of models by a piece of work, added up where they are made, for the row of costs that it ends in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, Literal

from schema import Turn
from stores.catalog.costs import Spent

Purpose = Literal["turn", "hot_path", "question", "document", "night", "change", "repair", "start"]
"""The purpose of a call of a model; one that nobody names is a change of memories."""
_NO_CONVERSATION: Final = ""


@dataclass
class Spending:
    """Calls that a piece of work has made, and has not yet written down."""

    purpose: Purpose
    conversations: Mapping[str, float] = field(default_factory=dict)
    """The share of each conversation that the work is about; together 1."""
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedding_calls: int = 0
    embedding_texts: int = 0
    embedding_tokens: int = 0

    def rows(self) -> tuple[Spent, ...]:
        """Return what was asked for, a row for each conversation; none where nobody may be paid for any of it."""
        if not (self.llm_calls or self.embedding_tokens):
            return ()
        counts = (
            self.llm_calls,
            self.prompt_tokens,
            self.completion_tokens,
            self.embedding_calls,
            self.embedding_texts,
            self.embedding_tokens,
        )
        shares = self.conversations or {_NO_CONVERSATION: 1.0}
        return tuple(Spent(conversation, self.purpose, *counts).part(share) for conversation, share in shares.items())

    def clear(self) -> None:
        """Begin anew: what was asked for is written down."""
        self.llm_calls = self.prompt_tokens = self.completion_tokens = 0
        self.embedding_calls = self.embedding_texts = self.embedding_tokens = 0


_current: ContextVar[Spending | None] = ContextVar("spending", default=None)


@contextmanager
def spending(purpose: Purpose) -> Iterator[Spending]:
    """Count what the block asks of models as for this purpose, and add it up, to what is added up for it already."""
    if (current := _current.get()) is not None and current.purpose == purpose:
        yield current
        return
    spent = Spending(purpose)
    token = _current.set(spent)
    try:
        yield spent
    finally:
        _current.reset(token)


@contextmanager
def spending_of_work() -> Iterator[Spending]:
    """Go on with what the work in hand adds up; where nobody said what it is for, the block is a change."""
    if (current := _current.get()) is not None:
        yield current
        return
    with spending("change") as spent:
        yield spent


def current_spending() -> Spending:
    """Return what the work in hand adds up; where nobody said what it is for, that is a change, of this call alone."""
    return _current.get() or Spending("change")


def shares_of(turns: Sequence[Turn]) -> dict[str, float]:
    """Return which share of some turns each conversation has, by their characters."""
    sizes: dict[str, int] = {}
    for turn in turns:
        size = sum(len(message.content) for message in turn.messages)
        sizes[turn.conversation_id] = sizes.get(turn.conversation_id, 0) + size
    whole = sum(sizes.values())
    return {conversation: size / whole for conversation, size in sizes.items()} if whole else {}
