"""The spellings of chat that mislead a parser, put right word by word, with the way back to what was typed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from policies.language.discourse_markers import INTERJECTIONS, LEADING

_WORDS: Final = {
    "im": "I'm", "i'm": "I'm", "ive": "I've", "i've": "I've", "i'll": "I'll", "i'd": "I'd", "i": "I",
    "dont": "don't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't", "wasnt": "wasn't", "arent": "aren't",
    "werent": "weren't", "havent": "haven't", "hasnt": "hasn't", "hadnt": "hadn't", "wouldnt": "wouldn't",
    "couldnt": "couldn't", "shouldnt": "shouldn't", "cant": "can't", "wont": "won't", "gonna": "going to",
    "wanna": "want to", "gotta": "have to", "u": "you", "ur": "your", "theyre": "they're", "youre": "you're",
    "thats": "that's", "whats": "what's", "tmrw": "tomorrow", "tmr": "tomorrow", "tomoz": "tomorrow",
    "tommorow": "tomorrow", "tomorow": "tomorrow", "2day": "today", "2nite": "tonight", "2moro": "tomorrow",
    "bday": "birthday", "yr": "year", "yrs": "years", "wk": "week", "wks": "weeks", "nxt": "next",
    "saterday": "Saturday",
    "wensday": "Wednesday", "thurs": "Thursday", "tues": "Tuesday", "weds": "Wednesday", "cos": "because",
    "cuz": "because", "bc": "because", "pls": "please", "hes": "he's", "shes": "she's",
}  # fmt: skip
_AMBIGUOUS: Final = {
    "ill": ("I'll", "be have go get do see take need start never probably just make call pay move miss let"),
    "id": ("I'd", "be have like love rather prefer never do want say"),
    "well": ("we'll", "be have go get see need"),
    "wed": ("we'd", "like love rather been"),
    "me": (
        "my",
        "mam mum dad da nan nana gran granny grandad mate mates brother brothers sister sisters missus wife husband "
        "boyfriend girlfriend flatmate housemate daughter daughters son sons kid kids boss dog cat house car knee",
    ),
}
_OPENS_A_CLAUSE = re.compile(r"(?:\A|[,.;:!?]|\b(?:and|but|so|cos|because|that))\s*\Z", re.IGNORECASE)
"""Marks and joints before the subject of a clause: "I'm off and "."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
"""A word: "dont"."""
_BEFORE_NAME = re.compile(r"\b(?:i['’]?m|i am) \Z", re.IGNORECASE)
"""Words before what speakers are, or are called: "hi im "."""
_MORE_BEHIND_NAME = re.compile(r",? (?=(?:aged? )?\d{1,3}\b|(?<=, )an? )")
"""The joint behind a name with which speakers tell more of themselves: ", 34", ", a nurse"."""
_UNSAID: Final = frozenset({"um", "umm", "uh", "uhh", "uhm", "erm", "er"})
_FEWEST_SHOUTED: Final = 4
"""Words of more than a letter; fewer are often abbreviations: "MRI AND CT"."""
_DRAWN_OUT = re.compile(r"([a-z])\1{2,}")
"""A letter that is drawn out: "sooo"."""


@dataclass(frozen=True, slots=True)
class Spelt:
    """A text as a parser reads it. `edges` are pairs of places that stand for each other: in it, and as typed."""

    plain: str
    edges: tuple[tuple[int, int], ...] = ((0, 0),)

    def typed(self, offset: int) -> int:
        """Return where a place of the plain text stands in what was typed."""
        plain, typed = max((edge for edge in self.edges if edge[0] <= offset), default=(0, 0))
        following = min((edge[1] for edge in self.edges if edge[0] > offset), default=typed + offset - plain)
        return min(typed + offset - plain, following)


def spelt(text: str, name: str = "") -> Spelt:
    """Return the text with the spellings of chat put right ("im" -> "I'm"), and in small letters where it is shouted;
    no word is touched inside. The speaker's own `name` is left out where they tell with it what they are."""
    if _is_shouted(text):
        text = text.lower()
    pieces: list[str] = []
    edges = [(0, 0)]
    at = made = 0
    words = list(_WORD.finditer(text))
    for number, match in enumerate(words):
        word = match.group()
        following = words[number + 1].group().lower() if number + 1 < len(words) else ""
        better = "" if _is_own_name(name, text, match) else _better(word, following, text, match)
        if better is None:
            continue
        kept = text[at : match.start()]
        pieces += (kept, better)
        made += len(kept) + len(better)
        at = match.end()
        if not better and text[at : at + 2] in (", ", ". "):
            at += 1
        if not better and text[at : at + 1] == " ":
            at += 1
        edges.append((made, at))
    return Spelt("".join((*pieces, text[at:])), tuple(edges))


def _is_shouted(text: str) -> bool:
    """Return whether all of a sentence is in capital letters: "I LIVE IN LEEDS"."""
    long_ones = [word for word in _WORD.findall(text) if len(word) > 1]
    return len(long_ones) >= _FEWEST_SHOUTED and text.isupper() and len(text.lower()) == len(text)


def mended(text: str) -> str:
    """Return the text with the spellings of chat put right."""
    return spelt(text).plain


def _undrawn(word: str) -> str | None:
    """Return a word that opens a sentence without the letters that somebody drew out: "heyyy" is "hey"."""
    shorter = (_DRAWN_OUT.sub(letters, word) for letters in (r"\1", r"\1\1"))
    return next((plain for plain in shorter if plain != word and plain in LEADING | INTERJECTIONS), None)


def _is_own_name(name: str, text: str, match: re.Match[str]) -> bool:
    """Return whether a word is the speaker's name before what they are: "Maya" of "I'm Maya, 34"."""
    return (
        match.group().lower() == name.lower()
        and _BEFORE_NAME.search(text, 0, match.start()) is not None
        and _MORE_BEHIND_NAME.match(text, match.end()) is not None
    )


def _better(word: str, following: str, text: str, match: re.Match[str]) -> str | None:
    lower = word.lower().replace("’", "'")
    if lower in _UNSAID and not word.isupper():
        return ""
    if lower == "n":
        is_joint = word == "n" and text[match.start() - 1 : match.start()] == text[match.end() : match.end() + 1] == " "
        return "and" if is_joint else None
    if lower in _AMBIGUOUS:
        better, before = _AMBIGUOUS[lower]
        is_subject = lower != "me" or _OPENS_A_CLAUSE.search(text[: match.start()])
        return better if following in before.split() and is_subject else None
    better_word = _WORDS.get(lower) or _undrawn(lower)
    if better_word is None or better_word == word or (word.isupper() and len(word) > 1):
        return None
    if lower in ("i", "u") and (
        text[match.end() : match.end() + 1] in (".", "-") and text[match.end() + 1 : match.end() + 2].isalpha()
    ):
        return None
    return better_word
