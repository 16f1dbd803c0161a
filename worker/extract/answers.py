"""A question of the assistant's and the user's next words, as one statement."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_YES: Final = re.compile(
    r"^(?:oh |well |um |ah )?(?:yes|yeah|yep|yup|ya|sure|of course|definitely|absolutely|"
    r"certainly|indeed|correct|(?:i|we) (?:do|am|have|did|can|will|are|was)(?=[ ]?[,.!]|$)|"
    r"that's right)\b(?:,? (?:for sure|totally|definitely|absolutely|indeed|"
    r"(?:i|we) (?:do|am|have|did|can|will|are|was)\b))?[\s,.!:;-]*",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"^(?:oh |well |um |ah )?(?:no|nope|nah|not really|not at all|not yet|never|unfortunately not|"
    r"i don't|i'm not|i haven't|i didn't)\b"
    r"(?:,? (?:i|we) (?:don't|am not|'m not|haven't|didn't|can't|won't|do not|have not)\b)?[\s,.!:;-]*",
    re.IGNORECASE,
)
_OFFER: Final = re.compile(
    r"\b(?:would you like|do you want|want me to|shall i|should i|can i (?:help|get)|may i|do you "
    r"need (?:help|any|more|me)|need (?:any )?help|"
    r"anything else|how can i|what can i|does (?:that|this)|is (?:that|this|it|there)|did (?:that|"
    r"this|i)|make sense|how are you|how have you been|"
    r"how(?:'s| is) (?:it|everything|your day)|what's up|let me know|would you mind|can you|could "
    r"you|sound good|right\?|you know|have i|am i)\b",
    re.IGNORECASE,
)
_POLAR: Final = re.compile(
    r"^(?P<aux>do|did|are|were|have|can|will|would|had) you (?P<rest>[^?]{2,120})\?$", re.IGNORECASE
)
_WH: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), template)
    for pattern, template in (
        (r"^(?:what|which|who) are your (?P<x>[\w' -]{2,60})\?$", "My {x} are {a}"),
        (r"^(?:what is|what's|whats|which is) your (?P<x>[\w' -]{2,60})\?$", "My {x} is {a}"),
        (r"^when(?: is|'s) your (?P<x>[\w' -]{2,40})\?$", "My {x} is {a}"),
        (r"^who(?: is|'s) your (?P<x>[\w' -]{2,40})\?$", "My {x} is {a}"),
        (
            r"^where (?:do|are) you (?:currently |two |both |all |guys )*(?:live|living|based|located)(?: now)?\?$",
            "I live in {place}",
        ),
        (r"^where are you from(?: originally)?\?$", "I am from {place}"),
        (r"^where (?:do|are) you (?:currently )?work(?:ing)?(?: now)?\?$", "I work at {org}"),
        (r"^where did you (?P<x>go to (?:school|college|university)|study|grow up)\?$", "I {x:past} {prep}"),
        (r"^what do you do(?: for (?:a living|work))?\?$", "I work as {article}"),
        (r"^how old are you\?$", "I am {a} years old"),
        (r"^how many (?P<x>[\w' -]{2,40}) do you have\?$", "I have {a} {x}"),
        (r"^what (?:kind|type|sort) of (?P<x>[\w' -]{2,40}) do you (?P<v>[\w ]{2,30})\?$", "I {v} {a} ({x})"),
        (
            r"^what (?P<x>[\w' -]{2,30}) do you (?P<v>play|speak|like|prefer|drive|read|watch|teach|study|use)\?$",
            "I {v} {a}",
        ),
    )
)
_PAST: Final = {
    "go to school": "went to school",
    "go to college": "went to college",
    "go to university": "went to university",
    "study": "studied",
    "grow up": "grew up",
}
_NOUNY: Final = re.compile(
    r"^(?:(?:an?|the|my|one|two|three|four|five|six|seven|eight|nine|ten|several|some|\d+|lots of|"
    r"a few|mostly|just|only)\s+)?[\w'$€£.-]+(?:[ ,]+[\w'&.-]+){0,8}[.!]*$",
    re.IGNORECASE,
)
_OWN_CLAUSE: Final = re.compile(
    r"\b(?:i|i'm|i've|we|we're|we've|my|it|it's|they|he|she|that's|is|are|was)\b", re.IGNORECASE
)
_REACTS: Final = re.compile(
    r"^(?:thanks|thank|sorry|wow|whoa|sounds|great|nice|cool|awesome|amazing|woo\W?hoo|congrat\w*|"
    r"hey|hi|hello|haha\w*|lol|good|that's|thats|hmm+|oh)\b",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(
    r"^(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|several|some|\d+|lots|a few|a "
    r"couple)\b",
    re.IGNORECASE,
)
_OF_USER: Final = re.compile(r"\b(?:you|your)\b", re.IGNORECASE)
_LAST_QUESTION: Final = re.compile(r"([^.!?\n]{3,200}\?)[^?]{0,80}$")
_LEAD: Final = re.compile(
    r"^(?:(?:oh|so|and|well|ok|okay|great|nice|cool|wow|also|by the way|just curious|curious|"
    r"anyway|got it|interesting)\b[,!. ]*){1,3}",
    re.IGNORECASE,
)


_ASIDE: Final = re.compile(
    r"(?<=\w), (?:well|but|though|i (?:think|guess|suppose|mean)|if that counts|to be honest|tbh|lol|haha)\b"
    r"[^,.!?]{0,60}[.!]{0,3}$",
    re.IGNORECASE,
)
"""What a reply adds to itself: "shellfish, well, that is no drug"."""
_WHAT_ONE_IS: Final = re.compile(
    r"(?:what do you do\b|how old are you\b|what(?: is|'s) your (?:job|profession))", re.IGNORECASE
)


@dataclass(frozen=True)
class Answer:
    """What the user said by answering: a first-person statement, or None and the words to be quoted."""

    statement: str | None
    question: str
    reply: str


def question_of(text: str) -> str | None:
    """The question with which a text ends, if it ends with one."""
    match = _LAST_QUESTION.search(text[-400:].strip())
    return _LEAD.sub("", match.group(1).strip()) if match else None


def _mine_of(rest: str) -> str:
    """What is the other side's as one's own: "your dog" -> "my dog"."""
    rest = re.sub(r"\byour\b", "my", rest.strip(), flags=re.IGNORECASE)
    return re.sub(r"\byourself\b", "myself", rest, flags=re.IGNORECASE)


_COUNTED_OFF: Final = re.compile(
    r"(?P<n>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|several|none), (?P<rest>.{2,100})",
    re.IGNORECASE,
)
"""How many, and more of them: "three, all girls"."""
_ANY: Final = re.compile(r"\bany\b")
_NOT_CLEAN: Final = re.compile(r"\b(?:you|or|else|think|know|mean|mind)\b|,|^(?:any|an?) ", re.IGNORECASE)
_BARE_COUNT: Final = re.compile(
    r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|several|some|\d+)", re.IGNORECASE
)
_HELPERS: Final[Mapping[str, tuple[str, str]]] = {
    "do": ("I", "I do not"),
    "did": ("I did", "I did not"),
    "are": ("I am", "I am not"),
    "were": ("I was", "I was not"),
    "have": ("I have", "I have not"),
    "can": ("I can", "I cannot"),
    "will": ("I will", "I will not"),
    "would": ("I would", "I would not"),
    "had": ("I had", "I had not"),
}


def _counted(aux: str, rest: str, extra: str) -> str | None:
    verb, _, complement = rest.partition(" ")
    if aux != "do" or verb.lower() not in ("have", "own", "want", "need") or not _COUNT.match(extra):
        return None
    noun = re.sub(r"^(?:any|an?|some|the) ", "", complement, flags=re.IGNORECASE).strip()
    if _BARE_COUNT.fullmatch(extra):
        return f"I {verb} {extra.lower()} {noun}".strip()
    named = f" as {noun}" if noun.endswith("s") and noun not in extra else ""
    return f"I {verb} {extra}{named}"


def _polar(aux: str, rest: str, yes: bool, extra: str) -> str | None:
    rest = re.sub(r"^(?:ever|also|still|currently|usually|really) ", "", _mine_of(rest), flags=re.IGNORECASE)
    if _NOT_CLEAN.search(rest):
        return None
    if yes and extra:
        return _counted(aux, rest, extra)
    affirmed, denied = _HELPERS[aux]
    return f"{affirmed} {_ANY.sub('some', rest)}" if yes else f"{denied} {rest}"


def _open(template: str, match: re.Match[str], reply: str) -> str | None:
    said = reply.strip(" .!")
    said = re.sub(
        r"^(?:probably|definitely|mostly|just|it's|its|it is|that would be|i'd say|honestly|currently)\s+",
        "",
        said,
        flags=re.IGNORECASE,
    )
    if template.startswith(("I have", "I work as", "I {v}")) and not re.match(r"[A-Z]\S*[A-Z]|\S+ [A-Z]", said):
        said = said[:1].lower() + said[1:] if template.startswith(("I have", "I work as")) else said
    groups = match.groupdict()
    bare = re.sub(r"^(?:in|at|from|for|near) ", "", said, flags=re.IGNORECASE)
    article = (
        said
        if re.match(r"(?:an?|the) ", said, re.IGNORECASE)
        else f"{'an' if said[:1].lower() in 'aeiou' else 'a'} {said}"
    )
    if not bare:
        return None
    what = _mine_of(groups.get("x") or "")
    if template == "I have {a} {x}" and (count := _COUNTED_OFF.fullmatch(said)):
        return f"I have {count['n'].lower()} {what}, {count['rest']}"
    if template == "I have {a} {x}" and not re.fullmatch(r"\d{1,3}|[a-z]+", said, re.IGNORECASE):
        template = "I have {a}"
    return (
        template.replace("{x:past}", _PAST.get(what.lower(), what))
        .replace("{x}", what)
        .replace("{v}", re.sub(r"^(?:all|both|usually|typically|mostly|normally) ", "", groups.get("v") or ""))
        .replace("{place}", bare)
        .replace("{org}", bare)
        .replace("{prep}", said if said != bare else f"in {said}")
        .replace("{article}", article)
        .replace("{a}", said if "years old" not in template else re.sub(r"\D+years? old$", "", said))
    )


def answer_of(question: str, reply: str) -> Answer | None:
    """The statement made by answering a question with `reply`, one sentence of the user's.

    None when the reply stands on its own or the question was only an offer. Where no clean statement can be
    made the reply is to be quoted with its question; the reply is "" where that would say nothing.
    """
    question = question.strip()
    reply = _ASIDE.sub("", reply.strip(), count=1)
    if _WHAT_ONE_IS.match(question):
        reply = re.sub(r"^(?:I'm|I am) (?=(?:an?|\d)\b)", "", reply, count=1)
    if not reply or _REACTS.match(reply) or len(reply) > 160 or reply.endswith("?") or _OFFER.search(question):
        return None
    yes, no = _YES.match(reply), _NO.match(reply)
    decided = yes or no
    extra = reply[decided.end() :].strip(" .!,") if decided else reply.strip(" .!")
    if extra and _OWN_CLAUSE.search(extra):
        return None
    polar = _POLAR.match(question)
    if polar and decided:
        statement = _polar(polar["aux"].lower(), polar["rest"], yes is not None, extra)
        return Answer(statement, question, reply if statement or extra else "")
    if (extra and not _NOUNY.match(extra)) or not _OF_USER.search(question):
        return None
    if not extra:
        return Answer(None, question, "")
    return Answer(None if decided else _opened(question, extra), question, reply)


def _opened(question: str, said: str) -> str | None:
    for pattern, template in _WH:
        if match := pattern.match(question):
            return _open(template, match, said)
    return None
