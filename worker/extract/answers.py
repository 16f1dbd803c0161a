"""A question of the assistant's and the user's next words, as one statement."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_YES: Final = re.compile(
    r"^(?:oh |well |um |ah )?(?:yes|yeah|yep|yup|ya|sure|of course|definitely|absolutely|certainly|indeed|correct|(?:i|we) (?:do|am|have|did|can|will|are|was)(?=[ ]?[,.!]|$)|"
    r"that's right)\b(?:,? (?:i|we) (?:do|am|have|did|can|will|are|was)\b)?[\s,.!:;-]*",
    re.IGNORECASE,
)
_NO: Final = re.compile(
    r"^(?:oh |well |um |ah )?(?:no|nope|nah|not really|not at all|not yet|never|unfortunately not|i don't|i'm not|i haven't|i didn't)\b"
    r"(?:,? (?:i|we) (?:don't|am not|'m not|haven't|didn't|can't|won't|do not|have not)\b)?[\s,.!:;-]*",
    re.IGNORECASE,
)
_OFFER: Final = re.compile(
    r"\b(?:would you like|do you want|want me to|shall i|should i|can i (?:help|get)|may i|do you need (?:help|any|more|me)|need (?:any )?help|"
    r"anything else|how can i|what can i|does (?:that|this)|is (?:that|this|it|there)|did (?:that|this|i)|make sense|how are you|how have you been|"
    r"how(?:'s| is) (?:it|everything|your day)|what's up|let me know|would you mind|can you|could you|sound good|right\?|you know|have i|am i)\b",
    re.IGNORECASE,
)
_POLAR: Final = re.compile(
    r"^(?P<aux>do|did|are|were|have|can|will|would|had) you (?P<rest>[^?]{2,120})\?$", re.IGNORECASE
)
_WH: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), template)
    for pattern, template in (
        (r"^(?:what is|what's|whats|what are|which is) your (?P<x>[\w' -]{2,60})\?$", "My {x} is {a}"),
        (r"^when(?: is|'s) your (?P<x>[\w' -]{2,40})\?$", "My {x} is {a}"),
        (r"^who(?: is|'s) your (?P<x>[\w' -]{2,40})\?$", "My {x} is {a}"),
        (r"^where (?:do|are) you (?:currently )?(?:live|living|based|located)(?: now)?\?$", "I live in {place}"),
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
    r"^(?:(?:an?|the|my|one|two|three|four|five|six|seven|eight|nine|ten|several|some|\d+|lots of|a few|mostly|just|only)\s+)?[\w'$€£.-]+(?:[ ,]+[\w'&.-]+){0,8}[.!]*$",
    re.IGNORECASE,
)
_OWN_CLAUSE: Final = re.compile(
    r"\b(?:i|i'm|i've|we|we're|we've|my|it|it's|they|he|she|that's|is|are|was)\b", re.IGNORECASE
)
_REACTS: Final = re.compile(
    r"^(?:thanks|thank|sorry|wow|whoa|sounds|great|nice|cool|awesome|amazing|woo\W?hoo|congrat\w*|hey|hi|hello|haha\w*|lol|good|that's|thats|hmm+|oh)\b",
    re.IGNORECASE,
)
_COUNT: Final = re.compile(
    r"^(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|several|some|\d+|lots|a few|a couple)\b", re.IGNORECASE
)
_LAST_QUESTION: Final = re.compile(r"([^.!?\n]{3,200}\?)[^?]{0,80}$")
_LEAD: Final = re.compile(
    r"^(?:(?:oh|so|and|well|ok|okay|great|nice|cool|wow|also|by the way|just curious|curious|anyway|got it|interesting)\b[,!. ]*){1,3}",
    re.IGNORECASE,
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


def _mine(rest: str) -> str:
    rest = re.sub(r"\byour\b", "my", rest, flags=re.IGNORECASE)
    rest = re.sub(r"\byourself\b", "myself", rest, flags=re.IGNORECASE)
    return re.sub(r"\byou\b", "me", rest, flags=re.IGNORECASE)


def _polar(aux: str, rest: str, yes: bool, extra: str) -> str | None:
    if re.search(r"\byou\b", rest, re.IGNORECASE):
        return None
    rest = _mine(rest.strip())
    rest = re.sub(r"^(?:ever|also|still|currently|usually|really) ", "", rest, flags=re.IGNORECASE)
    if re.search(r"\bor\b|\belse\b|\bthink\b|\bknow\b|\bmean\b|\bmind\b|,", rest, re.IGNORECASE):
        return None
    verb, _, complement = rest.partition(" ")
    if yes and extra:
        if aux == "do" and verb.lower() in ("have", "own", "want", "need") and _COUNT.match(extra):
            noun = re.sub(r"^(?:any|an?|some|the) ", "", complement, flags=re.IGNORECASE).strip()
            if re.fullmatch(
                r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|several|some|\d+)", extra, re.IGNORECASE
            ):
                return f"I {verb} {extra.lower()} {noun}".strip()
            plural = noun if noun.endswith("s") else ""
            return f"I {verb} {extra}" + (f" as {plural}" if plural and plural not in extra else "")
        return None
    plain = re.sub(r"\bany\b", "some", rest) if yes else rest
    if aux == "do":
        return f"I {plain}" if yes else f"I do not {plain}"
    if aux == "did":
        return f"I did {plain}" if yes else f"I did not {plain}"
    word = {"are": "am", "were": "was", "have": "have", "can": "can", "will": "will", "would": "would", "had": "had"}[
        aux
    ]
    if aux == "have" and verb.lower() in ("any", "a", "an"):
        return None
    return f"I {word} {plain}" if yes else f"I {word} not {plain}"


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
    what = _mine(groups.get("x") or "")
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
    made the reply is to be quoted with its question.
    """
    question = question.strip()
    reply = reply.strip()
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
        if statement is None and not extra and len(question) > 100:
            return None
        return Answer(statement, question, reply)
    if decided and not extra:
        return Answer(None, question, reply) if re.search(r"\byour?\b", question, re.IGNORECASE) else None
    if not _NOUNY.match(extra):
        return None
    for pattern, template in _WH:
        if match := pattern.match(question):
            statement = _open(template, match, extra)
            return Answer(statement, question, reply)
    return Answer(None, question, reply) if re.search(r"\byou", question, re.IGNORECASE) else None
