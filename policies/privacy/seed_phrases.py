"""Seed phrases of wallets: a dozen words or two in a row that make no sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from policies.language.lexicon import word_set
from policies.privacy.rules import Finding

_LENGTHS: Final = frozenset({12, 15, 18, 21, 24})
"""How many words a phrase has (BIP 39, "Generating the mnemonic")."""
_FEWEST: Final = 4
_MANY: Final = 11
_SPOKEN_OF: Final = re.compile(
    r"\b(?:(?:seed|secret) (?:phrase|words?)|mnemonic|recovery (?:phrase|words?|key)|wallet|metamask|ledger|trezor|"
    r"crypto\w{0,8}|bitcoin|btc|ethereum|blockchain)\b",
    re.IGNORECASE,
)
"""Words that speak of a wallet or its phrase: "my seed phrase"."""
_LABELLED: Final = re.compile(
    r"\b(?:seed|recovery|mnemonic|backup|wallet|secret)\s+(?:phrase|words?)\b[^\n.!?:=]{0,40}?(?:\bis\b|\bare\b|:|=)"
    r"\s{0,3}[\"'“]?(?P<value>[a-z]{3,12}(?:[ ,]{1,2}[a-z]{3,12}){3,23})",
    re.IGNORECASE,
)
"""A phrase behind its name: "seed phrase: apple river stone cloud"."""
_TOKEN: Final = re.compile(r"[^\s,;]+")
"""A word with its marks: "3.apple"."""
_NUMBERING: Final = re.compile(r"\(?\d{1,2}[.):]?")
"""The number of a word in a list: "3."."""
_WORD: Final = re.compile(r"[a-z]{3,8}")
"""A word as long as those of the list of BIP-39: "apple"."""
_NO_PART: Final = word_set(
    """the and are was were for but had has have been his him her hers our ours she not did does don isn its who whose
    get got let yes their them these those would could should because being most much many some from into than also here
    how why which went really think"""
)
"""Words of three to eight letters that no phrase has, and few sentences lack."""

_PLURAL: Final = re.compile(r"[a-z]{2,6}[^suia]s")
"""A plural, of which that list has none: "apples"."""
_NO_PLURAL: Final = frozenset({"always", "news", "jeans"})


def _is_plural(word: str) -> bool:
    """Return whether a word is a plural, or a verb of a third person: no phrase has one."""
    return _PLURAL.fullmatch(word) is not None and word not in _NO_PLURAL


def find(text: str) -> Iterator[Finding]:
    """Yield all seed phrases in a text. Linear in the length of the text."""
    for match in _LABELLED.finditer(text):
        if len(match["value"].split()) >= _FEWEST:
            yield Finding("seed_phrase", *match.span("value"), "[secret]", point=True)
    spoken_of = _SPOKEN_OF.search(text) is not None
    for start, end, count in _runs(text):
        alone = count in _LENGTHS and "," not in text[start:end]
        if (spoken_of and count >= _MANY) or alone:
            yield Finding("seed_phrase", start, end, "[secret]", point=True)


def _runs(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where words in small letters stand in a row, and how many; their numbers in a list do not count."""
    start, end, count = 0, 0, 0
    for token in _TOKEN.finditer(text):
        if _WORD.fullmatch(token[0]) and token[0] not in _NO_PART and not _is_plural(token[0]):
            start, end, count = start if count else token.start(), token.end(), count + 1
        elif not _NUMBERING.fullmatch(token[0]):
            if count:
                yield start, end, count
            count = 0
    if count:
        yield start, end, count
