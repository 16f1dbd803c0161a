"""Where a clause has a form of `statement_forms.toml`: its verb, what follows it, and the value behind them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from policies.language.clauses import AUXILIARIES, Clause
from policies.language.parse import Parsed
from policies.language.reading.values import value_at
from policies.language.sentences import words
from policies.language.statement_forms import Form, Stated, forms_of

_ANY_MORE: Final = (("any", "more"), ("any", "longer"), ("anymore",))
_DENIALS: Final = (*_ANY_MORE, ("no", "longer"), ("not",), ("n't",), ("never",), ("nt",))
_LONGEST_DENIAL: Final = max(map(len, _DENIALS))
"""Words."""
_PREPOSITIONS: Final = words("at for with in to by on from of as out away")
_LONGEST_GAP: Final = 7
"""Words."""


def verbs_of(parsed: Parsed, clause: Clause) -> list[int]:
    """Return the places of a clause's verb and its helpers behind the subject, in order."""
    helpers = (c for c in parsed.children(clause.head) if parsed.tokens[c].dep in AUXILIARIES)
    subject = clause.subject if clause.subject is not None else 0
    return sorted(index for index in {clause.head, *helpers} if index > subject)


def values_of(parsed: Parsed, verbs: Sequence[int], row: Stated, form: Form) -> Iterator[tuple[str, str, int]]:
    """Yield the value that verbs of a clause give by a form, the noun in its path, and where the value begins."""
    tokens = parsed.tokens
    for begin in verbs:
        going = form.path and form.path[0].endswith("ing")
        if tokens[begin].lower not in form.head or (tokens[begin].tag == "VBG" and not going):
            continue
        if (matched := along(parsed, begin + 1, row, form.path)) is not None:
            yield matched
            return


def along(parsed: Parsed, begin: int, row: Stated, path: tuple[str, ...]) -> tuple[str, str, int] | None:
    """Follow the words of a form from a place on: return the value, the noun in the path, and where the value begins;
    None where the words are others."""
    tokens = parsed.tokens
    at, noun, between = begin, "", False
    for step in path:
        if step == "~":
            between = True
            at += 1
            continue
        if step == "@":
            while at < len(tokens) and (tokens[at].tag in ("RB", "RBR", "RP") or _denies(parsed, at, len(tokens))):
                at += 1
            value = value_at(parsed, at, row.value)
            return (value, noun, at) if value else None
        if step.startswith("="):
            return _literally(parsed, at, step[1:].split("_"))
        wanted = (row.nouns | row.seen) if step == "{noun}" else {step}
        near = tokens[begin - 1].lower in forms_of("be")
        index = _next(parsed, at, wanted, far=between or (step in _PREPOSITIONS and not near))
        if index is None:
            return None
        if step == "{noun}":
            noun = (
                noun_phrase(parsed, index)
                if row.value == "date" and not row.seen
                else _singular(tokens[index].lower, wanted)
            )
        at, between = index + 1, False
    return None


def _next(parsed: Parsed, begin: int, wanted: frozenset[str] | set[str], *, far: bool) -> int | None:
    tokens = parsed.tokens
    for index in range(begin, min(begin + _LONGEST_GAP, len(tokens))):
        token = tokens[index]
        if token.lower in wanted or (token.lower.endswith("s") and token.lower[:-1] in wanted):
            return index
        if token.tag in ("VBD", "VBZ", "VBP", "MD") or token.text in ".;" or (token.text == "," and not far):
            return None
        if not far and not (token.tag in ("RB", "RP", "DT", "PRP$", "JJ", "UH", "NN") or token.lower in ("a", "an")):
            return None
    return None


def _literally(parsed: Parsed, begin: int, phrase: Sequence[str]) -> tuple[str, str, int] | None:
    tokens = parsed.tokens
    at = begin
    while at < len(tokens) and tokens[at].tag in ("RB", "RP"):
        at += 1
    if [token.lower for token in tokens[at : at + len(phrase)]] != list(phrase):
        return None
    return " ".join(phrase), "", at


def noun_phrase(parsed: Parsed, index: int) -> str:
    """Return a noun in small letters with the nouns before it that belong to it: "dentist appointment"."""
    compounds = [c for c in parsed.children(index) if parsed.tokens[c].dep == "compound" and c < index]
    first = index
    while first and parsed.tokens[first - 1].tag in ("NN", "NNP") and first - 1 not in compounds:
        first -= 1
    begin = min((*compounds, first))
    return " ".join(token.lower for token in parsed.tokens[begin : index + 1] if token.tag.startswith(("NN", "HYPH")))


def _singular(noun: str, nouns: frozenset[str] | set[str]) -> str:
    return noun if noun in nouns else noun.removesuffix("s")


def is_denied(parsed: Parsed, begin: int, end: int, *, late: bool = False) -> bool:
    """Return whether it is said between two places that something is not, or not any more; `late` of what follows a
    value."""
    return any(_denies(parsed, index, end, late=late) for index in range(begin, min(end, len(parsed.tokens))))


def _denies(parsed: Parsed, index: int, end: int, *, late: bool = False) -> bool:
    """Return whether words before `end` that begin at a place deny what they stand beside."""
    lowers = tuple(token.lower for token in parsed.tokens[index : min(end, index + _LONGEST_DENIAL)])
    return any(lowers[: len(denial)] == denial for denial in (_ANY_MORE if late else _DENIALS))
