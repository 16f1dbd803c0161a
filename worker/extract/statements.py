"""What a user stated: utterances that belong together, in the manner in which they are to be kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from policies.admission import is_own_news
from policies.forgetting import names_nothing
from policies.language.clauses import Mood, main_clauses
from policies.language.corrections import announces, is_correction
from policies.language.languages import ENGLISH, OTHER
from policies.language.leaning import is_elliptical, pointer_of
from policies.language.narration import may_be_told
from policies.language.orders import Order
from policies.language.parse import Parsed
from policies.language.people import Person, introduced_in, people_in, referent
from policies.language.relevance import is_instruction
from policies.language.splitting import statements_in
from worker.extract.forgetting import Forgetting, forgetting_just_said, forgetting_named, forgetting_of, spoken_of
from worker.extract.replies import is_offer, reply_in, utterances_after
from worker.extract.statement import Statement
from worker.extract.utterances import Heard, Utterance, with_part, without_order
from worker.extract.worth import is_remark, is_worth_keeping, may_be_news

_OPENING: Final = 3
"""Places, from 0, of the words that open a sentence, and of the sentences that may take up a question."""
_TAKES_BACK: Final = re.compile(
    r"(?:\*|(?:oh |oops,? |well,? |actually,? )?"
    r"(?:no|nope|wait|sorry|scratch that|correction|i mean|i meant|make that)\b)",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"\b(?:no no|no wait|wait no|i mean(?:t)?|scratch that|sorry,? i meant|correction|make that)\b", re.IGNORECASE
)
"""Where something is put right that was said just before."""
_ASKED_FOR: Final = frozenset({"remember", "remind", "pin"})
_KEEPING: Final = frozenset({"remember", "pin", "private"})
_TO_DO: Final = re.compile(r"\bto\W*\Z", re.IGNORECASE)
_NAME_END: Final = re.compile(r"[,.;:!?(]| - | – |\b(?:and|but|please|not|instead|because|from)\b", re.IGNORECASE)
_LONGEST_NAME: Final = 4
"""Words."""
_NAME_CHARS: Final = 60


def statements_of(heard: Heard) -> list[Statement | Forgetting]:
    """Return all that a message states, orders to the memory among it, in the order in which it was said."""
    reply = reply_in(heard)
    found: list[Statement | Forgetting] = [] if reply is None else [reply]
    people: list[Person] = []
    before: Utterance | None = None
    for one in heard.utterances if reply is None else utterances_after(reply, heard.utterances):
        if one.orders:
            _obey(one, found, people, before)
            before = None
            continue
        for piece in _pieces(one):
            _take(piece, found, people, before)
        if one.part is not None:
            people = people_in(one.part) or people
        before = None if one.asks else one
    private = any(order.intent == "private" and order.reaches_back for order in heard.orders)
    joined = _joined(found, heard.utterances)
    for item in joined:
        if isinstance(item, Statement):
            item.private = item.private or private
    if joined and isinstance(last := joined[-1], Statement) and not last.explicit and last.manner == "said":
        last.shared = heard.shared
    return joined


def _pieces(one: Utterance) -> list[Utterance]:
    """Return the statements of an utterance, where each is worth keeping by itself; otherwise the whole."""
    if one.part is None or one.of_others or one.asks or not may_be_told(one.part) or _TAKEN_BACK.search(one.text):
        return [one]
    pieces = [with_part(one, piece) for piece in statements_in(one.part)]
    known = one.turn.user_name()
    stand = all(is_worth_keeping(piece) or introduced_in(piece.part, known) for piece in pieces)
    return pieces if len(pieces) > 1 and stand else [one]


def _take(
    one: Utterance, found: list[Statement | Forgetting], people: Sequence[Person], before: Utterance | None
) -> None:
    part = one.part
    if one.language != ENGLISH:
        _take_foreign(one, found)
        return
    if part is not None and _corrects(one, part, before):
        found.append(Statement([one], "correction", quote=True, only_as_news=True))
        return
    if part is None or is_elliptical(part):
        return
    if is_instruction(one.spelt.plain):
        found.append(Statement([one], "instruction"))
        return
    last = found[-1] if found and isinstance(found[-1], Statement) and found[-1].last is before else None
    if last is not None and (last.manner != "said" or last.explicit or not last.has_room_for(one)):
        last = None
    if last is not None and _TAKES_BACK.match(one.text) and len(one.text.split()) < 12 and not one.asks:
        last.utterances.append(one)
        last.quote = True
        return
    pointer = pointer_of(part)
    goes_on = pointer is not None and len(part.tokens) > 4 and not one.asks and not is_remark(one)
    if not goes_on and not is_worth_keeping(one):
        found += _news(one, quote=pointer is not None)
        return
    if pointer is None:
        found.append(Statement([one], quote=_TAKEN_BACK.search(one.text) is not None))
    elif person := referent(part.tokens[pointer].lower, people) if pointer < _OPENING else None:
        found.append(Statement([one], refers={0: person}))
    elif last is not None:
        last.utterances.append(one)
    elif is_worth_keeping(one) and (supported := _supported(one, before)):
        found.append(supported)
    else:
        found += _news(one, quote=True)


def _corrects(one: Utterance, part: Parsed, before: Utterance | None) -> bool:
    """Return whether an utterance opens its message by putting right what was said before, or does so after a sentence
    that announces it ("I misspoke. It was 1943.")."""
    if one.number == 1 and before is not None and announces(before.text):
        return is_correction(f"sorry, {one.text}", part)
    return one.number == 0 and not one.asked and is_correction(one.text, part)


def _news(one: Utterance, *, quote: bool) -> list[Statement]:
    """Return an utterance that is worth a memory only if it changes something that is known; empty if it cannot."""
    return [Statement([one], quote=quote, only_as_news=True)] if may_be_news(one) else []


def _supported(one: Utterance, before: Utterance | None) -> Statement | None:
    """Return a sentence that leans on what was said before it, with that; None if nothing holds it."""
    if before is not None and before.part is not None and not is_remark(before) and not before.orders:
        return Statement([before, one])
    if one.asked is not None and one.number < _OPENING and not is_offer(one.asked):
        return Statement([one], asked=one.asked)
    return None


def _joined(found: Sequence[Statement | Forgetting], utterances: Sequence[Utterance]) -> list[Statement | Forgetting]:
    """Statements that can only be quoted, with the fragments and the quotations right beside them."""
    place = {id(one): number for number, one in enumerate(utterances)}
    taken = {id(one) for item in found if isinstance(item, Statement) for one in item.utterances}
    joined: list[Statement | Forgetting] = []
    for item in found:
        if not isinstance(item, Statement) or item.manner != "said" or item.explicit or not item.is_quoted():
            joined.append(item)
            continue
        for step in (-1, 1):
            at = place.get(id(item.utterances[0 if step < 0 else -1]), -2) + step
            while 0 <= at < len(utterances) and id(utterances[at]) not in taken and _is_fragment(one := utterances[at]):
                if not item.has_room_for(one):
                    break
                item.utterances.insert(0 if step < 0 else len(item.utterances), one)
                taken.add(id(one))
                at += step
        last = joined[-1] if joined else None
        if (
            isinstance(last, Statement) and last.manner == "said" and not last.explicit and last.is_quoted()
            and place.get(id(last.last), -9) + 1 == place.get(id(item.utterances[0]), -2)
            and all(last.has_room_for(one) for one in item.utterances[-1:])
            and not (last.asked or item.asked)
        ):  # fmt: skip
            last.utterances += item.utterances
            last.quote = True
        else:
            joined.append(item)
    return joined


def _is_fragment(one: Utterance) -> bool:
    """Return whether an utterance tells something without a clause of its own: "52k, start 3 aug, hybrid"."""
    if one.part is None or one.asks or one.orders or one.within_request or is_remark(one):
        return False
    words = [token for token in one.part.tokens if token.text[:1].isalnum()]
    return len(words) > 1 and not any(clause.owns_subject for clause in main_clauses(one.part))


def _take_foreign(one: Utterance, found: list[Statement | Forgetting]) -> None:
    """Of what is not in English the head alone says whether it is worth keeping; it is quoted as it stands."""
    asked = one.asked.text if one.asked is not None and one.number < _OPENING else ""
    if one.language != OTHER and not one.of_others and is_own_news(one.text, asked, one.language):
        found.append(Statement([one], quote=True))


def _obey(
    one: Utterance, found: list[Statement | Forgetting], people: Sequence[Person], before: Utterance | None
) -> None:
    """Take what the orders of an utterance ask to be kept or forgotten, and what is told beside them."""
    begin, waiting = one.start, None
    for order in (*one.orders, None):
        told = without_order(one, begin, order.start if order else one.end)
        if told is not None:
            kept = len(found)
            if waiting is None:
                _take(told, found, people, None)
            else:
                found.append(_marked(Statement([told]), waiting))
            waiting, before = None, told if len(found) == kept else None
        if order is None:
            break
        if order.reaches_back and order.intent in _KEEPING and not found and before is None:
            waiting = order  # What it is about follows: "This is between us, I failed".
        back = order.reaches_back or (
            order.intent == "forget" and order.scope != "all" and names_nothing(order.object_text)
        )
        ordered = _reaching_back(one, order, found, before) if back else _ordered(one, order)
        if ordered is not None:
            found.append(ordered)
            before = None
        begin = order.end


def _reaching_back(
    one: Utterance, order: Order, found: list[Statement | Forgetting], before: Utterance | None
) -> Statement | Forgetting | None:
    """Return what an order makes of what was said just before it: "Remember this!", "Actually, forget that."."""
    last = found[-1] if found and isinstance(found[-1], Statement) else None
    if order.intent == "forget":
        return _forget_before(one, order, found, before)
    if order.intent not in _KEEPING:
        return None
    is_taken = last is not None and before is not None and last.last.start == before.start
    if before is not None and not before.asks and not is_taken:
        found.append(last := Statement([before], quote=before.language != ENGLISH))
    if last is not None:
        _marked(last, order)
    return None


def _forget_before(
    one: Utterance, order: Order, found: list[Statement | Forgetting], before: Utterance | None
) -> Forgetting | None:
    """Return what a wish means that points back: what stands before it in the sentence, or in the sentence before that,
    which is not kept then either; what the turn before said where nothing stands before it."""
    spoken = spoken_of(one, order, before)
    if spoken is None:
        return forgetting_just_said(one)
    where, said = spoken
    last = found[-1] if found and isinstance(found[-1], Statement) else None
    if last is not None and last.last.start >= where.start:
        found.pop()
    return forgetting_of(one, order, where, said)


def _marked(said: Statement, order: Order) -> Statement:
    said.explicit = said.explicit or order.intent != "private"
    said.pinned = said.pinned or order.intent == "pin"
    said.private = said.private or order.intent == "private"
    return said


def _ordered(one: Utterance, order: Order) -> Statement | Forgetting | None:
    """Return what an order asks to be kept or forgotten, None if that is nothing."""
    if order.intent == "forget":
        return forgetting_named(one, order)
    if not order.object_text:
        return None
    said = Statement([one], explicit=order.intent in _ASKED_FOR, words=order.object_text)
    said.quote = foreign = one.language != ENGLISH
    match order.intent:
        case "remember" if _TO_DO.search(one.text[: max(one.text.find(order.object_text), 0)]):
            said.manner, said.words = "reminder", f"to {order.object_text}"
        case "remember" | "pin":
            said.pinned = order.intent == "pin"
        case "remind":
            said.manner, said.words = "reminder", one.text if foreign else order.object_text
        case "private":
            said.private, said.words = True, order.object_text if order.sure else None
        case "call_me":
            called = _NAME_END.split(order.object_text)[0].strip(" \"'")
            is_name = 0 < len(called) <= _NAME_CHARS and len(called.split()) <= _LONGEST_NAME and not foreign
            said.manner, said.words = ("called", called) if is_name else ("instruction", one.text)
            said.quote = not is_name
        case "style" | "never_mention":
            said.manner = "instruction"
            said.words = one.text if order is one.orders[0] else one.text[order.start - one.start :]
            said.quote = foreign or not _is_imperative(one)
        case _:
            return None
    return said


def _is_imperative(one: Utterance) -> bool:
    tops = main_clauses(one.parsed) if one.parsed is not None else []
    return len(tops) == 1 and tops[0].mood is Mood.ORDER
