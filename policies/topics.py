"""Topics of which a subject wants nothing kept: how they are named, and whether a text is about one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from policies.language import lexicon, wording
from policies.language.annotation import offsets_of
from policies.language.life_topics import life_topics_named
from policies.language.parse import Parsed
from policies.language.reported_speech import Place
from policies.privacy.sensitive import is_of, kind_called

BLANK: Final = "[blocked]"
_SPLIT: Final = re.compile(r"\s*(?:,|;|\bor\b|\band\b|\bnor\b)\s*", re.IGNORECASE)
"""Between the topics of a list: "work or money"."""
_WHOSE: Final = re.compile(
    r"^(?:(?:any of|anything about|things about|about|my|our|his|her|their|the|this|that|own)\s+)+", re.IGNORECASE
)
"""Words before a topic that are none of it: "anything about my divorce"."""
_TAIL: Final = re.compile(r"[\s.,!?]*(?:\b(?:anymore|any more|please|ever|again|from now on|thanks?)\b[\s.,!?]*)*$")
"""Words after a topic that are no part of it: "my divorce again, please"."""
_SENTENCE: Final = re.compile(r"[^.!?\n]*[.!?\n]*")
"""A sentence with its end: "I drank. I fell."."""
EVERYTHING: Final = "me"
"""The topic that is the user as a whole."""
_ONESELF: Final = frozenset({EVERYTHING, "us", "myself"})
_NAMING: Final = frozenset({"NN", "VB", "JJ"})
"""How the tags of words begin that say what a statement is of."""
_MOST_WORDS: Final = 3
_SHORTEST: Final = 2
_LONGEST: Final = 60


def named_in(text: str) -> tuple[str, ...]:
    """Return the topics that a text names: "my health or the divorce" -> health, divorce. Too long ones are no
    topics."""
    topics = (_TAIL.sub("", _WHOSE.sub("", part.strip())).strip().lower() for part in _SPLIT.split(text))
    return tuple(dict.fromkeys(topic for topic in topics if _SHORTEST <= len(topic) <= _LONGEST))


def topic_of(statement: Parsed, dates: Sequence[Place]) -> str | None:
    """Return the topic that a statement makes, without its `dates` (places in it, characters): what happened, and to
    whom, "lost baby" of "I lost the baby last week"; None where it names nothing."""
    named = [
        token.text
        for token, start in zip(statement.tokens, offsets_of(statement), strict=True)
        if token.tag[:2] in _NAMING
        and token.dep not in ("aux", "auxpass", "advmod")
        and token.lower not in lexicon.STOP_WORDS | lexicon.LIGHT_VERBS
        and not any(first <= start < last for first, last in dates)
    ]
    topic = " ".join(named[:_MOST_WORDS]).lower()
    return topic if _SHORTEST <= len(topic) <= _LONGEST else None


def is_everything(topic: str) -> bool:
    """Return whether a topic is the user as a whole."""
    return topic in _ONESELF


def life_topics_blocked(topic: str) -> frozenset[str]:
    """Return the everyday topics that a topic names as a whole: "job" is work."""
    words = wording.read(topic).words
    return life_topics_named(
        [word for word in topic.lower().split() if wording.content(word.removesuffix("'s")) in words], is_whole=False
    )


def is_about(text: str, topics: Iterable[str], labels: Sequence[str] = ()) -> bool:
    """Return whether a text is about one of the topics, or has one of them as a label (a tag, a category).

    It is when it has all words of the topic, in any form of them; when the topic names a kind of sensitive data, such
    as health, and the text speaks of that; for a topic in another script, when it
    contains it.
    """
    wanted = [topic for topic in topics if topic.strip()]
    if not wanted:
        return False
    marks = {label.lower() for label in labels}
    return any(
        _is_about(topic, wording.read(sentence).words, sentence.lower(), marks)
        for sentence in _SENTENCE.findall(text) or [""]
        for topic in wanted
    )


def _is_about(topic: str, spoken_words: frozenset[str], lower: str, marks: set[str]) -> bool:
    kind = kind_called(topic)
    if topic.lower() in marks or (kind is not None and (kind in marks or is_of(kind, lower))):
        return True
    words = wording.read(topic).words
    return (bool(words) and words <= spoken_words) or (not topic.isascii() and topic.strip().lower() in lower)


def without(text: str, topics: Sequence[str]) -> str:
    """Return the text with every sentence on one of the topics left blank."""
    if not topics:
        return text
    return "".join(_blanked(match[0], topics) for match in _SENTENCE.finditer(text))


def _blanked(sentence: str, topics: Sequence[str]) -> str:
    if not is_about(sentence, topics):
        return sentence
    end = sentence.rstrip()
    return f" {BLANK}" + sentence[len(end) :]
