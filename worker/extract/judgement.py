"""Judge utterances: by the heads, and by a model that reads them whole where words leave something open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from policies.admission import MAY_FORGET
from policies.language.discourse_markers import prepares, thanks
from policies.language.heads import Judgement, judge, leaves_worth_open
from policies.language.languages import ENGLISH
from policies.language.orders import Order
from policies.language.sentences import prose_of
from stores.embedding.reading import Reading, read_as
from worker.extract.utterances import Heard, Utterance

_MOST_READ: Final = 40
"""Utterances of a message that are read: of what comes after them, words alone decide."""
_MOST_CHARS: Final = 4_000
"""Of a message that is read as a whole: more than the model reads."""
_MAY_BE_MEANT: Final = 0.1
"""How likely a message must be read to be a wish to forget for a doubtful order in it to be one."""


class Reader(Protocol):
    """A model that reads utterances in English, each with what was said before it."""

    def read(self, utterances: Sequence[tuple[str, str]]) -> Sequence[Reading]: ...


@dataclass(frozen=True)
class _Unread:
    """A message, or with a `number` one of its utterances, that is to be read."""

    heard: Heard
    pair: tuple[str, str]
    number: int | None = None


def read_what_is_open(messages: Sequence[Heard], reader: Reader) -> None:
    """Put a reading to each utterance of which words leave open whether it is worth a memory, and to each message that
    may ask for something to be forgotten, all in one call. What other sources than a chat send is judged by neither.
    A doubtful order to forget is none where its message does not read like a wish: "losing my job was tough"."""
    unread = [one for heard in messages for one in _unread(heard)]
    for one, reading in zip(unread, reader.read([one.pair for one in unread]) if unread else (), strict=True):
        if one.number is not None:
            one.heard.utterances[one.number] = replace(one.heard.utterances[one.number], reading=reading)
            continue
        one.heard.reading = reading
        if reading.forgets < _MAY_BE_MEANT:
            _drop_doubtful_wishes(one.heard)


def judged(utterance: Utterance) -> Judgement:
    """Return what is known of an utterance: its worth by the reading, if words leave it open."""
    assert utterance.parsed is not None
    judgement = judge(unannounced(utterance), utterance.part or utterance.parsed, _before(utterance))
    if utterance.reading is None or not leaves_worth_open(judgement):
        return judgement
    return replace(judgement, worth=utterance.reading.worth)


def unannounced(utterance: Utterance) -> str:
    """Return the words of an utterance without what announces them, or thanks for them: "So you know: I work nights",
    "Thanks to you I sleep well", "You won't believe it but I quit"."""
    lead, text = utterance.spelt.plain[: utterance.shift].rstrip(), utterance.spelt.plain
    return text[utterance.shift :] if lead.endswith(":") or thanks(lead) or prepares(lead) else text


def _unread(heard: Heard) -> list[_Unread]:
    if heard.turn.source != "chat":
        return []
    parsed = [(number, utterance) for number, utterance in enumerate(heard.utterances) if utterance.parsed is not None]
    unread = [
        _Unread(heard, read_as(unannounced(utterance), _before(utterance)), number)
        for number, utterance in parsed
        if not utterance.asks and leaves_worth_open(judged(utterance))
    ][:_MOST_READ]
    own = own_utterances(heard)
    may_ask = any(_is_doubtful_wish(order) for order in heard.orders)
    may_ask = may_ask or any(judged(one).intents["forget"] >= MAY_FORGET for one in own)
    if heard.language == ENGLISH and own and may_ask:
        unread.append(_Unread(heard, read_as(_own_words(heard), heard.asked.text if heard.asked else "")))
    return unread


def own_utterances(heard: Heard) -> list[Utterance]:
    """Return what of a message is in its user's own words and in English."""
    return [utterance for utterance in heard.utterances if utterance.parsed is not None and not utterance.of_others]


def _own_words(heard: Heard) -> str:
    """Return what a message says, with its requests, of which no utterance may be; of one in which others' words stand,
    what its utterances say that are the user's own."""
    if any(utterance.of_others for utterance in heard.utterances):
        return " ".join(one.text for one in own_utterances(heard)[:_MOST_READ])
    return " ".join(prose_of(heard.content[:_MOST_CHARS]).split())


def _is_doubtful_wish(order: Order) -> bool:
    return order.intent == "forget" and order.doubtful and not order.sure


def _drop_doubtful_wishes(heard: Heard) -> None:
    dropped = {order for order in heard.orders if _is_doubtful_wish(order)}
    heard.orders = tuple(order for order in heard.orders if order not in dropped)
    for number, utterance in enumerate(heard.utterances):
        if dropped & set(utterance.orders):
            kept = tuple(order for order in utterance.orders if order not in dropped)
            heard.utterances[number] = replace(utterance, orders=kept)


def _before(utterance: Utterance) -> str:
    return utterance.asked.text if utterance.asked is not None and utterance.number < 2 else ""
