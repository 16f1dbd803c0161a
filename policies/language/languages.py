"""In which language somebody writes, by its alphabet and its commonest words (data/languages.toml)."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from policies.language.sentences import words

ENGLISH: Final = "en"
OTHER: Final = "und"
"""A language that the tables do not have."""
_READ_CHARS: Final = 2_000
_LATIN_LIMIT: Final = 0x250
_SHORT: Final = 4
_ENOUGH: Final = 2
_WORD: Final = re.compile(r"[^\W\d_]+")
"""A run of letters: "hello"."""
_WITH_APOSTROPHE: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
"""A word that may have an apostrophe: "j'ai"."""
_HAN: Final = re.compile(r"[\u3400-\u9fff]")
"""A Han character, of Chinese or Japanese: "我"."""
_KANA: Final = re.compile(r"[\u3040-\u30ff]")
"""A kana, which only Japanese has: "は"."""
_MIXED: Final = words(
    "die a me i no in on he so do is was as an at or son al ben des mia ty bin door min ska till per chef euros emojis "
    "ha haha co e o end ta ping auto bravo ella un van och s ur met los"
)
"""Words that are common in English and elsewhere, or given names, and tell nothing."""


def language_of(text: str, within: str | None = None) -> str:
    """Return the code of the language of a text: "en", "es", "de", "fr", "pl", "zh", or `OTHER`.

    `within` is the language of the message of which it is a part: of a part that gives nothing away, and of one in
    which one word of an English message is a word of another language, too ("bent", "leg"). The first `_READ_CHARS`
    characters are read.
    """
    text = text[:_READ_CHARS].lower().replace("’", "'")
    letters = "".join(_WORD.findall(text))
    if not letters:
        return within or ENGLISH
    if sum(char < chr(_LATIN_LIMIT) for char in letters) < len(letters) * 0.6:
        return "zh" if _HAN.search(letters) and not _KANA.search(letters) else OTHER
    words = _WITH_APOSTROPHE.findall(text)
    english = sum(word.removesuffix("'s") in _words()[ENGLISH] - _MIXED for word in words)
    scores = {
        language: sum(max(word in common_words, _ENOUGH * (word in _strong(language))) for word in words)
        + any(mark in text for mark in _marks(language))
        for language, common_words in _words().items()
        if language not in (ENGLISH, OTHER)
    }
    best = max(scores, key=lambda language: scores[language])
    if scores[best] > english and (scores[best] >= _ENOUGH or not (english or within == ENGLISH)):
        return best
    if not _reads_as_english(words, max(english, within == ENGLISH)):
        return OTHER
    return within or ENGLISH if english == 0 else ENGLISH


def behind_announcement(text: str, language: str) -> str:
    """Return a sentence of another language than English without what before a colon only says that something is told:
    "Kein Witz: ich ziehe um"."""
    announcement = _announcement(language)
    found = announcement.match(text) if announcement is not None else None
    return text[found.end() :] if found else text


def is_common(word: str, language: str) -> bool:
    """Return whether a word is one of the commonest of a language: "Los" of Spanish."""
    return word.lower() in _words().get(language, frozenset())


def _reads_as_english(words: list[str], english: int) -> bool:
    """Return whether it is English: fewer than four words get the benefit of the doubt, unless one is a common word of
    another language."""
    by_language = _words()
    foreign = sum(
        word not in _MIXED and any(word in by_language[language] for language in by_language if language != ENGLISH)
        for word in words
    )
    if len(words) < _SHORT:
        return foreign <= english
    return foreign <= max(english, 1) or foreign * 8 < len(words)


@lru_cache(maxsize=1)
def _tables() -> dict[str, dict[str, Any]]:
    return tomllib.loads((files("policies.language") / "data" / "languages.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def _words() -> dict[str, frozenset[str]]:
    english = frozenset(_tables()[ENGLISH]["words"].split())
    return {
        language: frozenset(row.get("words", "").split()) - (frozenset() if language == ENGLISH else english | _MIXED)
        for language, row in _tables().items()
    }


@lru_cache(maxsize=8)
def _strong(language: str) -> frozenset[str]:
    return frozenset(_tables()[language].get("strong", "").split()) - _MIXED - _words()[ENGLISH]


@lru_cache(maxsize=8)
def _marks(language: str) -> str:
    marks: str = _tables()[language].get("marks", "")
    return marks


@lru_cache(maxsize=8)
def _announcement(language: str) -> re.Pattern[str] | None:
    patterns = _tables().get(language, {}).get("announces")
    joint = r"\s{0,2}(?:[:：]|[,，](?=\s?我))\s{0,2}" if language == "zh" else r"\s?[:：]\s{1,2}"
    return re.compile(rf"\s{{0,3}}(?:{'|'.join(patterns)}){joint}(?=\S)", re.IGNORECASE) if patterns else None
