"""The words of a text as they are looked up: lower case, without endings, without the words that every text has."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

MAX_CHARS: Final = 4000
"""How much of a text is read; a summary has at most 600 characters."""

_WORD: Final = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
"""Scripts that put no spaces between words: Thai, Lao, Khmer, Japanese, Chinese."""
_VOWEL: Final = re.compile(r"[aeiouy]")
_COMMON: Final = (
    "a an the and or but if of to in on at for with from by about as is are was were be been am do does did have has "
    "had i you he she it we they me my your his her our their this that these those what which who whom whose when "
    "where why how not no so will would can could should there here then than into over s t d m re ve ll st nd rd th"
)
_STOP: Final = frozenset(_COMMON.split())


def terms_of(text: str) -> tuple[str, ...]:
    """Return the terms of a text in their order, with repetitions: the same for "She's painting" and "he painted".

    Numbers and parts of dates are kept, "1,200" as "1200". Endings are taken off lightly (plural s, -ed, -ing, -e, -y):
    measured on questions about conversations, that is as good as Snowball's English stemmer, and both find three in a
    hundred more than bare words. A run of a script without spaces is cut into pairs of characters.
    """
    folded = unicodedata.normalize("NFKC", text[:MAX_CHARS]).casefold()
    terms = []
    for word in _WORD.findall(folded):
        if word in _STOP:
            continue
        if _UNSPACED.match(word):
            terms += [word[start : start + 2] for start in range(max(1, len(word) - 1))]
        else:
            terms.append(_stem(word))
    return tuple(terms)


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    if word[0].isdigit():
        return word.replace(",", "")
    if len(word) > 4 and word.endswith("ies"):
        word = word[:-3] + "y"
    elif len(word) > 3 and word.endswith("es") and word[-3] in "sxz":
        word = word[:-2]
    elif len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        start = word.removesuffix(ending)
        if len(word) > len(ending) + 2 and start != word and _VOWEL.search(start):
            double = len(start) > 2 and start[-1] == start[-2] and start[-1] not in "lsz"
            word = start[:-1] if double else start
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word
