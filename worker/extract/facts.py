"""The triple that a sentence states, off its parse."""

from __future__ import annotations

import re
from typing import Final

from policies.language.inflection import inflected
from policies.language.parse import Parsed
from schema import Fact
from worker.extract.attributes import USER

_OBJECTS: Final = ("dobj", "attr", "acomp", "oprd", "xcomp", "ccomp", "prep", "advmod", "npadvmod")
_OWN: Final = frozenset({"i", "we"})
_BASES: Final = {
    "'m": "is",
    "am": "is",
    "are": "is",
    "'re": "is",
    "'ve": "has",
    "were": "was",
    "ca": "can",
    "wo": "will",
    "'ll": "will",
    "'d": "would",
    "'s": "is",
}
_MY = re.compile(r"^(?:my|our) ", re.IGNORECASE)


def _verb(parsed: Parsed, root: int) -> str:
    tokens = parsed.tokens
    words: list[str] = []
    governed = False
    negated = False
    for child in parsed.children(root):
        token = tokens[child]
        if token.dep == "neg" and child < root + 2:
            negated = True
        if child > root or token.dep not in ("aux", "auxpass"):
            continue
        lower = token.lower
        word = _BASES.get(lower, lower)
        if word in ("have", "do") and not words:
            word = inflected(word)
        governed = governed or token.tag != "TO"
        words.append(word)
    root_word = _BASES.get(tokens[root].lower, tokens[root].lower)
    if not governed and tokens[root].tag in ("VBP", "VB") and root_word not in ("is", "has", "can", "will"):
        root_word = inflected(root_word)
    if negated:
        words.append("not") if words else words.insert(0, "not") if root_word != "is" else None
        root_word = "is not" if not words else root_word
    words.append(root_word)
    words += [tokens[child].lower for child in parsed.children(root) if tokens[child].dep == "prt"]
    return " ".join(words)[:100]


def _subject(parsed: Parsed, root: int) -> str | None:
    for child in parsed.children(root):
        token = parsed.tokens[child]
        if token.dep in ("nsubj", "nsubjpass"):
            if token.lower in _OWN:
                return USER
            text = parsed.text_of(parsed.subtree(child))
            if _MY.match(text):
                return _MY.sub("user's ", text)[:200]
            return text[:200] if token.tag in ("NNP", "NNPS") else None
    return None


_SLIPS: Final = (
    ("they was", "they were"),
    ("they am", "they are"),
    ("they'm", "they're"),
    ("myself", "themself"),
    ("ourselves", "themself"),
)


def _in_third_person(text: str) -> str:
    text = re.sub(r"\b(?:my|our)\b", "their", text, flags=re.IGNORECASE)
    text = re.sub(r"\b(?:I|we)\b", "they", re.sub(r"\b(?:me|us)\b", "them", text))
    for slip, better in _SLIPS:
        text = text.replace(slip, better)
    return text


def triple_of(parsed: Parsed) -> Fact | None:
    """Return who does what: the subject, the verb and what it takes, or None when the sentence has no such shape."""
    tokens = parsed.tokens
    root = next((i for i, token in enumerate(tokens) if token.dep == "ROOT"), None)
    if root is None or not (tokens[root].tag.startswith("VB") or tokens[root].lower in _BASES):
        return None
    entity = _subject(parsed, root)
    if entity is None:
        return None
    children = [child for child in parsed.children(root) if child > root]
    for wanted in _OBJECTS:
        for child in children:
            if tokens[child].dep == wanted:
                text = _in_third_person(parsed.text_of(parsed.subtree(child))).strip(" .,!?")
                if text:
                    return Fact(entity=entity, verb=_verb(parsed, root), object=text[:300])
    return None
