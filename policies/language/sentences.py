"""A person's prose out of what they typed: code, tables and logs left out, and the rest cut into sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from policies.language.date_grammar import MONTH
from policies.privacy.quoted_text import own_words

MAX_SENTENCES = 40
"""Sentences looked at in one message; the rest of a longer one is a document, not something said in passing."""
MAX_SENTENCE_CHARS = 400
_MAX_CHARS = 16_000

_FENCE = re.compile(r"```[^`]*(?:```|\Z)|~~~[^~]*(?:~~~|\Z)")
"""A block of code, to the end where its fence is missing: "```x = 1```"."""
_ASIDE = re.compile(r"\[[^\[\]\n]{0,400}\]|<[^<>\n]{1,200}>")
"""Asides in brackets, which are no prose: "[shares a photo]", "<br>"."""
_INLINE_CODE = re.compile(r"`[^`\n]{1,300}`")
"""Code in a sentence: "`rm -rf`"."""
_CODE_LINE = re.compile(
    r"^\s*(?:[{}\[\]();]+\s*$|(?:def|class|import|from|return|const|let|var|public|private|func|fn|elif|#include|"
    r"SELECT|INSERT|UPDATE|DELETE|CREATE|package|using|namespace|async|await|export)\b.*[({;:=*]|.*[;{}]\s*$|"
    r"(?:Traceback \(most|File \"|at [\w.$]+\(|Caused by:|[A-Z]\w*(?:Error|Exception)\b)|"
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:ERROR|WARN|WARNING|INFO|DEBUG|FATAL|TRACE)\b|"
    r"[$>] ?(?:sudo|pip|npm|git|cd|ls|docker|kubectl|python|curl)\b|(?:>+ |\+{3} |-{3} |@@ ))"
)
"""A line of code, of a log or of a command: "import os;", "ERROR", "$ git"."""
_NESTED_KEYS = re.compile(r"^([ \t]*)[a-z_][\w.-]*:[ \t]*\n(?:\1[ \t]+[a-z_][\w.-]*:.*(?:\n|\Z)){2,}", re.MULTILINE)
"""Keys of a file with values below them, to the last: "user:\n  name: Ana\n  city: Rome"."""
_SYMBOLS = re.compile(r"[|{}<>=;$\\#\t_]")
"""A mark that prose seldom has: "{"."""
_QUOTED = re.compile(
    r'"[^"\n]{1,600}"|“[^“”\n]{1,600}”|«[^«»\n]{1,600}»|„[^„“”\n]{1,600}[“”]|(?<![\w.,!?])\'(?=\w)[^\n"]{6,600}?(?<=[\w.,!?…])\'(?!\w)|'
    r"\bquote [^\n\"]{6,600}? (?:unquote|end (?:of )?quote)\b"
)
"""Words in quotation marks, and in those of who dictates: "he said “I live in Rome”"."""
_ENDS_QUOTED = re.compile(r"[.!?…]\W\s+[^\W\d_a-z]")
"""Where a quoted sentence ends and another begins: ".” T"."""
_FULL_STOPS: Final = frozenset(".!?…")
_OPENS_QUOTATION: Final = frozenset(":,")
_DAY_AND_MONTH = re.compile(
    r"\b(?:on|by|until|till|am|bis|ab|vom|zum) (?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])$",
    re.IGNORECASE,
)
"""A day and a month as they are written in much of Europe, up to the last full stop: "on 2.5" of "on 2.5. I run"."""
_ORDINAL = re.compile(r"(?<![\w.])\d{1,2}\Z")
"""A number with whose full stop some write the day of a month: "on 24"."""
_MONTH = re.compile(rf"{MONTH}\b", re.IGNORECASE)
"""A month: "september"."""
_BOUNDARY = re.compile(
    r"([.!?…]{1,4})[\"')\]’”]{0,2}\s+|\n+|\s(?=\(?\d{1,2}\)\s)|\s(?=[\U0001F300-\U0001FAFF☀-➿])|(?<=\s[:;][()DP])\s+|"
    r"(?<=\s[:;]['-][()DP])\s+"
)
"""Where a sentence ends, as far as marks and faces tell: "I left. She stayed", "a fox came :( how do I keep four"."""
_CLOSES = re.compile(r"\d{1,2}\)")
"""A number in front of what it counts, or of the bracket that it stands in: "1)"."""
_NUMBERED = re.compile(r"\(?\d{1,2}\)\s")
"""A number in brackets, of a list or an age: "(11) and Sveta"."""
_FIRST = re.compile(r"(?:\A|\s)\(?1\)\s")
"""The first number of a list: "1) milk 2) eggs"."""
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|approx|no|dept|inc|ltd|a\.m|p\.m|u\.s|"
    r"u\.k|ave?|blvd|rd|str|apt|mt|rev|gen|capt|[a-z])|^\d{1,2})$",
    re.IGNORECASE,
)
"""Abbreviations, which a full stop follows inside a sentence: "dr", "e.g"."""


def words(text: str) -> frozenset[str]:
    """Return the words of a list written as prose."""
    return frozenset(text.split())


@dataclass(frozen=True)
class Sentence:
    """A sentence and where it begins in the message, in characters."""

    text: str
    start: int


def looks_pasted(line: str) -> bool:
    """Return whether a line is code, a table row, a log line or a quotation rather than prose."""
    head = line[:300]
    if _CODE_LINE.match(head):
        return True
    marks = len(_SYMBOLS.findall(head))
    return marks >= 3 and marks * 12 >= len(head)


def _blank(match: re.Match[str]) -> str:
    return "".join("\n" if char == "\n" else " " for char in match.group())


def _beginning(text: str) -> str:
    """Return what is read of a text, to the end of a line if it has one: half a row of a table looks like prose."""
    head = text[:_MAX_CHARS]
    return head if len(head) == len(text) else head.rpartition("\n")[0] or head


def prose_of(text: str) -> str:
    """Return the text with code, tables, logs, bracketed asides and what is pasted blanked out, every character else in
    its place."""
    text = own_words(_beginning(text)).replace("’", "'").replace("‘", "'").replace("\r", "\n")
    if "```" in text or "~~~" in text:
        text = _FENCE.sub(_blank, text)
    if "`" in text:
        text = _INLINE_CODE.sub(_blank, text)
    if "[" in text or "<" in text:
        text = _ASIDE.sub(_blank, text)
    if "\n" not in text:
        return " " * len(text) if looks_pasted(text) else text
    text = _NESTED_KEYS.sub(_blank, text)
    lines: list[str] = []
    pasted = False
    for line in text.split("\n"):
        pasted = looks_pasted(line) or (pasted and line[:1] in (" ", "\t"))
        lines.append(" " * len(line) if pasted else line)
    return "\n".join(lines)


def without_quotes(prose: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the prose with what it quotes of others blanked out, every character else in its place, and where that
    stood.

    One or two words in quotation marks are a title or a nickname and stay. A quoted sentence ends the one that quotes
    it where another begins behind it: "He said “I'm off.” Then he left".
    """
    spans = tuple(match.span() for match in _QUOTED.finditer(prose) if len(match.group().split()) > 2)
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        mark = "." if _ENDS_QUOTED.match(prose, end - 2) else " "
        pieces += (prose[at:start], " " * (end - start - 1), mark)
        at = end
    return "".join((*pieces, prose[at:])), spans


