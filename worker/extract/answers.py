"""The answer in a message: sentences that say what they are about only beside the question before them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from policies.language.clauses import main_clauses
from policies.language.leaning import leans
from policies.language.parse import Parsed
from policies.language.relevance import asks_about_user
from policies.language.sentences import words
from worker.extract.utterances import Heard, Utterance
from worker.extract.worth import is_remark, is_worth_keeping, tells_nothing

_SHORT_REPLY_CHARS: Final = 240
_SHORT_ANSWER: Final = 4
"""Words."""
_YES_NO: Final = frozenset({"yes", "no", "yeah", "nope", "yep", "nah"})
_ALONE: Final = words("i we it they do did does have has am was were will would can is are he she there too totally")
_FILLERS: Final = words(
    "yes yeah yep yup no nope nah ok okay sure thanks please great cool right thank you not really maybe hmm idk never "
    "mind good fine lol haha"
)
_OFFER: Final = re.compile(
    r"\b(?:(?:how|what|where|when) (?:else )?(?:can|may|could|shall|should|would|do) (?:i|we)|anything else|"
    r"(?:can|may|shall|should|could) i|(?:would you|do you|you) (?:like|want) me to|want me to|"
    r"would you like (?:some|more|a|to)|what's up|what's new|how (?:are|have) you|need (?:any |more )?help|make sense|"
    r"sound good|let me know|does (?:that|this)|is (?:that|this) (?:ok|right|clear)|"
    r"what do you think|thoughts|right\?|any (?:advice|tips|ideas))\b",
    re.IGNORECASE,
)
"""What a side asks that is no question about the user: the reply says what it is about by itself."""


def answer_in(heard: Heard) -> list[Utterance]:  # noqa: PLR0911 (a list of reasons)
    """Return the sentences of a message that answer what was asked, where they do not say by themselves what they are
    about; empty if there are none."""
    asked = heard.asked
    if asked is None or not heard.utterances or heard.orders or len(heard.content) > _SHORT_REPLY_CHARS:
        return []
    telling = [one for one in heard.utterances if not one.asks]
    if is_offer(asked.text) or not telling or telling[0] is not heard.utterances[0]:
        return []
    while len(telling) > 1 and telling[0].parsed is not None and _opens_only(telling[0], telling[1:]):
        telling.pop(0)
    if telling[0].parsed is None:
        return []
    of_user = asks_about_user(asked.text)
    bag = _bag(telling[0].text)
    if (all(word in _FILLERS for word in bag) or is_remark(telling[0])) and not of_user:
        return []
    if bag[0] not in _YES_NO and tells_nothing(telling[0]):
        return []
    first = telling[0].part
    if first is not None and _says_itself(first) and bag[0] not in _YES_NO:
        return []
    leaning = takewhile(lambda one: not _stands_alone(one), telling[1:])
    return [telling[0], *leaning]


def is_offer(asked: str) -> bool:
    """Return whether a question is none about the user: "Would you like more?"."""
    return _OFFER.search(asked) is not None


def _opens_only(one: Utterance, others: Sequence[Utterance]) -> bool:
    """Return whether a sentence tells nothing before what does: "Thanks!", or "Yeah, I did!" before what was done."""
    return _thanks(one) or (_is_bare(one) and any(map(_stands_alone, others)))


def _bag(text: str) -> list[str]:
    return [word.strip(".,!?").lower() for word in text.split()]


def _thanks(one: Utterance) -> bool:
    """Return whether a sentence before an answer only thanks, praises or wonders."""
    return _bag(one.text)[0] not in _YES_NO and (is_remark(one) or tells_nothing(one))


def _is_bare(one: Utterance) -> bool:
    """Return whether an answer says yes or no, and nothing else: "Yeah, I did!"."""
    bag = _bag(one.text)
    return bag[0] in _YES_NO and len(bag) <= _SHORT_ANSWER and all(word in _FILLERS or word in _ALONE for word in bag)


def _stands_alone(one: Utterance) -> bool:
    """Return whether a sentence behind an answer tells something of its own."""
    part = one.part
    return part is not None and _says_itself(part) and is_worth_keeping(one)


def _says_itself(part: Parsed) -> bool:
    return any(clause.owns_subject for clause in main_clauses(part)[:1]) and not leans(part)
