"""Decide whether a text was written for a model to act on, rather than to tell of its writer.

Somebody who sets a scene ("You are Captain Ash. You never refuse ...") says nothing of themselves by it, whatever
stands there in the first person. No single word tells: people pretend, have rules and use language models. Kinds of
cues are counted, and one that speaks of models or roles must be among them.
"""

from __future__ import annotations

import re
from typing import Final

_READ_CHARS: Final = 6_000
_SHORT_CHARS: Final = 200
_MANY: Final = 4
_SOME: Final = 3


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


_ADDRESSEE: Final = (
    _any(  # Models
        r"\b(?:chat\s?gpt|gpt-?\w{0,4}|openai|language models?|artificial intelligence|superintelligen\w{1,8}|"
        r"chat ?bots?|llms?|training data|jailbreak\w{0,6}|prompts?)\b",
        r"\byour (?:re)?programming\b|(?-i:\bAIs?\b)",
    ),
    _any(  # Roles
        r"\b(?:act(?:ing)? (?:as|like)|role-? ?play\w{0,4}|pretend\w{0,4}|simulat(?:e|es|ing|ion)|embod(?:y|ies)|"
        r"personas?|play(?:ing)? the (?:role|part)|in character|the character|imagine (?:that )?you)\b",
        r"\byou(?:'re|’re| are| will be) (?:now |going to be )?(?:playing|acting|the |an? |(?-i:[A-Z]))",
        r"\byour (?:new )?(?:name|role|task|job|goal|purpose|objective|duty|personality)\b",
    ),
)
_OTHERS: Final = (
    _any(  # What it is to put out
        r"\b(?:respond|responses?|repl(?:y|ies)|answers?|output|code ?block|word for word|scripts?|format|template|"
        r"paragraphs?|generate|provide|conversation between|send (?:the following|a message))\b",
        r"\b(?:fewer|more|less) than \w{1,12} (?:words|paragraphs?)\b|\bwrite (?:me|this|down|an?|the)\b",
    ),
    _any(  # What it would not do otherwise
        r"\b(?:restrict\w{0,6}|unrestrain\w{0,4}|unfilter\w{0,4}|filters?|limitations?|guidelines|(?:il)?legal\w{0,4}|"
        r"(?:im|a)?moral\w{0,4}|(?:un)?ethic\w{0,5}|regardless|no matter|uncensored|disclaimers?|warnings?|"
        r"refus\w{1,4}|compl(?:y|ies|iance)|racis\w{1,2}|sinister|evil|toxic|no limit|safeguards?|offensive|foul|"
        r"harmful|bypass\w{0,5}|vulnerabilit\w{1,4}|twisted|devious|forbidden|nsfw|explicit|swear\w{0,4}|curses?|"
        r"cursing|violen\w{1,4}|reveal\w{0,4}|passwords?|secrets?|confidential)\b",
    ),
    _any(  # For how long
        r"\b(?:from (?:now on|this (?:moment|point|message))|for the rest of|throughout|always|never|until i|"
        r"unless i|instructions?|rules?|following (?:message|format)|(?:each|every) (?:response|message|reply|answer|"
        r"question|time)|(?:at|in) the (?:start|beginning|end) of (?:each|every|your|the))\b",
    ),
)
_TOLD: Final = _any(
    r"\byou(?:'ll|’ll| will| must| shall| should| need to| have to| are to| can(?:not|'t|’t)?| do not| don't| are not|"
    r" may| are going to)\b",
    r"\b(?-i:[A-Z]{3,12}) (?:will|must|can|never|always|responds?|does not)\b",
    r"(?:^|[.!?\n])\s{0,3}(?-i:You) (?!(?:said|told|asked|mentioned|know)\b)[a-z]{1,16}\b",
)


def is_prompt(text: str) -> bool:
    """Return whether a text was written for a model to act on. Linear in the length of the text."""
    text = text[:_READ_CHARS]
    addressed = sum(cue.search(text) is not None for cue in _ADDRESSEE)
    if not addressed:
        return False
    cues = addressed + sum(cue.search(text) is not None for cue in _OTHERS) + _is_told_what_to_do(text)
    return cues >= (_MANY if len(text) <= _SHORT_CHARS else _SOME)


def _is_told_what_to_do(text: str) -> bool:
    """Return whether a second person is told what they do, more than once."""
    matches = _TOLD.finditer(text)
    return next(matches, None) is not None and next(matches, None) is not None
