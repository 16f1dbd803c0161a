"""The trigger: decide whether what a user just said is worth a memory at once, by rules, before anybody has decided on
it.

Source: "S3 Vectors Memory Implementation Plan (V1)", hot path: {should_create, type_hint, tags_hint, confidence}, acted
on from a confidence of 0.6.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from policies.admission import admit, is_own_news
from policies.language.languages import language_of
from policies.language.orders import DESTRUCTIVE, Order, orders_of
from policies.language.sentences import prose_of, split_sentences
from policies.language.stems import share_said
from policies.privacy.quoted_text import own_words
from schema import MAX_SUMMARY_CHARS, AdmissionAction, MemoryType, Turn

ACT_FROM: Final = 0.6
"""The confidence from which a trigger is acted on (seed 000, hot path)."""
_ORDERED: Final = 1.0
_SURE: Final = 0.8
_PERHAPS: Final = 0.4
_SENTENCES: Final = 2
"""How many sentences a summary has at most."""
_BEFORE_CHARS: Final = 400
_BORNE_OUT: Final = 0.6
"""The share of a model's words that must be the user's, as of any proposal of the hot path."""
_TYPES: Final = {"remind": MemoryType.EPISODIC, "style": MemoryType.PROCEDURAL}
_KEEPING: Final = frozenset({"remember", "remind", "pin", "style", "call_me"})


@dataclass(frozen=True, slots=True)
class Trigger:
    """Decision of the hot path on a turn. `summary` is the user's own words, one or two sentences of them; `explicit`
    says that they asked for it to be remembered. `by` is what said so."""

    should_create: bool
    confidence: float
    summary: str = ""
    type_hint: MemoryType = MemoryType.SEMANTIC
    category: str | None = None
    tags_hint: tuple[str, ...] = ()
    explicit: bool = False
    reasons: tuple[str, ...] = ()
    by: Literal["rules", "model"] = "rules"


def last_exchange(turn: Turn) -> tuple[str, str]:
    """Return what the user said last in a turn, and what the assistant had said just before."""
    spoken, before = "", ""
    for message in turn.messages:
        if message.role == "user":
            spoken = message.content
        elif message.role == "assistant" and not spoken:
            before = message.content
    return spoken, before


def trigger_by_rules(turn: Turn) -> Trigger:
    """Return what rules make of a turn. What admission would skip, or what takes something away, is nothing to note."""
    spoken, before = last_exchange(turn)
    admission = admit(turn, before[-_BEFORE_CHARS:])
    orders = _orders(spoken, before)
    if admission.action is AdmissionAction.SKIP or any(order.intent in DESTRUCTIVE for order in orders):
        return Trigger(False, 0.0, reasons=admission.reasons)
    kept = [order for order in orders if order.intent in _KEEPING and not order.doubtful]
    words = _worth_noting(spoken, before, kept)
    sure = _SURE if admission.action is AdmissionAction.KEEP else _PERHAPS
    confidence = _ORDERED if kept else sure
    return Trigger(
        bool(words) and confidence >= ACT_FROM,
        confidence,
        quoted(words, turn.user_name()) if words else "",
        next((_TYPES[order.intent] for order in kept if order.intent in _TYPES), MemoryType.SEMANTIC),
        explicit=bool(kept),
        reasons=admission.reasons,
    )


def orders_in(turn: Turn) -> tuple[Order, ...]:
    """Return the orders in the user's own words of a turn's last message of theirs."""
    return _orders(*last_exchange(turn))


def is_borne_out(summary: str, text: str) -> bool:
    """Return whether a summary that a model wrote is made of what the user said."""
    return share_said(summary, text) >= _BORNE_OUT


def quoted(words: str, name: str | None) -> str:
    """Return a user's words as a memory that nobody has put into a sentence yet."""
    room = MAX_SUMMARY_CHARS - len(name or "The user") - 4
    text = " ".join(words.split())
    return f'{name or "The user"}: "{text if len(text) <= room else text[: room - 1].rsplit(" ", 1)[0] + "…"}"'


def _orders(text: str, before: str) -> tuple[Order, ...]:
    return orders_of(own_words(text), before[-_BEFORE_CHARS:])


def _worth_noting(spoken: str, before: str, kept: list[Order]) -> str:
    prose = prose_of(own_words(spoken))
    language = language_of(prose)
    sentences = []
    for sentence in split_sentences(prose):
        text = sentence.text.strip()
        ordered = any(
            order.start < sentence.start + len(sentence.text) and sentence.start < order.end for order in kept
        )
        if ordered or is_own_news(text, before[-_BEFORE_CHARS:], language):
            sentences.append(text)
        if len(sentences) == _SENTENCES:
            break
    return " ".join(sentences)
