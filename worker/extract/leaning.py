"""What a sentence needs beside it to be understood: the one before, or what the other side asked."""

from __future__ import annotations

import re
from typing import Final

from policies.language.relevance import features
from policies.language.sentences import prose_of, split_sentences, words
from worker.extract.clauses import is_chitchat, without_asides

_MAX_HEARD_FROM: Final = 1_000
_MAX_HEARD_CHARS: Final = 160
_POINTER: Final = re.compile(
    r"\b(?:it|its|it's|it'll|itself|they|them|their|theirs|they're|they've|he|him|his|he's|she|her|hers|she's|these|"
    r"those|ones?|both|either|neither|such|similar|same|this|that|that's|there|here|another|some|any|"
    r"did|do|does|have|am|was|will|would)\b",
    re.IGNORECASE,
)
_NOUN_BEFORE: Final = re.compile(
    r"\b(?i:an?|the|my|our|some|two|three|four|five|six|every|each|no|any|new|\d+) "
    r"(?!bit\b|lot\b|while\b|few\b)[a-z]{3,}"
    r"|\b(?:with|for|to|in|at|of|from|on|about|love|like|enjoy|hate|play|into) "
    r"(?!me\b|you\b|this\b|that\b|it\b|them\b)[A-Za-z]{4,}"
    r"|[a-z,] [A-Z][a-z]+"
)
_IMPERSONAL_IT: Final = re.compile(
    r"^(?:(?:is|was|'s|will be|would be|has been|feels|felt|gets|got|can be|takes|took)\b)?[^.;]{0,50}?"
    r"\b(?:to (?!me\b|us\b|my\b|our\b)[a-z]+|that (?:i|my|we|our|the)\b|when (?:i|we|you|people)\b|"
    r"how (?:i|we|much|many|far|\w+ (?:i|we))\b|since (?:i|we)\b|raining|snowing|"
    r"been [^.;]{1,20}(?:years|months|weeks|ages)\b|[a-z]{3,}ing (?:up|with|to|in|on|my|the|an?|about|for)\b)",
    re.IGNORECASE,
)
_CLAUSE_START: Final = re.compile(
    r"(?:^|[,;:-] |\b(?:and|but|so|because|that|when|if|as|since|though) )$", re.IGNORECASE
)
_CLAUSE_FOLLOWS: Final = re.compile(
    r"^ (?:i|you|we|my|our|the|is|was|are|has|have|had|really|a|an|he|she|they|people|can|will|would|makes?|helps?)\b",
    re.IGNORECASE,
)
_TIME_FOLLOWS: Final = re.compile(
    r"^ (?:morning|afternoon|evening|week|weekend|month|year|summer|winter|spring|fall|time)\b", re.IGNORECASE
)
_COMPARED: Final = re.compile(r"^ (?:[a-z]+ )?(?:as|to)\b", re.IGNORECASE)
_THERE_IS: Final = re.compile(r"^(?: (?:is|are|was|were|will|has|have|would|'s)\b|'s\b)", re.IGNORECASE)
_BARE_END: Final = re.compile(
    r"^(?: (?:too|now|yet|already|either|again|soon|all|though|more))?[.!?,]*$", re.IGNORECASE
)
_AUXILIARY: Final = words("did do does have am was will would")
_QUANTIFIER: Final = words("some any another one ones both either neither")
_ELSEWHERE: Final = {"similar": _COMPARED, "same": _COMPARED, "such": _COMPARED, "there": _THERE_IS, "here": _THERE_IS}
"""Words that refer to something unless this follows: "similar to yours", "there is"."""
_DEMONSTRATIVE: Final = words("this that these those that's")
_SHARED: Final = re.compile(
    r"\[(?:i |you )?(?:shares?|shared|sends?|sent|attach(?:es|ed)|posts?|posted|uploads?|uploaded|image|photo|picture|"
    r"video)(?:[:,] ?| )(?P<what>[^\[\]\n]{3,200})\]",
    re.IGNORECASE,
)
_CONTENT: Final = re.compile(r"[A-Za-z]{4,}|\d+")
_SMALL: Final = words(
    "that this these those they them their there here have been were with very really just also such great good nice "
    "cool amazing awesome incredible lovely from what when where your yours will would could should always never about"
)
_OFFER: Final = re.compile(
    r"\b(?:(?:how|what|where|when) (?:else )?(?:can|may|could|shall|should|would|do) (?:i|we)|anything else|"
    r"(?:can|may|shall|should|could) i|(?:would you|do you|you) (?:like|want) me to|want me to|what's up|what's new|"
    r"how (?:are|have) you|how (?:was|is|were|has) your (?:day|morning|evening|night|week|weekend)|how was it)\b",
    re.IGNORECASE,
)
"""What a side asks that is no question about anything: the reply says what it is about by itself."""
_ENOUGH_BY_ITSELF: Final = 4
"""Words of content from which a reply that takes up nothing of the question tells of something else."""
_REMARKS: Final = frozenset({"reaction", "about_you", "question", "suggestion", "task", "short"})


