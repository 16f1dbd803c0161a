"""The wording of a sentence: content, numbers, names, polarity, and cues of change."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from policies.language import lexicon

MAX_CHARS: Final = 2_000
"""How much of a text is read: a summary has at most 600 characters; more would cost time and tell no more."""

_TOKEN = re.compile(r"[$€£¥₹]?\d+(?:[.,:]\d+)*(?:%|[^\W\d_]+)?|[^\W\d_]+(?:['’][^\W\d_]+)?|[.!?](?=\s)")
"""A word, a number with its unit, or the end of a sentence: "$40", "10km", "don't"."""
_NUMBER = re.compile(r"([$€£¥₹]?)(\d+(?:[.,:]\d+)*)(%|[^\W\d_]*)$")
"""A number taken apart into currency, digits and unit: "$3,000", "40%"."""
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
"""A comma between thousands: "3,000"."""
_QUOTATION = re.compile(
    r'(?:Asked ["“].{1,400}?["”], [^\n:"“]{1,80} said|[^\n:"“]{1,80}): ["“](?P<words>.*)["”]\s*$', re.DOTALL
)
"""`Maya: "I see the dentist."`: who said it, and what was asked, are no part of what was said."""
_LOATHED = re.compile(r"\b(?:can['’]?t|cannot|can not|couldn['’]t) (?:stand|bear|abide)\b", re.IGNORECASE)
"""Reads as a denial and is none: who "can't stand" flying hates it."""
_SCALES: Final = {"k": 1e3, "m": 1e6, "mn": 1e6, "bn": 1e9, "b": 1e9}
_SCALE_WORDS: Final = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_ORDINALS: Final = frozenset({"st", "nd", "rd", "th"})
_DAYS: Final = frozenset(f"{lexicon.RIVALS['weekday']} {lexicon.RIVALS['month']}".split())
_PRONOUNS: Final = frozenset({"he", "she", "him", "her", "his", "hers"})
_LONGEST_CUE: Final = max(map(len, lexicon.CUES))
_HEADLINE_WORDS, _HEADLINE_SHARE = 5, 0.8


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and what it counts: a currency sign, "%", a stemmed noun, "year" for a bare one, or ""."""

    value: str
    unit: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A sentence taken apart. All words are stems, with synonyms made one.

    `order` holds the content words as they come; `names` those that were written as names; `bearers` those of whom it
    may tell beside the user, `pronouns` whether a pronoun may mean one of them; `negations` counts; `cues` are the
    classes of words of change that it has (see `words.toml`), `by_clause` the words and cues of each sentence;
    `particles` its small words that have an opposite.
    """

    order: tuple[str, ...]
    words: frozenset[str]
    names: frozenset[str]
    bearers: frozenset[str]
    pronouns: bool
    quantities: frozenset[Quantity]
    negations: int
    cues: frozenset[str]
    by_clause: tuple[tuple[frozenset[str], frozenset[str]], ...]
    particles: frozenset[str]


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """Return a lower-case word without its English endings: lives, lived and living are one."""
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
        if word.endswith(ending) and len(rest) >= 3 and not frozenset("aeiouy").isdisjoint(rest):
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
    """Return a lower-case word as the one stem that it shares with its synonyms."""
    stemmed = stem(word)
    return _CANONICAL.get(stemmed, stemmed)


def contents(words: Iterable[str]) -> frozenset[str]:
    """Return several lower-case words as their stems."""
    return frozenset(content(word) for word in words)


def deed(verb: str) -> str:
    """Return what a verb says somebody does, as one stem: "is painting" and "painted" give one. Empty where it is
    denied, or says little by itself ("went", "has got")."""
    words = [word for word in re.findall(r"[^\W\d_]+", verb.casefold()) if word not in lexicon.STOP_WORDS]
    if not words or any(word in lexicon.NEGATIONS for word in words) or words[0] in lexicon.LIGHT_VERBS:
        return ""
    return content(words[0])


_STOPS: Final = lexicon.STOP_WORDS
_PARTICLES: Final = frozenset(word for pair in lexicon.PARTICLES for word in pair)
_DOUBTS: Final = frozenset(["can", "could", "may", "might", "must", "shall", "should", "will", "would", "if", "or"])
DENIED: Final = "not "
"""The mark before a word of `in_turn` that is denied."""
_BEARERS: Final = contents(lexicon.BEARERS)
MEASURES: Final = contents(
    ["$", "€", "£", "%", "km", "kg", "mile", "hour", "minute", "day", "week", "month", "meter", "gram", "pound"]
)


READ_AS: Final = "Maya"
"""The name under which the cross-encoders read every user: that of most of what they learned from."""
_NAMELESS: Final = "user"
"""The stand-in for the user's name: a word that says nothing."""


