"""The view that a language model is shown of some turns: bounded, masked, and in a form that no message can break out
of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo

from policies.language.languages import ENGLISH, language_of
from policies.language.sentences import prose_of
from policies.privacy.quoted_text import own_words
from policies.privacy.screen import screen
from schema import AdmissionAction, AdmittedTurn, Context, Policy, Turn, Verdict
from worker.extract.utterances import question_of

MAX_SAID_CHARS: Final = 24_000
"""Of all turns of one call together."""
_MAX_USER_CHARS: Final = 4_000
_MAX_ASSISTANT_CHARS: Final = 800
_MAX_CONTEXT_CHARS: Final = 300
"""Of one message, by who said it; the last is for turns of which nothing may come."""
_MAX_KNOWN_CHARS: Final = 120
_NEVER_SHOWN: Final = {"consent_withdrawn", "off_the_record"}


@dataclass(frozen=True)
class Line:
    """A message as it is shown; nothing but the roles user and assistant is. `own` is what of it is not pasted."""

    role: str
    text: str
    own: str


@dataclass(frozen=True)
class ShownTurn:
    """A turn as a model sees it. `label` stands for its id, which the model never learns.

    `question` is what the assistant had asked when the user began to speak, and `asked_in` the turn in which it did,
    if that is another one. Nothing may come of a turn that is not `open`.
    """

    label: str
    turn: Turn
    open: bool
    lines: tuple[Line, ...]
    question: str | None
    asked_in: str | None

    def said_by(self, role: str) -> str:
        """Return all that one side said, as it is shown."""
        return "\n".join(line.text for line in self.lines if line.role == role)

    def in_own_words(self) -> str:
        """Return what the user said themselves: all but mails, articles and quotations that they pasted."""
        return "\n".join(line.own for line in self.lines if line.role == "user")

    @property
    def is_english(self) -> bool:
        return language_of(prose_of(self.said_by("user"))) == ENGLISH


def show(turns: Sequence[AdmittedTurn], context: Context, policy: Policy) -> list[ShownTurn]:
    """Return the turns as a model may see them: without secrets, and without those that are off the record."""
    share = MAX_SAID_CHARS // max(1, len(turns))
    asked = {conversation: (earlier.text, earlier.turn_id) for conversation, earlier in context.questions.items()}
    shown: list[ShownTurn] = []
    for admitted in turns:
        turn = admitted.turn
        before = asked.pop(turn.conversation_id, (None, None))
        if _NEVER_SHOWN & set(admitted.admission.reasons):
            continue
        is_open = admitted.admission.action is not AdmissionAction.SKIP
        lines = tuple(_lines(turn, share, is_open, policy))
        question, asked_in = _question(lines, *before)
        shown.append(ShownTurn(f"T{len(shown) + 1}", turn, is_open, lines, question, asked_in))
        if lines and lines[-1].role == "assistant" and (last := question_of(lines[-1].text)):
            asked[turn.conversation_id] = last, turn.turn_id
    return shown


def _question(lines: Sequence[Line], question: str | None, asked_in: str | None) -> tuple[str | None, str | None]:
    """Return what was asked when the user last began to speak: in the turn itself, or before it."""
    for before, line in pairwise(lines):
        if before.role == "assistant" and line.role == "user" and (asked := question_of(before.text)):
            question, asked_in = asked, None
    return question, asked_in


def _lines(turn: Turn, share: int, is_open: bool, policy: Policy) -> Iterator[Line]:
    remaining = share
    for message in turn.messages:
        if message.role not in ("user", "assistant") or remaining <= 0:
            continue
        screening = screen(message.content, policy)
        if screening.verdict is Verdict.REFUSE:
            continue
        most = _MAX_ASSISTANT_CHARS if message.role == "assistant" else _MAX_USER_CHARS
        text = _cut(screening.text.strip(), min(remaining, most if is_open else _MAX_CONTEXT_CHARS))
        remaining -= len(text)
        if text:
            yield Line(message.role, text, own_words(screening.text) if message.role == "user" else "")


def _cut(text: str, most: int) -> str:
    """Return the beginning and the end of a text: an assistant's question stands at its end."""
    if len(text) <= most:
        return text
    head = most * 2 // 3
    return f"{text[:head]} [...] {text[len(text) - (most - head) :]}"


def written(shown: Sequence[ShownTurn], context: Context, name: str) -> str:
    """Return what a prompt has of a subject and their turns, in lines. What people said, and what they are called, is
    in JSON strings, so that no message can pose as a line. Times are those of the user's own zone, where it is known.
    """
    zone = ZoneInfo(context.preferences.time_zone) if context.preferences.time_zone else None
    lines = [f"The user is called {quoted(name)}."]
    if context.known:
        lines.append("Known:")
    for number, memory in enumerate(context.known, start=1):
        said_on = memory.said_at.astimezone(zone or shown[-1].turn.occurred_at.tzinfo)
        lines.append(f"K{number}, said {_day(said_on)}: {quoted(_cut(memory.summary, _MAX_KNOWN_CHARS))}")
    agents = {shown_turn.turn.agent_id for shown_turn in shown if shown_turn.open}
    for agent, topic in context.open_topics.items():
        if agent in agents:
            labels = ", ".join(shown_turn.label for shown_turn in shown if shown_turn.turn.agent_id == agent)
            lines.append(f"Open topic before {labels}: {quoted(topic.text)}")
    before = {recent_turn.turn_id for recent_turn in context.recent}
    for conversation in dict.fromkeys(shown_turn.turn.conversation_id for shown_turn in shown):
        lines += _before(conversation, shown, context, zone)
    for shown_turn in shown:
        lines += _turn(shown_turn, zone, asked_above=shown_turn.asked_in in before)
    return "\n".join(lines)


def _before(conversation: str, shown: Sequence[ShownTurn], context: Context, zone: ZoneInfo | None) -> Iterator[str]:
    recent = [recent_turn for recent_turn in context.recent if recent_turn.conversation_id == conversation]
    if not recent:
        return
    labels = ", ".join(shown_turn.label for shown_turn in shown if shown_turn.turn.conversation_id == conversation)
    yield f"\nBefore {labels}, nothing is to be written of it:"
    for recent_turn in recent:
        at = (
            recent_turn.said_at.astimezone(zone)
            if zone
            else recent_turn.said_at.astimezone(shown[0].turn.occurred_at.tzinfo)
        )
        yield f"({at:%A} {_day(at)}, {at:%H:%M})"
        yield from (f"{role}: {quoted(text)}" for role, text in recent_turn.lines)


def _turn(shown_turn: ShownTurn, zone: ZoneInfo | None, *, asked_above: bool) -> Iterator[str]:
    at = shown_turn.turn.occurred_at.astimezone(zone) if zone else shown_turn.turn.occurred_at
    source = "" if shown_turn.turn.source == "chat" else f", source {shown_turn.turn.source}"
    yield (
        f"\n{shown_turn.label}, {at:%A} {_day(at)}, {at:%H:%M}"
        f"{source}{'' if shown_turn.open else ', context only: write nothing of it'}"
    )
    if shown_turn.asked_in and not asked_above:
        yield f"assistant before: {quoted(shown_turn.question or '')}"
    yield from (f"{line.role}: {quoted(line.text)}" for line in shown_turn.lines)


def _day(at: datetime) -> str:
    return f"{at.day} {at:%B %Y}"


def quoted(text: str) -> str:
    """Return a text as one JSON string on one line."""
    return json.dumps(" ".join(text.split()), ensure_ascii=False)
