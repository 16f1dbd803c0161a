"""The features of an utterance that the heads see: its words and letters by their hash, and some flags of text and
parse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from zlib import crc32

from policies.language.flags import FLAGS, MAX_CHARS, flags_of
from policies.language.parse import Parsed

BUCKETS: Final = 1 << 14
"""How many places the hashes of words, letters and pairs of the parse fall into."""
_MAX_WORDS: Final = 80
_FIRST_WORDS: Final = 3
_LONGEST_WORD: Final = 24
_BEFORE_CHARS: Final = 120

_WORD: Final = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]|[^\W\d_]+(?:'[^\W\d_]+)*|\d+|[^\w\s]")
"""A word, a number, a mark or a letter of a script without spaces: "don't", "42", "!"."""
BLOCKS: Final = {"words": 3.0, "letters": 3.0, "parse": 2.0, "before": 1.0}
FLAG_WEIGHT: Final = 0.5
"""How much blocks and flags weigh against each other: chosen by the authors held out."""
SIZE: Final = BUCKETS + len(FLAGS)
"""How many numbers an utterance has; nearly all of them are 0."""


def hashed(name: str) -> int:
    """Return the place of a feature with a name, the same in every process."""
    return crc32(name.encode()) % BUCKETS


def normalised(text: str) -> str:
    """Return the text as the heads read it: bounded, in lower case, with straight apostrophes."""
    return text[:MAX_CHARS].replace("’", "'").replace("‘", "'").lower()


def words_of(text: str) -> list[str]:
    """Return the words, numbers and marks of a text that `normalised` gave; digits are told by how many they are."""
    return [f"#{len(word)}" if word[0].isdigit() else word for word in _WORD.findall(text)[:_MAX_WORDS]]


def _word_features(words: list[str]) -> Iterator[str]:
    """Yield words, pairs of neighbours, and the first words by their place."""
    before = "^"
    for index, word in enumerate(words):
        yield f"w {word}"
        yield f"w {before} {word}"
        if index < _FIRST_WORDS:
            yield f"{index} {word}"
        before = word
    yield f"w {before} $"


@lru_cache(maxsize=8192)
def _letter_places(word: str) -> frozenset[int]:
    """Return the places of runs of three to five letters of a word, with its edges."""
    if len(word) < 3 or len(word) > _LONGEST_WORD:
        return frozenset()
    edged = f"<{word}>"
    return frozenset(
        hashed(f"c {edged[start : start + size]}") for size in (3, 4, 5) for start in range(len(edged) - size + 1)
    )


def _parse_features(parsed: Parsed) -> Iterator[str]:
    """Yield pairs of words of which one hangs on the other, where the verb is one of them."""
    for token in parsed.tokens:
        head = parsed.tokens[token.head]
        if token.dep == "ROOT":
            yield f"root {token.lower}"
            yield f"root {token.tag}"
        elif head.dep in ("ROOT", "ccomp", "conj", "advcl", "xcomp") and token.dep not in ("punct", "conj", "cc"):
            yield f"{token.dep} {token.lower}"
            yield f"{token.dep} {token.lower} {head.tag}"
            yield f"{token.dep} {head.lower}"


@dataclass(frozen=True, slots=True)
class Features:
    """The features of an utterance: blocks of places by their name, and the names of its flags.

    Every place of a block counts `BLOCKS[name] / sqrt(places in it)`, every flag `FLAG_WEIGHT`.
    """

    blocks: dict[str, frozenset[int]]
    flags: frozenset[str]


def features_of(text: str, parsed: Parsed | None, before: str = "", language: str = "en") -> Features:
    """Return what the heads read of an utterance; `before` is what the assistant said before it, "" if nothing."""
    words = words_of(normalised(text))
    letters: set[int] = set()
    for word in words:
        letters |= _letter_places(word)
    blocks = {"words": frozenset(map(hashed, _word_features(words))), "letters": frozenset(letters)}
    if parsed is not None:
        blocks["parse"] = frozenset(map(hashed, _parse_features(parsed)))
    if before:
        blocks["before"] = frozenset(hashed(f"b {word}") for word in words_of(normalised(before[-_BEFORE_CHARS:])))
    return Features(blocks, frozenset(flags_of(text, words, parsed, before, language)))
