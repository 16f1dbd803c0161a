"""Statements of a user: utterances that belong together, in the manner in which they are to be kept."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from policies.admission import is_own_news
from policies.language.annotation import offsets_of
from policies.language.clauses import main_clauses
from policies.language.coreference import is_elliptical, leans_back, pointer_of, standing_clauses
from policies.language.corrections import announces, denies_a_value, is_correction
from policies.language.languages import ENGLISH, OTHER
from policies.language.make_believe import INVENTED
from policies.language.orders import Order, orders_of
from policies.language.parse import Parsed
from policies.language.people import Person, introduced_in, people_in, referent
from policies.language.tellable import may_be_told, speaks_of_self
from policies.wish_words import names_nothing
from schema import Naming
from worker.extract.forgetting import Forgetting, forget_before, forgetting_named, with_request
from worker.extract.judgement import judged
from worker.extract.news import as_news, whole_as_news
from worker.extract.orders import is_done_to_speaker, is_imperative
from worker.extract.pieces import is_taken_back, pieces_of, told_of
from worker.extract.replies import is_offer, reply_in, utterances_after
from worker.extract.statement import Statement
from worker.extract.utterances import Heard, Utterance, with_part, without_order
from worker.extract.worth import (
    answers_itself,
    claims_something,
    holds,
    is_telling_bit,
    is_worth_keeping,
    tells_something,
)

_OPENING: Final = 3
"""Places, from 0, of the words that open a sentence, and of the sentences that may take up a question."""
_TAKES_BACK: Final = re.compile(
    r"(?:\*|(?:oh |oops,? |well,? |actually,? )?"
    r"(?:no|nope|wait|sorry|scratch that|correction|i mean|i meant|make that)\b)",
    re.IGNORECASE,
)
"""How one takes back what one just said: "*Friday", "oh wait"."""
_LONGEST_TAKEN_BACK: Final = 12
"""Words, from which on what opens so tells something new."""
_ASKED_FOR: Final = frozenset({"remember", "remind", "pin"})
_KEEPING: Final = frozenset({"remember", "pin", "private"})
_NAMING: Final = frozenset({"remember", "pin", "unpin", "private"})
_TO_DO: Final = re.compile(r"\bto\W*\Z", re.IGNORECASE)
"""An order to remember that is one to do something: "remember to"."""
_CLAUSE_END: Final = re.compile(r"[,.;:!?]")
"""The end of what is to be remembered: "be short with me, I read"."""
_NAME_END: Final = re.compile(
    r"[,;:!?(]|\.(?=\s+(?-i:[a-z])|\Z)| - | – |\b(?:and|but|please|not|instead|because|from)\b", re.IGNORECASE
)
"""Where a name ends that one wants to be called by: "Sam, please"."""
_LONGEST_NAME: Final = 4
"""Words."""
_NAME_CHARS: Final = 60
_FEWEST_BESIDE: Final = 3
"""Words of what is told beside an order; fewer are a part of it: "please also"."""
_FEWEST_TO_KEEP: Final = 2
"""Words that are to be remembered by an order behind them: "gluten intolerant, remember this"."""
_TOLD: Final = 0.3
"""From where on the head is believed against a parse that finds a task in what is to be remembered: "gluten
intolerant". Of most tasks it finds next to nothing ("write me a poem"), but not of all ("plan my week")."""
_SURELY_TELLS: Final = 0.5
"""From where on of worth what leans on something that nobody said is quoted rather than lost: "We have lived in the
same house since the war"."""


def statements_of(heard: Heard) -> list[Statement | Forgetting]:
    """Return all that a message states, orders to the memory among it, in the order in which it was said."""
    reply = reply_in(heard)
    statements: list[Statement | Forgetting] = [] if reply is None else [reply]
    people: list[Person] = []
    before: Utterance | None = None
    for utterance in heard.utterances if reply is None else utterances_after(reply, heard.utterances):
        if utterance.orders:
            _obey(utterance, statements, people, before)
            before = None
            continue
        utterance = told_of(utterance)  # noqa: PLW2901
        for piece in _pieces(utterance):
            _take(piece, statements, people, before)
        if utterance.part is not None:
            people = people_in(utterance.part) or people
        names_a_topic = utterance.parsed is not None and not main_clauses(
            utterance.parsed
        )  # "That job thing? Forget it."
        before = utterance if names_a_topic or not utterance.asks else None
    statements = with_request(statements, heard)
    private = any(order.intent == "private" and order.reaches_back for order in heard.orders)
    joined = _joined(statements, heard.utterances)
    for item in joined:
        if isinstance(item, Statement):
            item.private = item.private or private
    if joined and isinstance(last := joined[-1], Statement) and not last.explicit and last.manner == "said":
        last.shared = heard.shared
    return joined or [*whole_as_news(heard)]


