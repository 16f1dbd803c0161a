"""A text as the head of told secrets reads it: words, marks, numbers that stand together, and what is mixed of both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from policies.language.lexicon import word_set

Kind = Literal["number", "spoken", "mixed", "word", "mark"]
"""Digits, numbers in words, letters with digits or signs in them, a word, anything else."""

_CHUNK: Final = re.compile(r"\[[a-z_]{2,12}\]|\S{1,128}")
"""A run between spaces, or a mask: "Kr4nich&Moor,", "[secret]"."""
_MARKS: Final = "\"'“”„‘’«»‹›`.,;:!?()[]{}<>=|–—…&+~/\\"
_EDGES: Final = re.compile(rf"([{re.escape(_MARKS)}]*)(.*?)([{re.escape(_MARKS)}]*)", re.DOTALL)
"""The marks around a word, and the word: "('tulip'),"."""
_NUMBER: Final = re.compile(r"[*#]?[A-Za-z]?\d(?:[\d.,:/-]{0,60}\d)?[A-Za-z]?[#*]{0,2}-?")
"""Digits with what may part them, and a letter: "31-07-19", "5519B", "0241#"."""
_PARTS: Final = re.compile(r"[^\W\d_]{1,2}['’](?=[^\W\d_]{2})|['’][^\W\d_]{1,2}(?![^\W\d_])|[^\W\d_]+|['’-]")
"""A word, and what is shortened before or behind it: "l'", "alarme", "'s"."""
_WORDS: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*-?")
"""Words that hyphens and apostrophes tie: "tiger-lily's"."""
_MANY_MARKS: Final = 4
NUMBER_WORDS: Final = word_set(
    """zero oh nought one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand double triple
    zeros ones twos threes fours fives sixes sevens eights nines
    null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
    achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend
    cero dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte treinta cuarenta
    cincuenta sesenta setenta ochenta noventa cien mil doble
    zéro deux trois quatre cinq sept huit neuf dix onze douze treize quatorze seize vingt trente quarante cinquante
    soixante cent mille jeden dwa trzy cztery pięć sześć siedem osiem dziewięć"""
)
_TIES: Final = frozenset((",", "-", "and", "und", "y", "et"))
"""Words and marks that may stand between two numbers of one: "nineteen, four and thirty"."""
_QUOTES: Final = frozenset("\"'“”„‘’«»`")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or mark, and where it stands. `part_count` says of how many numbers it is put together."""

    text: str
    start: int
    end: int
    kind: Kind
    part_count: int = 1
    quoted: bool = False


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text. Linear in its length."""
    return list(_joined(_plain_tokens(text)))


def _plain_tokens(text: str) -> Iterator[Token]:
    quoted = False
    for chunk in _CHUNK.finditer(text):
        start, written = chunk.start(), chunk[0]
        if written.startswith("[") and written.endswith("]"):
            yield Token(written, start, chunk.end(), "mark")
            continue
        edges = _EDGES.fullmatch(written)
        assert edges is not None
        before, core, after = edges[1], edges[2], edges[3]
        yield from _marks(before, start)
        quoted = quoted or not _QUOTES.isdisjoint(before)
        start += len(before)
        yield from _core(core, start, quoted=quoted)
        yield from _marks(after, start + len(core))
        quoted = quoted and _QUOTES.isdisjoint(after)


def _marks(marks: str, start: int) -> Iterator[Token]:
    for index, mark in enumerate(marks[:_MANY_MARKS]):
        yield Token(mark, start + index, start + index + 1, "mark")


def _core(core: str, start: int, *, quoted: bool) -> Iterator[Token]:
    if not core:
        return
    if _NUMBER.fullmatch(core):
        yield Token(core, start, start + len(core), "number", 1, quoted)
    elif _WORDS.fullmatch(core):
        for part in _PARTS.finditer(core):
            kind: Kind = "mark" if part[0] in "'’-" else "spoken" if part[0].lower() in NUMBER_WORDS else "word"
            yield Token(part[0], start + part.start(), start + part.end(), kind, 1, quoted)
    else:
        yield Token(core, start, start + len(core), "mixed" if any(map(str.isalnum, core)) else "mark", 1, quoted)


def _joined(tokens: Iterator[Token]) -> Iterator[Token]:
    """Yield the tokens, numbers that follow each other put together: "4 8 0 2", "nineteen, four, thirty-two"."""
    run: list[Token] = []
    ties: list[Token] = []
    for token in tokens:
        if run and token.kind == run[-1].kind:
            run.append(token)
            ties = []
        elif run and not ties and token.text.lower() in _TIES:
            ties = [token]
        else:
            yield from _run(run)
            yield from ties
            run, ties = [], []
            if token.kind in ("number", "spoken"):
                run = [token]
            else:
                yield token
    yield from _run(run)
    yield from ties


def _run(run: list[Token]) -> Iterator[Token]:
    if run:
        first, last = run[0], run[-1]
        yield Token(" ".join(t.text for t in run), first.start, last.end, first.kind, len(run), first.quoted)
