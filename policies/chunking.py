"""Cut a document into chunks that an embedder reads whole.

Source: "AI Memory Phase 1", Chunking Strategy: paragraphs, 500 tokens, 50 tokens of overlap, never over 600. That a
section begins a chunk is measured (docs/reference/calibration.md): one vector of two matters is far from a question on
either.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

_PARAGRAPH: Final = re.compile(r"\S(?:[^\n]|\n(?![^\S\n]*(?:\n|\Z)))*")
"""Lines up to a blank one: "Once upon a time"."""
_HEADING: Final = re.compile(r"[^\S\n]*#{1,6}[^\S\n]+[^\n]+|[^\n]{1,200}\n[^\S\n]*([=\-*~^\"])\1{2,}[^\S\n]*(?=\n|\Z)")
"""How Markdown and reStructuredText begin a section, by number signs or by a line below: "# The mill"."""
_SENTENCE_END: Final = re.compile(r"[.!?…。！？][\"'”’)\]]*(?=\s|\Z)|[。！？]")
"""The end of a sentence, with its closing marks: "it rained."."""
_CUTS: Final = re.compile(r"\s+")
"""Where a text may be cut when no sentence ends: between two words, as in "a word"."""
_LONGEST_TOKEN: Final = 16
"""Characters that a token has at most: what a tokenizer takes for one unknown word may be a page of them."""
_CHARS_A_TOKEN: Final = 4.7
_LAST_PART: Final = 0.2
"""The part of a piece, at its end, in which a sentence's end is looked for."""

Span = tuple[int, int]
"""A part of a text: its first character, and behind its last."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Lengths of chunks, in tokens: about `size`, with `overlap` between the pieces of one long paragraph, and never
    more than `most`."""

    size: int
    overlap: int
    most: int

    def __post_init__(self) -> None:
        if not 0 <= 2 * self.overlap < self.size <= self.most:
            raise ValueError(f"chunks of {self.size} tokens, {self.overlap} of overlap and at most {self.most}: no")


def sizes_for(size: int, overlap: int, most: int, reads: int | None) -> Sizes:
    """Return the sizes for an embedder that reads so many tokens (None: more than any chunk has): what it does not read
    of a chunk, no search finds."""
    if reads is None or reads >= most:
        return Sizes(size, overlap, most)
    cut = min(size, max(2, reads * 15 // 16))
    return Sizes(cut, overlap * cut // size, reads)


def chunks(text: str, sizes: Sizes, tokens: Sequence[Span]) -> list[Span]:
    """Return the chunks of a text, in their order: paragraphs of a section merged while they are below `sizes.size`,
    and long ones split at a sentence's end, or a word's. `tokens` says where each token of the text stands.

    Every character of every paragraph is in some chunk; chunks overlap only within a paragraph that was split.
    """
    ruler = _Ruler(tokens)
    spans: list[Span] = []
    has_headings_alone = False
    for paragraph in paragraphs(text):
        heading = _HEADING.match(text, *paragraph)
        begins_a_section = heading is not None and not has_headings_alone
        has_headings_alone = heading is not None and not text[heading.end() : paragraph[1]].strip()
        if ruler.count(*paragraph) > sizes.most:
            spans += _pieces(text, paragraph, sizes, ruler)
        elif spans and not begins_a_section and _may_grow(spans[-1], paragraph, sizes, ruler):
            spans[-1] = (spans[-1][0], paragraph[1])
        else:
            spans.append(paragraph)
    return spans


def paragraphs(text: str) -> list[Span]:
    """Return what stands between blank lines, whatever the ends of lines are."""
    spans = (match.span() for match in _PARAGRAPH.finditer(text.replace("\r\n", " \n").replace("\r", "\n")))
    return [(start, start + len(text[start:end].rstrip())) for start, end in spans]


def _may_grow(chunk: Span, paragraph: Span, sizes: Sizes, ruler: _Ruler) -> bool:
    return ruler.count(*chunk) < sizes.size and ruler.count(chunk[0], paragraph[1]) <= sizes.size


def _pieces(text: str, paragraph: Span, sizes: Sizes, ruler: _Ruler) -> Iterator[Span]:
    start, end = paragraph
    while ruler.count(start, end) > sizes.most:
        cut = _cut(text, start, ruler.after(start, sizes.size), end, sizes, ruler)
        yield (start, start + len(text[start:cut].rstrip()))
        start = _begin(text, ruler.after(cut, -sizes.overlap), cut, start)
    yield (start, end)


def _cut(text: str, start: int, target: int, end: int, sizes: Sizes, ruler: _Ruler) -> int:
    """Return where a piece that may reach to `target` ends: at a sentence's end in its last part, else at a word's."""
    earliest = max(ruler.after(start, math.ceil(sizes.size * (1 - _LAST_PART))), start + 1)
    ends = [match.end() for match in _SENTENCE_END.finditer(text, earliest, min(target, end))]
    if ends:
        return ends[-1]
    # Beyond the overlap, so that every piece has something new.
    least = ruler.after(start, 2 * sizes.overlap)
    words = [match.start() for match in _CUTS.finditer(text, max(least, start + 1), target)]
    return words[-1] if words else target


def _begin(text: str, wanted: int, cut: int, start: int) -> int:
    """Return where the next piece begins: at a word, about an overlap before the last one's end."""
    words = [match.end() for match in _CUTS.finditer(text, max(wanted - 1, start + 1), cut + 1)]
    inside = [word_end for word_end in words if word_end <= cut]
    at = inside[0] if inside else cut
    while at < len(text) and text[at].isspace():
        at += 1
    return at


class _Ruler:
    """Counts tokens between two places of a text."""

    def __init__(self, tokens: Sequence[Span]) -> None:
        self._starts = [start for span in tokens for start in _short(span)]

    def count(self, start: int, end: int) -> int:
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def after(self, offset: int, tokens: int) -> int:
        """Return the place so many tokens further on, or back."""
        at = bisect_left(self._starts, offset) + tokens
        return self._starts[min(max(at, 0), len(self._starts) - 1)]


def _short(span: Span) -> list[int]:
    start, end = span
    if end - start <= _LONGEST_TOKEN:
        return [start]
    count = math.ceil((end - start) / _CHARS_A_TOKEN)
    return [start + number * (end - start) // count for number in range(count)]
