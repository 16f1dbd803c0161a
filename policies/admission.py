"""Whether a turn is worth an extraction: by rules, in microseconds, before any model is paid for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from policies.language.beside import told_beside
from policies.language.commands import find_commands
from policies.language.relevance import SURELY, WORTH_KEEPING, Relevance, asks, asks_about_user, relevance_of
from policies.language.sentences import prose_of, split_sentences, words
from schema import Admission, AdmissionAction, Turn

_LETTER_RUN = re.compile(r"[^\W\d_]+")
_ENGLISH: Final = words(
    "the a an and or but if of to in on at for with from by about as is are was were be been am do does "
    "did have has had i you he she it we they me my your his her our their this that these those what "
    "which who when where why how not no yes so just like can will would could should there here i'm it's "
    "don't up out more some all new really very good im ive love hi hello hey thanks thank ok okay please "
    "remember forget"
)
_FOREIGN: Final = words(
    "el los las una que por para con mi es soy estoy muy pero como tengo vivo hola gracias quiero der die "
    "das und ich bin ist nicht ein eine mein meine habe wir sie zu mit auf für wohne danke le les une et "
    "je suis est pas mon ma mes nous vous avec pour dans j'ai j'habite merci bonjour il lo gli che sono "
    "non ho mio mia per di vivo grazie ciao o os eu não uma meu minha tenho sou com você obrigado moro de "
    "het een ik ben niet mijn en van woon heb dank jag är och inte min mitt har jeg og ikke ve bir benim "
    "için ben nie jest mam się na"
)
_MIXED: Final = frozenset({"die", "a", "me", "i", "no", "in", "on", "he", "so", "do", "is", "was", "as", "an", "at"})
_LATIN_LIMIT = 0x250


def is_english(text: str) -> bool:
    """Whether prose is in English, by the alphabet and the share of the commonest words.

    Fewer than four words of the Latin alphabet are given the benefit of the doubt unless one of them is a
    common word of another language.
    """
    said = _LETTER_RUN.findall(text[:2000].lower().replace("'", ""))
    if not said:
        return True
    letters = sum(map(len, said))
    latin = sum(1 for word in said for char in word if ord(char) < _LATIN_LIMIT)
    if latin < letters * 0.6:
        return False
    english = sum(word in _ENGLISH for word in said)
    foreign = sum(word in _FOREIGN and word not in _MIXED for word in said)
    if len(said) < 4:
        return foreign <= english
    return foreign <= max(english, 1) or foreign * 8 < len(said)


_TELLING: Final = words(
    "possession relation answers_question first_person my_thing number time preference name money "
    "relation_named owns personal_verb about_oneself about_us elliptical identity instruction bare_answer habit "
    "named_event named_life appointment"
)
_ACKNOWLEDGEMENT: Final = re.compile(
    r"^(?:(?:oh|ok|okay|k|yes|yeah|yep|yup|no|nope|sure|thanks|thank|you|so|much|great|cool|nice|"
    r"good|perfect|awesome|got|it|i|see|"
    r"hi|hello|hey|there|bye|goodbye|morning|night|lol|haha|hm+|right|fine|alright|wow|"
    r"interesting|exactly|agreed|please|go|on|"
    r"continue|next|more|stop|and|a|lot|very|that's|that|works|helps|is|all|for|now|done|np|ty|"
    r"thx|sounds|test)\b[\s,.!?]*)+$",
    re.IGNORECASE,
)
_REQUEST: Final = re.compile(
    r"(?:who|what|when|where|why|how|which|is|are|does|do|did|can|could|would|will|should|explain|tell|write|give|show|"
    r"translate|summari[sz]e|list|make|help|find|search|compare|define|create|generate|fix|solve|calculate|convert)\b",
    re.IGNORECASE,
)
_SAID: Final = re.compile(r"[^\W_]")
_YES_OR_NO: Final = re.compile(r"(?:yes|yeah|yep|yup|no|nope|nah|not really|of course|never|always)\b", re.IGNORECASE)
_MAY_ANSWER_CHARS: Final = 60
_STATEMENT_WORDS: Final = 3


@dataclass
class _Heard:
    """What the user's messages of a turn came to."""

    best: Relevance | None = None
    commands: dict[str, None] = field(default_factory=dict)
    foreign: bool = False
    answered: bool = False
    states: bool = False


