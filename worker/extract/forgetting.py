"""Requests to forget, as users say them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise
from typing import Final

from policies.language.clauses import main_clauses
from policies.language.dates import Looks, find_dates
from policies.language.languages import ENGLISH
from policies.language.orders import Order, about_of, names_by_pronoun, only_opens
from policies.language.parse import Parsed
from policies.language.people import people_in
from policies.wish_words import bare, names_nothing
from schema import MAX_SUMMARY_CHARS
from stores.embedding.reading import ASKS_TO_FORGET
from worker.extract.judgement import judged
from worker.extract.statement import Statement
from worker.extract.utterances import Heard, Utterance

_EVERYTHING: Final = "everything"
_JUST_SAID: Final = "what was just said"
_WORD: Final = re.compile(r"[^\W\d_]{2}|\d")
"""Two letters or a digit: whatever says something, such as "my"."""
_WHOM: Final = re.compile(r"\b(?:him|her|them)\b", re.IGNORECASE)
"""Somebody who was named before: "forget her"."""
_OF_IT: Final = re.compile(r"\bit\b|\ball of (?:that|them|this)\b", re.IGNORECASE)
"""Words of a request that point at what was named before it: "remove it all"."""
_OF_ONESELF: Final = re.compile(r"(?:i|we)(?:['’]\w+)?\s", re.IGNORECASE)
"""How somebody begins who says what they do: "I'm leaving"."""
_ALL: Final = re.compile(r"\b(?:everything|anything|all)\b", re.IGNORECASE)
"""A word for all that is known: "everything you know about me"."""
_AND_ANOTHER: Final = re.compile(
    r"[\s,]*(?:and|&)\s+(?P<who>(?:[A-Z][\w'’-]+|(?i:my|our|the|his|her|their)\s+[\w'’-]+)(?:\s[A-Z][\w'’-]+)*)"
)
"""Somebody who is named beside the user: "about me and Jonas", "about us and my ex"."""
_JOINTS_AT_END: Final = re.compile(
    r"(?:[\s,.;:!…–—-]|\b(?:and|so|but|then|please|pls|just|now|kindly|actually)\b)+\Z", re.IGNORECASE
)
"""Words that join a sentence to the order behind it: "I moved, so please "."""
_BESIDE_A_THING: Final = frozenset({"conj", "cc", "relcl", "punct"})
"""Parts of a sentence that hang on the name of a thing, and are none of it."""
_SPARES: Final = re.compile(
    r"[\s,;(]*\b(?:except|apart from|other than|but not|aside from|save for)\b(?: for)?"
    r"(?: (?:that|the fact that|what i (?:told|said to) you about))?\s+(?P<what>\S.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
"""Words that leave something out of a wish: "everything I told you except my allergy"."""
_STAYS: Final = re.compile(
    r"\b(?:(?:can|may|should|must) (?:stay|remain)|stays?|(?:is|are|'s) (?:fine|ok|okay)|you (?:can|may) keep)\W*\Z",
    re.IGNORECASE,
)
"""Ends a sentence that says what is to stay: "the rest is fine", "my daughter can stay"."""
_NO_PART_ASKS: Final = 0.003
"""How likely the likeliest sentence of a wish must be read to be one by itself: of 114 wishes of several sentences that
give no order the least has .0041."""
_MEANS_ALL: Final = 0.6
"""How likely a wish must be read to mean all that is known, to hide that; from .5 on one of 144 that mean less is."""
_TELLS_IT: Final = 0.15
"""The same of a sentence of such a message, by its words, to be a part of the wish, of which no memory is made."""
_FEWEST_ASKING: Final = 2
"""Words of what asks for something without an order: "Tidy." says how somebody likes what they tell."""
_TOLD_BEFORE: Final = re.compile(
    r"\b(?:i|we)(?:'ve| have)? (?:said|told you|mentioned|wrote)(?: you)? ?", re.IGNORECASE
)
"""A telling of what one told before: "I told you"."""


@dataclass(frozen=True)
class Forgetting:
    """A request to forget, in the user's own words; everything if `is_all`, what the turn before said if
    `is_just_said`, all about what it names if `is_whole`, but for what it `spares`. In doubt somebody is asked.
    `is_only_as_read` says that no order says so: then it is one only where it likely means something known. `said` is
    the message without what it asks beside that."""

    utterance: Utterance
    text: str
    is_all: bool = False
    is_doubtful: bool = False
    is_just_said: bool = False
    is_whole: bool = False
    is_only_as_read: bool = False
    spares: str | None = None
    said: str | None = None


def forgetting_named(utterance: Utterance, order: Order, before: Sequence[object]) -> Forgetting | None:
    """Return what a request names; None where all may be meant and that is doubtful by words: hiding all that is known
    for what may be another's words would be worse than to wait for a reading. None too where "it all" is what the
    request `before` it names."""
    if order.scope == "all" and (named := _named_beside(utterance, order)):
        # "Everything about me and my family" and "I'm leaving, delete it all" may mean all that is known.
        says_all = not _OF_IT.search(_words_of(order, utterance)) and _ALL.search(_words_of(order, utterance))
        is_all = bool(says_all or _OF_ONESELF.match(named))
        return Forgetting(utterance, _EVERYTHING if is_all else named, is_all, is_doubtful=True, is_whole=True)
    if order.scope == "all":
        is_new = not (order.doubtful or _repeats(utterance, order, before))
        return Forgetting(utterance, _EVERYTHING, is_all=True) if is_new else None
    if names_nothing(order.object_text):
        return forgetting_just_said(utterance)
    object_text, spares = order.object_text, None
    if spared := _SPARES.search(object_text):
        object_text, spares = object_text[: spared.start()], about_of(spared["what"], utterance.language)
        if names_nothing(object_text):
            return Forgetting(utterance, _EVERYTHING, is_all=True, is_doubtful=True, spares=spares)
    # What the head alone found is a whole sentence, of which some words name what is meant.
    text = object_text if order.sure or not order.doubtful else bare(object_text)
    return Forgetting(utterance, text, is_doubtful=order.doubtful, is_whole=order.whole, spares=spares)


def _named_beside(utterance: Utterance, order: Order) -> str | None:
    """Return what the sentence of an order for all names beside it, which is all that it means: "what you saved of me
    and Jonas", "my parents' divorce, clear it all"."""
    if further := _AND_ANOTHER.match(utterance.text[max(order.end - utterance.start, 0) :]):
        return further["who"]
    led = _JOINTS_AT_END.sub("", utterance.text[: max(order.start - utterance.start, 0)])
    points = _OF_IT.search(_words_of(order, utterance)) is not None
    return about_of(led, utterance.language) if points and not names_nothing(led) else None


