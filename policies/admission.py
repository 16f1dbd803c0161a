"""Admission: decide whether a turn is worth an extraction, by rules, in microseconds, before any model is paid for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from policies.language.heads import judge
from policies.language.languages import ENGLISH, OTHER, behind_announcement, language_of
from policies.language.orders import orders_of
from policies.language.people import opens_with_own_people
from policies.language.questions import asks, asks_about_user
from policies.language.reported_speech import gives_text
from policies.language.requests import is_request, told_apart
from policies.language.sentences import Sentence, prose_of, split_sentences
from schema import Admission, AdmissionAction, Turn

_ACKNOWLEDGEMENT: Final = re.compile(
    r"^(?:(?:oh|ok|okay|k|yes|yeah|yep|yup|no|nope|sure|thanks|thank|you|so|much|great|cool|nice|"
    r"good|perfect|awesome|got|it|i|see|"
    r"hi|hello|hey|there|bye|goodbye|morning|night|lol|haha|hm+|right|fine|alright|wow|"
    r"interesting|exactly|agreed|please|go|on|"
    r"continue|next|more|stop|and|a|lot|very|that's|that|works|helps|is|all|for|now|done|np|ty|"
    r"thx|sounds|test)\b[\s,.!?]*)+$",
    re.IGNORECASE,
)
"""A message of nothing but thanks, greetings and assent: "ok great, thanks!"."""
_REQUEST: Final = re.compile(
    r"(?:who|what|when|where|why|how|which|is|are|does|do|did|can|could|would|will|should|explain|tell|write|give|show|"
    r"translate|summari[sz]e|list|make|help|find|search|compare|define|create|generate|fix|solve|calculate|convert)\b",
    re.IGNORECASE,
)
"""How a question or a request begins: "What time is it", "translate this"."""
_OF_ONESELF: Final = re.compile(
    r"\b(?:i|i'?m|i'?ve|i'?ll|i'?d|me|my|mine|myself|we|we'?re|we'?ve|we'?ll|us|our|ours|forget|remember|remind|memory)\b",
    re.IGNORECASE,
)
"""Somebody who speaks of themself, or to the memory: "where did I park", "remember"."""
_WORLDLY: Final = re.compile(
    r"(?:and |so |ok |okay |hey |hi |but )?"
    r"(?:who|what|when|where|why|how|which|is|are|does|do|did|can|could|will|would)\b[^\n]{0,200}\?",
    re.IGNORECASE,
)
"""A question, which with no word of whoever asks it is about the world: "Why is the sky blue?"."""
MAY_TELL: Final = "may_tell"
_SAID: Final = re.compile(r"[^\W_]")
"""A letter or a digit: "7". Without one, nothing was said."""
_YES_OR_NO: Final = re.compile(r"(?:yes|yeah|yep|yup|no|nope|nah|not really|of course|never|always)\b", re.IGNORECASE)
"""How an answer to a question of yes or no begins: "nope, never did"."""
_MAY_ANSWER_CHARS: Final = 60
_STATEMENT_WORDS: Final = 3
_BEFORE_CHARS: Final = 400
_READ_CHARS: Final = 16_000
_SENTENCES: Final = 20
"""How many sentences of a message the head reads."""
_WORTH: Final = 0.3
_WORTH_ELSEWHERE: Final = 0.2
"""Of what is not in English and in somebody's own words: the head has seen little of it, and errs on this side."""
_OWN: Final = "own"
_NOT_OWN: Final = frozenset({"task", "fiction", "quoted", "reported"})
_NOT_OWN_SURE: Final = 0.6
_PLANTED: Final = 0.5
MAY_FORGET: Final = 0.03
"""How likely a sentence must be a wish to forget, by its words, for its message to be read as a whole: 214 of 230
messages with such a wish by three authors are, and a third of those of LoCoMo."""
_ORDER: Final = "command_"
"""Begins the reason of a turn that orders something of the memory."""
_CLOSING: Final = " )\"'!”»"


