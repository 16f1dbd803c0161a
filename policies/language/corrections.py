"""Corrections right after what they correct, and told with it: "*255 sorry", "at 10, not 9"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from difflib import SequenceMatcher
from typing import Final

from policies.language import lexicon
from policies.language.clauses import main_clauses
from policies.language.date_mentions import month_number
from policies.language.parse import Parsed
from policies.language.sentences import words
from policies.language.spans import WRITTEN_DAY, written_day
from policies.language.wording import read

_LONGEST: Final = 14
"""Words."""
_ALIKE: Final = 0.6
"""How alike a word is to the one that it was meant to be: brandt and Brand are at .91, at .59 Leo and Oslo."""
_TOKEN: Final = re.compile(r"[^\W_](?:[^\s,;!?()\[\]\"“”*]*[^\W_])?%?|[$€£]\d[\d.,]*\w?")
"""A word or a number: "10:30", "26th", "$30", "Anne-Marie"."""
_SIGNS: Final = "$€£"
_STARRED: Final = re.compile(r"\*\s?\w|\w\*(?!\w)")
""" "*255", "181* typo"."""
_DATE: Final = re.compile(WRITTEN_DAY)
"""A resolved date, as summaries have it: "26 September 2026"."""
_BESIDE: Final = re.compile(r" ?\[[^\]]*\]")
"""A resolved day that stands beside the words: "on Friday [9 October 2026]"."""
_NAMED_DAY: Final = re.compile(rf"\w+ \[{_DATE.pattern[2:]}\]")
"""A weekday with its date beside it: "thursday [12 March 2026]"."""
_HALF_A_YEAR: Final = 6
_UNIT: Final = re.compile(r"\d[\d.,]*(?P<unit>[a-z]+)\Z")
"""A number that stands with its unit: "50mg"."""
_SPOKEN_DAY: Final = re.compile(r"(?:the )?\d{1,2}(?:st|nd|rd|th) \[\Z", re.IGNORECASE)
"""A day as it was said, before the bracket with the date beside it: "on the 24th ["."""
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\Z")
"""A day of a month by itself: "26th"."""
_FILLERS: Final = words(
    "sorry i we mean meant typo correction misspoke autocorrect oops wait no nope actually well oh omg god lol haha um "
    "uh hang hold scratch that make it it's its is was should have said say to be precise my bad rather the a an at on "
    "in of and but of course duh argh ugh damn"
)
_PARTICLE: Final = re.compile(r"(?<=\bsorry) o+\b|(?<=\bno) o+\b|(?<=\babeg) o+\b", re.IGNORECASE)
"""A particle that much of West Africa puts behind such a word, and no blood group: "sorry o"."""
_OPENS: Final = re.compile(
    r"(?:(?:oh|omg|ah|argh|ugh|sorry),? )*"
    r"(?:(?:no|nope|wait|hang on|hold on|not(?=[^,;:–-]*[,;:–-])|make that|scratch that)\b|"
    r"\S{0,12}\d\S{0,12}(?: [^\W\d_]{1,12})?,? actually\b)"
)
"""The beginning of a correction, in small letters: "no, at ten", "not tuesday, wednesday", "2008 actually"."""
_MEANT: Final = re.compile(r"(?:\A\W*|[,;.!(–—-]\s*|\b(?:i|we)\s(?:\w+\s)?)meant?\b")
""" "I mean", "sorry, meant 20": not "what does it mean"."""
_PHRASE: Final = 2
"""Words of a phrase, at the least."""
_SHOWS: Final = frozenset({"that", "this", "these", "those"})
_PLAIN: Final = words("typo correction autocorrect misspoke")
_SAYS: Final = words("mean meant means say said misspoke misread misremembered")


def is_correction(text: str, parsed: Parsed) -> bool:
    """Return whether a message opens by putting right what was said before it and says nothing by itself.

    It has a word for that, or an asterisk, and no clause of its own.
    """
    if not _values(text) or len(text.split()) > _LONGEST or _is_a_phrase(parsed):
        return False
    lowered = text.lower()
    if not (is_plain(text) or "corrects" in read(text).cues or _OPENS.match(lowered) or denies_a_value(parsed)):
        return False
    # Of "2008 actually, just looked" a parse takes the value for who looked.
    is_value = parsed.tokens[0].text[:1].isdigit()
    return not any(
        c.owns_subject and not (is_value and c.subject == 0) and parsed.tokens[c.head].lower not in _SAYS
        for c in main_clauses(parsed)
    )


def denies_a_value(parsed: Parsed) -> bool:
    """Return whether "not" stands before a value behind a comma: "at 10, not 9"; not "412, not paid yet"."""
    tokens = parsed.tokens
    return any(
        mark.text == "," and word.lower == "not" and not value.tag.startswith(("VB", "RB"))
        for mark, word, value in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )


def _is_a_phrase(parsed: Parsed) -> bool:
    """Return whether a sentence cries out about something: it opens with "no" as the article of a common noun, "No
    worries", where "no Oslo" takes something back, or points at what was named, "Oh no, that van!"."""
    first, *_ = parsed.tokens
    if any(token.lower in _SHOWS and token.dep == "det" for token in parsed.tokens):
        return True
    noun = parsed.tokens[first.head].text
    plain = noun.islower() and noun not in _FILLERS and not any(noun in of_class for of_class in _classes())
    return first.lower == "no" and first.dep == "det" and plain


