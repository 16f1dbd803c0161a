"""What a user tells the memory to do, in so many words: remember, remind, forget, pin, keep private."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Verb = Literal["remember", "remind", "forget", "private", "pin", "off_the_record", "block", "unblock"]

MAX_COMMAND_TEXT = 16_000
_MAX_OBJECT = 400

_POLITE = (
    r"(?:(?:please|pls|ok(?:ay)?|hey|hi|so|and|also|oh|well|yes|no|btw|by the way|just|can you|could you|would you|"
    r"will you|i want you to|i need you to|i'd like you to|you (?:should|must|can|need to)|make sure (?:you|to)|"
    r"be sure to|try to|always),?\s+){0,4}"
)
_START = r"(?:(?<=[.!?;:,\n])\s{0,4}|^\s*|\b(?:but|and) (?=please|don't|can you|could you|also|keep|remember that))"
_END = r"(?P<object>[^\n]{0,400})"

_KEEPING = r"(?:remember|save|store|keep|record|memori[sz]e|note|log|track)"
_ABOUT = r"(?:about|on|regarding|concerning|related to|to do with)"
_THINGS = r"(?:(?:any|some)?things?|stuff|(?:any )?(?:information|details?|facts?|data|notes?|memories))"

_BODIES: tuple[tuple[Verb, str], ...] = (
    (
        "unblock",
        rf"(?:(?:you )?(?:can|may) )?(?:start )?{_KEEPING}(?:ing)? {_THINGS} {_ABOUT} "
        r"(?P<object>[^\n.!?]{1,60}?) (?:again|from now on)(?=[\s.!?]*$|[.!?\n])",
    ),
    (
        "block",
        # "Don't remember anything about the accident" is said of oneself.
        rf"(?:don't|do not|never|stop) (?:ever )?{_KEEPING}(?:ing)? {_THINGS} {_ABOUT} "
        r"(?!(?:this|that|it|any of (?:this|it)|what|where|when|who|how|why)\b)(?<!remember anything about (?=the ))"
        + _END,
    ),
    (
        "off_the_record",
        r"(?:this is |it's |that's |strictly |keep (?:this|it|that) )?off the record\b[,:]?" + _END,
    ),
    (
        "off_the_record",
        r"(?:don't|do not|never) (?:remember|save|store|keep|record|memori[sz]e|note|log)\s+"
        r"(?:this|that|it|any of (?:this|it)|anything|what i)\b" + _END,
    ),
    (
        "remember",
        r"(?:(?:remember|don't forget|do not forget|never forget|keep in mind|bear in mind|make a "
        r"note|take note|"
        r"note|note down|memori[sz]e|save|store|write down|jot down)"
        r"(?:\s+(?:this|the following|it)(?=\s*[:,-]))?(?:\s*[:,-]\s*|\s+(?=(?:that|to|about|of|my|"
        r"our|i|i'm|i've|"
        r"i'll|we|we're|the|this|me|for|his|her|their|he|she|they|it)\b)))" + _END,
    ),
    ("remind", r"(?:remind me|set (?:me )?a reminder|give me a reminder)\b" + _END),
    (
        "forget",
        r"(?:(?:scratch|ignore|disregard)\s+(?=(?:what|everything|anything) (?:i|we)(?:'ve| have)? "
        r"(?:said|told you|mentioned|wrote) (?:about|of|on)\b)|"
        r"(?:forget|unlearn)\s+(?=(?:that|about|what|everything|all|my|our|the|i|i'm|his|her|their|"
        r"any|anything|"
        r"which|where|who|when|how|this|me)\b))" + _END,
    ),
    (
        "forget",
        r"(?:delete|erase|remove|wipe|clear)\s+(?:(?:everything|anything|all|whatever|what)\s+"
        r"(?:(?:that )?(?:you )?(?:know|have|remember|stored|saved)(?:\s+stored|"
        r"\s+saved)?\s*)?(?:about|on|of)\s+|"
        r"(?:the |your |any |all |all your )?(?:memory|memories|notes?|records?)\s+(?:about|of|on|"
        r"that)\s+)" + _END,
    ),
    (
        "forget",
        r"(?:stop remembering|don't remember anymore|you can forget)\s+(?:that |about )?" + _END,
    ),
    (
        "private",
        r"(?:this is|that's|that is|it's|please keep (?:this|it|that)|keep (?:this|it|that)|this "
        r"stays|that stays|"
        r"it stays) (?:strictly |very |just |a )?(?:private|confidential|secret|between (?:us|you and me))\b" + _END,
    ),
    ("private", r"(?:just )?between (?:us|you and me|you and i)\b" + _END),
    ("private", r"(?:don't|do not) (?:tell|share (?:this|it|that) with) (?:anyone|anybody|others)\b" + _END),
    ("pin", r"pin\s+(?:this|that|it|my|the)\b" + _END),
)
_RULES: tuple[tuple[Verb, re.Pattern[str]], ...] = tuple(
    (verb, re.compile(_START + r"(?P<command>" + _POLITE + body + r")", re.IGNORECASE)) for verb, body in _BODIES
)
_HINT = re.compile(
    r"rem[ei]m?[bn]|forget|scratch|ignore|disregard|in mind|note|memori|save|store|down|record|delete|erase|remove|"
    r"wipe|clear|unlearn|\bkeep|\blog|\btrack|private|confidential|secret|between|tell any|share|\bpin\b",
    re.IGNORECASE,
)
_NOT_A_COMMAND = re.compile(
    r"^(?:when|how|the (?:time|day|days|good old)|that time|those|if|it\s*[.!,]?$|about "
    r"it\s*[.!,]?$|this\s*[.!]?$)\b"
    r"|^(?:to )?(?:breathe|smile|have fun|take care)\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"^(?:to )?(?:you|your|yourself|believe|keep (?!my|our)|stay|take (?:a |care|time|breaks)|pause|enjoy|just)\b",
    re.IGNORECASE,
)
_ASKS_BACK = re.compile(r"^(?:me )?(?:again|what|how|who|where|when|why|which|if|of what|of the)\b", re.IGNORECASE)
_SAYS_SOMETHING = re.compile(
    r"\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|we're|we've|our|us|is|are|was|were|has|have|will|at|"
    r"on|by|no|not)\b|\d|:",
    re.IGNORECASE,
)
_ABOUT_THE_ASSISTANT = re.compile(
    r"^(?:that |about |all |everything |of |any |the |what |which |you |were |have |been "
    r")*(?:your|previous|prior|above|"
    r"earlier|preceding|system|instructions?|rules?|guidelines?|prompt|told|i (?:just )?said(?! (?:about|on|of)\b))\b",
    re.IGNORECASE,
)
_LEAD = re.compile(r"^(?:\s|[:,-])*(?:this\s*[:,-]\s*|(?:that|to|about|of|for)\b)?\s*[:,-]?\s*", re.IGNORECASE)
_TOLD_ABOUT = re.compile(
    r"^(?:everything|anything|all|whatever|what|the (?:thing|part|bit)s?)? ?(?:that )?(?:i|we)(?:'ve| have)? "
    r"(?:just |ever )?(?:told|said|mentioned|shared|wrote)(?: to)?(?: you)?(?: about| of| on)? (?=\S)",
    re.IGNORECASE,
)
"""What stands before the thing itself when somebody asks for it to be forgotten."""
_TAIL = re.compile(r"(?:,?\s+(?:please|pls|thanks|thank you|ok|okay|will you|would you))?[\s.!?]*$", re.IGNORECASE)
_ORDERED = re.compile(
    r"(?:to|about|that|on|at|in|every|tomorrow)\b|(?:[a-z]+ing|[a-z]+)\b.{0,200}\b(?:at|on|by|tomorrow|next)\b",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<!\b[A-Za-z])(?<!\b[DM]r)[.!?](?=\s|$)")

_FOR_NOW = re.compile(r"\bfor (?:now|today|a (?:sec|second|minute|moment|bit|while))$", re.IGNORECASE)
"""What is only put aside: "forget about the party for now"."""
_NEXT_CLAUSE = re.compile(
    r"[,;]? (?:but|because|since) |(?:[,;:]| -) (?=(?:and |so )?(?:I|we|he|she|they|my|our|it's|it is|that's)\b)",
    re.IGNORECASE,
)
"""Where what is to be forgotten ends and something else is said: "forget my old flat, I live in Bern now"."""


@dataclass(frozen=True)
class Command:
    """One order: its verb, what it is about ("" when it is about what was just said), and where it stands."""

    verb: Verb
    object_text: str
    start: int
    end: int


def _object(match: re.Match[str], verb: Verb) -> tuple[str, int]:
    said = match.group("object")
    stop = _SENTENCE_END.search(said)
    if verb == "forget" and (turn := _NEXT_CLAUSE.search(said)) and (stop is None or turn.start() < stop.start()):
        stop = turn
    if stop:
        said = said[: stop.start()]
    end = match.start("object") + len(said)
    bare = _LEAD.sub("", said, count=1)
    return _TAIL.sub("", bare[:_MAX_OBJECT]).strip(), end


def _is_question(text: str, match: re.Match[str], end: int) -> bool:
    return text[end : end + 1] == "?" and re.match(r"\s*(?:do|did) ", match.group("command"), re.IGNORECASE) is not None


def _is_idle(verb: Verb, object_text: str, said: str, *, asks: bool) -> bool:
    """Whether what looks like an order is advice, a question, or aimed at the assistant's own instructions."""
    if verb == "remember":
        return bool(_ADVICE.match(object_text)) or not _SAYS_SOMETHING.search(said)
    if verb == "remind":
        unclear = not object_text or bool(_ASKS_BACK.match(object_text)) or asks
        return unclear and not _ORDERED.match(object_text)
    if verb == "forget":
        return asks or bool(_ABOUT_THE_ASSISTANT.match(said.lstrip()) or _FOR_NOW.search(object_text))
    return False


def find_commands(text: str) -> tuple[Command, ...]:
    """The commands in a user's text, in the order in which they stand, none overlapping another.

    Only imperatives count: "do you remember", "I forgot" and "remember when we met?" are not commands, nor is
    an order to forget the assistant's own instructions. At most `MAX_COMMAND_TEXT` characters are read.
    """
    text = text[:MAX_COMMAND_TEXT].replace("’", "'")
    if not _HINT.search(text):
        return ()
    found: list[Command] = []
    for verb, pattern in _RULES:
        for match in pattern.finditer(text):
            object_text, end = _object(match, verb)
            start = match.start("command")
            if any(start < other.end and other.start < max(end, start + 1) for other in found):
                continue
            if _is_question(text, match, end) or (
                verb in ("remember", "forget", "block", "unblock")
                and (not object_text or _NOT_A_COMMAND.match(object_text))
            ):
                continue
            if _is_idle(verb, object_text, match.group("object"), asks=text[end : end + 1] == "?"):
                continue
            if verb == "forget":
                object_text = _TOLD_ABOUT.sub("", object_text, count=1)
            found.append(Command(verb, object_text, start, end))
    return tuple(sorted(found, key=lambda command: command.start))
