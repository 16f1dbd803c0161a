"""The words of `words.toml`, read once: what comparing two statements needs to know of English."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any, Final


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, for lists too long to be written word by word."""
    return frozenset(words.split())


_TABLE: Final[dict[str, Any]] = tomllib.loads(files(__package__).joinpath("words.toml").read_text(encoding="utf-8"))

STOP_WORDS: Final = word_set(_TABLE["stop_words"])
GENERAL_TAGS: Final = word_set(_TABLE["general_tags"])
LIGHT_VERBS: Final = word_set(_TABLE["light_verbs"])
COMMON: Final = word_set(_TABLE["common"])
NEGATIONS: Final = word_set(_TABLE["negations"])
BEARERS: Final = word_set(_TABLE["bearers"])
STANCES: Final = word_set(_TABLE["stances"])
PREFIXES: Final = tuple(_TABLE["prefixes"].split())
TENS: Final = {word: 10 * n for n, word in enumerate(_TABLE["tens"].split(), 2)}
NUMBER_WORDS: Final = {word: n for n, word in enumerate(_TABLE["units"].split())} | TENS | {"dozen": 12, "twice": 2}
SYNONYMS: Final[tuple[str, ...]] = tuple(_TABLE["synonyms"])
ALIASES: Final = {word: shown for shown, words in _TABLE["aliases"].items() for word in words.split()}
OPPOSITES: Final = tuple((left, right) for left, right in _TABLE["opposites"])
STATES: Final = tuple((left, right) for left, right in _TABLE["states"])
PARTICLES: Final = tuple((left, right) for left, right in _TABLE["particles"])
RIVALS: Final[dict[str, str]] = _TABLE["rivals"]
CUES: Final = {
    tuple(phrase.replace("_", " ").replace("n't", " n't").replace("'", " '").split()): name
    for name, phrases in _TABLE["cues"].items()
    for phrase in phrases.split()
}
"""Of each phrase that tells of a change, or that there is none, which one."""