def without_quotation(text: str) -> str:
    """Return the words that a quotation quotes (`Maya: "..."`); any other text as it is."""
    quoted = _QUOTATION.match(text)
    return quoted["words"] if quoted else text


def called(text: str, name: str, stand_in: str) -> str:
    """Return a text that names the user, or tells of "the user", as if they were called otherwise: what it says is then
    the same whatever their name. A month is left alone where a date says that it is one: "3 May", "May 2026"."""
    forms = (re.escape(form) for form in ("The user", "the user", name[:1].upper() + name[1:], name) if form)
    return re.sub(rf"(?<!\w)(?<!\b\d )(?<!\b\d\d )(?:{'|'.join(forms)})(?!\w)(?! \d{{4}}\b)", stand_in, text)


@lru_cache(maxsize=1_024)
def read(text: str, name: str = "") -> Wording:
    """Take a sentence apart; of a quotation, the words said. Never raises; reads the first `MAX_CHARS` characters.

    `name` is what the user is called: as every memory may name them, that says nothing of what it is about.
    """
    nameless = _STOPS.union(name.lower().split())
    text = unicodedata.normalize("NFKC", text[:MAX_CHARS])[:MAX_CHARS].replace("’", "'")
    text = _LOATHED.sub("hate", without_quotation(text))
    if name:
        # "Maya85" is no word and no number.
        text = called(text, name, _NAMELESS)
    tokens = _TOKEN.findall(text)
    lowered = [token.lower() for token in tokens]
    order: list[str] = []
    names: set[str] = set()
    quantities: set[Quantity] = set()
    negations, at_start = 0, True
    for index, (token, lower) in enumerate(zip(tokens, lowered, strict=True)):
        if token in ".!?":
            at_start = True
            continue
        plain = lower.removesuffix("'s")
        quantity = _quantity(lower, tokens, index)
        if quantity is not None:
            quantities.add(quantity)
        elif lower.endswith("n't") or lower in lexicon.NEGATIONS:
            negations += lower != "nor"
        elif plain not in nameless and lower.replace("'", "") not in _STOPS:
            word = content(plain.replace("'", ""))
            order.append(word)
            if token[0].isupper() and not at_start and len(token) > 1 and lower not in _DAYS:
                names.add(word)
        at_start = False
    words = frozenset(order)
    by_clause = tuple(_clauses(tokens, lowered))
    return Wording(
        order=tuple(order),
        words=words,
        names=frozenset() if _is_headline(tokens) else frozenset(names),
        bearers=words & _BEARERS,
        pronouns=not _PRONOUNS.isdisjoint(part for token in lowered for part in token.split("'")),
        quantities=frozenset(quantities),
        negations=negations,
        cues=frozenset(cue for _, cues in by_clause for cue in cues),
        by_clause=by_clause,
        particles=frozenset(lowered) & _PARTICLES,
    )


@lru_cache(maxsize=1_024)
def in_turn(text: str) -> tuple[str, ...]:
    """Return what a text says word by word: its content words as they come, one that is denied marked as such, and the
    small words that make something doubtful, or have an opposite, between them. Numbers are left out.

    What begins like another text and denies no more says all that the other does: "Ana ran with Ben" of "Ana ran".
    """
    denied, words = "", []
    for token in _TOKEN.findall(unicodedata.normalize("NFKC", text[:MAX_CHARS]).replace("’", "'")):
        lower = token.lower()
        plain = lower.removesuffix("'s").replace("'", "")
        if lower.endswith("n't") or plain in lexicon.NEGATIONS:
            denied = DENIED
        elif lower in _DOUBTS or lower in _PARTICLES:
            words.append(lower)
        elif token not in ".!?" and plain not in _STOPS and _NUMBER.match(lower) is None:
            words.append(denied + content(plain))
            denied = ""
    return (*words, denied) if denied else tuple(words)


