"""A text with its dates told as the calendar has them, for whoever has no parse of it yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import memory.parser.english as language
from policies.language.annotation import notes_of
from policies.language.narration import dated


@dataclass(frozen=True)
class Moment:
    """A time that a statement is about: its first moment, and how it reads."""

    at: datetime
    text: str
    granularity: str


@dataclass(frozen=True)
class Dated:
    """A text with its dates resolved, and the moments in it in order."""

    text: str
    moments: tuple[Moment, ...]


def resolve_dates(text: str, moment: datetime) -> Dated:
    """Write the dates of a text as seen from `moment` in its own zone: in place of a whole adverbial, in brackets after
    other words. Recurring times ("every Friday") stay."""
    (parsed,) = language.parse([text], [False])
    notes = notes_of(parsed, parsed.text_of(range(len(parsed.tokens))), moment)
    moments = tuple(Moment(n.when.at, n.when.span.text, n.when.span.granularity) for n in notes if n.when is not None)
    return Dated(dated(parsed, notes), moments)