def announces(text: str) -> bool:
    """Return whether a sentence says that the next one corrects something, and nothing else: "I misspoke."."""
    return not _values(text) and (is_plain(text) or _OPENS.match(text.lower()) is not None)


def is_plain(text: str) -> bool:
    """Return whether a correction has a mark or a word that nothing but a correction has."""
    lowered = text.lower()
    is_said = _MEANT.search(lowered) is not None or not _PLAIN.isdisjoint(_TOKEN.findall(lowered))
    return is_said or _STARRED.search(text) is not None


def corrected(summary: str, words_said: str) -> str | None:
    """Return what was told with the value that a correction puts in the place of another one; None if it is not plain
    which one.

    The value named after "not" gives way; without one, what is alike: a date to a date, a number to a number, a word
    of one class (weekdays, relatives) to another, a misspelt word to the right one.
    """
    values = _values(_BESIDE.sub("", words_said))
    lowered = [value.lower() for value in values]
    dates = {match[0] for match in _DATE.finditer(words_said)}
    named, by_name = _NAMED_DAY.search(summary), _NAMED_DAY.search(words_said)
    if named and by_name and len(dates) == len(_DATE.findall(summary)) == 1:
        return _put(summary, named.span(), by_name[0])
    if "not" in lowered:
        at = lowered.index("not")
        wrong, right = values[at + 1 : at + 2], (values[:at] or values[at + 2 :])
        if wrong and right:
            return _in_place_of(wrong[0], " ".join(right), summary)
        values = right
    if len(dates) == 1 and not any(_ORDINAL.match(value) for value in values):
        return _only(summary, list(_DATE.finditer(summary)), dates.pop())
    numbers = [value for value in values if value[0].isdigit() or value[0] in _SIGNS]
    chosen = numbers if len(numbers) == 1 else values
    return _with_value(summary, chosen[0]) if len(chosen) == 1 else _with_phrase(summary, values)


def denies(summary: str, words_said: str) -> bool:
    """Return whether a correction says "not" of a value that was told."""
    lowered = [value.lower() for value in _values(words_said)]
    wrong = lowered[lowered.index("not") + 1 :][:1] if "not" in lowered else []
    return bool(wrong) and bool(_places(summary, wrong[0]))


def _in_place_of(wrong: str, right: str, summary: str) -> str | None:
    """Return what was told with the value that is right in the place of the one that is wrong; of weekdays the day of
    the same week, of months the nearest one, where the wrong one was told as a date."""
    days, months = lexicon.RIVALS["weekday"].split(), lexicon.RIVALS["month"].split()
    if wrong.lower() in months and right.lower() in months:
        return _with_month(wrong, right, summary)
    if wrong.lower() in days and right.lower() in days:
        shift = days.index(right.lower()) - days.index(wrong.lower())
        dates = [
            (match, date(int(match["year"]), month_number(match["month"]), int(match["day"])))
            for match in _DATE.finditer(summary)
        ]
        told = [(match, day) for match, day in dates if day.weekday() == days.index(wrong.lower())]
        if len(told) == 1:
            [(match, day)] = told
            moved = written_day(day + timedelta(days=shift))
            summary = f"{summary[: match.start()]}{moved}{summary[match.end() :]}"
            spans = _places(summary, wrong)
            return _put(summary, spans[-1], right) if spans else summary
    spans = _places(summary, wrong)
    return _put(summary, spans[-1], right) if spans else None