def _pieces(utterance: Utterance) -> list[Utterance]:
    """Return the statements of an utterance, where each is worth keeping by itself; otherwise the whole."""
    pieces, user_name = pieces_of(utterance), utterance.turn.user_name()
    stand = all(is_worth_keeping(piece) or introduced_in(piece.part, user_name) for piece in pieces)
    return pieces if stand else [utterance]


def _take(
    utterance: Utterance, statements: list[Statement | Forgetting], people: Sequence[Person], before: Utterance | None
) -> None:
    part = utterance.part
    if utterance.language != ENGLISH:
        _take_foreign(utterance, statements)
        return
    if part is not None and (quotation := _quoted_at_once(utterance, part, before)):
        statements.append(quotation)
        return
    if part is None or is_elliptical(part):
        return
    last = _going_on(statements, before, utterance)
    if last is not None and (_takes_back(utterance) or (last.only_as_news and is_telling_bit(utterance))):
        last.utterances.append(utterance)
        last.quote = True
        last.only_as_news = last.only_as_news and not is_telling_bit(utterance)
        return
    pointer = _pointer(utterance, part)
    leans = pointer is not None or (last is not None and leans_back(part))
    names_nobody = pointer == 0 and utterance.within_request  # Whom "she was on my ward" is of stood in the task.
    goes_on = leans and len(part.tokens) > 4 and not utterance.asks and claims_something(utterance)
    if not goes_on and not is_worth_keeping(utterance):
        statements += as_news(utterance, quote=pointer is not None) or _named_in_passing(utterance, part)
        return
    if not leans:
        statements.append(Statement([utterance], quote=is_taken_back(utterance)))
    elif pointer is not None and pointer < _OPENING and (person := referent(part.tokens[pointer].lower, people)):
        statements.append(Statement([utterance], refers={0: person}))
    elif last is not None:
        last.utterances.append(utterance)
    elif is_worth_keeping(utterance) and (supported := _supported(utterance, before)):
        statements += supported
    elif not names_nobody and speaks_of_self(part) and judged(utterance).worth >= _SURELY_TELLS:
        statements.append(Statement([utterance], quote=True))
    else:
        statements += as_news(utterance, quote=True)


def _going_on(
    statements: Sequence[Statement | Forgetting], before: Utterance | None, utterance: Utterance
) -> Statement | None:
    """Return the statement right before an utterance, if that may go on with it."""
    last = statements[-1] if statements and isinstance(statements[-1], Statement) else None
    goes_on = last is not None and last.last is before and last.manner == "said" and not last.explicit
    return last if last is not None and goes_on and last.has_room_for(utterance) else None


def _takes_back(utterance: Utterance) -> bool:
    """Return whether an utterance takes back something right before it: "oh wait, on Friday"."""
    taken_back = _TAKES_BACK.match(utterance.text) is not None and len(utterance.text.split()) < _LONGEST_TAKEN_BACK
    return taken_back and not utterance.asks


def _quoted_at_once(utterance: Utterance, part: Parsed, before: Utterance | None) -> Statement | None:
    """Return an utterance that puts something right, or answers what its speaker asked, None if it does neither."""
    if _corrects(utterance, part, before):
        return Statement([utterance], "correction", quote=True, only_as_news=True)
    if before is not None and answers_itself(utterance, before):
        return Statement([before, utterance], quote=True)
    return None


def _pointer(utterance: Utterance, part: Parsed) -> int | None:
    """Return the place of the first word that stands for something said before, unless that is written beside it."""
    pointer = pointer_of(part)
    explained = pointer is not None and offsets_of(part)[pointer] in {note.start for note in utterance.notes}
    return None if explained else pointer


def _corrects(utterance: Utterance, part: Parsed, before: Utterance | None) -> bool:
    """Return whether an utterance opens its message by putting right what was said before, or does so after a sentence
    that announces it ("I misspoke. It was 1943.")."""
    if utterance.text.endswith("?"):
        return False
    if utterance.number == 1 and before is not None and announces(before.text):
        return is_correction(f"sorry, {utterance.text}", part)
    may_correct = denies_a_value(part) if utterance.number else not utterance.asked
    return may_correct and is_correction(utterance.text, part)


