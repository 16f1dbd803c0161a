"""What a sentence says, as far as words show: content, numbers, names, polarity."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from policies.language import lexicon

MAX_CHARS: Final = 2_000
"""How much of a text is read: a summary has at most 600 characters; more would cost time and tell no more."""

_TOKEN = re.compile(r"[$€£¥₹]?\d+(?:[.,:]\d+)*(?:%|[^\W\d_]+)?|[^\W\d_]+(?:['’][^\W\d_]+)?|[.!?](?=\s)")
_NUMBER = re.compile(r"([$€£¥₹]?)(\d+(?:[.,:]\d+)*)(%|[^\W\d_]*)$")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_SCALES: Final = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9}
_SCALE_WORDS: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})
_LOATHED = re.compile(r"\b(?:can['’]?t|cannot|can not|couldn['’]t) (?:stand|bear|abide)\b", re.IGNORECASE)
"""Reads as a denial and is none: who cannot stand flying hates it."""
_STOPPED = re.compile(
    r"\b(?:stop(?:s|ped)?|quits?|gave up|given up) (?P<what>[a-z]+ing\b[^,.;!?]{0,80})", re.IGNORECASE
)
_VOWEL = re.compile(r"[aeiouy]")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and what it counts: a currency sign, "%", a stemmed noun, "year" for a bare one, or ""."""

    value: str
    unit: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A sentence taken apart. All words are stems, with synonyms made one.

    `order` holds the content words as they come; `names` those that were written as names; `negations` counts;
    `opening` is the first word but for articles, or "" after a preposition; `left` holds what the statement says was
    left: "switched from tea"; `stopped` what somebody does no more: "quit smoking"; `past` says that it tells of what
    used to be, `further` that it is of another one beside one known; `whose` is the one close to somebody of whom it
    tells: "the user's sister" gives sister.
    """

    order: tuple[str, ...]
    words: frozenset[str]
    names: frozenset[str]
    quantities: frozenset[Quantity]
    negations: int
    ended: bool
    cues: frozenset[str]
    particles: frozenset[str]
    opening: str
    passive: bool
    left: frozenset[str]
    stopped: frozenset[str]
    past: bool
    further: bool
    whose: str


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """A lower-case word without its English endings: lives, lived and living are one."""
    word = lexicon.ALIASES.get(word, word)
    if len(word) > 3:
        word = _without_ending(word)
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiou":
        word = word[:-1]
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = word[:-1] + "i"
    return word


def _without_ending(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ied", "ed"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and _VOWEL.search(rest):
            return rest + "y" if ending == "ied" else rest
    return word


def _canonical() -> dict[str, str]:
    chosen: dict[str, str] = {}
    for group in lexicon.SYNONYMS:
        first, *rest = (stem(word) for word in group.split())
        for word in rest:
            chosen.setdefault(word, chosen.get(first, first))
    return chosen


_CANONICAL: Final = _canonical()


def content(word: str) -> str:
    """A lower-case word as the one stem that it shares with its synonyms."""
    stemmed = stem(word)
    return _CANONICAL.get(stemmed, stemmed)


def contents(words: Iterable[str]) -> frozenset[str]:
    return frozenset(content(word) for word in words)


def deed(verb: str) -> str:
    """What a verb says somebody does, as one stem: "is painting" and "painted" give one. Empty where it is denied, or
    says little by itself ("went", "has got")."""
    words = [word for word in re.findall(r"[^\W\d_]+", verb.casefold()) if word not in lexicon.STOP_WORDS]
    if not words or any(word in lexicon.NEGATIONS for word in words) or words[0] in lexicon.LIGHT_VERBS:
        return ""
    return content(words[0])


_STOPS: Final = lexicon.STOP_WORDS
_PARTICLES: Final = frozenset(word for pair in lexicon.PARTICLES for word in pair)
_DAYS: Final = frozenset(f"{lexicon.RIVALS['weekday']} {lexicon.RIVALS['month']}".split())
_HEADLINE_WORDS: Final = 5
_HEADLINE_SHARE: Final = 0.8
_FURTHER: Final = frozenset({"other", "another", "second", "third"})
_ARTICLES: Final = frozenset({"a", "an", "the"})
_PREPOSITIONS: Final = frozenset({"in", "on", "at", "since", "for", "by", "from", "during", "as"})
_MEASURES: Final = contents(
    ["$", "€", "£", "%", "km", "kg", "mile", "hour", "minute", "day", "week", "month", "meter", "gram", "pound"]
)
BEARERS: Final = contents(lexicon.RELATED) | contents(lexicon.RIVALS["relation"].split())
"""Those of whom a statement may tell, where not of the user."""
_CUES: Final = {content(word): cue for cue, words in lexicon.SINGLE_VALUED.items() for word in words.split()}


@lru_cache(maxsize=1_024)
def read(text: str) -> Wording:
    """Take a sentence apart. Never raises; reads the first `MAX_CHARS` characters."""
    text = unicodedata.normalize("NFKC", text[:MAX_CHARS])[:MAX_CHARS].replace("’", "'")
    text = _LOATHED.sub("hate", text)
    tokens = _TOKEN.findall(text)
    lowered = [token.lower() for token in tokens]
    order: list[str] = []
    names: set[str] = set()
    quantities: set[Quantity] = set()
    left: set[str] = set()
    # "At home" says where something is done, not where home is.
    idle = contents(lexicon.PAST.intersection(lowered) | ({"home"} if ("at", "home") in pairwise(lowered) else set()))
    negations, ended, leaving, at_start = 0, False, "", True
    for place, token in enumerate(tokens):
        if token in ".!?":
            at_start = True
            continue
        lower = token.lower()
        plain = lower.removesuffix("'s")
        quantity = _quantity(lower, tokens, place)
        if quantity is not None:
            quantities.add(quantity)
        elif lower.endswith("n't") or lower in lexicon.NEGATIONS:
            negations += lower != "nor"
        elif lower in lexicon.DENIALS and lowered[place - 1] in lexicon.DENIED_BY:
            negations += 1
        elif plain not in _STOPS and lower.replace("'", "") not in _STOPS:
            word = content(plain.replace("'", ""))
            order.append(word)
            if leaving == "from":
                left.add(word)
            leaving = "verb" if plain in lexicon.LEAVING else ""
            ended = ended or (plain in lexicon.ENDINGS and not _halts(plain, lowered[place + 1 : place + 2]))
            if token[0].isupper() and not at_start and len(token) > 1 and lower not in _DAYS:
                names.add(word)
        elif lower == "from" and leaving == "verb":
            leaving = "from"
        at_start = False
    words = frozenset(order)
    return Wording(
        order=tuple(order),
        words=words,
        particles=frozenset(lowered) & _PARTICLES,
        opening=_opening(lowered),
        passive="by" in lowered,
        left=frozenset(left),
        stopped=_stopped(text),
        past=("used", "to") in pairwise(lowered) and "now" not in lowered,
        further=not _FURTHER.isdisjoint(lowered),
        whose=_whose(lowered),
        names=frozenset() if _is_headline(tokens) else frozenset(names),
        quantities=frozenset(quantities),
        negations=negations,
        ended=ended,
        cues=frozenset(_CUES[word] for word in words - idle if word in _CUES),
    )


def _halts(verb: str, following: list[str]) -> bool:
    """Whether "stopped" tells of a halt ("stopped at the bakery") and of nothing that is no more."""
    return verb in ("stopped", "stops") and bool(following) and not following[0].endswith("ing")


def _stopped(text: str) -> frozenset[str]:
    match = _STOPPED.search(text)
    return (
        contents(w for w in re.findall(r"[a-z]+", match["what"].lower()) if w not in _STOPS) if match else frozenset()
    )


def _is_headline(tokens: list[str]) -> bool:
    """Whether nearly every word is written as a name, so that none is known to be one."""
    words = [token for token in tokens if token[0].isalpha() and token.lower() not in _STOPS]
    return len(words) >= _HEADLINE_WORDS and sum(word[0].isupper() for word in words) >= _HEADLINE_SHARE * len(words)


def _whose(lowered: list[str]) -> str:
    owned = next((place for place, word in enumerate(lowered[:3]) if word.endswith("'s")), None)
    if owned is None or owned + 1 >= len(lowered):
        return ""
    word = content(lowered[owned + 1].removesuffix("'s"))
    return word if word in BEARERS else ""


def _opening(lowered: list[str]) -> str:
    first = next((word for word in lowered if word not in _ARTICLES), "")
    return "" if first in _PREPOSITIONS else first


def _quantity(token: str, tokens: list[str], place: int) -> Quantity | None:
    """The number at a place, or None. "twelve", "12", "12k", "$12,000.00", "7:30pm", "twenty five" are read."""
    following = _noun_at(tokens, place + 1)
    before = tokens[place - 1].lower() if place else ""
    match = _NUMBER.match(token)
    if match is None:
        value = _word_value(token, before, following)
        return None if value is None else Quantity(_plain(value), _unit("", "", following, value))
    sign, digits, suffix = match.groups()
    if ":" in digits or digits.count(".") > 1:
        return Quantity(digits, suffix or (following if following in {"am", "pm"} else "time"))
    value = float(_THOUSANDS.sub("", digits).replace(",", ".") if digits.count(",") < 2 else digits.replace(",", ""))
    value *= _SCALES.get(suffix, 1.0) * _SCALE_WORDS.get(following, 1.0)
    if suffix in _SCALES or suffix in _ORDINALS:
        suffix = ""
    if following in _SCALE_WORDS:
        following = _noun_at(tokens, place + 2)
    return Quantity(_plain(value), _unit(sign, suffix, following, value))


def _noun_at(tokens: list[str], place: int) -> str:
    """The token at a place if it may be what a number counts, which a name is not."""
    token = tokens[place] if place < len(tokens) else ""
    return token.lower() if token.islower() or (token.isupper() and 1 < len(token) < 4) else ""


def _word_value(token: str, before: str, following: str) -> float | None:
    value = lexicon.NUMBER_WORDS.get(token)
    if value is None or (0 < value < 10 and before in lexicon.TENS):
        return None
    if value == 1 and following in _STOPS:
        return None
    if token in lexicon.TENS and 0 < lexicon.NUMBER_WORDS.get(following, 0) < 10:
        value += lexicon.NUMBER_WORDS[following]
    return value * _SCALE_WORDS.get(following, 1.0)


def _unit(sign: str, suffix: str, following: str, value: float) -> str:
    if sign or suffix:
        return sign or content(suffix)
    noun = content(following) if following and following[0].isalpha() and following not in _STOPS else ""
    if 1900 <= value < 2100 and value == int(value) and noun not in _MEASURES:
        return "year"
    return "" if following in _SCALE_WORDS else noun


def _plain(value: float) -> str:
    return f"{value:.6g}"