def _words_of(order: Order, utterance: Utterance) -> str:
    return utterance.text[max(order.start - utterance.start, 0) : max(order.end - utterance.start, 0)]


def forgetting_just_said(utterance: Utterance) -> Forgetting:
    """Return the request that means what the turn before said."""
    return Forgetting(utterance, _JUST_SAID, is_doubtful=True, is_just_said=True)


def spoken_of(utterance: Utterance, order: Order, before: Utterance | None) -> tuple[Utterance, str] | None:
    """Return the utterance and the words in it that a request points back to; None where nothing is said before it, or
    that points back itself."""
    led = _JOINTS_AT_END.sub("", utterance.text[: max(order.start - utterance.start, 0)])
    is_led = _WORD.search(led) is not None and not only_opens(led, utterance.language)
    where, text = (utterance, led) if is_led or before is None else (before, before.text)
    is_idle = only_opens(text.strip(" ,.!?;:…"), utterance.language) or names_nothing(text)
    return None if is_idle or names_by_pronoun(text) else (where, text)


def forgetting_of(utterance: Utterance, order: Order, where: Utterance, text: str) -> Forgetting:
    """Return the request that points back to words: whom they name if it says "him" or "her", or their subject."""
    parsed = utterance.parsed if where is utterance else where.part
    order_words = _words_of(order, utterance)
    names = [who.name for who in people_in(parsed) if who.name] if parsed and _WHOM.search(order_words) else []
    return Forgetting(utterance, " ".join(names) or about_of(text, utterance.language), is_doubtful=not names)