@dataclass
class _Heard:
    """Result of reading the user's messages of a turn: whether there are words in them (`english`, `foreign`), whether
    these may answer something, state it or speak of whoever says them, and whether the head found something in them
    (`worth`)."""

    orders: dict[str, None] = field(default_factory=dict)
    off_the_record: bool = False
    english: bool = False
    foreign: bool = False
    worth: bool = False
    answered: bool = False
    states: bool = False
    of_oneself: bool = False


def _may_answer(prose: str, *, asked: bool) -> bool:
    """Return whether a text is a bare reply whose question may stand in an earlier turn."""
    reply = prose.strip()
    if not 0 < len(reply) <= _MAY_ANSWER_CHARS or reply[-1] == "?" or not _SAID.search(reply):
        return False
    if asked and _YES_OR_NO.match(reply):
        return True
    return not _ACKNOWLEDGEMENT.match(reply) and not _REQUEST.match(reply)


def _states(sentence: str) -> bool:
    """Return whether a sentence may state something: it asks nothing, orders nothing and is more than a reaction."""
    text = sentence.strip()
    return (
        len(text.split()) >= _STATEMENT_WORDS
        and text[-1:] != "?"
        and not _REQUEST.match(text)
        and not _ACKNOWLEDGEMENT.match(text)
    )


def _hear(turn: Turn, question: str) -> _Heard:
    heard = _Heard()
    spoken = bool(question)
    for message in turn.messages:
        if message.role == "assistant":
            question, spoken = message.content, True
        if message.role != "user":
            continue
        prose = prose_of(message.content)
        language = language_of(prose)
        for order in orders_of(message.content, question[-_BEFORE_CHARS:], language):
            if not order.doubtful or order.intent == "forget":
                heard.orders[f"{_ORDER}{order.intent}"] = None
            heard.off_the_record |= order.intent == "stop" and order.reaches_back and order.sure
        if language == OTHER:
            heard.foreign = True
            continue
        if language == ENGLISH:
            heard.of_oneself |= _OF_ONESELF.search(prose) is not None
            may_reply = asks(question) or not spoken
            heard.answered |= may_reply and _may_answer(prose, asked=asks_about_user(question))
            for sentence in split_sentences(prose):
                is_english = language_of(sentence.text) == ENGLISH
                heard.english |= is_english
                heard.foreign |= not is_english
                heard.states |= is_english and _states(sentence.text)
        else:
            heard.foreign = True
        heard.worth = heard.worth or tells_of_self(prose, question[-_BEFORE_CHARS:], language)
        question = ""
    return heard


def tells_of_self(prose: str, before: str, language: str) -> bool:
    """Return whether the head finds a sentence of somebody's own among the first of a text that is worth a memory, or
    a part of a question or a task that tells something in passing.

    `before` is what the other side said just before.
    """
    return any(
        is_own_news(sentence.text, before, language)
        or any(_tells_in_passing(piece, before, language) for piece in _pieces(sentence))
        for sentence in split_sentences(prose[:_READ_CHARS])[:_SENTENCES]
    )


def _pieces(sentence: Sentence) -> Iterator[str]:
    """Yield the parts of a question or a task; none of one that gives a text, whose words are nobody's telling."""
    if not gives_text(sentence.text):
        pieces = (statement.text for statement, _ in told_apart(sentence, asks=is_request(sentence.text)))
        yield from (piece for piece in pieces if piece != sentence.text)


def _tells_in_passing(piece: str, before: str, language: str) -> bool:
    return is_own_news(piece, before, language) and judge(piece, None, before, language).whose == _OWN


def is_own_news(sentence: str, before: str, language: str) -> bool:
    """Return whether the head finds a sentence worth a memory: told by its speaker, and no question."""
    if (
        not _SAID.search(sentence)
        or _ACKNOWLEDGEMENT.match(sentence)
        or sentence.rstrip(_CLOSING).endswith(("?", "？"))
    ):
        return False
    judgement = judge(behind_announcement(sentence, language), None, before, language)
    own = (
        judgement.whose not in _NOT_OWN
        or judgement.whose_sure < _NOT_OWN_SURE
        or (judgement.whose == "fiction" and opens_with_own_people(sentence))
    )
    worth = judgement.worth >= _WORTH
    if language != ENGLISH and judgement.whose == _OWN:
        worth = judgement.worth >= _WORTH_ELSEWHERE
    return worth and own and judgement.planted < _PLANTED


