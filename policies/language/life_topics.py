"""Everyday topics, as a wish names one as a whole: "everything about my job", "my love life"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from policies.language.wording import contents, stem

_WORD: Final = re.compile(r"[^\W\d_]+")
"""A word: "everything"."""
Phrases = tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class LifeTopic:
    """A row of the table, its words as stems: see `life_topics.toml`."""

    called: Phrases
    things: Phrases
    people: frozenset[str]
    others: bool


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(map(stem, words))


def _phrases(row: str) -> Phrases:
    return tuple(_stems(phrase.split("_")) for phrase in row.split())


def _load(table: Mapping[str, Any]) -> dict[str, LifeTopic]:
    return {
        name: LifeTopic(
            called=_phrases(row["called"]),
            things=_phrases(row["things"]),
            people=contents(row.get("people", "").split()),
            others=row.get("others", False),
        )
        for name, row in table.items()
    }


_TABLE: Final = tomllib.loads(files(__package__).joinpath("life_topics.toml").read_text(encoding="utf-8"))
LIFE_TOPICS: Final[Mapping[str, LifeTopic]] = _load(_TABLE["topics"])
_WHOLE: Final = frozenset(_TABLE["whole"].split())
FILLERS: Final = _stems(_TABLE["fillers"].split())
"""Words beside the name of a topic that do not make it another: "my medical history"."""


def says_whole(text: str) -> bool:
    """Return whether an English wish says that all about something is meant: "everything about my job"."""
    return not _WHOLE.isdisjoint(_WORD.findall(text.lower()))


def life_topics_named(words: Iterable[str], is_whole: bool) -> frozenset[str]:
    """Return the topics that a wish names as a whole, by the lower-case words of it that name something; none where
    one of them says anything else.

    Where all about something is meant (`is_whole`), one thing of a topic stands for it, too.
    """
    spoken = frozenset(map(stem, words))
    matched = {
        name: frozenset().union(*(phrase for phrase in phrases if phrase <= spoken))
        for name, topic in LIFE_TOPICS.items()
        for phrases in [topic.called + topic.things if is_whole else topic.called]
    }
    if spoken - FILLERS - frozenset().union(*matched.values()):
        return frozenset()
    # "mental health" is no other health.
    return frozenset(
        name for name, mine in matched.items() if mine and not any(mine < other for other in matched.values())
    )
