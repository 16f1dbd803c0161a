"""Evidence: tell whether a user said what a model says they said."""

from __future__ import annotations

import re
from typing import Final

from policies.language.clauses import SUBJECTS
from policies.language.parse import Parsed
from policies.language.sentences import split_sentences
from policies.language.stems import comparable
from worker.extract.prompt_view import ShownTurn

_ELISION: Final = re.compile(r"\[?(?:\.{3,}|…)\]?")
"""An ellipsis, for what was left out of a quotation: "[...]"."""
_MARKS: Final = " \t\n.,;:!?\"'()[]*_-–—"
_WORD: Final = re.compile(r"[^\W_]+(?:[.,]\d+)*")
"""A word or a number: "moved", "3.5"."""


_STEM_CHARS: Final = 5
_MONTH: Final = (
    "(?:January|February|March|April|May|June|July|August|September|October|November|December|Spring|Summer|Autumn|Fall|"
    "Winter)"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE: Final = re.compile(
    rf"\b(?:{_DAY}(?: ?(?:to|and|or|-|–) ?{_DAY})? (?:of )?)?{_MONTH}(?: {_DAY})?(?:,? (?:19|20)\d\d)?\b|"
    r"\b(?:19|20)\d\d(?:-\d\d){0,2}\b|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b\d{1,2}:\d\d\b",
    re.IGNORECASE,
)
"""A date in words or digits: "9 October 2026", "on Friday"."""
_DENIAL: Final = re.compile(r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without)\b|n't\b")
"""A word that denies, of plain text: "not", "doesn't"."""
_DENIAL_SAID: Final = re.compile(
    rf"{_DENIAL.pattern}|\b(?:cannot|(?:do|does|did|is|are|was|ca|wo|have|has|would|could|should)nt|nope|nah|"
    r"stop\w*|quit\w*|ex|former\w*|used to|drop\w*|cancel\w*|g[ai]ve\w* up|over|lost|left|away|off|hate\w*|avoid\w*|"
    r"allerg\w*|\w+-?free|only|refus\w*|miss\w*|instead|out)\b"
)
"""How people deny, or say what amounts to it: "nope", "used to"."""
_NUMBER: Final = re.compile(r"(?<![^\W\d_])(?P<digits>\d+(?:[.,]\d+)*)(?P<scale>[km](?![a-z]))?")
"""A number with its scale: "40k", "3.5"."""
_GROUP: Final = 3
"""Digits behind a mark that groups them; with fewer or more it is the decimal one."""
_TEENS: Final = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_IN_WORDS: Final = {
    word: str(number)
    for number, same in (
        (1, "one a an single first once"),
        (2, "two second twice couple both twins"),
        (3, "three third"),
        (4, "four fourth"),
        (5, "five fifth"),
        (6, "six sixth"),
        (7, "seven seventh"),
        (8, "eight eighth"),
        (9, "nine ninth"),
        (10, "ten tenth"),
        (11, "eleven eleventh"),
        (12, "twelve twelfth dozen"),
        *((13 + offset, word) for offset, word in enumerate(_TEENS)),
        *((20 + 10 * offset, word) for offset, word in enumerate(_TENS)),
    )
    for word in same.split()
}


def is_quoted(evidence: str, text: str) -> bool:
    """Return whether every part of a quotation stands in what was said; parts are what an ellipsis leaves."""
    fragments = [part for cut in _ELISION.split(comparable(evidence)) if (part := cut.strip(_MARKS))]
    heard = comparable(text)
    return bool(fragments) and all(part in heard for part in fragments)


def unheard(summary: str, heard: str, *, names: bool = True) -> set[str]:
    """Return the numbers of a summary, and its names unless those are not to be looked at, that nobody said.

    Days, months and years are not looked at: they are reckoned. A number that was said in words, or with other
    marks in it ("1,350", "1350", "1.35k"), is the same.
    """
    undated = _DATE.sub(" ", summary)
    in_words = {_IN_WORDS[word] for word in _WORD.findall(comparable(heard)) if word in _IN_WORDS}
    missing = numbers_in(undated) - numbers_in(heard) - in_words
    if names:
        bases = {base for word in _WORD.findall(comparable(heard)) if (base := _base(word))}
        later = (word for word in _WORD.finditer(undated) if word.start() > 0)
        capital = {word.group() for word in later if word.group()[:1].isupper() and len(word.group()) > 1}
        missing |= {word for word in capital if _base(comparable(word)) not in bases}
    return missing


def numbers_in(text: str) -> set[str]:
    """Return the numbers of a text in one form, whatever marks they are written with."""
    numbers = set()
    for match in _NUMBER.finditer(comparable(text)):
        whole, mark, end = match["digits"].rpartition("." if "." in match["digits"] else ",")
        if mark and len(end) != _GROUP:
            value = f"{re.sub('[.,]', '', whole)}.{end}".rstrip("0").rstrip(".")
        else:
            value = re.sub("[.,]", "", match["digits"])
        scale = {"k": 1_000, "m": 1_000_000}.get(match["scale"] or "", 1)
        numbers.add(f"{float(value) * scale:.2f}".rstrip("0").rstrip("."))
    return numbers


def _base(word: str) -> str:
    """Return a word by its first letters, without the endings that a name or an abbreviation takes."""
    return word.removesuffix("s")[:_STEM_CHARS]


def is_supported(summary: str, turn: ShownTurn, background: str) -> bool:
    """Return whether a summary has no name and no number that nobody said.

    `background` is what else may be spoken of beside the turn: names, topics, what was said before, what is known.
    Names may be spelled otherwise in another language: there only numbers count. What the assistant says is heard
    where the user answers a question of its, and nowhere else.
    """
    heard = f"{turn.said_by('user')} {turn.question or ''} {background}"
    return not unheard(summary, heard, names=turn.is_english)


def denies_more(summary: str, turn: ShownTurn) -> bool:
    """Return whether a summary denies something where the user denies nothing, nor says that anything is over or
    lacking."""
    heard = f"{turn.said_by('user')} {turn.question or ''}"
    return turn.is_english and bool(_DENIAL.search(comparable(summary))) and not _DENIAL_SAID.search(comparable(heard))


def sentence_of(evidence: str, text: str) -> str:
    """Return the sentence in which a quotation stands, the quotation itself where no single one holds it."""
    quoted = comparable(evidence).strip(_MARKS)
    return next((whole.text for whole in split_sentences(text) if quoted in comparable(whole.text)), evidence)


def tells_of_somebody(parsed: Parsed) -> bool:
    """Return whether a sentence has a subject of its own: not "tenant-id", not "a flat in Lisbon"."""
    return any(token.dep in SUBJECTS for token in parsed.tokens)
