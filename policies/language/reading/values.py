"""The value of an attribute at a place of a sentence, by its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final

from policies.language.parse import Parsed
from policies.language.sentences import words
from policies.language.spans import MONTHS
from policies.language.statement_forms import LISTS

_DETERMINERS: Final = words(
    "a an the my our his her their some this new old used own current brand strict strictly "
    "now about around roughly nearly almost exactly only just over also still currently both again really mostly"
)
_COLOURS: Final = words("red blue black white grey green silver yellow orange brown")
_EVERYDAY: Final = words("golf polo leaf seat mini jaguar mustang galaxy pixel dodge civic")
_HOW_WELL: Final = words(
    "good great bad better worse terrible awful horrible dreadful lousy poor decent excellent brilliant fantastic "
    "amazing hopeless useless rubbish mediocre slow fast keen avid huge big lazy nervous careful reckless natural born "
    "proud"
)
"""How somebody does something: "a terrible cook" names no trade."""
_LINKS: Final = words("of de la le del the da do and & - ' van von upon")
_DAYS: Final = words("monday tuesday wednesday thursday friday saturday sunday")
_NOT_NAMES: Final = words("i i'm im ok okay tv") | _DAYS | {month.lower() for month in MONTHS}
_SCHOOLS: Final = words(
    "university college school institute academy mit ucla nyu stanford harvard oxford cambridge yale berkeley"
)
_NUMBER: Final = re.compile(
    r"\d{1,3}\Z|(?:(?:twenty|thirty|forty|fifty|sixty|seventy|eighty)(?:-\w+)?|nineteen|eighteen|seventeen|sixteen)\Z",
    re.I,
)
"""An age: "34", "fifty-two"."""
_YEARS: Final = words("years year yrs yr old")
_AFTER_AGE: Final = words(
    "now today yesterday last since this on in and but . , ! ; in soon already next years year yrs yr - so"
)
_UNITS: Final = words("cm m feet ft foot kg kilos kilo lbs lb pounds stone metres meters")
_MONEY_TAIL: Final = words("a per year month week hour annually k dollars euros pounds usd eur gbp")
_MARKS: Final = frozenset([",", "-", "–", "—", "...", "…", "(", ";"])
_PLAINLY: Final = words("nope wait sorry mean meant rather scratch correction oops")
_CORRECTS: Final = _PLAINLY | {"no", "actually", "make"}
"""Words with which one puts right what one has just said."""
_BESIDE: Final = words("i or that it hang on")
"""Words that stand beside those: "or rather", "scratch that"."""
_FARTHEST_CORRECTION: Final = 8
"""Words behind the beginning of a value."""
_END: Final = words(
    "and but with at for in on near because who which that now since so by from these this again though too as when "
    "where anymore any , . ; : ! ? ( - –"
)


def value_at(parsed: Parsed, index: int, kind: str) -> str | None:
    """Return the value of a type that begins at a place, or after its determiners; None where there is none. Where it
    is put right at once, that is what it is put right to: "I'm 43, no wait, 44"."""
    first = _value_at(parsed, index, kind)
    behind = _behind_correction(parsed, index) if first is not None else None
    return first if behind is None else value_at(parsed, behind, kind) or first


def corrects_itself(parsed: Parsed) -> bool:
    """Return whether a sentence puts right what it has just said: "two, no, three cats"."""
    lowers = [token.lower for token in parsed.tokens]
    for at in range(1, len(lowers)):
        opens = lowers[at + 1 : _skip(lowers, at + 1)] if lowers[at] in _MARKS else []
        if not _PLAINLY.isdisjoint(opens) or (opens[:1] == ["no"] and len(opens) > 1):
            return True
    return False


def _behind_correction(parsed: Parsed, index: int) -> int | None:
    """Return where a correction goes on that begins within the clause at a place, behind a mark and behind the
    preposition that it repeats."""
    lowers = [token.lower for token in parsed.tokens]
    for at in range(index + 1, min(index + _FARTHEST_CORRECTION, len(lowers))):
        end = _skip(lowers, at + 1) if lowers[at] in _MARKS else at
        if end > at + 1 and not _CORRECTS.isdisjoint(lowers[at + 1 : end]):
            return end + 1 if lowers[end : end + 1] == lowers[index - 1 : index] else end
    return None


def _skip(lowers: list[str], at: int) -> int:
    """Return the place behind words that only open a correction."""
    begin = at
    while at < len(lowers) and (lowers[at] in _CORRECTS | _BESIDE or (lowers[at] in _MARKS and at > begin)):
        at += 1
    return at


def _value_at(parsed: Parsed, index: int, kind: str) -> str | None:
    tokens = parsed.tokens
    begin = index
    while begin < len(tokens) and (
        tokens[begin].text in _DETERMINERS or (kind in ("car", "name") and tokens[begin].text in _COLOURS)
    ):
        begin += 1
    if begin >= len(tokens):
        return None
    end = _end(parsed, begin, kind)
    if end is None or end <= begin:
        return None
    return parsed.text_of(range(begin, end)).strip(" ,.'\"")


def _end(parsed: Parsed, begin: int, kind: str) -> int | None:
    if kind in LISTS and kind != "role":
        return _listed(parsed, begin, LISTS[kind])
    return _ENDS[kind](parsed, begin)


def _is_name(parsed: Parsed, index: int) -> bool:
    token = parsed.tokens[index]
    return (token.text[:1].isupper() or token.text[:1].isdigit()) and token.lower not in _NOT_NAMES


def _school(parsed: Parsed, begin: int) -> int | None:
    end = _name(parsed, begin, "org")
    named = end is not None and any(parsed.tokens[index].lower in _SCHOOLS for index in range(begin, end))
    return end if named else None


def _name(parsed: Parsed, begin: int, kind: str) -> int | None:
    tokens = parsed.tokens
    at = begin
    if not _is_name(parsed, at) or tokens[at].text[:1].isdigit():
        return None
    labels = {name.label for name in parsed.names if name.start <= begin < name.end}
    if labels & {"DATE", "TIME"} or (kind == "place" and labels & {"PERSON"} and tokens[begin].tag != "NNP"):
        return None
    while at < len(tokens) and at - begin < 9:
        if (_is_name(parsed, at) and (kind != "place" or not tokens[at].text[0].isdigit())) or (
            at + 1 < len(tokens)
            and _is_name(parsed, at + 1)
            and (
                (tokens[at].lower in _LINKS and (tokens[at].lower != "and" or kind == "org"))
                or (tokens[at].text == "," and kind == "place")
                or (tokens[at].text == "." and len(tokens[at - 1].text) <= 3)
            )
        ):
            at += 1
        else:
            break
    if kind == "name" and at < len(tokens) and (tokens[at].tag == "POS" or _names_a_thing(parsed, at)):
        return None
    if kind != "place" and at - begin == 1 and tokens[begin].lower in LISTS["nationality"] | LISTS["religion"]:
        return None
    return at if at - begin > 1 or len(tokens[begin].text) > 1 else None


def _names_a_thing(parsed: Parsed, at: int) -> bool:
    """Return whether the name that ends before a place is of the thing behind it: "by Hankyu train"."""
    last = parsed.tokens[at - 1]
    return last.dep == "compound" and last.head >= at


def _age(parsed: Parsed, begin: int) -> int | None:
    tokens = parsed.tokens
    if not _NUMBER.match(tokens[begin].text):
        return None
    end = begin + 1
    while (
        end + 1 < len(tokens)
        and tokens[end].text == "-"
        and tokens[end + 1].tag in ("CD", "NN", "JJ")
        and tokens[end + 1].lower not in _YEARS
    ):
        end += 2
    after = tokens[end].lower if end < len(tokens) else "."
    if after not in _AFTER_AGE or (after in ("in", "on") and _date(parsed, end + 1) is None):
        return None
    if after in _YEARS and not (end + 1 >= len(tokens) or tokens[end + 1].lower in _YEARS | _AFTER_AGE):
        return None
    return end


def _amount(parsed: Parsed, begin: int, kind: str) -> int | None:
    tokens = parsed.tokens
    at = begin
    while at < len(tokens) and tokens[at].text in "$€£":
        at += 1
    is_priced = at > begin
    if at >= len(tokens) or not tokens[at].text[0].isdigit():
        return None
    at += 1
    tail = _UNITS if kind == "measure" else _MONEY_TAIL
    if kind == "measure" and not (tokens[at - 1].text[-1].isalpha() or (at < len(tokens) and tokens[at].lower in tail)):
        return None
    while at < len(tokens) and (tokens[at].lower in tail or (kind == "measure" and tokens[at].text[0].isdigit())):
        at += 1
    counted = not is_priced and at - begin == 1 and at < len(tokens) and tokens[at].tag in ("NN", "NNS")
    return None if counted and kind == "money" else at


def _date(parsed: Parsed, begin: int) -> int | None:
    tokens = parsed.tokens
    at = begin
    months = {month.lower() for month in MONTHS} | {month[:3].lower() for month in MONTHS} | {"sept"}
    while at < len(tokens) and (
        tokens[at].text[0].isdigit()
        or tokens[at].lower in months | _DAYS | {"next", "this", "the"}
        or (
            tokens[at].lower in ("of", ",")
            and at > begin
            and at + 1 < len(tokens)
            and (tokens[at + 1].text[0].isdigit() or tokens[at + 1].lower in months)
        )
        or (tokens[at].lower in ("st", "nd", "rd", "th", "-", "/") and at > begin)
    ):
        at += 1
    dated = any(t.text[0].isdigit() or t.lower in months | _DAYS for t in tokens[begin:at])
    return at if dated else None


def _words(parsed: Parsed, begin: int) -> int | None:
    tokens = parsed.tokens
    at = begin
    while (
        at < len(tokens)
        and at - begin < 6
        and tokens[at].lower not in _END
        and tokens[at].tag not in ("TO", "MD", "PRP", "VBZ", "VBD")
    ):
        at += 1
    if not any(token.tag.startswith(("NN", "VBG", "JJ")) for token in tokens[begin:at]):
        return None
    return at


def _code(parsed: Parsed, begin: int) -> int | None:
    tokens = parsed.tokens
    at = begin
    while at < len(tokens) and at - begin < 4 and tokens[at].lower not in _END - {"-"}:
        at += 1
    return at


def _role(parsed: Parsed, begin: int) -> int | None:
    tokens = parsed.tokens
    if not begin or tokens[begin - 1].lower not in _DETERMINERS:
        return None
    at = begin
    last = None
    while (
        at < len(tokens)
        and at - begin < 5
        and (tokens[at].tag.startswith(("NN", "JJ", "HYPH", "VB")) or tokens[at].text == "-")
    ):
        at += 1
        if tokens[at - 1].lower in LISTS["role"]:
            last = at
    if last != at or any(token.tag == "JJS" or token.lower in _HOW_WELL for token in tokens[begin:at]):
        return None
    return None if at < len(tokens) and tokens[at].tag == "POS" else at


def _listed(parsed: Parsed, begin: int, listed: frozenset[str]) -> int | None:
    tokens = parsed.tokens
    at = begin
    while (
        at < len(tokens)
        and at - begin < 3
        and tokens[at].tag in ("CD", "JJ", "HYPH", "NN")
        and not _is_of(listed, parsed, at)
        and not _joined(parsed, at, listed)
    ):
        at += 1
    if at >= len(tokens):
        return None
    if size := _joined(parsed, at, listed):
        return at + size
    if not _is_of(listed, parsed, at):
        return None
    at += 1
    if tokens[begin].text[:1].isupper() or tokens[at - 1].text[:1].isupper():
        while (
            at < len(tokens)
            and at - begin < 5
            and (tokens[at].text[0].isupper() or tokens[at].text[0].isdigit())
            and tokens[at].lower not in _NOT_NAMES
        ):
            at += 1
    return at if tokens[at - 1].dep != "compound" or tokens[at - 1].head < at else None


def _is_of(listed: frozenset[str], parsed: Parsed, index: int) -> bool:
    """Return whether a word is of a list, and no everyday word that is a make, too: "a seat by the window"."""
    token = parsed.tokens[index]
    return token.lower in listed and not (token.text.islower() and token.lower in _EVERYDAY)


def _joined(parsed: Parsed, at: int, listed: frozenset[str]) -> int:
    """Return how many words from a place make a hyphened word of a list: "gluten-free", "gluten free"."""
    for size in (3, 2):
        words = [token.lower for token in parsed.tokens[at : at + size] if token.text != "-"]
        if len(words) > 1 and "-".join(words) in listed:
            return size
    return 0


_ENDS: Final[dict[str, Callable[[Parsed, int], int | None]]] = {
    "place": partial(_name, kind="place"),
    "org": partial(_name, kind="org"),
    "name": partial(_name, kind="name"),
    "school": _school,
    "age": _age,
    "money": partial(_amount, kind="money"),
    "measure": partial(_amount, kind="measure"),
    "date": _date,
    "words": _words,
    "code": _code,
    "role": _role,
}
"""Where a value of each type ends."""