def _points(word: str, before: str, after: str) -> bool:
    """Whether a word that may refer to something does, as far as the words around it show."""
    if word in _AUXILIARY:
        return bool(before) and _BARE_END.match(after) is not None
    if word in _QUANTIFIER:
        return _BARE_END.match(after) is not None
    if word in _ELSEWHERE:
        return not _ELSEWHERE[word].match(after)
    if word in _DEMONSTRATIVE:
        conjunction = word == "that" and before and _CLAUSE_FOLLOWS.match(after)
        return not conjunction and not _TIME_FOLLOWS.match(after)
    if word in ("it", "it's", "it'll"):
        return not (_CLAUSE_START.search(before) and _IMPERSONAL_IT.match(after.lstrip()))
    return True


def leans(text: str) -> bool:
    """Whether something in a sentence refers to what was said before it: "I made it in class", "I did too".

    A pronoun after a noun of its own sentence is taken to mean that noun; "it is hard to wait" means nothing.
    """
    noun = _NOUN_BEFORE.search(text)
    for match in _POINTER.finditer(text):
        if noun and noun.end() <= match.start() and match.group().lower() not in _AUXILIARY:
            return False
        if _points(match.group().lower(), text[: match.start()], text[match.end() :]):
            return True
    return False


def support_of(sentence: str, assistant: str | None) -> str | None:
    """The sentence before one that leans on it, if it says what is spoken of; a question or a reaction does not."""
    said = without_asides(sentence, assistant)
    if sentence.endswith("?") or len(said.split()) < 3 or is_chitchat(said):
        return None
    return None if {"reaction", "about_you"} & set(features(said)) else said


def heard_in(text: str) -> str | None:
    """The question to which the user's next words reply, with what it leans on itself.

    Never a statement alone: what the other side says of the user is not theirs.
    """
    sentences = [one.text for one in split_sentences(prose_of(text[-_MAX_HEARD_FROM:]))]
    for place in range(len(sentences) - 1, -1, -1):
        question = sentences[place]
        if not question.endswith("?") or len(question.split()) < 3 or len(question) > _MAX_HEARD_CHARS:
            continue
        if _OFFER.search(question):
            return None
        before = sentences[place - 1] if place else ""
        if before and leans(question) and len(before) + len(question) < _MAX_HEARD_CHARS:
            return f"{before} {question}"
        return question
    return None


def takes_up(reply: str, question: str) -> bool:
    """Whether a reply is about what was asked: it refers to it, shares a word with it, or says too little alone."""
    if leans(reply):
        return True
    told, asked = _stems(reply), _stems(question)
    return bool(told & asked) or len(told) < _ENOUGH_BY_ITSELF


def _stems(text: str) -> set[str]:
    return {word.lower()[:5] for word in _CONTENT.findall(text) if word.lower() not in _SMALL}


def elaborates(sentence: str) -> bool:
    """Whether a sentence that is not about the user goes on with what was said before it: "It has two rooms"."""
    if _REMARKS & set(features(sentence)) or not leans(sentence):
        return False
    return len({word.lower() for word in _CONTENT.findall(sentence)} - _SMALL) >= 3


def shared_in(message: str) -> str | None:
    """What a transcript says in brackets that was sent with a message: "[sends a photo of a red barn]"."""
    match = _SHARED.search(message[:16_000]) if "[" in message else None
    return match["what"].strip(" .") if match else None
