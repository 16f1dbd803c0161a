"""Secrets that are told in free words: a small logistic regression says of each word and number of a text how likely
it is one, by its form and by the words near it.

`python -m benchmarks.fit_told_secrets` fits it; docs/reference/heads.md says on what, and how right it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from policies.language.lexicon import word_set
from policies.privacy import told_features as seen
from policies.privacy.rules import Finding
from policies.privacy.told_tokens import NUMBER_WORDS, Token, tokens_of
from schema.packaged_arrays import packaged_arrays

Floats = NDArray[np.float32]

LEAST: Final = -0.4
"""From which score on a token is taken for a secret, chosen so that on authors held out 2% of the texts that look like
those that tell one are touched."""
LEAST_OF_A_WORD: Final = 0.6
"""The same for a plain word, of which every text has many."""
_FEWEST_DIGITS: Final = 3
"""Of a number that is a secret by itself: of 1,875 texts by six authors none tells a shorter one alone."""
_FILE: Final = "told_secrets.npz"
_ODD: Final = re.compile(r"\d|[a-zß-öø-ÿ][A-Z]|[^\W_][_@&!*+=#?/][^\W_]")
"""A digit, a capital within a word, or a sign: "Tulip!Field"."""
_MONTH: Final = re.compile(
    r"(?:jan|febr)(?:uary|uar)|march|april|may|june|july|august|september|october|november|december|"
    r"(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\.?",
    re.IGNORECASE,
)
"""A month: "August"."""
_RUN: Final = re.compile(r"[^\W\d_]+")
"""A word: "door"."""
_POSSESSIVE: Final = re.compile(r"['’]s?\Z")
"""The ending of a name of what is somebody's: "Maya92's"."""
_AMOUNT: Final = re.compile(
    r"\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d[\d.,]*(?:/(?:mo|month|wk|week|yr|year|day|night|hr|hour|person)|pcm|pw)",
    re.IGNORECASE,
)
"""A number whose thousands are parted, or with its time, as nobody writes a code: "1,200", "1150/mo"; of 1,875 texts
none tells a secret so."""
_TIME: Final = re.compile(r"(?:1[0-2]|0?[1-9])(?:[.:][0-5]\d)?[ap]m", re.IGNORECASE)
"""A time of day: "10.40am", "4pm"; none of the secrets in those texts has one."""
_PRICED: Final = word_set("cost costs costing paid pay pays paying owe owes owed earn earns charge charges quoted")
"""Words right before an amount of money: "the new one costs 18000"; none of the secrets in those texts has one."""
_FARTHEST: Final = max(seen.NEAR)
_KINDS: Final = {kind: row for row, kind in enumerate(seen.KINDS)}


@dataclass(frozen=True)
class Weights:
    """A weight for each place, (SIZE,), and the bias; beside them those of classes, (kinds, classes), and of pairs of
    them, (kinds, classes, classes), as they are summed up."""

    places: Floats
    bias: float
    classes: Floats
    pairs: Floats


@lru_cache(maxsize=1)
def weights() -> Weights:
    """Return the packaged weights, read once a process."""
    saved = packaged_arrays("policies.privacy", _FILE)
    return with_classes(saved["places"].astype(np.float32) * saved["scale"], float(saved["bias"]))


def with_classes(places: Floats, bias: float) -> Weights:
    """Return weights with those of classes laid out."""
    count = len(seen.CLASSES)
    classes, pairs = np.zeros((len(_KINDS), count)), np.zeros((len(_KINDS), count, count))
    for row, kind in enumerate(seen.KINDS):
        for index, name in enumerate(seen.CLASSES):
            classes[row, index] = seen.CLASS_WEIGHT * places[list(seen.class_places(name, kind))].sum()
            for later, other in enumerate(seen.CLASSES[index + 1 :], index + 1):
                both = list(seen.class_places(f"{name} {other}", kind))
                pairs[row, index, later] = seen.PAIR_WEIGHT * places[both].sum()
    return Weights(places, bias, classes.astype(np.float32), pairs.astype(np.float32))


def find(text: str, *, words: bool = True, name: str = "") -> Iterator[Finding]:
    """Yield the numbers of a text that are likely a secret, and the `words`: where a secret is already found, what
    stands beside it is none. What the user is called, by `name`, is none. Linear in its length."""
    if not may_tell(text):
        return
    tokens = tokens_of(text)
    own = frozenset(name.lower().split())
    found: list[Token] = []
    for at, (token, score) in enumerate(zip(tokens, scores(tokens).tolist(), strict=True)):
        least = LEAST_OF_A_WORD if token.kind == "word" else LEAST
        if score <= least or _POSSESSIVE.sub("", token.text.lower()) in own:
            continue
        if _is_of_a_date(tokens, at) or _is_a_price(tokens, at) or _TIME.fullmatch(token.text):
            continue
        if words or token.kind in ("number", "spoken"):
            found.append(token)
    if len(found) == 1 and _is_short_number(found[0].text):
        return
    yield from (Finding("told_secret", token.start, token.end, "[secret]", point=True) for token in found)