def _may_answer(prose: str, *, asked: bool) -> bool:
    """Whether a text is a bare reply whose question may stand in an earlier turn."""
    said = prose.strip()
    if not 0 < len(said) <= _MAY_ANSWER_CHARS or said[-1] == "?" or not _SAID.search(said):
        return False
    if asked and _YES_OR_NO.match(said):
        return True
    return not _ACKNOWLEDGEMENT.match(said) and not _REQUEST.match(said)


def _states(sentence: str) -> bool:
    """Whether a sentence may state something: it asks nothing, orders nothing and is more than a reaction."""
    said = sentence.strip()
    return (
        len(said.split()) >= _STATEMENT_WORDS
        and said[-1:] != "?"
        and not _REQUEST.match(said)
        and not _ACKNOWLEDGEMENT.match(said)
    )


def _hear(turn: Turn, question: str) -> _Heard:
    heard = _Heard()
    spoken = bool(question)
    for message in turn.messages:
        if message.role == "assistant":
            question, spoken = message.content, True
        if message.role != "user":
            continue
        for command in find_commands(message.content):
            heard.commands[f"command_{command.verb}"] = None
        prose = prose_of(message.content)
        if not is_english(prose):
            heard.foreign = True
            continue
        asked = asks_about_user(question)
        heard.answered = heard.answered or ((asked or not spoken) and _may_answer(prose, asked=asked))
        _weigh(heard, prose, asked=asked, replying=asks(question))
        question = ""
    return heard


def _weigh(heard: _Heard, prose: str, *, asked: bool, replying: bool) -> None:
    """Take note of the best sentence of a message. The first two may answer what was asked."""
    for place, sentence in enumerate(split_sentences(prose)):
        if not is_english(sentence.text):
            heard.foreign = True
            continue
        first = place < 2
        heard.states = heard.states or _states(sentence.text)
        relevance = relevance_of(sentence.text, after_question=asked and first, replying=replying and first)
        beside = told_beside(sentence.text) if {"task", "question"} & set(relevance.reasons) else ()
        for one in (relevance, *map(relevance_of, beside)):
            if heard.best is None or one.points > heard.best.points:
                heard.best = one


def admit(turn: Turn, question: str = "") -> Admission:
    """What to do with a turn. `reasons` name the rules that decided, never the content.

    `question` is what the assistant asked last in the turn before it in the conversation, if it ended by asking.

    KEEP: a rule is sure that the user said something to remember, or gave an order to the memory. ASK: there may
    be something, it may answer a question, it is not in English, or it comes from another source than the chat.
    SKIP: nothing, withdrawn consent, or said off the record.
    """
    if turn.consent == "withdrawn":
        return Admission(action=AdmissionAction.SKIP, reasons=("consent_withdrawn",))
    heard = _hear(turn, question)
    if "command_off_the_record" in heard.commands:
        return Admission(action=AdmissionAction.SKIP, reasons=("off_the_record",))
    points = heard.best.points if heard.best else 0.0
    reasons = tuple(heard.commands) + (("attachment",) if turn.attachments else ())
    sure = bool(reasons) or points >= SURELY
    if heard.best is not None and points >= WORTH_KEEPING:
        reasons += tuple(reason for reason in heard.best.reasons if reason in _TELLING)
    if heard.foreign:
        reasons += ("not_english",)
    if sure:
        return Admission(action=AdmissionAction.KEEP, reasons=reasons)
    if heard.answered and points < WORTH_KEEPING:
        reasons += ("may_answer",)
    if turn.source != "chat" and heard.best is not None:
        reasons += ("external_source",)
    if not reasons and heard.states:
        reasons = ("statement",)
    if reasons:
        return Admission(action=AdmissionAction.ASK, reasons=reasons)
    return Admission(action=AdmissionAction.SKIP, reasons=("nothing_personal" if heard.best else "no_prose",))
