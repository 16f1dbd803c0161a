"""A message that answers what the assistant asked just before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

import memory.parser.english as language
from policies.language.clauses import main_clauses
from policies.language.coreference import depends_on_context
from policies.language.parse import Parsed
from policies.language.questions import asks_about_user
from policies.language.sentences import words
from policies.language.wording import read
from worker.extract.statement import Statement
from worker.extract.utterances import Asked, Heard, Utterance
from worker.extract.worth import is_worth_keeping, tells_something

_SHORT_REPLY_CHARS: Final = 240
_OFFER: Final = re.compile(
    r"\b(?:(?:how|what|where|when) (?:else )?(?:can|may|could|shall|should|would|do) (?:i|we)|anything else|"
    r"(?:can|may|shall|should|could) i|(?:would you|do you|you) (?:like|want) me to|want me to|"
    r"would you like (?:some|more|a|to)|what's up|what's new|how (?:are|have) you|need (?:any |more )?help|make sense|"
    r"sound good|let me know|does (?:that|this)|is (?:that|this) (?:ok|right|clear)|"
    r"what do you think|thoughts|right\?|any (?:advice|tips|ideas))\b|"
    r", (?:huh|eh|(?:is|are|was|does|do|did|ca|wo)n't (?:it|that|they|these|those))\?\Z",
    re.IGNORECASE,
)
"""A question of the assistant that asks for no fact: "anything else?", "how can I help", "it helps, doesn't it?"."""

_SHORT_ANSWER: Final = 4
"""Words."""
_YES_NO: Final = frozenset({"yes", "no", "yeah", "nope", "yep", "nah"})
_ALONE: Final = words("i we it they do did does have has am was were will would can is are he she there too totally")
_FILLERS: Final = words(
    "yes yeah yep yup no nope nah ok okay sure thanks please great cool right thank you not really maybe hmm idk never "
    "mind good fine lol haha definitely absolutely exactly certainly surely"
)


def reply_in(heard: Heard) -> Statement | None:  # noqa: PLR0911 (a list of reasons)
    """Return the message as an answer, where it does not say by itself what it is about."""
    asked = heard.asked
    if asked is None or not heard.utterances or heard.orders or len(heard.content) > _SHORT_REPLY_CHARS:
        return None
    telling = [utterance for utterance in heard.utterances if not utterance.asks]
    if is_offer(asked) or not telling or telling[0] is not heard.utterances[0]:
        return None
    while len(telling) > 1 and telling[0].parsed is not None and _opens_only(telling[0], telling[1:]):
        telling.pop(0)
    if telling[0].parsed is None:
        return None
    if _is_bare(telling[0]) and depends_on_context(*language.parse([asked.text])):
        return None
    says_yes_or_no, first = _bag(telling[0].text)[0] in _YES_NO, telling[0].part
    if not tells_something(telling[0]) and not (says_yes_or_no and asks_about_user(asked.text)):
        return None
    if first is not None and _says_itself(first) and not says_yes_or_no:
        return None
    dependent = takewhile(lambda utterance: not _stands_alone(utterance), telling[1:])
    return Statement([telling[0], *dependent], "answer", asked=asked)


def _opens_only(utterance: Utterance, others: Sequence[Utterance]) -> bool:
    """Return whether a sentence tells nothing before what does: "Thanks!", or "Yeah, I did!" before what was done."""
    return not tells_something(utterance) or (_is_bare(utterance) and any(map(_stands_alone, others)))


def _bag(text: str) -> list[str]:
    return [word.strip(".,!?").lower() for word in text.split()]


def _is_bare(utterance: Utterance) -> bool:
    """Return whether an answer says yes or no, and nothing else: "Yeah, I did!"."""
    answer = _bag(utterance.text)
    return (
        answer[0] in _YES_NO
        and len(answer) <= _SHORT_ANSWER
        and all(word in _FILLERS or word in _ALONE for word in answer)
    )


def _stands_alone(utterance: Utterance) -> bool:
    """Return whether a sentence behind an answer tells something of its own."""
    part = utterance.part
    return part is not None and _says_itself(part) and is_worth_keeping(utterance)


def _says_itself(part: Parsed) -> bool:
    """Return whether a sentence says what it is about: not "Seven, and one is round", which begins with a number that
    only its question tells of what."""
    first, *others = part.tokens
    if others and others[0].text == "," and read(first.text).quantities:
        return False
    return any(clause.owns_subject for clause in main_clauses(part)[:1]) and not depends_on_context(part)


def is_offer(asked: Asked) -> bool:
    """Return whether what a side asked is no question about the other: the reply says what it is about by itself."""
    return _OFFER.search(asked.text) is not None


def utterances_after(reply: Statement, utterances: Sequence[Utterance]) -> Sequence[Utterance]:
    """Return the sentences of a message behind those of its answer."""
    last = next(index for index, utterance in enumerate(utterances) if utterance is reply.last)
    return utterances[last + 1 :]
