"""Secrets that one message asks for, or begins, and a later one tells: "What is your PIN?" - "4821"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from policies.language.orders import orders_of
from policies.privacy.rules import label_pattern
from policies.privacy.secret_names import CODES, PASSWORDS, PINS
from schema import Message

_MASK: Final = "[secret]"
_READ_CHARS: Final = 400
_SHORT_CLAUSE: Final = 60
"""Characters of a clause that may complete a secret; a longer clause is a new statement."""
_NAMED: Final = (
    *PASSWORDS, *PINS, *CODES, "the secret", "cvv", "cvc", "seed phrase", "recovery phrase", "secret words",
        "private key", "secret key",
    "api key", "access key", "card number", "account number", "routing number", "iban", "credentials",
    "login details", "digits", "number on your card",
)  # fmt: skip
_CARDS: Final = ("card", "visa", "mastercard", "amex", "iban", "account", "card number", "account number")
_ASKING: Final = re.compile(
    r"\b(?:what(?:['’]s| is| was| are)|which|(?:may|can|could) (?:i|we) (?:have|get)|(?:i|we)(?:['’]ll| will)? need "
    r"(?:your|the))\b|"
    r"(?<!not )(?<!n't )(?<!n’t )(?<!never )(?<!ever )(?<!to )\b(?:tell me|give me|send(?: me)?|share|enter|type|"
    r"provide|"
    r"confirm|repeat|read out|go on|continue)\b",
    re.IGNORECASE,
)
"""How one asks for something: "what's your", "please enter"."""
_WHAT_IS_IT: Final = re.compile(r"\bwhat(?:['’]s| is| was) it\b[^\n.!?]{0,30}[?.!\s]{0,4}\Z", re.IGNORECASE)
"""A question for what was just spoken of: "Got a PIN? What is it?"."""
_OTHER_THINGS: Final = re.compile(
    r"\s?(?:manager|policy|strength|hint|reset|generator|protected|rules?|for (?:a|the) (?:game|film))", re.IGNORECASE
)
"""Words that make of the name of a secret that of another thing: "password manager", by its " manager"."""
_LAST_SENTENCE: Final = re.compile(r"[^\n.!?]{1,300}[?.!:\s]{0,4}\Z")
"""The last sentence of a message: "Hi. What is your PIN?"."""
_UNFINISHED: Final = re.compile(
    r"(?:(?:\s(?:for|of|to|at)\s[^\n.!?]{1,40}?)?\s{0,2}(?:is|was|are|:|=|ist|es|est|starts with|begins "
    r"with)\s{0,2}:?[\s.…]{0,4}|"
    r"(?:\s[^\n.!?\d]{1,24})?\s(?:starts?|begins?) with:?\s[\w-]{1,12}[\s,.…-]{0,4}|"
    r"[^\n\d]{0,24}\d(?:[ -]?\d){3,14}[\s,.…-]{0,4}|(?:(?:[\s,]|is|starts|with|double)+(?:zero|oh|one|two|three|"
    r"four|five|six|seven|"
    r"eight|nine)){3,14}[\s,.…-]{0,4})\Z",
    re.IGNORECASE,
)
"""A telling that ends where its secret begins: "my pin is "."""
_ANNOUNCES: Final = re.compile(
    r"\b(?:here(?:['’]s| is| are| comes?| goes)|(?:next|now) (?:comes?|is|follows?)|follow(?:s|ing)|coming up|this is|"
    r"(?:i['’]ll|i will|i['’]m going to|i am going to|let me|i['’]m|i am) (?:now |just )?(?:tell|give|send|type|"
    r"write|text|spell|post|paste|sending|typing|giving|writing)\w*)\b[^\n.!?]{0,60}\Z",
    re.IGNORECASE,
)
"""Words before the name of a secret that say that it comes next: "here comes my "."""
_ANNOUNCED: Final = re.compile(
    r"(?:\s(?:for|of|to|at|on)\s[^\n.!?]{1,40}?)?\s{0,2}(?:now|next|again|then|below)?[\s.:!…]{0,4}\Z", re.IGNORECASE
)
"""The end of a message that announces a secret, behind its name: " for the router:"."""
_ODD: Final = re.compile(r"\s*(?:\S*[^\W_][\d_@&!*+=#?/-]\S*|\S*\d\S*|\S+\s*[.!]*\s*\Z)")
"""A message that may be a secret that was announced, by a digit or a sign in its first word, or by being one word:
"Pelican_55_dusk"."""
_SENTENCE: Final = re.compile(r"\s*[^\s]+[^\n.!?]*")
"""A sentence from its begin: "4821 it is"."""
_CLAUSE: Final = re.compile(r"\s*[^\s]+(?:(?!\s(?:and|but|so|because)\s)[^\n.!?,;])*")
"""A clause from its begin: "4821, thanks"."""
_NO_ANSWER: Final = frozenset({"forget", "stop"})


def without_answers(messages: Sequence[Message], question: str = "") -> tuple[Message, ...]:
    """Return the messages without what answers a question for a secret, or completes what one before it began or
    announced.

    `question` is what was asked, begun or announced last in the turn before. Of an answer its first sentence is taken
    out, of a completion its first clause: which word of them is the secret no rule can tell. Linear in the length of
    the text.
    """
    asked, begun, announced, before = _asks(question, ""), is_begun(question), is_announced(question), ""
    kept = []
    for message in messages:
        text, masked = message.content, message
        if message.role == "user":
            if asked or begun or (announced and _ODD.match(text)):
                masked = message.model_copy(update={"content": _masked(text, asked=asked)})
            asked, begun, announced, before = False, is_begun(text), is_announced(text), text
        elif message.role == "assistant":
            asked = _asks(text, before)
        kept.append(masked)
    return tuple(kept)


def asking_sentence(text: str) -> str | None:
    """Return the sentence with which a message ends by asking for a secret; None if it does not."""
    last = _LAST_SENTENCE.search(text[-_READ_CHARS:])
    if last is None or not (asking := _ASKING.search(last[0])):
        return None
    named = label_pattern(_NAMED).search(last[0])
    if named is None or asking.start() > named.end() or _OTHER_THINGS.match(last[0], named.end()):
        return None
    return last[0].strip()


def is_begun(text: str) -> bool:
    """Tell whether a message ends where a secret begins: "My password is", "my card is 4111 1111"."""
    end = text[-_READ_CHARS:]
    names = (*label_pattern(_NAMED).finditer(end), *label_pattern(_CARDS).finditer(end))
    return any(_UNFINISHED.match(end, name.end()) for name in names[-12:])


def is_announced(text: str) -> bool:
    """Tell whether a message says that a secret comes next: "Here comes my wifi password."."""
    end = text[-_READ_CHARS:]
    names = [*label_pattern(_NAMED).finditer(end)]
    return any(_ANNOUNCED.match(end, name.end()) and _ANNOUNCES.search(end[: name.start()]) for name in names[-12:])


def _asks(text: str, before: str) -> bool:
    spoken_of = label_pattern(_NAMED).search(before[-_READ_CHARS:]) is not None
    return asking_sentence(text) is not None or (spoken_of and _WHAT_IS_IT.search(text[-_READ_CHARS:]) is not None)


def _masked(text: str, *, asked: bool) -> str:
    if any(order.intent in _NO_ANSWER and not order.doubtful for order in orders_of(text)):
        return text
    part = (_SENTENCE if asked else _CLAUSE).match(text)
    if part is None or (not asked and len(part[0]) > _SHORT_CLAUSE):
        return text
    return _MASK + text[part.end() :]
