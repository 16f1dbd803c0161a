"""The features of a word or number that the head of told secrets sees: its form, the words near it, and their
classes."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from policies.privacy.told_tokens import Token

BITS: Final = 15
SIZE: Final = 1 << BITS
"""How many places the hashes fall into."""
KINDS: Final = ("number", "spoken", "mixed", "word")
NEAR: Final = (-3, -2, -1, 1, 2, 3)
"""Which neighbours are read by their place."""
WINDOWS: Final = {"left": (-10, 0), "right": (1, 11), "around": (-40, 41)}
"""Which tokens are read wherever they stand there, from and to, counted from the one that is judged."""
ROLES: Final = (*map(str, NEAR), *WINDOWS)
WEIGHTS: Final = (1.0,) * len(NEAR) + (0.5, 0.5, 0.3)
"""How much a token of each role counts, chosen by the authors held out."""
CLASS_REACH: Final = 12
"""How many tokens to each side are asked for classes."""
CLASS_WEIGHT: Final = 1.0
PAIR_WEIGHT: Final = 0.5

_TABLE: Final[dict[str, Any]] = tomllib.loads(
    files("policies.privacy").joinpath("told_words.toml").read_text(encoding="utf-8")
)
CLASSES: Final = tuple(_TABLE["classes"])
_NAMING: Final = frozenset(_TABLE["naming"])
_STEMS: Final[dict[str, tuple[str, ...]]] = {
    stem: tuple(name for name, words in _TABLE["classes"].items() if stem in words.split())
    for stem in dict.fromkeys(" ".join(_TABLE["classes"].values()).split())
}
_LONGEST_STEM: Final = max(map(len, _STEMS))
_GOLDEN: Final = np.uint32(2654435761)
_LONGEST: Final = 32
"""How much of a token is read."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
"""A year of our time: "1987"."""
_CLOCK: Final = re.compile(r"[01]\d[0-5]\d|2[0-3][0-5]\d")
"""A time of day without a colon: "0630"."""
_CAMEL: Final = re.compile(r"[a-zß-öø-ÿ][A-Z]")
"""A capital within a word: "otterPond"."""
_LETTER: Final = re.compile(r"[^\W\d_]")
"""Any letter: "a"."""
_REPEATED: Final = re.compile(r"(.)\1+")
"""The same sign again and again: "000"."""
_SCALES: Final = frozenset(("hundred", "thousand", "hundert", "tausend", "cent", "mille", "mil", "cien"))


def _salt(name: str) -> int:
    return crc32(name.encode())


SALTS: Final = np.array([[_salt(f"{role} {kind}") for role in ROLES] for kind in ("any", *KINDS)], dtype=np.uint32)
"""Salts that part the hashes of a word by its role, and by the kind of token that is judged; (1 + kinds, roles)."""


def slots_of(hashes: NDArray[np.uint32]) -> NDArray[np.intp]:
    """Return the places of hashes, below SIZE."""
    return ((hashes * _GOLDEN) >> np.uint32(32 - BITS)).astype(np.intp)


def place_of(name: str) -> int:
    """Return the place of a feature with a name."""
    return int(slots_of(np.array([_salt(name)], dtype=np.uint32))[0])


def word_of(token: Token) -> str:
    """Return a token as its neighbours see it: a number by how long it is, a word in small letters."""
    if token.kind == "number":
        return f"#{min(sum(map(str.isdigit, token.text[:_LONGEST])), 9)}"
    if token.kind == "spoken":
        return f"#s{min(token.part_count, 5)}"
    return "#mixed" if token.kind == "mixed" else token.text[:_LONGEST].lower().replace("’", "'")


@lru_cache(maxsize=8192)
def classes_of(word: str) -> frozenset[int]:
    """Return the classes of `told_words.toml` that a word in small letters is of, by their number."""
    ends = range(2, min(len(word), _LONGEST_STEM) + 1)
    stems = (word, *(f"{word[:end]}*" for end in ends), *(f"*{word[-end:]}" for end in ends))
    return frozenset(CLASSES.index(name) for stem in stems for name in _STEMS.get(stem, ()))


@lru_cache(maxsize=8192)
def is_naming(word: str) -> bool:
    """Return whether a word in small letters may say that a secret is told near it."""
    return any(CLASSES[number] in _NAMING for number in classes_of(word))


@lru_cache(maxsize=8192)
def hashes_of(word: str, before: str) -> NDArray[np.uint32]:
    """Return the hashes of a token as neighbours see it: the word, how it begins and ends, its classes, and the pair
    with the token before it."""
    names = [word, f"{before}_{word}"]
    if len(word) > 4 and word[0] != "#":
        names += [f"<{word[:4]}", f"{word[-4:]}>"]
    if len(word) > 6 and word[0] != "#":
        names.append(f"<{word[:6]}")
    names += [f"%{CLASSES[number]}" for number in classes_of(word)]
    return np.array(list(map(_salt, names)), dtype=np.uint32)


def neighbours(tokens: Sequence[Token]) -> list[NDArray[np.uint32]]:
    """Return the hashes of all tokens of a text as their neighbours see them."""
    words = [word_of(token) for token in tokens]
    return [hashes_of(word, before) for word, before in zip(words, ["^", *words], strict=False)]


