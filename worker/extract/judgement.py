"""Judge utterances: by the heads, and by a model that reads them whole where words leave something open."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from math import exp
from typing import Final, Protocol

from policies.admission import MAY_FORGET
from policies.language.discourse_markers import prepares, thanks
from policies.language.heads import Judgement, judge, leaves_worth_open
from policies.language.languages import ENGLISH
from policies.language.orders import DESTRUCTIVE, Order
from policies.language.sentences import prose_of
from policies.likely_meant import log_odds
from stores.embedding.reading import ASKS_TO_FORGET, IS_ANOTHERS, MAY_BE_ANOTHERS, Reading, read_as
from worker.extract.pieces import pieces_of, told_of
from worker.extract.utterances import Heard, Utterance

_MOST_READ: Final = 40
"""Utterances of a message, and pieces of them, that are read: of what comes after them, words alone decide."""
_MOST_CHARS: Final = 4_000
"""Of a message that is read as a whole: more than the model reads."""
_WORDS: Final = 0.25
"""The weight of words beside what is read, where both say what an utterance is worth."""
_NEWS, _NEWS_BY_WORDS = 0.02, 0.05
"""How likely an utterance must be read to tell that something is otherwise, and by words alone: of 120 messages that
change what is known .98 and .93 do, of 120 turns of LoCoMo, where hardly anything changes, .30 and .61."""
_BREAKS: Final = (":", " -", "–", "—")
"""Marks at the end of what announces something: "Guess what - "."""
_MAY_BE_MEANT: Final = 0.1
"""How likely a message must be read to be a wish to forget for a doubtful order in it to be one."""
_MISTAKABLE: Final = frozenset({"remember", "remind", "pin", "call_me", "style", "resume"})
"""Orders that are taken for none where they read so. The others keep something from being told or kept."""
_MAY_BE_AN_ORDER, _IS_AN_ORDER = 0.02, 0.8
"""How likely an utterance must be read to order anything for such an order in it to be one, and for it to be one to
keep something that has no form of those, where the head hears one. Of 18 such that no form has 13 are, of 443 that are
no order none."""
_KEEPS: Final = frozenset({"remember", "pin", "call_me", "style"})
_MAY_KEEP: Final = 0.5
"""How likely the head must hear an order to keep something, or how to answer, for it to be read whether it is one."""


class Reader(Protocol):
    """A model that reads utterances in English, each with what was said before it."""

    def read(self, utterances: Sequence[tuple[str, str]]) -> Sequence[Reading]: ...


@dataclass(frozen=True)
class _Unread:
    """A message, or words of it that may tell something, to be read; or, of the utterance that begins at `behind`,
    whose words it holds."""

    heard: Heard
    pair: tuple[str, str]
    words: str | None = None
    behind: int | None = None


def read_what_is_open(messages: Sequence[Heard], reader: Reader) -> None:
    """Put a reading to each utterance of which words leave open whether it is worth a memory or tells news, to the
    pieces in which it may be told, and to each message that may ask for something to be forgotten, all in one call;
    then to each sentence of what reads like such a message.
    What other sources than a chat send is judged by neither. A doubtful order to forget is none where its message does
    not read like a wish, "losing my job was tough", and an order to keep or do something none where its utterance reads
    like none, "never give up!"; one to keep something is an order where it reads so, though no form has it. What is
    another's, behind what announces it, is told by nobody, and what may be another's order takes nothing away for sure.
    """
    unread = [one for heard in messages for one in _unread(heard)]
    pairs = list(dict.fromkeys(one.pair for one in unread))
    readings = dict(zip(pairs, reader.read(pairs), strict=True)) if pairs else {}
    for one in unread:
        reading = readings[one.pair]
        if one.words is not None:
            one.heard.readings[one.words] = reading
            continue
        if one.behind is not None:
            one.heard.others[one.behind] = reading.others
            continue
        one.heard.reading = reading
    for heard in messages:
        _read_apart(heard, reader)
        _drop(heard, {order for one in heard.utterances for order in _meant_by_nobody(one, heard)})
        _drop(heard, {order for one in heard.utterances if _reads_like_no_order(one) for order in _mistakable(one)})
        heard.utterances = [
            _with_order_as_read(one) if _others(one, heard) < IS_ANOTHERS else one for one in heard.utterances
        ]
        _doubt_others_orders(heard)
        heard.utterances = [one for one in heard.utterances if one.orders or _others(one, heard) < IS_ANOTHERS]


def _read_apart(heard: Heard, reader: Reader) -> None:
    """Put to a message that reads like a wish to forget how likely each of its sentences is one by itself."""
    if heard.reading is None or heard.reading.forgets < ASKS_TO_FORGET:
        return
    own = own_utterances(heard)[:_MOST_READ]
    if len(own) > 1:
        readings = reader.read([read_as(utterance.text) for utterance in own])
        heard.asking.update((one.start, reading.forgets) for one, reading in zip(own, readings, strict=True))


def judged(utterance: Utterance) -> Judgement:
    """Return what is known of an utterance: its worth as it was read, too, if words leave it open."""
    assert utterance.parsed is not None
    words = unannounced(utterance)
    judgement = judge(words, utterance.part or utterance.parsed, _before(utterance))
    reading = utterance.readings.get(words)
    return judgement if reading is None else replace(judgement, worth=_together(judgement.worth, reading.worth))


def may_tell_news(utterance: Utterance) -> bool:
    """Return whether an utterance may tell that something is otherwise than it was."""
    reading = utterance.readings.get(unannounced(utterance))
    return judged(utterance).news >= _NEWS_BY_WORDS if reading is None else reading.news >= _NEWS


def _together(by_words: float, as_read: float) -> float:
    """Return how likely an utterance is worth a memory by its words and as it was read: each knows what the other has
    not seen (docs/reference/utterance-reader.md)."""
    return 1 / (1 + exp(-(_WORDS * log_odds(by_words) + (1 - _WORDS) * log_odds(as_read))))


def unannounced(utterance: Utterance) -> str:
    """Return the words of an utterance without what announces them, or thanks for them: "So you know: I work nights",
    "Thanks to you I sleep well", "You won't believe it but I quit"."""
    lead, text = utterance.spelt.plain[: utterance.shift].rstrip(), utterance.spelt.plain
    return text[utterance.shift :] if lead.endswith(_BREAKS) or thanks(lead) or prepares(lead) else text


def _unread(heard: Heard) -> list[_Unread]:
    if heard.turn.source != "chat":
        return []
    open_ones = {
        unannounced(one): one
        for utterance in heard.utterances
        if utterance.parsed is not None and (not utterance.asks or judged(utterance).news >= _NEWS_BY_WORDS)
        for one in (utterance, *pieces_of(told_of(utterance)))
        if leaves_worth_open(judged(one))
    }
    own = own_utterances(heard)
    open_ones.update(
        (one.text, one)
        for one in own
        if _mistakable(one) or any(map(_is_doubtful_wish, one.orders)) or _kept_by_head(one)
    )
    unread = [
        _Unread(heard, read_as(words, _said_before(one, heard)), words)
        for words, one in islice(open_ones.items(), _MOST_READ)
    ]
    # Behind what announces it, whatever is said may be another's.
    behind = [one for one in own[1:_MOST_READ] if one.orders or not one.asks]
    unread += [_Unread(heard, read_as(one.text, _all_before(one, heard)), behind=one.start) for one in behind]
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


def _meant_by_nobody(utterance: Utterance, heard: Heard) -> Iterator[Order]:
    """Yield the doubtful wishes of an utterance where neither it nor its message reads like one."""
    if heard.reading is None or heard.reading.forgets >= _MAY_BE_MEANT:
        return
    reading = utterance.readings.get(utterance.text)
    if reading is None or reading.forgets < _MAY_BE_MEANT:
        yield from filter(_is_doubtful_wish, utterance.orders)


def _mistakable(utterance: Utterance) -> list[Order]:
    return [order for order in utterance.orders if order.intent in _MISTAKABLE]


def _reads_like_no_order(utterance: Utterance) -> bool:
    reading = utterance.readings.get(utterance.text)
    return reading is not None and reading.orders < _MAY_BE_AN_ORDER


def _kept_by_head(utterance: Utterance) -> str | None:
    """Return which order to keep something the head hears in an utterance without an order, None if it hears none."""
    if utterance.orders or utterance.of_others or utterance.text.rstrip().endswith(("?", ":")):
        return None
    intents = judged(utterance).intents
    likeliest = max((intent for intent in intents if intent != "none"), key=intents.__getitem__)
    return likeliest if likeliest in _KEEPS and intents[likeliest] >= _MAY_KEEP else None


def _with_order_as_read(utterance: Utterance) -> Utterance:
    """Return an utterance with the order to keep something that it gives in its own words: "Bank this: I surf"."""
    reading, intent = utterance.readings.get(utterance.text), None
    if utterance.parsed is not None and reading is not None and reading.orders >= _IS_AN_ORDER:
        intent = _kept_by_head(utterance)
    if intent is None:
        return utterance
    lead, _, behind = utterance.text.partition(": ")
    order = Order(intent, (behind or lead).strip(), False, "thing", False, utterance.start, utterance.end)
    return replace(utterance, orders=(order,))


def _drop(heard: Heard, dropped: Set[Order]) -> None:
    if not dropped:
        return
    heard.orders = tuple(order for order in heard.orders if order not in dropped)
    for number, utterance in enumerate(heard.utterances):
        if dropped & set(utterance.orders):
            kept = tuple(order for order in utterance.orders if order not in dropped)
            heard.utterances[number] = replace(utterance, orders=kept)


def _doubt_others_orders(heard: Heard) -> None:
    """Put orders in doubt that may be another's, by what stands before them; and what follows those, for it may be more
    of the same."""
    likely = accumulate((_others(one, heard) if one.orders else 0.0 for one in heard.utterances), max)
    sure = [
        replace(one, orders=tuple(_as_sure(one.orders, others)))
        for one, others in zip(heard.utterances, likely, strict=True)
    ]
    heard.utterances, heard.orders = sure, tuple(order for utterance in sure for order in utterance.orders)


def _as_sure(orders: Iterable[Order], likely_others: float) -> Iterator[Order]:
    """Yield orders as sure as they are where they may be another's: a wish to forget is in doubt then, and any other
    that takes something away is none."""
    for order in orders:
        if order.intent not in DESTRUCTIVE or likely_others < MAY_BE_ANOTHERS:
            yield order
        elif order.intent == "forget":
            yield replace(order, doubtful=True)


def _others(utterance: Utterance, heard: Heard) -> float:
    """Return how likely an utterance is read to hold another's words, 0 where nothing read it."""
    return heard.others.get(utterance.start, 0.0)


def _said_before(utterance: Utterance, heard: Heard) -> str:
    """Return what an utterance follows: the question that its message answers, or the sentence before it."""
    return _before(utterance) or " ".join(_earlier(utterance, heard)[-1:])


def _all_before(utterance: Utterance, heard: Heard) -> str:
    """Return all that an utterance follows in its message."""
    return " ".join(_earlier(utterance, heard))


def _earlier(utterance: Utterance, heard: Heard) -> list[str]:
    return [one.text for one in heard.utterances if one.start < utterance.start]


def _before(utterance: Utterance) -> str:
    return utterance.asked.text if utterance.asked is not None and utterance.number < 2 else ""
