"""Where make-believe begins: nothing after it in a message is told of anybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.language.reported_speech import asks_for_writing

_UNDONE: Final = (
    r"(?!(?:let['’]?s )?(?:just )?(?:pretend|act as if|act like|imagine) (?:that )?(?:nothing (?:\w+ )?happened|"
    r"(?:(?:none|all) of )?(?:this|that|it)(?: (?:conversation|chat|talk|exchange|question|argument))? "
    r"(?:(?:never|didn['’]?t|did not) happen(?:ed)?|happened)|"
    r"[^.?!\n]{1,40}? never (?:was|were|happened|existed|came up)(?=\W*\Z)|"
    r"(?:i|we|you) (?:never|didn['’]?t|did not|haven['’]?t) (?:said|say|ask(?:ed)?|told|tell|saw|see|heard|hear|read|"
    r"sent|send|wrote|write|mention(?:ed)?|notice(?:d)?))\b)"
)
"""Words that are no make-believe, but let something rest: "let's pretend nothing happened"."""
_TELLS_OF_PRETENDING: Final = (
    "".join(
        rf"(?<!\b{before} )"
        for before in ("i have to", "we have to", "had to", "used to", "likes to", "loves to", "always", "never", "not")
    )
    + "(?<!n['’]t )"
)
"""Words before a pretending that somebody only tells of: "I had to pretend to like it"."""
_LONGEST_QUESTION: Final = 300
_MADE_UP: Final = re.compile(
    r"(?:\A|[.!?]\s|\n)\s*(?:(?:and|so|ok|okay),? )?(?:let's )?say (?:i|we|my|our|you|he|she|they|some(?:body|one))\b|"
    rf"\b{_UNDONE}(?:role-?play|"
    r"let['’]?s play[,:;]? (?:you|i)(?:['’](?:re|m)| are| am)\b|"
    r"let'?s play (?:a |that |where |like )(?:[^.?!\n]{0,40}\b(?:where|in which|that) )?(?:i|we|you)\b|"
    rf"let['’]s pretend|{_TELLS_OF_PRETENDING}pretend (?:you|that|to|i)|imagine (?:you|that|i|we|a)|act as|"
    r"suppose (?:i|my|that|you|we)|(?<!no longer )(?<!not )hypothetical(?:ly)?|once upon a time|"
    r"you(?:'re| are) (?:now )?(?:an?|my) (?:\w+ )?(?:pirate|character|wizard|detective|therapist|coach|interviewer|"
    r"teacher|chef|expert|poet|king|queen|robot|narrator|dm|dungeon)|"
    r"(?<![^.!?\n] )you(?:'re| are) (?:now )?an? [^.?!\n]{2,60}?,? and (?:i am|i['’]m|we are|we['’]re) "
    r"(?:your|the(?! (?:one|most|\w+est)\b)))\b",
    re.IGNORECASE,
)
"""Words that open make-believe: "let's pretend", "you are now a pirate", "You are a baker and I'm your apprentice"."""


INVENTED: Final = re.compile(
    r"\b(?:stor(?:y|ies)|novels?|scenes?|scripts?|screenplay|tales?|fairytales?|chapters?|characters?|fan ?fic\w*|plot|"
    r"role-?play|play|sketch|jokes?|riddles?|fables?|myths?|pretend|imagine|translate|proofread)\b",
    re.IGNORECASE,
)
"""Of what people are made up, or another's: "a story about my sister Anna"."""
_ROLE: Final = re.compile(r"(?:i['’]?m|i am|you['’]?re|you are) (?:an?|the)\b", re.IGNORECASE)
"""Whom somebody is in what is made up: "I'm a dragon"."""
_SUPPOSED_QUESTION: Final = re.compile(
    r"\b(?:suppose|say|imagine|hypothetically)\b(?! (?:that )?you\b)[^.!?\n]{0,300}\?", re.IGNORECASE
)
"""A sentence that supposes something to ask of it, and makes nothing else up: "Suppose I won, what is the tax?"."""


def make_believe_places(text: str) -> Iterator[tuple[int, int]]:
    """Yield where in a text make-believe begins and ends (characters): with its sentence where that supposes something
    and asks of it, with the text otherwise."""
    for match in _MADE_UP.finditer(text):
        asks = _SUPPOSED_QUESTION.search(text, match.start(), match.end() + _LONGEST_QUESTION)
        yield match.start(), asks.end() if asks and asks.start() < match.end() else len(text)


def is_role(piece: str, request: str) -> bool:
    """Return whether a piece of a request for something made up says who somebody is in it, "Write a bedtime story, I'm
    a dragon": who they are in truth cannot be told from that."""
    return _ROLE.match(piece) is not None and INVENTED.search(request) is not None and asks_for_writing(request)