def _named_in_passing(utterance: Utterance, part: Parsed) -> list[Statement]:
    """Return who the speaker's people are whom a question or a task calls by name: "a card for our daughter Lila"."""
    if not (utterance.asks or utterance.within_request) or utterance.of_others or INVENTED.search(utterance.text):
        return []
    return [
        Statement(
            [utterance], "named", words=f"my {person.phrase.removesuffix(person.name).strip(' ,')} is {person.name}"
        )
        for person in people_in(part)
        if person.of_speaker and person.noun is not None and person.name is not None and person.gender != "they"
    ]


def _supported(utterance: Utterance, before: Utterance | None) -> list[Statement]:
    """Return a sentence that leans on what was said before it, with that; the clauses of it that lean on nothing where
    nothing holds it."""
    # "also new gf?? shes a nurse" names what the rest is of; "weekly meal plan please" does not.
    is_task = before is not None and before.asks and not before.text.endswith("?")
    if before is not None and before.part is not None and not (before.orders or is_task) and holds(before, utterance):
        return [Statement([before, utterance])]
    asked_for = utterance.asked is not None and utterance.number < _OPENING and not is_offer(utterance.asked)
    if asked_for and tells_something(utterance):
        return [Statement([utterance], asked=utterance.asked)]
    clauses = standing_clauses(utterance.part) if utterance.part is not None else ()
    alone = [with_part(utterance, clause) for clause in clauses]
    return [Statement([clause]) for clause in alone if is_worth_keeping(clause)]


def _joined(
    statements: Sequence[Statement | Forgetting], utterances: Sequence[Utterance]
) -> list[Statement | Forgetting]:
    """Join statements that can only be quoted with the fragments and the quotations right beside them."""
    numbers = {id(utterance): number for number, utterance in enumerate(utterances)}
    taken = {id(utterance) for item in statements if isinstance(item, Statement) for utterance in item.utterances}
    joined: list[Statement | Forgetting] = []
    for item in statements:
        if not isinstance(item, Statement) or item.manner != "said" or item.explicit or not item.is_quoted():
            joined.append(item)
            continue
        for step in (-1, 1):
            at = numbers.get(id(item.utterances[0 if step < 0 else -1]), -2) + step
            while (
                0 <= at < len(utterances)
                and id(utterances[at]) not in taken
                and _is_fragment(utterance := utterances[at])
            ):
                if not item.has_room_for(utterance):
                    break
                item.utterances.insert(0 if step < 0 else len(item.utterances), utterance)
                taken.add(id(utterance))
                at += step
        last = joined[-1] if joined else None
        if (
            isinstance(last, Statement) and last.manner == "said" and not last.explicit
            and (last.is_quoted() or _goes_on_with(item))
            and last.only_as_news == item.only_as_news
            and numbers.get(id(last.last), -9) + 1 == numbers.get(id(item.utterances[0]), -2)
            and all(last.has_room_for(utterance) for utterance in item.utterances[-1:])
            and not (last.asked or item.asked)
        ):  # fmt: skip
            last.utterances += item.utterances
            last.quote = True
        else:
            joined.append(item)
    return joined


def _goes_on_with(item: Statement) -> bool:
    """Return whether a statement is a fragment in small letters, as people go on behind a full stop: "I got the job!!
    starting May 1st"."""
    return item.last.text[:1].islower() and _is_fragment(item.utterances[0])


def _is_fragment(utterance: Utterance) -> bool:
    """Return whether an utterance tells something without a clause of its own: "52k, start 3 aug, hybrid"."""
    if utterance.part is None or utterance.asks or utterance.orders or utterance.within_request:
        return False
    if not tells_something(utterance):
        return False
    words = [token for token in utterance.part.tokens if token.text[:1].isalnum()]
    return len(words) > 1 and not any(clause.owns_subject for clause in main_clauses(utterance.part))


def _take_foreign(utterance: Utterance, statements: list[Statement | Forgetting]) -> None:
    """Take what is not in English as a quotation where the head finds it worth keeping."""
    asked = utterance.asked.text if utterance.asked is not None and utterance.number < _OPENING else ""
    if (
        utterance.language != OTHER
        and not utterance.of_others
        and is_own_news(utterance.text, asked, utterance.language)
    ):
        statements.append(Statement([utterance], quote=True))