def _may_ask_to_forget(turn: Turn) -> bool:
    """Return whether the head takes a sentence of the user's in English for what may be a wish to forget."""
    return any(
        judge(sentence.text, None).intents["forget"] >= MAY_FORGET
        for message in turn.messages
        if message.role == "user"
        for sentence in split_sentences(prose_of(message.content)[:_READ_CHARS])[:_SENTENCES]
        if not _ACKNOWLEDGEMENT.match(sentence.text) and language_of(sentence.text) == ENGLISH
    )


def orders_something(admission: Admission) -> bool:
    """Return whether a turn was admitted for an order to the memory."""
    return any(reason.startswith(_ORDER) for reason in admission.reasons)


def admit_for_model(turn: Turn, question: str = "") -> Admission:
    """Return what to do with a turn where a language model reads what is admitted: as `admit`, but a turn is skipped
    only if it cannot tell or order anything. What is let through on top has the reason `may_tell`.

    Skipped are withdrawn consent, what is off the record, turns without prose, acknowledgements that answer nothing,
    and questions about the world that speak of nobody's life. What may have been said off the record is shown to
    nobody, in doubt too.
    """
    by_rules = admit(turn, question)
    if any(_may_be_off_the_record(message.content) for message in turn.messages if message.role == "user"):
        return Admission(action=AdmissionAction.SKIP, reasons=("off_the_record",))
    if by_rules.action is not AdmissionAction.SKIP or by_rules.reasons != ("nothing_personal",):
        return by_rules
    for message in turn.messages:
        if message.role == "assistant":
            question = message.content
        elif message.role == "user":
            prose = prose_of(message.content)
            if _may_tell(prose, answering=asks(question)):
                return Admission(action=AdmissionAction.ASK, reasons=(MAY_TELL,))
            question = ""
    return by_rules


def _may_be_off_the_record(text: str) -> bool:
    return any(
        order.intent == "stop" and order.reaches_back for order in orders_of(text, "", language_of(prose_of(text)))
    )


def _may_tell(prose: str, *, answering: bool) -> bool:
    """Return whether a text may say something of whoever says it, or order something of the memory."""
    text = prose.strip()
    if not _SAID.search(text):
        return False
    if _ACKNOWLEDGEMENT.match(text):
        return answering
    if _OF_ONESELF.search(text):
        return True
    return not all(_WORLDLY.fullmatch(sentence.text.strip()) for sentence in split_sentences(text))


def admit(turn: Turn, question: str = "") -> Admission:
    """Return what to do with a turn. `reasons` name the rules that decided, never the content.

    `question` is what the assistant asked last in the turn before it in the conversation, if it ended by asking.

    KEEP: a form or the head is sure that the user said something to remember, or gave an order to the memory. ASK:
    there may be something, it may answer a question, it is not in English, or it comes from another source.
    SKIP: nothing, withdrawn consent, or said off the record.
    """
    if turn.consent == "withdrawn":
        return Admission(action=AdmissionAction.SKIP, reasons=("consent_withdrawn",))
    heard = _hear(turn, question)
    if heard.off_the_record:
        return Admission(action=AdmissionAction.SKIP, reasons=("off_the_record",))
    reasons = tuple(heard.orders) + (("attachment",) if turn.attachments else ())
    if heard.worth:
        reasons += ("worth",)
    sure = bool(reasons)
    if heard.foreign:
        reasons += ("not_english",)
    if sure:
        return Admission(action=AdmissionAction.KEEP, reasons=reasons)
    if heard.answered:
        reasons += ("may_answer",)
    if turn.source != "chat" and heard.english:
        reasons += ("external_source",)
    if not reasons and heard.states:
        reasons = ("statement",)
    if not reasons and heard.of_oneself:
        reasons = (MAY_TELL,)
    if not reasons and _may_ask_to_forget(turn):
        reasons = ("may_forget",)
    if reasons:
        return Admission(action=AdmissionAction.ASK, reasons=reasons)
    return Admission(action=AdmissionAction.SKIP, reasons=("nothing_personal" if heard.english else "no_prose",))