EDGE: Final = hashes_of("^", "^")
"""The hashes of what stands before the first and after the last token."""


def _form_places(text: str, kind: str, part_count: int, *, quoted: bool) -> NDArray[np.intp]:
    names = ["kind", *(["quoted"] if quoted else []), *_FORMS[kind](text, part_count)]
    return slots_of(np.array([_salt(f"own {kind} {name}") for name in names], dtype=np.uint32))


def form_places(token: Token) -> NDArray[np.intp]:
    """Return the places of a token's own form."""
    return _form_places(token.text[:_LONGEST], token.kind, token.part_count, quoted=token.quoted)


def _number_form(text: str, part_count: int) -> Iterator[str]:
    yield f"digits {min(sum(map(str.isdigit, text)), 12)}"
    yield f"parts {min(part_count, 6)}"
    yield f"signs {re.sub(r'[0-9]', '0', text)[:12]}"
    yield f"shape {_shape(text)[:12]}"
    yield from (
        name
        for name, has in (
            ("year", _YEAR.fullmatch(text)),
            ("clock", _CLOCK.fullmatch(text)),
            ("zero", text[0] == "0"),
            ("letter", _LETTER.search(text)),
            ("round", text.endswith("00")),
        )
        if has
    )


def _spoken_form(text: str, part_count: int) -> Iterator[str]:
    words = text.lower().split()
    yield f"parts {min(part_count, 8)}"
    yield f"first {words[0]}"
    if not _SCALES.isdisjoint(words):
        yield "scale"


def _mixed_form(text: str, _part_count: int) -> Iterator[str]:
    shape = _shape(text)
    yield f"shape {shape[:14]}"
    yield f"length {min(len(text) // 3, 6)}"
    yield f"changes {min(len(shape), 8)}"
    yield from (f"has {sign}" for sign in sorted(set(text)) if not sign.isalnum())
    if any(map(str.isdigit, text)):
        yield "digit"
    if _CAMEL.search(text):
        yield "camel"


def _word_form(text: str, _part_count: int) -> Iterator[str]:
    lower = text.lower()
    yield f"word {lower}"
    yield f"capital {text[0].isupper()}"
    yield f"length {min(len(lower), 9)}"
    yield f"begins {lower[:3]}"
    yield f"ends {lower[-3:]}"
    yield from (f"letters {lower[start : start + 3]}" for start in range(min(len(lower) - 2, 12)))
    if _CAMEL.search(text):
        yield "camel"


_FORMS: Final = {"number": _number_form, "spoken": _spoken_form, "mixed": _mixed_form, "word": _word_form}


def _shape(text: str) -> str:
    """Return the form of a token: "Aa+0+" of "Kestrel99"."""
    signs = ("0" if sign.isdigit() else "A" if sign.isupper() else "a" if sign.isalpha() else sign for sign in text)
    return _REPEATED.sub(r"\1+", "".join(signs))


def is_candidate(token: Token) -> bool:
    """Return whether a token may be a secret, or a part of one."""
    return token.kind in KINDS and (token.kind != "word" or len(token.text) >= 3)


def features_of(tokens: Sequence[Token], at: int) -> dict[int, float]:
    """Return all that is read of one token, by its place: what `told_secrets` sums up for all tokens of a text at
    once."""
    found: dict[int, float] = {}

    def add(places: NDArray[np.intp], weight: float) -> None:
        for slot in places.ravel().tolist():
            found[slot] = found.get(slot, 0.0) + weight

    token, seen = tokens[at], neighbours(tokens)
    row = 1 + KINDS.index(token.kind)
    add(form_places(token), 1.0)
    for role, offset in enumerate(NEAR):
        hashes = seen[at + offset] if 0 <= at + offset < len(seen) else EDGE
        add(slots_of(hashes[:, None] ^ SALTS[[0, row], role]), WEIGHTS[role])
    for role, (start, stop) in enumerate(WINDOWS.values(), len(NEAR)):
        for index in range(max(0, at + start), min(len(seen), at + stop)):
            if index != at:
                add(slots_of(seen[index][:, None] ^ SALTS[[0, row], role]), WEIGHTS[role])
    present = [CLASSES[number] for number in sorted(_classes_around(tokens, at))]
    for index, name in enumerate(present):
        add(np.array(class_places(name, token.kind)), CLASS_WEIGHT)
        for other in present[index + 1 :]:
            add(np.array(class_places(f"{name} {other}", token.kind)), PAIR_WEIGHT)
    return found


def class_places(name: str, kind: str) -> tuple[int, int]:
    """Return the places of a class, or of a pair of them, that is near a token of a kind."""
    return place_of(f"near {name}"), place_of(f"near {name} {kind}")


def _classes_around(tokens: Sequence[Token], at: int) -> frozenset[int]:
    near = range(max(0, at - CLASS_REACH), min(len(tokens), at + CLASS_REACH + 1))
    words = (word_of(tokens[index]) for index in near if index != at)
    return frozenset[int]().union(*map(classes_of, words))