def forget_before(
    utterance: Utterance, order: Order, statements: list[Statement | Forgetting], before: Utterance | None
) -> Forgetting | None:
    """Return what a wish means that points back: what stands before it in the sentence, or in the sentence before that,
    which is not kept then either; what the turn before said where nothing stands before it. None behind another wish,
    which it only says again."""
    spoken = spoken_of(utterance, order, before)
    if spoken is None:
        # "You never read about the cash. Delete.": the second says the first again.
        is_said_again = before is None and bool(statements) and isinstance(statements[-1], Forgetting)
        return None if is_said_again else forgetting_just_said(utterance)
    where, text = spoken
    last = statements[-1] if statements and isinstance(statements[-1], Statement) else None
    if last is not None and last.last.start >= where.start:
        statements.pop()
    return forgetting_of(utterance, order, where, text)


def _repeats(utterance: Utterance, order: Order, before: Sequence[object]) -> bool:
    """Return whether a request to forget "it all" means the thing that a request before it names, and not all that is
    known."""
    said = _words_of(order, utterance)
    named = any(isinstance(wish, Forgetting) and not wish.is_all for wish in before)
    return named and _OF_IT.search(said) is not None


def with_request(statements: list[Statement | Forgetting], heard: Heard) -> list[Statement | Forgetting]:
    """Return what a message states with the request to forget as which it is read, where it has no such order: what it
    states before is known to that already, what the same sentence states is no memory if it is one."""
    stated = _with_request(statements, heard)
    return [replace(item, said=_said_with(item, heard)) if isinstance(item, Forgetting) else item for item in stated]


def _is_wish(heard: Heard) -> bool:
    """Return whether a message surely reads like a wish to forget, and not the whole of it alone: "Bye Caroline. I'm
    here for you. Take care of yourself."."""
    if heard.reading is None or heard.reading.forgets < ASKS_TO_FORGET:
        return False
    return max(heard.asking.values(), default=1.0) >= _NO_PART_ASKS


def _said_with(wish: Forgetting, heard: Heard) -> str | None:
    """Return the message of a wish, where it surely reads like one without the questions and tasks that ask for
    something else: "how long does dough keep? and the walnut thing, I'd prefer you not hang on to that". None outside
    English."""
    if wish.utterance.language != ENGLISH:
        return None
    if not _is_wish(heard):
        return message_of(wish.utterance)
    said = _beside_requests(heard, wish.utterance)
    is_apart = len(said) < len(heard.utterances) and not any(u.of_others for u in heard.utterances)
    return " ".join(u.text for u in said)[:MAX_SUMMARY_CHARS] if is_apart else message_of(wish.utterance)


def _beside_requests(heard: Heard, asking: Utterance) -> list[Utterance]:
    """Return the utterances of a message but for those that ask for something else than that which is `asking`."""
    return [u for u in heard.utterances if u is asking or not u.asks or _asks_to_forget(u) >= _TELLS_IT]


def _with_request(statements: list[Statement | Forgetting], heard: Heard) -> list[Statement | Forgetting]:
    is_wish = _is_wish(heard)
    means_all = heard.reading is not None and is_wish and heard.reading.whole >= _MEANS_ALL
    if ordered := [order for order in heard.orders if order.intent == "forget"]:
        told = _without_what_stays(statements)
        asks = {u.start for u in heard.utterances if any(order in ordered for order in u.orders)}
        _mark(told, _with_bits(heard, asks) - asks)
        return [*told, *_all_of_it(ordered, heard, means_all=means_all)] if is_wish else told
    if not is_wish:
        return statements
    statements = _without_what_stays(statements)
    # The head may have heard another order in its words, "lose the interview stuff": the reader knows better.
    unsettled = [u for u in heard.utterances if not (u.of_others or any(order.sure for order in u.orders))]
    chances = [(_asks_to_forget(u), -u.start, u) for u in unsettled]
    likeliest, _, asking = max(chances, default=(0.0, 0, None))
    if asking is None or not likeliest or len(asking.text.split()) < _FEWEST_ASKING:
        return statements
    asks = {asking.start, *(u.start for chance, _, u in chances if chance >= _TELLS_IT)}
    first = _mark(statements, _with_bits(heard, asks))
    said = " ".join(u.text for u in _beside_requests(heard, asking) if not u.of_others)
    perhaps = (
        Forgetting(asking, _EVERYTHING, is_all=True, is_doubtful=True)
        if means_all
        else Forgetting(asking, said, is_doubtful=True, is_only_as_read=True)
    )
    return [*statements[:first], perhaps, *statements[first:]]


