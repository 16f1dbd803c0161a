"""News of something known, perhaps: it is read beside that, whether or not it is worth a memory by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policies.language.languages import ENGLISH
from schema import MAX_SUMMARY_CHARS
from worker.extract.judgement import may_tell_news, own_utterances
from worker.extract.statement import Statement
from worker.extract.utterances import Heard, Utterance
from worker.extract.worth import is_own_and_meant, tells_something

_FEWEST_NEWS: Final = 2
"""Words of which news may be: "went pink", "quit swimming"."""


def said_as_news(messages: Sequence[Heard]) -> dict[str, str]:
    """Return, by turn, all that its user says in English in a chat, where that may tell that something is otherwise
    than it was."""
    said: dict[str, str] = {}
    for heard in messages:
        if _may_tell_news(heard):
            before = said.get(heard.turn.turn_id, "")
            own = " ".join(one.text for one in own_utterances(heard) if not _is_a_wish(one))
            said[heard.turn.turn_id] = f"{before} {own}".strip()[:MAX_SUMMARY_CHARS]
    return said


def _is_a_wish(utterance: Utterance) -> bool:
    """Return whether an utterance asks to forget something, which is over by no news."""
    return any(order.intent == "forget" for order in utterance.orders)


def _may_tell_news(heard: Heard) -> bool:
    """Return whether a message may tell that something is otherwise than it was."""
    if heard.language != ENGLISH or heard.turn.source != "chat":
        return False
    own = own_utterances(heard)
    return any(may_tell_news(utterance) and is_own_and_meant(utterance) for utterance in own)


def whole_as_news(heard: Heard) -> list[Statement]:
    """Return the whole of a message that states nothing: it is worth a memory if it ends what is known."""
    told = Statement([], quote=True, only_as_news=True)
    for utterance in own_utterances(heard) if _may_tell_news(heard) else ():
        says_something = is_own_and_meant(utterance) and (tells_something(utterance) or may_tell_news(utterance))
        if says_something and told.has_room_for(utterance):
            told.utterances.append(utterance)
    return [told] if told.utterances else []


def as_news(utterance: Utterance, *, quote: bool) -> list[Statement]:
    """Return an utterance that is worth a memory only if it changes something that is known; empty if it cannot."""
    return [Statement([utterance], quote=quote, only_as_news=True)] if _may_be_news(utterance) else []


def _may_be_news(utterance: Utterance) -> bool:
    """Return whether what is not worth keeping by itself may say that something is otherwise than it was."""
    if utterance.asks or len(utterance.text.split()) < _FEWEST_NEWS or not is_own_and_meant(utterance):
        return False
    return may_tell_news(utterance)
