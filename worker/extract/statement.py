"""One thing that a user stated, with all that decides how it is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from policies.language.clauses import is_not_vouched_for
from policies.language.people import Person
from policies.language.tellable import may_be_told
from schema import Naming
from worker.extract.utterances import Asked, Utterance

_MAX_JOINED_CHARS: Final = 320
"""How long sentences may be together that are one memory because the later ones lean on the first."""


@dataclass
class Statement:
    """The makings of one memory: its utterances, the words of an order if it is one, the question that it answers.

    `refers` says whom the first pronoun of an utterance stands for (by its place among them); `quote` that it is to
    be kept in the speaker's words whatever the parse carries, `only_as_news` that it is worth a memory only if it
    changes something that is known, `unless_forgotten` that it is none where its message asked for something to be
    forgotten, `naming` what its order names.
    """

    utterances: list[Utterance]
    manner: str = "said"
    explicit: bool = False
    pinned: bool = False
    private: bool = False
    asked: Asked | None = None
    words: str | None = None
    shared: str | None = None
    quote: bool = False
    only_as_news: bool = False
    unless_forgotten: bool = False
    naming: Naming | None = None
    refers: dict[int, Person] = field(default_factory=dict)

    @property
    def is_of_others(self) -> bool:
        """Return whether it is somebody else's words, repeated or told, or what nobody says is so."""
        return any(u.of_others or (u.part is not None and is_not_vouched_for(u.part)) for u in self.utterances)

    @property
    def last(self) -> Utterance:
        return self.utterances[-1]

    def has_room_for(self, utterance: Utterance) -> bool:
        return sum(len(held.text) for held in self.utterances) + len(utterance.text) <= _MAX_JOINED_CHARS

    def is_quoted(self) -> bool:
        """Return whether it is surely to be quoted."""
        return self.quote or any(u.of_others or u.part is None or not may_be_told(u.part) for u in self.utterances)
