"""Statements that a question or a task makes in passing: "We're off to Japan, what do I pack?"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.language.capacity import capacity_end
from policies.language.sentences import Sentence, words

_REQUESTS: Final = re.compile(
    r"(?:(?:ok|okay|hey|hi|so|and|now|also|please|pls|plz),? ){0,3}(?:can|could|would|will|should|do|does|did|is|are|"
    r"was|what's|how's|(?:what|where|when|who|which|why|how)(?! (?:i|we|my|our|he|she|they|it|the)\b)|"
    r"tell me|give me|write|make|draft|plan|suggest|recommend|"
    r"explain|help|find|show|list|compare|translate|summari[sz]e|proofread|rewrite|rephrase|convert|calculate|create|generate|"
    r"fix|book|order|remind|quiz|teach|describe|pretend|let's|lets)\b",
    re.IGNORECASE,
)
"""How a request to the assistant begins: "could you", "tell me"."""
_PLEASE: Final = re.compile(r"\b(?:please|pls|plz)(?=[.! ]*\Z|,)", re.IGNORECASE)
"""The end of a request that has no verb: "a limerick about my cat, please", "weekly meal plan please, ..."."""
_ASKED: Final = (
    r"(?:(?:what|how|why)(?:'s| (?:do|does|did|is|are|can|could|should|would|will)\b)|"
    r"(?:where|when|who|which(?: \w+)?) (?:do|does|did|can|could|should|would|will) (?:i|we|you|one|they|he|she|it)\b|"
    r"(?:can|could|should|would|will|do|does|is|are) (?:i|we|you|one|they|he|she|it|there|this|that|anyone)\b)"
)
_KNOWN_TO_BE_SO: Final = "|".join(
    f"(?<={word})"
    for word in sorted(words("celebrate celebrating celebrated delighted thrilled relieved glad happy proud fact"))
)
"""Behind what something is said that is so: "celebrating that"."""
_CHOICE: Final = (
    r"(?!(?:i|we|my|our|he|she|they|it|the)\b)[\w'’-]+(?: [\w'’-]+){0,2} or [\w'’-]+(?: [\w'’-]+){0,2}\W*\Z"
)
"""Things to choose from at the end of a question: ", tea or coffee"."""
_PIECE: Final = re.compile(
    rf", (?!(?:and )?then\b|{_CHOICE})| - | – |: |; |\s(?=(?:because|since|as|cause|cos) (?:I|i|im|we|my|our)\b)|"
    rf"\s(?=so (?:{_ASKED}|(?:maybe|perhaps)\b))|"
    rf"(?:{_KNOWN_TO_BE_SO})\sthat (?=(?:I|i|we|my|our)\b)"
)
"""Between the pieces of a request: "book a table, i am vegan", "a card to celebrate that we moved"; what is asked for
"then" is more of it."""
_REASONS: Final = ("because ", "since ", "as ", "cause ", "cos ")
_ASKS_BEHIND: Final = re.compile(
    rf"(?:(?:, | - | – |; )(?:(?:and|but|so) )?|\s(?:and )?so )(?P<asked>{_ASKED})", re.IGNORECASE
)
"""A question behind what is told, with no mark of one: "moving on the first, does one tip movers"."""


def is_request(sentence: str) -> bool:
    """Return whether a sentence asks something, or sounds like a task for the assistant."""
    return sentence.endswith("?") or bool(_REQUESTS.match(sentence) or _PLEASE.search(sentence))


def told_apart(sentence: Sentence, *, asks: bool) -> Iterator[tuple[Sentence, bool]]:
    """Yield what a sentence tells apart, and whether it stands in a request: in what capacity somebody speaks, the
    parts of a question or a task, and what stands before a question that nothing marks as one."""
    end = capacity_end(sentence.text)
    if end is not None:
        yield Sentence(sentence.text[:end], sentence.start), asks
        rest = sentence.text[end:].lstrip(" ,")
        sentence = Sentence(rest, sentence.start + len(sentence.text) - len(rest))
    question = None if asks else _ASKS_BEHIND.search(sentence.text)
    if question is not None:
        yield Sentence(sentence.text[: question.start()], sentence.start), False
        begin = question.start("asked")
        sentence = Sentence(sentence.text[begin:], sentence.start + begin)
    within = asks or question is not None
    yield from ((piece, within) for piece in (_pieces(sentence) if within else (sentence,)))


def _pieces(sentence: Sentence) -> Iterator[Sentence]:
    """Yield the parts of a question or a task, of which some may tell something: "We're off to Japan, what do
    I pack?"."""
    text, begin = sentence.text, 0
    for cut in (*_PIECE.finditer(text), None):
        piece = text[begin : cut.start() if cut else len(text)]
        kept = piece.lstrip()
        is_reason = False
        for joint in ("and ", "but ", "so ", *_REASONS):
            if kept.lower().startswith(joint):
                kept = kept[len(joint) :]
                is_reason = joint in _REASONS
        if len(kept.split()) > 1:
            statement = kept.rstrip(" ?") if is_reason else kept.rstrip()
            yield Sentence(statement, sentence.start + begin + len(piece) - len(kept))
        begin = cut.end() if cut else len(text)