def _clauses(tokens: list[str], lowered: list[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield the content words of each sentence, with its cues."""
    start = 0
    for at in [*(at for at, token in enumerate(tokens) if token in ".!?"), len(tokens)]:
        sentence = lowered[start:at]
        plain = (token.removesuffix("'s").replace("'", "") for token in sentence)
        yield frozenset(content(token) for token in plain if token not in _STOPS), _cues(sentence)
        start = at + 1


def _cues(lowered: list[str]) -> frozenset[str]:
    """Return the classes of the words of change, the longest phrase first: "can't wait" corrects nothing."""
    plain = tuple(part for token in lowered for part in token.replace("n't", " n't").replace("'", " '").split())
    cues, at = set(), 0
    while at < len(plain):
        sizes = range(min(_LONGEST_CUE, len(plain) - at), 0, -1)
        size = next((size for size in sizes if plain[at : at + size] in lexicon.CUES), 0)
        if size:
            cues.add(lexicon.CUES[plain[at : at + size]])
        at += size or 1
    return frozenset(cues - {"nothing"})


def _is_headline(tokens: list[str]) -> bool:
    """Return whether nearly every word is written as a name, so that none is known to be one."""
    words = [token for token in tokens if token[0].isalpha() and token.lower() not in _STOPS]
    return len(words) >= _HEADLINE_WORDS and sum(word[0].isupper() for word in words) >= _HEADLINE_SHARE * len(words)


def _quantity(token: str, tokens: list[str], index: int) -> Quantity | None:
    """Return the number at a place, or None. "twelve", "12", "12k", "$12,000.00", "7:30pm", "twenty five" are read."""
    following = _noun_at(tokens, index + 1)
    match = _NUMBER.match(token)
    if match is None:
        value = _word_value(token, tokens[index - 1].lower() if index else "", following)
        return None if value is None else Quantity(f"{value:.6g}", _unit("", following, value))
    sign, digits, suffix = match.groups()
    if ":" in digits or digits.count(".") > 1:
        return Quantity(digits, suffix or (following if following in {"am", "pm"} else "time"))
    value = float(_THOUSANDS.sub("", digits).replace(",", ".") if digits.count(",") < 2 else digits.replace(",", ""))
    value *= _SCALES.get(suffix, 1.0) * _SCALE_WORDS.get(following, 1.0)
    suffix = "" if suffix in _SCALES or suffix in _ORDINALS else suffix
    following = _noun_at(tokens, index + 2) if following in _SCALE_WORDS else following
    return Quantity(f"{value:.6g}", _unit(sign or suffix, following, value))


def _noun_at(tokens: list[str], index: int) -> str:
    """Return the token at a place if it may be what a number counts, which a name is not."""
    token = tokens[index] if index < len(tokens) else ""
    return token.lower() if token.islower() or (token.isupper() and 1 < len(token) < 4) else ""


def _word_value(token: str, before: str, following: str) -> float | None:
    value = lexicon.NUMBER_WORDS.get(token)
    if value is None or (0 < value < 10 and before in lexicon.TENS) or (value == 1 and following in _STOPS):
        return None
    if token in lexicon.TENS and 0 < lexicon.NUMBER_WORDS.get(following, 0) < 10:
        value += lexicon.NUMBER_WORDS[following]
    return value * _SCALE_WORDS.get(following, 1.0)


def _unit(sign: str, following: str, value: float) -> str:
    if sign:
        return content(sign)
    noun = content(following) if following and following[0].isalpha() and following not in _STOPS else ""
    if 1900 <= value < 2100 and value == int(value) and noun not in MEASURES:
        return "year"
    return "" if following in _SCALE_WORDS else noun