def _with_bits(heard: Heard, asks: set[int]) -> set[int]:
    """Return where the utterances of a message begin that ask to forget something, and the bits without a clause right
    behind those, which say what: "I'd like none of it kept. therapist, supermarket, the lot"."""
    found = set(asks)
    for before, utterance in pairwise(heard.utterances):
        is_bit = utterance.parsed is not None and not utterance.asks and not main_clauses(utterance.parsed)
        if before.start in found and is_bit:
            found.add(utterance.start)
    return found


def _mark(statements: Sequence[Statement | Forgetting], asks: set[int]) -> int:
    """Mark what is stated where a wish `asks` as no memory if it is one; return the place of the first of it."""
    first = len(statements)
    for place, item in enumerate(statements):
        if isinstance(item, Statement) and any(u.start in asks for u in item.utterances):
            item.unless_forgotten = True
            first = min(first, place)
    return first


def _without_what_stays(statements: list[Statement | Forgetting]) -> list[Statement | Forgetting]:
    """Return what a message with a wish states, but for what says that something is to stay: "the rest is fine"."""
    return [
        item
        for item in statements
        if isinstance(item, Forgetting) or not all(_STAYS.search(one.text) for one in item.utterances)
    ]


def _all_of_it(ordered: Sequence[Order], heard: Heard, *, means_all: bool) -> Iterator[Forgetting]:
    """Yield the request for all that is known, where an order for that was in doubt, and so was not taken, or where
    none is and the message reads like one."""
    for utterance in heard.utterances:
        for order in ordered:
            if order in utterance.orders and (order.doubtful if order.scope == "all" else means_all):
                yield Forgetting(utterance, _EVERYTHING, is_all=True, is_doubtful=True)
                return


def _asks_to_forget(utterance: Utterance) -> float:
    """Return how likely an utterance asks that something be forgotten, as far as a head tells."""
    if utterance.parsed is None:
        return 0.0
    judgement = judged(utterance)
    if judgement.certainty == "supposition" and utterance.asks:
        return 0.0  # "What would happen if I said forget that I live in Rome?"
    return judgement.intents["forget"]


def without_aside(parsed: Parsed) -> Parsed:
    """Return the words of a wish without what is said beside the thing that they name: "my salary, my boss reads
    this"."""
    for clause in main_clauses(parsed):
        begin = min(parsed.subtree(clause.subject)) if clause.subject is not None else 0
        if begin > 1 and parsed.tokens[begin - 1].text in (",", ";"):
            return parsed.slice(0, begin - 1)
    return parsed


def named_apart(parsed: Parsed) -> tuple[str, ...]:
    """Return the things that the words of a wish name one after the other, each without the clause that tells of it:
    "my age" and "my school", "the Ananya thing" that "my roommate was reading"; nothing where that is all they are."""
    things = [index for index, token in enumerate(parsed.tokens) if token.head == index]
    if len(things) != 1:
        return ()
    for thing in things:
        things += [child for child in parsed.children(thing) if parsed.tokens[child].dep == "conj"]
    if not all(parsed.tokens[thing].tag.startswith("NN") for thing in things):
        return ()
    apart = []
    for thing in things:
        beside = [child for child in parsed.children(thing) if parsed.tokens[child].dep in _BESIDE_A_THING]
        left_out = {index for child in beside for index in parsed.subtree(child)}
        apart.append(parsed.text_of([index for index in parsed.subtree(thing) if index not in left_out]))
    return tuple(apart) if apart != [parsed.text_of(range(len(parsed.tokens)))] else ()


def message_of(utterance: Utterance) -> str | None:
    """Return the message in which an utterance stands, None outside English."""
    if utterance.language != ENGLISH:
        return None
    return " ".join(utterance.turn.messages[utterance.message].content.split())[:MAX_SUMMARY_CHARS]


def told_on(forgetting: Forgetting) -> date | None:
    """Return the day on which a wish says that something was told: "the thing I said last Monday"."""
    text, moment = forgetting.utterance.text, forgetting.utterance.turn.occurred_at
    match = _TOLD_BEFORE.search(text)
    if match is None or forgetting.is_all or forgetting.is_just_said:
        return None
    dates = find_dates(text[match.end() :], moment, lambda _position: Looks.BACK)
    days = [when for when in dates if when.span.granularity == "day" and when.lead <= 1]
    return days[0].span.first if days and days[0].span.first < moment.date() else None
