"""The forms of orders to the memory, read from their table (data/intents.toml, which says how they are written)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

LANGUAGES: Final = ("en", "es", "de", "fr", "pl", "zh")
_MARK: Final = re.compile(
    r"(?P<object>\.\.\.)|\{(?P<words>\w+)\}|<(?P<ahead>\w+)>|(?P<colon> ?: ?)|(?P<char>[\[\]( '])"
)
"""A mark of the notation of `intents.toml`: "...", "{words}", "<ahead>"."""
_OBJECT_CHARS: Final = 400


@dataclass(frozen=True)
class Form:
    """One way to give an order. `sure` says that it is one by itself, without the head."""

    intent: str
    pattern: re.Pattern[str]
    sure: bool


@dataclass(frozen=True)
class Forms:
    """The table of one language: forms, and classes of words around them as patterns that match a whole text."""

    language: str
    forms: tuple[Form, ...]
    opener: re.Pattern[str]
    asks: re.Pattern[str]
    lead: re.Pattern[str]
    tail: re.Pattern[str]
    this: re.Pattern[str]
    whom: re.Pattern[str]
    closing: re.Pattern[str]
    mine_said: re.Pattern[str]
    all: re.Pattern[str]
    assistant: re.Pattern[str]
    for_now: re.Pattern[str]
    next_clause: re.Pattern[str]
    foreign: re.Pattern[str]
    idle: Mapping[str, re.Pattern[str]]
    back: re.Pattern[str]
    about: re.Pattern[str]
    conversation: re.Pattern[str]


@lru_cache(maxsize=1)
def table() -> Mapping[str, Any]:
    """Return the table as it is written."""
    return tomllib.loads((files("policies.language") / "data" / "intents.toml").read_text("utf-8"))


@lru_cache(maxsize=len(LANGUAGES))
def forms_of(language: str) -> Forms:
    """Return the forms of a language, compiled once a process; English ones for one that the table does not have."""
    rows = table()
    language = language if language in rows["words"] else "en"
    words: Mapping[str, Sequence[str]] = rows["words"][language]
    gap = r"[\s,，]*" if language == "zh" else r"(?!\w)[\s,]*"
    tail = (
        rf"(?:[\s,，]+(?:{_either(words, 'tail')})(?!\w)){{0,3}}"
        if language != "zh"
        else rf"(?:[\s,，]*(?:{_either(words, 'tail')})){{0,3}}"
    )
    forms, idle = [], {}
    for intent, by_language in rows.items():
        if intent == "words" or language not in by_language:
            continue
        row = by_language[language]
        for form, sure in [(form, True) for form in row.get("sure", ())] + [
            (form, False) for form in row.get("weak", ())
        ]:
            pattern = rf"(?:{_pattern(form, words)}){tail}[\s.!?…。！？~]*\Z"
            forms.append(Form(intent, re.compile(pattern, re.IGNORECASE), sure))
        idle[intent] = _whole("|".join(_pattern(idle_form, words) for idle_form in row.get("idle", ())))
    return Forms(
        language,
        tuple(sorted(forms, key=lambda form: not form.sure)),
        opener=re.compile(rf"(?:{_either(words, 'open')}){gap}", re.IGNORECASE),
        asks=re.compile(rf"(?:{_either(words, 'asks')})", re.IGNORECASE),
        lead=re.compile(rf"(?:{_either(words, 'lead')}){gap}", re.IGNORECASE),
        tail=re.compile(rf"{tail}[\s.!?…。！？~]*\Z", re.IGNORECASE),
        this=_whole(_either(words, "this")),
        whom=_whole(_either(words, "whom")),
        closing=re.compile(_either(words, "memory") or "(?!)", re.IGNORECASE),
        mine_said=re.compile(
            rf"\b(?:{_either(words, 'mine_said')})(?!\w)" if "mine_said" in words else "(?!)", re.IGNORECASE
        ),
        all=_whole(_either(words, "all")),
        assistant=re.compile(_either(words, "assistant") or "(?!)", re.IGNORECASE),
        for_now=re.compile(rf"(?:{_either(words, 'for_now')})\W*\Z", re.IGNORECASE),
        next_clause=re.compile(
            rf"(?:[,;:.，。]|\s-|\s(?=but|because|since))\s*(?=(?:{_either(words, 'next')}))", re.IGNORECASE
        ),
        foreign=re.compile(
            rf"(?<!\w)(?:{_either(words, 'foreign')})(?!\w)" if language != "zh" else _either(words, "foreign"),
            re.IGNORECASE,
        ),
        idle=idle,
        back=re.compile("|".join(rows["stop"].get(language, {}).get("back", ())) or "(?!)", re.IGNORECASE),
        about=re.compile(rf"(?:{_either(words, 'about')})\s*\Z", re.IGNORECASE),
        conversation=re.compile(_either(words, "conversation"), re.IGNORECASE),
    )


def _either(words: Mapping[str, Sequence[str]], name: str) -> str:
    return "|".join(sorted((_pattern(form, words) for form in words.get(name, ())), key=len, reverse=True))


def _whole(body: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{body})\Z" if body else "(?!)", re.IGNORECASE)


def _pattern(form: str, words: Mapping[str, Sequence[str]]) -> str:
    """Return a form as a regular expression: see the head of the table."""
    has_object = False

    def written(match: re.Match[str]) -> str:
        nonlocal has_object
        if match["object"]:
            name, has_object = ("" if has_object else "P<object>"), True
            return rf"(?{name or ':'}.{{1,{_OBJECT_CHARS}}}?)"
        if match["words"]:
            return rf"(?:{_either(words, match['words'])})"
        if match["ahead"]:
            return rf"(?=(?:{_either(words, match['ahead'])})(?!\w))"
        if match["colon"]:
            return r"\s*[:：,，–—-]+\s*"
        return {"[": "(?:", "]": ")?", " ": r"\s+", "'": "'?", "(": "(?:"}[match["char"]]

    return re.sub(r"\(\?:\?", "(?", _MARK.sub(written, form))
