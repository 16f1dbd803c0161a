"""Requests to forget, as users say them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from policies.language.orders import Order, about_of, names_by_pronoun
from policies.language.people import people_in
from policies.wish_words import bare, names_nothing
from worker.extract.utterances import Utterance

_EVERYTHING: Final = "everything"
_JUST_SAID: Final = "what was just said"
_WORD: Final = re.compile(r"[^\W\d_]{2}|\d")
"""Two letters or a digit: whatever says something, such as "my"."""
_WHOM: Final = re.compile(r"\b(?:him|her|them)\b", re.IGNORECASE)
"""Somebody who was named before: "forget her"."""
_OF_IT: Final = re.compile(r"\bit\b|\ball of (?:that|them|this)\b", re.IGNORECASE)
"""Words of a request that point at what was named before it: "remove it all"."""
_JOINTS_AT_END: Final = re.compile(
    r"(?:[\s,.;:!…–—-]|\b(?:and|so|but|then|please|pls|just|now|kindly|actually)\b)+\Z", re.IGNORECASE
)
"""Words that join a sentence to the order behind it: "I moved, so please "."""
_ASIDE: Final = re.compile(
    r"(?:\s+(?:please|pls))?[,;]\s*(?:i|we|he|she|they|it|you|nobody)(?:['’]\w+)?\s.*\Z", re.I | re.S
)
"""Words about a thing behind its name: "my salary, she would hate it"."""
_IDLE_BEFORE: Final = re.compile(
    r"(?:(?:oh|hm+|no|nah|wait|sorry|actually|ok|okay|well|hey|please|pls|on second thou?ghts?|never ?mind|nvm|oops|ah|"
    r"you know what|thinking about it|come to think of it|can you|could you|would you|can u)[\s,.!…-]*)+",
    re.IGNORECASE,
)
"""Words before an order that say nothing of what it is about: "oh wait, actually"."""


@dataclass(frozen=True)
class Forgetting:
    """A request to forget, in the user's own words; everything if `is_all`, what the turn before said if
    `is_just_said`, all about what it names if `is_whole`. In doubt somebody is asked."""

    utterance: Utterance
    text: str
    is_all: bool = False
    is_doubtful: bool = False
    is_just_said: bool = False
    is_whole: bool = False


def forgetting_named(utterance: Utterance, order: Order, before: Sequence[object]) -> Forgetting | None:
    """Return what a request names; None where all may be meant and that is doubtful: hiding all that is known for what
    may be another's words would be worse than to wait. None too where "it all" is what the request
    `before` it names."""
    if order.scope == "all":
        is_new = not (order.doubtful or _repeats(utterance, order, before))
        return Forgetting(utterance, _EVERYTHING, is_all=True) if is_new else None
    if names_nothing(order.object_text):
        return forgetting_just_said(utterance)
    named = _ASIDE.sub("", order.object_text)
    named = order.object_text if names_nothing(named) else named
    # What the head alone found is a whole sentence, of which some words name what is meant.
    text = named if order.sure or not order.doubtful else bare(named)
    return Forgetting(utterance, text, is_doubtful=order.doubtful, is_whole=order.whole)


def forgetting_just_said(utterance: Utterance) -> Forgetting:
    """Return the request that means what the turn before said."""
    return Forgetting(utterance, _JUST_SAID, is_doubtful=True, is_just_said=True)


def spoken_of(utterance: Utterance, order: Order, before: Utterance | None) -> tuple[Utterance, str] | None:
    """Return the utterance and the words in it that a request points back to; None where nothing is said before it, or
    that points back itself."""
    led = _JOINTS_AT_END.sub("", utterance.text[: max(order.start - utterance.start, 0)])
    where, text = (utterance, led) if _WORD.search(led) or before is None else (before, before.text)
    is_idle = _IDLE_BEFORE.fullmatch(text.strip(" ,.!;:…")) is not None or names_nothing(text)
    return None if is_idle or names_by_pronoun(text) else (where, text)


def forgetting_of(utterance: Utterance, order: Order, where: Utterance, text: str) -> Forgetting:
    """Return the request that points back to words: whom they name if it says "him" or "her", or their subject."""
    parsed = utterance.parsed if where is utterance else where.part
    order_words = utterance.text[max(order.start - utterance.start, 0) : order.end - utterance.start]
    names = [who.name for who in people_in(parsed) if who.name] if parsed and _WHOM.search(order_words) else []
    return Forgetting(utterance, " ".join(names) or about_of(text, utterance.language), is_doubtful=not names)


def _repeats(utterance: Utterance, order: Order, before: Sequence[object]) -> bool:
    """Return whether a request to forget "it all" means the thing that a request before it names, and not all that is
    known."""
    said = utterance.text[max(order.start - utterance.start, 0) : order.end - utterance.start]
    named = any(isinstance(wish, Forgetting) and not wish.is_all for wish in before)
    return named and _OF_IT.search(said) is not None