def _is_short_number(text: str) -> bool:
    """Return whether a text is a number of so few digits that people call no secret so: "-4"."""
    digits = sum(char.isdigit() for char in text)
    return 0 < digits < _FEWEST_DIGITS and not any(char.isalpha() for char in text)


def _is_of_a_date(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a number stands beside a month, or beside another number that does: "31 August 2027"."""
    near = tokens[max(0, at - 2) : at + 2]
    return tokens[at].kind == "number" and any(_MONTH.fullmatch(token.text) for token in near)


def _is_a_price(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a number is written or told as an amount of money: "1,200", "costs 18000"."""
    told = at > 0 and tokens[at].kind == "number" and tokens[at - 1].text.lower() in _PRICED
    return told or _AMOUNT.fullmatch(tokens[at].text) is not None


def may_tell(text: str) -> bool:
    """Return whether a text has anything that a secret is made of, or a word that is said with one."""
    if is_odd(text):
        return True
    return any(map(seen.is_naming, _RUN.findall(text.lower())))


def is_odd(text: str) -> bool:
    """Return whether a text has a number, or a word of which some signs or capitals are those of a secret."""
    return _ODD.search(text) is not None or not NUMBER_WORDS.isdisjoint(_RUN.findall(text.lower()))


def scores(tokens: Sequence[Token]) -> Floats:
    """Return the score of each token (0 is as likely as not), (tokens,); of what cannot be a secret -inf."""
    result = np.full(len(tokens), -np.inf, dtype=np.float32)
    at = np.array([index for index, token in enumerate(tokens) if seen.is_candidate(token)], dtype=np.intp)
    if at.size:
        words = [seen.word_of(token) for token in tokens]
        kinds = np.array([_KINDS[tokens[index].kind] for index in at.tolist()])
        own = np.array([_of_form(tokens[index]) for index in at.tolist()], dtype=np.float32)
        result[at] = weights().bias + own + _of_neighbours(words, at, kinds) + _of_classes(words, at, kinds)
    return result


@lru_cache(maxsize=8192)
def _of_form(token: Token) -> float:
    return float(weights().places[seen.form_places(token)].sum())


def _of_neighbours(words: Sequence[str], at: NDArray[np.intp], kinds: NDArray[np.intp]) -> Floats:
    """Return what the tokens beside each of some add to its score."""
    befores = ["^", *words]
    rows = np.array([_in_roles(word, before) for word, before in zip(words, befores, strict=False)])
    score = np.zeros(len(at), dtype=np.float32)
    padded = np.full((len(words) + 2 * _FARTHEST, *rows.shape[1:]), _in_roles("^", "^"))
    padded[_FARTHEST:-_FARTHEST] = rows
    for role, offset in enumerate(seen.NEAR):
        score += padded[at + offset + _FARTHEST, kinds, role]
    sums = np.zeros((len(words) + 1, *rows.shape[1:]))
    np.cumsum(rows, axis=0, out=sums[1:])
    for role, (start, stop) in enumerate(seen.WINDOWS.values(), len(seen.NEAR)):
        begin, end = np.clip(at + start, 0, len(words)), np.clip(at + stop, 0, len(words))
        score += (sums[end, kinds, role] - sums[begin, kinds, role]).astype(np.float32)
        if start <= 0 < stop:
            score -= rows[at, kinds, role]
    return score


@lru_cache(maxsize=8192)
def _in_roles(word: str, before: str) -> Floats:
    """Return what a token adds to the score of one beside it, by the kind of that one and by its own role."""
    hashes = seen.hashes_of(word, before)
    sums = weights().places[seen.slots_of(hashes[:, None, None] ^ seen.SALTS)].sum(axis=0)
    result: Floats = (sums[1:] + sums[0]) * np.array(seen.WEIGHTS, dtype=np.float32)
    return result


def _of_classes(words: Sequence[str], at: NDArray[np.intp], kinds: NDArray[np.intp]) -> Floats:
    """Return what the classes of the words around each token add to its score, and the pairs of them."""
    fitted = weights()
    own = np.array([_classes(word) for word in words])
    sums = np.zeros((len(words) + 1, own.shape[1]))
    np.cumsum(own, axis=0, out=sums[1:])
    begin, end = np.maximum(at - seen.CLASS_REACH, 0), np.minimum(at + seen.CLASS_REACH + 1, len(words))
    present = (sums[end] - sums[begin] - own[at] > 0).astype(np.float32)
    score: Floats = (present * fitted.classes[kinds]).sum(axis=1)
    for kind in set(kinds.tolist()):
        mine = present[kinds == kind]
        score[kinds == kind] += ((mine @ fitted.pairs[kind]) * mine).sum(axis=1)
    return score


@lru_cache(maxsize=8192)
def _classes(word: str) -> Floats:
    """Return of which classes a word is, 1 or 0 each."""
    result = np.zeros(len(seen.CLASSES), dtype=np.float32)
    result[list(seen.classes_of(word))] = 1
    return result
