"""How people state what they have one of at a time: the rows of `statement_forms.toml`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from policies.language.inflection import inflected

_IRREGULAR: Final = {
    "be": "am is are was were been being 'm 're 's s",
    "have": "had having 've got",
    "go": "went gone going",
    "get": "got gotten getting",
    "leave": "left leaving",
    "quit": "quitting",
    "buy": "bought",
    "sell": "sold",
    "take": "took taken taking",
    "make": "made making",
    "drive": "drove driven driving",
    "become": "became becoming",
    "break": "broke broken",
    "split": "splitting",
    "eat": "ate eaten",
    "grow": "grew grown",
    "come": "came coming",
    "pay": "paid",
    "swap": "swapped swapping",
    "keep": "kept",
    "see": "saw seen",
    "study": "studied",
    "marry": "married",
    "date": "dating",
    "bear": "born",
    "enrol": "enrolled",
    "do": "did done",
}
"""Forms of verbs that no rule gives."""


@dataclass(frozen=True, slots=True)
class Form:
    """A clause that states something: its verb, and the words that follow it up to the value; "~" stands for some
    words, "=" opens a value that is said so, "@" is the value."""

    head: frozenset[str]
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stated:
    """A row of the table; the fields are told there."""

    name: str
    attribute: str
    verb: str
    ended: str
    value: str
    holds: tuple[Form, ...]
    became: tuple[Form, ...]
    then: tuple[Form, ...]
    over: tuple[Form, ...]
    company: frozenset[str]
    together: frozenset[str]
    nouns: frozenset[str]
    of: frozenset[str]
    doers: frozenset[str]
    """Verbs of what an employer does to somebody ("hired me")."""
    callers: frozenset[str]
    seen: frozenset[str]
    others: bool
    named: bool
    examples: tuple[str, ...]


@lru_cache(maxsize=512)
def forms_of(verb: str) -> frozenset[str]:
    """Return the forms of a verb: "move" -> move, moves, moved, moving."""
    stem = verb.removesuffix("e")
    forms = {verb, inflected(verb), f"{stem}ed", f"{stem}ing", f"{verb}{verb[-1]}ed", *_IRREGULAR.get(verb, "").split()}
    return frozenset(forms)


def _form(text: str) -> Form:
    head, *path = text.split()
    return Form(forms_of(head), tuple(path))


def _verbs(text: str) -> frozenset[str]:
    return frozenset().union(*map(forms_of, text.split()))


def _row(name: str, row: dict[str, Any]) -> Stated:
    return Stated(
        name=name,
        attribute=row.get("attribute", name),
        verb=row["verb"],
        ended=row.get("ended", ""),
        value=row["value"],
        holds=tuple(map(_form, row.get("is", ()))),
        became=tuple(map(_form, row.get("became", ()))),
        then=tuple(map(_form, row.get("then", ()))),
        over=tuple(map(_form, row.get("over", ()))),
        company=_verbs(row.get("with", "")),
        together=frozenset(row.get("together", "").split()),
        nouns=frozenset(row.get("nouns", "").split()),
        of=frozenset(row.get("of", "").split()),
        doers=_verbs(row.get("hires", "")),
        callers=frozenset(row.get("calls", "").split()),
        seen=frozenset(row.get("seen", "").split()),
        others=row.get("others", False),
        named=row.get("named", False),
        examples=tuple(row["examples"]),
    )


_TABLE: Final = tomllib.loads((files(__package__) / "data" / "statement_forms.toml").read_text(encoding="utf-8"))
LISTS: Final = {name: frozenset(text.lower().split()) for name, text in _TABLE.pop("lists").items()}
STATED: Final = tuple(_row(name, row) for name, row in _TABLE.items())