def _with_month(wrong: str, right: str, summary: str) -> str | None:
    """Return what was told with another month wherever the wrong one stands, each of the year that is nearest to it:
    "January 2027" for "December 2026"."""
    ahead = (month_number(right) - month_number(wrong)) % 12
    months = ahead - 12 if ahead > _HALF_A_YEAR else ahead
    years = (month_number(wrong) - 1 + months) // 12

    def moved(match: re.Match[str]) -> str:
        year = f" {int(match['year']) + years}" if match["year"] else ""
        return (right.capitalize() if match["month"][0].isupper() else right) + year

    told = re.compile(rf"\b(?P<month>{wrong})\b(?: (?P<year>\d{{4}})\b)?", re.IGNORECASE)
    if any(
        not date.min.year <= int(one["year"]) + years <= date.max.year for one in told.finditer(summary) if one["year"]
    ):
        return None
    changed = told.sub(moved, summary)
    return changed if changed != summary else None


def _with_phrase(summary: str, phrase: Sequence[str]) -> str | None:
    """Return what was told with a phrase in the place of one that differs from it in a word: "B negative" for "A
    negative"."""
    told, size = list(_TOKEN.finditer(summary)), len(phrase)
    lowered = [word.lower() for word in phrase]
    alike = [
        told[at : at + size]
        for at in range(len(told) - size + 1)
        if sum(match[0].lower() == word for match, word in zip(told[at:], lowered, strict=False)) == size - 1
    ]
    if size < _PHRASE or len(alike) != 1:
        return None
    [(match, word)] = [pair for pair in zip(alike[0], phrase, strict=True) if pair[0][0].lower() != pair[1].lower()]
    return _put(summary, match.span(), word)


def _with_value(summary: str, value: str) -> str | None:
    spoken = list(_TOKEN.finditer(summary))
    if value[0].isdigit() or value[0] in _SIGNS:
        numbers = [m for m in spoken if m[0][0].isdigit() or m[0][0] in _SIGNS]
        days = list(_DATE.finditer(summary))
        day = _ORDINAL.match(value)
        if day and len(days) == 1 and (value != day[1] or len(numbers) == 2):
            return _with_day(summary, days[0], day[1])
        alike = [m for m in numbers if (":" in m[0]) == (":" in value) and not any(_within(m, d) for d in days)]
        alike = sorted(alike, key=lambda m: -_likeness(m[0], value))
        sure = len(alike) == 1 or (
            len(alike) > 1 and _likeness(alike[0][0], value) > max(_ALIKE, _likeness(alike[1][0], value))
        )
        unit = _UNIT.match(alike[0][0]) if alike and value.isdigit() else None
        return _put(summary, alike[0].span(), f"{value}{unit['unit'] if unit else ''}") if sure else None
    rivals = [m for m in spoken if _rival(m[0], value)]
    if rivals:
        return _only(summary, rivals, value)
    telling = [m for m in spoken if m[0].lower() not in lexicon.STOP_WORDS]
    nearest = max(telling, key=lambda m: _likeness(m[0].lower(), value.lower()), default=None)
    if nearest is None or _likeness(nearest[0].lower(), value.lower()) < _ALIKE:
        return None
    return _put(summary, nearest.span(), value.title() if nearest[0][0].isupper() else value)


def _with_day(summary: str, of: re.Match[str], day: str) -> str | None:
    """Return what was told with another day in a date, also in place of the words that it stands beside."""
    spoken = _SPOKEN_DAY.search(summary, 0, of.start())
    if spoken is None or summary[of.end() : of.end() + 1] != "]":
        return _put(summary, of.span("day"), day)
    return _put(summary, (spoken.start(), of.end() + 1), f"{day}{of[0][len(of['day']) :]}")


def _values(text: str) -> list[str]:
    """Return the words of a correction that are more than its form."""
    return [value for value in _TOKEN.findall(_PARTICLE.sub("", text)) if value.lower() not in _FILLERS]


def _rival(first: str, second: str) -> bool:
    return any(first.lower() in members and second.lower() in members for members in _classes())


def _classes() -> list[list[str]]:
    """Return words of which each may be meant where another one is said."""
    return [lexicon.RIVALS[name].split() for name in ("weekday", "month", "relation", "color", "season")]


def _likeness(first: str, second: str) -> float:
    return SequenceMatcher(None, first, second, autojunk=False).ratio()


def _places(summary: str, value: str) -> list[tuple[int, int]]:
    return [m.span() for m in _TOKEN.finditer(summary) if m[0].lower() == value.lower()]


def _within(inner: re.Match[str], outer: re.Match[str]) -> bool:
    return outer.start() <= inner.start() and inner.end() <= outer.end()


def _only(summary: str, matches: list[re.Match[str]], value: str) -> str | None:
    return _put(summary, matches[0].span(), value) if len(matches) == 1 else None


def _put(summary: str, span: tuple[int, int], value: str) -> str | None:
    changed = f"{summary[: span[0]]}{value}{summary[span[1] :]}"
    return changed if changed != summary else None
