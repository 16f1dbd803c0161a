"""Titles in quotation marks, each read as one name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from policies.language.parse import Name, Parsed, Token
from policies.language.sentences import words

_OPENS: Final = frozenset({'"', "“"})
_CLOSES: Final = frozenset({'"', "”"})
_SMALL: Final = words("a an and as at but by for from in into is nor of off on or out over the to up with 's ’s")
"""Words that stand in a title without a capital."""
_MOST: Final = 10
"""How many words a title has."""
_NAMING: Final = frozenset({"dobj", "pobj", "attr", "nsubj", "nsubjpass", "appos", "conj", "oprd", "compound", "poss"})


def with_whole_titles(parsed: Parsed) -> Parsed:
    """Return a sentence in which each title in quotation marks is one word: 'I loved "Becoming Nicole"', of which the
    parser makes that somebody loved to become somebody."""
    spoken: dict[int, Token] = {}
    dropped: dict[int, int] = {}
    names: list[Name] = []
    for begin, end in _titles(parsed):
        head = next((i for i in range(begin, end) if not begin <= parsed.tokens[i].head < end), begin)
        token = parsed.tokens[head]
        dep = token.dep if token.dep in _NAMING else "nsubj" if token.head > head else "dobj"
        title = parsed.text_of(range(begin, end))
        spoken[head] = replace(token, text=title, tag="NNP", dep=dep, space=parsed.tokens[end].space)
        dropped |= {i: head for i in range(begin - 1, end + 1) if i != head}
        names.append(Name(title, "WORK_OF_ART", head, head + 1))
    return parsed.rewritten(spoken, dropped, names)


def _titles(parsed: Parsed) -> Iterator[tuple[int, int]]:
    """Yield from where to where the words of titles are."""
    opened: int | None = None
    for index, token in enumerate(parsed.tokens):
        if opened is not None and token.text in _CLOSES:
            inside = parsed.tokens[opened + 1 : index]
            capitals = [word for word in inside if word.text[:1].isupper() or word.text[:1].isdigit()]
            is_title = all(word in capitals or word.text in _SMALL for word in inside)
            if capitals and len(inside) <= _MOST and is_title and inside[0] in capitals and inside[0].tag != "PRP":
                yield opened + 1, index
            opened = None
        elif token.text in _OPENS:
            opened = index
