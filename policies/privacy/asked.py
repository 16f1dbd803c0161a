"""Secrets that one message asks for, or begins, and the next one tells: "What is your PIN?" - "4821"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from policies.language.commands import find_commands
from schema import Message

_MASK: Final = "[secret]"
_READ_CHARS: Final = 400
_NAMED: Final = (
    r"(?:pass(?:word|code|phrase|key)s?|pwd|pin(?:\s(?:code|number))?|puk|passwort|kennwort|contraseña|mot de passe|"
    r"senha|"
    r"(?:one[- ]time|verification|security|confirmation|access|door|gate|alarm|entry|backup|recovery|unlock|safe|login|"
    r"2fa|sms)\s(?:pass)?codes?|otp|cvv2?|cvc|(?:seed|recovery|secret)\s(?:phrase|words?)|(?:private|secret|api|"
    r"access)\skey|"
    r"(?:card|account|routing|iban)\snumber|iban|credentials|log-?in details)"
)
_ASKS: Final = re.compile(
    r"\b(?:what(?:['’]s| is| was| are)|which|tell me|give me|send (?:me )?|share|enter|type|provide|confirm|repeat|"
    rf"may i have|can i have|need)\b[^\n.!?]{{0,60}}\b{_NAMED}\b[^\n.!?]{{0,60}}[?.!:\s]{{0,4}}\Z",
    re.IGNORECASE,
)
_ASKS_FOR_IT: Final = re.compile(r"\bwhat(?:['’]s| is| was) it\b[^\n.!?]{0,30}[?.!\s]{0,4}\Z", re.IGNORECASE)
_SPOKEN_OF: Final = re.compile(rf"\b{_NAMED}\b", re.IGNORECASE)
_BEGINS: Final = re.compile(
    rf"\b{_NAMED}\b(?:\s(?:for|of|to|at)\s[^\n.!?]{{1,40}}?)?\s{{0,2}}(?:is|was|are|:|=|ist|es|"
    rf"est)\s{{0,2}}:?[\s.…]{{0,4}}\Z|"
    r"\b(?:card|iban|account)\b[^\n\d]{0,24}\d(?:[ -]?\d){5,14}[\s,.…-]{0,4}\Z",
    re.IGNORECASE,
)
_NO_ANSWER: Final = frozenset({"forget", "block", "off_the_record"})
_SENTENCE: Final = re.compile(r"\s*[^\s]+[^\n.!?]*")
_CLAUSE: Final = re.compile(r"\s*[^\s]+(?:(?!\s(?:and|but|so|because)\s)[^\n.!?,;])*")


def without_answers(messages: Sequence[Message], question: str = "") -> tuple[Message, ...]:
    """The messages without what answers a question for a secret, or completes what the message before it began.

    `question` is what was asked last in the turn before. Of an answer its first sentence is taken out, of a
    completion its first clause: which word of them is the secret no rule can tell. Linear in the length of the text.
    """
    asked, begun, before = _asks(question, ""), False, ""
    kept = []
    for message in messages:
        text, told = message.content, message
        if message.role == "user":
            if asked or begun:
                told = message.model_copy(update={"content": _masked(text, _SENTENCE if asked else _CLAUSE)})
            asked, begun, before = False, _BEGINS.search(text[-_READ_CHARS:]) is not None, text
        elif message.role == "assistant":
            asked, begun = _asks(text, before), False
        kept.append(told)
    return tuple(kept)


def _asks(text: str, before: str) -> bool:
    end = text[-_READ_CHARS:]
    return _ASKS.search(end) is not None or (
        _ASKS_FOR_IT.search(end) is not None and _SPOKEN_OF.search(before[-_READ_CHARS:]) is not None
    )


def _masked(text: str, part: re.Pattern[str]) -> str:
    if any(command.verb in _NO_ANSWER for command in find_commands(text)):
        return text
    return part.sub(_MASK, text, count=1) if part.match(text) else text