def end_with_quotation(end: int, quotes: Iterable[tuple[int, int]], content: str) -> int:
    """Return where a piece of a message ends that ends at `end` without its quotation: behind that. Its words are not
    its speaker's, and without them nothing is told: "She told me: “I'm off”"."""
    before = content[end - 1 : end]
    behind = (stop for start, stop in quotes if end <= start and not content[end:start].strip())
    if before in _FULL_STOPS or (stop := next(behind, None)) is None:
        return end
    return stop if before in _OPENS_QUOTATION or "\n" not in content[end:stop] else end


def to_quote_end(span: tuple[int, int], quotes: Iterable[tuple[int, int]], content: str) -> tuple[int, int]:
    """Return where another's words stand, which end with the quotation marks with which they begin."""
    start, stop = span
    for begin, end in quotes:
        if start <= begin < stop:
            return span if content[start:begin].strip() else (start, end)
    return span


def _bounded(text: str, start: int) -> Sentence | None:
    shift = len(text) - len(text.lstrip())
    stripped = text.strip()
    if not stripped:
        return None
    if len(stripped) > MAX_SENTENCE_CHARS:
        stripped = stripped[:MAX_SENTENCE_CHARS].rsplit(" ", 1)[0]
    return Sentence(stripped, start + shift)


def _is_inside_brackets(before: str) -> bool:
    return before.count("(") > before.count(")")


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """Return the sentences of prose, at most `MAX_SENTENCES`, each at most `MAX_SENTENCE_CHARS` long."""
    sentences: list[Sentence] = []
    begin = 0
    for boundary in _BOUNDARY.finditer(text):
        mark = boundary.group(1)
        before = text[max(begin, boundary.start() - 12) : boundary.start()]
        if mark == "." and (_ABBREVIATION.search(before[-8:]) or _DAY_AND_MONTH.search(before)):
            continue
        if mark == "." and _ORDINAL.search(before) and _MONTH.match(text, boundary.end()):
            continue
        if not mark and _CLOSES.match(text, boundary.end()) and _is_inside_brackets(text[begin : boundary.start()]):
            continue
        if not mark and _NUMBERED.match(text, boundary.end()) and not _FIRST.search(text):
            continue
        end = boundary.end(1) if mark else boundary.start()
        if sentence := _bounded(text[begin:end], begin):
            sentences.append(sentence)
            if len(sentences) == MAX_SENTENCES:
                return tuple(sentences)
        begin = boundary.end()
    if sentence := _bounded(text[begin:], begin):
        sentences.append(sentence)
    return tuple(sentences)
