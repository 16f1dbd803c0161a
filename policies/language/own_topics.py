"""Topics of which people tell in other languages than English, by rows of words (data/own_topics.toml).

There is no parse outside English: clauses are what stands between marks, and forms of a word what begins alike.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Final

from policies.language.languages import is_common
from policies.language.wording import without_quotation

_CLAUSE: Final = re.compile(r"[^,.;:!?…，。；：！？、\n]+")
"""A clause, as far as marks tell: "ich ziehe um"."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
"""A word: "l'hôtel"."""
_ELIDED: Final = re.compile(r"(?:qu|[cdjlmnst])['’]", re.IGNORECASE)
"""The rest of a small French word before a vowel: "l'"."""
_HAN: Final = re.compile(r"[\u3400-\u9fff]{2,}")
"""Several Han characters in a row: "抑郁症"."""
_READ_CHARS: Final = 800
_GAP: Final = r"\W+(?:\w+\W+){0,2}"
"""Between two words of a phrase two others may stand: "keinen Kaffee mehr"."""
_SHORTEST: Final = 4
_ENDING: Final = 3
"""Letters of the longer of two forms of a word that may be its ending."""
_COMMON_HAN: Final = frozenset("我你他她的了是在有和就不也都把说事过这那一个吧啊给从去来没很还")
"""Characters that say little: a pair with one of them names nothing."""


@dataclass(frozen=True, slots=True)
class _Topic:
    names: re.Pattern[str]
    tells: re.Pattern[str]
    ends: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class _Table:
    over: re.Pattern[str]
    now: re.Pattern[str]
    further: re.Pattern[str]
    unless: re.Pattern[str]
    people: re.Pattern[str]
    topics: Mapping[str, _Topic]


def has_topics(language: str) -> bool:
    """Return whether the table has a language."""
    return language in _rows()["words"]


def ends_what_was_told(new: str, old: str, language: str) -> bool:
    """Return whether a statement says that what an earlier one tells of the same person is over, or is another now:
    "Hab gekündigt" of "Ich arbeite im Klinikum". False in a language that the table does not have."""
    if not has_topics(language):
        return False
    table = _table(language)
    new, old = _plain(new), _plain(old)
    theirs = set(table.people.findall(old))
    for clause in _CLAUSE.findall(new):
        if table.unless.search(clause):
            continue
        others = set(table.people.findall(clause))
        if table.over.search(clause) and others <= theirs and share_a_word(clause, old, language, besides=others):
            return True
        if others or table.further.search(new):
            continue
        for topic in table.topics.values():
            if topic.ends is None or not topic.tells.search(old) or (language == "zh" and theirs):
                continue
            if topic.ends.search(clause) or (topic.tells.search(clause) and table.now.search(clause)):
                return True
    return False


def meant_by_words(wish: str, told: Sequence[str], language: str) -> tuple[int, ...]:
    """Return the places of what was told that a wish to forget may mean: what has a word of it, or tells of a topic
    that it names; "das mit den Tabletten" may mean "Ich nehme Sertralin". None in a language that the table does not
    have."""
    if not has_topics(language):
        return ()
    topics = [topic for topic in _table(language).topics.values() if topic.names.search(_plain(wish))]
    of_topic = {
        place
        for place, text in enumerate(map(_plain, told))
        if any(topic.tells.search(text) or topic.names.search(text) for topic in topics)
    }
    worded = {place for place, text in enumerate(told) if share_a_word(wish, text, language)}
    return tuple(sorted(worded & of_topic or worded or of_topic))


def share_a_word(one: str, other: str, language: str, besides: Iterable[str] = ()) -> bool:
    """Return whether two texts have a form of one telling word, but for some; in Chinese, two characters in a row."""
    here, there = (_telling(_plain(text), language) - set(besides) for text in (one, other))
    if language == "zh":
        return bool(here & there)
    return any(_are_forms(word, another) for word in here for another in there)


def _plain(text: str) -> str:
    return without_quotation(text)[:_READ_CHARS].lower().replace("’", "'")


def _telling(text: str, language: str) -> set[str]:
    if language == "zh":
        pairs = (run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1))
        return {pair for pair in pairs if _COMMON_HAN.isdisjoint(pair)}
    spoken = (_ELIDED.sub("", word) for word in _WORD.findall(text))
    return {word for word in spoken if len(word) >= _SHORTEST and not is_common(word, language)}


def _are_forms(word: str, another: str) -> bool:
    """Return whether two words begin alike but for an ending: "stację" and "stacji"."""
    shorter, longer = sorted((word, another), key=len)
    alike = next((at for at, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    return alike >= max(_SHORTEST, len(longer) - _ENDING)


@lru_cache(maxsize=1)
def _rows() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads((files("policies.language") / "data" / "own_topics.toml").read_text("utf-8"))


@lru_cache(maxsize=8)
def _table(language: str) -> _Table:
    rows = _rows()

    def pattern(phrases: str) -> re.Pattern[str]:
        return _pattern(phrases, language)

    topics = {
        name: _Topic(pattern(row["names"]), pattern(row["tells"]), pattern(row["ends"]) if "ends" in row else None)
        for name, by_language in rows.items()
        if name != "words" and (row := by_language.get(language))
    }
    words = rows["words"][language]
    return _Table(
        over=pattern(words["over"]),
        now=pattern(words["now"]),
        further=pattern(words["further"]),
        unless=pattern(words["unless"]),
        people=pattern(words["people"]),
        topics=topics,
    )


def _pattern(phrases: str, language: str) -> re.Pattern[str]:
    """Return a pattern that finds one of some phrases."""
    listed = [re.escape(phrase.strip()).replace(r"\*", r"\w*") for phrase in phrases.split(",")]
    if language == "zh":
        return re.compile("|".join(listed))
    spaced = (phrase.replace(r"\ ", _GAP) for phrase in listed)
    return re.compile(rf"(?<!\w)(?:{'|'.join(spaced)})(?!\w)")