def _obey(
    utterance: Utterance, statements: list[Statement | Forgetting], people: Sequence[Person], before: Utterance | None
) -> None:
    """Take what the orders of an utterance ask to be kept or forgotten, and what is told beside them."""
    begin, waiting = utterance.start, None
    for order in (*utterance.orders, None):
        is_kept = order is not None and order.reaches_back and order.intent in _KEEPING
        end = order.start if order else utterance.end
        remainder = without_order(utterance, begin, end, _FEWEST_TO_KEEP if is_kept else _FEWEST_BESIDE)
        if remainder is not None:
            kept = len(statements)
            if waiting is None:
                _take(replace(remainder, within_request=not is_kept), statements, people, None)
            else:
                statements.append(_marked(Statement([remainder]), waiting))
            waiting, before = None, remainder if len(statements) == kept else None
        if order is None:
            break
        if order.reaches_back and order.intent in _KEEPING and not statements and before is None:
            waiting = order  # What it is about follows: "This is between us, I failed".
        back = (order.reaches_back and order.intent != "style") or (
            order.intent == "forget" and order.scope != "all" and names_nothing(order.object_text)
        )
        ordered = (
            _reaching_back(utterance, order, statements, before) if back else _ordered(utterance, order, statements)
        )
        if ordered is not None:
            statements.append(ordered)
            before = None
        begin = order.end


def _reaching_back(
    utterance: Utterance, order: Order, statements: list[Statement | Forgetting], before: Utterance | None
) -> Statement | Forgetting | None:
    """Return what an order makes of what was said just before it: "Remember this!", "Actually, forget that."."""
    last = statements[-1] if statements and isinstance(statements[-1], Statement) else None
    if order.intent == "forget":
        return forget_before(utterance, order, statements, before)
    if order.intent not in _KEEPING:
        return None
    is_taken = last is not None and before is not None and last.last.start == before.start
    if before is not None and not is_taken and (not before.asks or judged(before).worth >= _TOLD):
        statements.append(last := Statement([before], quote=before.language != ENGLISH))
    if last is not None:
        _marked(last, order)
    return None


def _marked(statement: Statement, order: Order) -> Statement:
    statement.explicit = statement.explicit or order.intent != "private"
    statement.pinned = statement.pinned or order.intent == "pin"
    statement.private = statement.private or order.intent == "private"
    return statement


def _order_within(order: Order) -> Order | None:
    """Return the order that opens what another one is about: "Remember, and this is private: I am in therapy"."""
    if order.intent not in _KEEPING or ":" not in order.object_text:
        return None
    inner = next(iter(orders_of(order.object_text)), None)
    return inner if inner is not None and inner.intent in _KEEPING and inner.sure and inner.object_text else None


def _ordered(utterance: Utterance, order: Order, taken: Sequence[object] = ()) -> Statement | Forgetting | None:
    """Return what an order asks to be kept or forgotten, None if that is nothing; `taken` is what came before it."""
    if order.intent == "forget":
        return forgetting_named(utterance, order, taken[-1:])
    if not order.object_text and order.intent != "style":
        return None
    if (inner := _order_within(order)) is not None:
        statement = _ordered(utterance, inner)
        return _marked(statement, order) if isinstance(statement, Statement) else statement
    statement = Statement([utterance], explicit=order.intent in _ASKED_FOR, words=order.object_text)
    statement.quote = foreign = utterance.language != ENGLISH
    if order.intent in _NAMING:
        statement.naming = Naming.model_validate({"order": order.intent, "what": order.object_text})
    match order.intent:
        case "remember" if _TO_DO.search(utterance.text[: max(utterance.text.find(order.object_text), 0)]):
            is_for_assistant = is_done_to_speaker(utterance)
            statement.manner = "instruction" if is_for_assistant else "reminder"
            statement.words = _CLAUSE_END.split(order.object_text)[0] if is_for_assistant else f"to {order.object_text}"
        case "remember" | "pin" | "unpin":
            statement.pinned = order.intent == "pin"
        case "remind" if not order.sure:
            statement.words, statement.quote = None, True
        case "remind":
            statement.manner, statement.words = "reminder", utterance.text if foreign else order.object_text
        case "private":
            statement.private, statement.words = True, order.object_text if order.sure else None
        case "call_me":
            called = _NAME_END.split(order.object_text)[0].strip(" \"'")
            is_name = (
                order.sure and 0 < len(called) <= _NAME_CHARS and len(called.split()) <= _LONGEST_NAME and not foreign
            )
            statement.manner, statement.words = ("called", called) if is_name else ("instruction", utterance.text)
            statement.quote = not is_name
        case "style" | "never_mention":
            statement.manner = "instruction"
            statement.words = (
                utterance.text if order is utterance.orders[0] else utterance.text[order.start - utterance.start :]
            )
            statement.quote = foreign or not (is_imperative(utterance) or _is_told(statement.words, utterance))
        case _:
            return None
    return statement


def _is_told(words: str | None, utterance: Utterance) -> bool:
    """Return whether an order is a whole utterance that says what somebody likes: "I prefer short answers"."""
    return words == utterance.text and utterance.part is not None and may_be_told(utterance.part)
