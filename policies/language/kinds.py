"""Things of one kind that are not the same: a chemistry exam and a physics exam, a left and a right knee, a mother and
a mother-in-law."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from policies.language.clauses import main_clauses
from policies.language.parse import Parsed
from policies.language.people import FAMILY
from policies.language.sentences import words
from policies.language.wording import content

_WHICH: Final = frozenset({"compound", "poss"})
"""How a noun stands to another one that says which of a kind it is."""
_SIDES: Final = tuple(
    map(
        words,
        (
            *("left right", "front back", "upper lower", "top bottom", "male female"),
            *("oldest eldest youngest middle", "older elder younger", "big little"),
        ),
    )
)
"""Words of which each says another one of a kind: "the left knee", "the right knee"."""
_ANOTHER: Final = frozenset({"other", "another"})
_MAYBE_ONE: Final = (
    words("husband wife boyfriend girlfriend fiance fiancee missus hubby"),
    words("baby kid child son daughter kids children twins sons daughters"),
    words("mum mom mother mam mama parents"),
    words("dad father papa parents"),
    words("grandmother grandma nan nana granny grandparents"),
    words("grandfather grandpa granddad grandad grandparents"),
    words("sister sisters"),
    words("brother brothers"),
)
"""Whom people call now one thing and now another: the partner who is a boyfriend, the baby who is a son."""


class _Thing(NamedTuple):
    """A noun, and the words that say which of its kind is meant."""

    kind: str
    which: frozenset[str]


def tells_of_another(known: Parsed, said: Sequence[Parsed], name: str) -> bool:
    """Return whether what is said tells of another thing of a kind of which something is known: of another subject,
    "the physics exam is on the 18th" of a chemistry exam, of the other side, or of another relative. `name` is what the
    user is called."""
    words_said = frozenset(content(token.lower) for parsed in said for token in parsed.tokens)
    return (
        _differ(_subjects(known, name), [thing for parsed in said for thing in _subjects(parsed, name)], words_said)
        or any(_is_other_side(thing, other) for thing in _sided(known) for parsed in said for other in _sided(parsed))
        or _is_of_other_relatives(known, said)
    )


def _differ(known: Iterator[_Thing], said: Sequence[_Thing], words_said: frozenset[str]) -> bool:
    return any(
        thing.kind == other.kind and thing.which and other.which and not thing.which & words_said
        for thing in known
        for other in said
    )


def _subjects(parsed: Parsed, name: str) -> Iterator[_Thing]:
    """Yield what main clauses are of, and what a sentence without a clause names, with the words that say which."""
    subjects = [clause.subject for clause in main_clauses(parsed) if clause.subject is not None]
    for head in subjects or [index for index, token in enumerate(parsed.tokens) if token.head == index]:
        yield from _things(parsed, head, name)


def _things(parsed: Parsed, head: int, name: str) -> Iterator[_Thing]:
    """Yield a noun and those before it that say which it is, each with its own: "home insurance renewal" is of home
    insurance, too."""
    if not parsed.tokens[head].tag.startswith("NN"):
        return
    which = [child for child in parsed.children(head) if parsed.tokens[child].dep in _WHICH]
    named = [i for i in which if parsed.tokens[i].tag.startswith("NN") and parsed.tokens[i].text != name]
    yield _Thing(_content(parsed, head), frozenset(_content(parsed, index) for index in named))
    for index in named:
        yield from _things(parsed, index, name)


def _content(parsed: Parsed, index: int) -> str:
    return content(parsed.tokens[index].lower)


def _sided(parsed: Parsed) -> Iterator[_Thing]:
    """Yield nouns with a word that says which of several: "the left knee"."""
    for index, token in enumerate(parsed.tokens):
        sides = {parsed.tokens[child].lower for child in parsed.children(index)} if token.tag.startswith("NN") else ()
        if sides and (which := frozenset(sides) & frozenset().union(*_SIDES)):
            yield _Thing(_content(parsed, index), which)


def _is_other_side(known: _Thing, said: _Thing) -> bool:
    return known.kind == said.kind and any(
        known.which & side and said.which & side and not known.which & said.which for side in _SIDES
    )


def _is_of_other_relatives(known: Parsed, said: Sequence[Parsed]) -> bool:
    """Return whether something is known of one relative, and said of others alone."""
    of = set(_relatives_told_of(known))
    others = {relative for parsed in said for relative in _relatives_told_of(parsed)}
    named = {relative for parsed in said for relative in _relatives(parsed)}
    return bool(of and others) and not any(_may_be_one(one, other) for one in of for other in named)


def _may_be_one(relative: str, other: str) -> bool:
    return relative == other or any(relative in names and other in names for names in _MAYBE_ONE)


def _relatives_told_of(parsed: Parsed) -> Iterator[str]:
    for clause in main_clauses(parsed):
        if clause.subject is not None and parsed.tokens[clause.subject].lower in FAMILY:
            yield _relative(parsed, clause.subject)


def _relatives(parsed: Parsed) -> Iterator[str]:
    yield from (_relative(parsed, index) for index, token in enumerate(parsed.tokens) if token.lower in FAMILY)


def _relative(parsed: Parsed, index: int) -> str:
    """Return what a relative is called: "mother-in-law" is no "mother", "ex-wife" no "wife"."""
    written = [token.lower for token in parsed.tokens]
    other = any(written[child] in _ANOTHER for child in parsed.children(index))
    by_marriage = written[index + 1 : index + 5] == ["-", "in", "-", "law"]
    before = written[index - 2] if index > 1 and written[index - 1] == "-" else ""
    if other:
        return f"other {written[index]}"
    return f"{before}-{written[index]}" if before else f"{written[index]}-in-law" if by_marriage else written[index]
