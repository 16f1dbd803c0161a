"""Antecedents of "one", "twenty of them", "here" and "where": the things or the place that the sentence before names,
written beside them."""

from __future__ import annotations

from typing import Final

from policies.language.annotation import Note, offsets_of
from policies.language.date_grammar import HINT
from policies.language.parse import Parsed
from policies.language.sentences import words

_TAKEN: Final = frozenset({"dobj", "pobj"})
_MEASURES: Final = frozenset({"couple", "lot", "bit", "kind", "sort", "pair", "piece"})
_SEVERAL: Final = frozenset({"them", "those", "these"})
_COUNTS: Final = words("couple few lot lots dozen dozens pair loads plenty most none")
_THERE: Final = frozenset({"here", "there"})
_AT: Final = frozenset({"in", "near", "around"})
_PLACES: Final = frozenset({"GPE", "LOC"})


def antecedents(parsed: Parsed, before: Parsed) -> tuple[Note, ...]:
    """Return what is to be written beside the words of a sentence that mean what the sentence `before` names; nothing
    where that names several things that may be meant."""
    starts = offsets_of(parsed)
    notes = []
    for index, token in enumerate(parsed.tokens):
        if token.lower == "one" and token.dep in _TAKEN and not _is_described(parsed, index):
            meant = _things(before)
        elif token.lower in _SEVERAL and _is_counted(parsed, index):
            meant = _several_things(before)
        elif is_of_a_place(parsed) and index == 0:
            meant = _places(before)
            notes += [Note(0, len(token.text), 0, place, "in", True, None) for place in meant if len(meant) == 1]
            continue
        elif token.lower in _THERE and token.dep == "advmod" and index and token.space:
            meant = _places(before)
        else:
            continue
        if len(meant) == 1:
            end = starts[index] + len(token.text)
            notes.append(Note(starts[index], end, starts[index], meant.pop(), "", False, None))
    return tuple(notes)


def is_of_a_place(parsed: Parsed) -> bool:
    """Return whether a clause tells of the place that is named before it: "where I live"."""
    tokens = parsed.tokens
    if not tokens or tokens[0].lower != "where" or tokens[-1].text == "?":
        return False
    verb = tokens[0].head
    return tokens[verb].head == verb


def _is_counted(parsed: Parsed, index: int) -> bool:
    """Return whether so many "of them" are told: "about twenty of them", "a few of those"."""
    of = parsed.tokens[index].head
    counts = parsed.tokens[parsed.tokens[of].head]
    is_of = parsed.tokens[index].dep == "pobj" and parsed.tokens[of].lower == "of"
    return is_of and (counts.tag == "CD" or counts.lower in _COUNTS)


def _several_things(parsed: Parsed) -> set[str]:
    """Return the things of which a sentence names several: "roses"."""
    return {
        parsed.text_of([c for c in parsed.children(index) if parsed.tokens[c].dep == "compound"] + [index])
        for index, token in enumerate(parsed.tokens)
        if token.tag == "NNS" and not HINT.search(token.text) and token.lower not in _COUNTS
    }


def _is_described(parsed: Parsed, index: int) -> bool:
    """Return whether "one" is told from others of its kind, or of which several it is: "the red one", "one of us",
    "one another"."""
    following = parsed.tokens[index + 1].lower if index + 1 < len(parsed.tokens) else ""
    return following == "another" or any(
        child < index or parsed.tokens[child].lower == "of" or parsed.tokens[child].dep == "relcl"
        for child in parsed.children(index)
    )


def _things(parsed: Parsed) -> set[str]:
    """Return the things that a sentence speaks of without having named them before: "names for a bakery"."""
    return {
        parsed.text_of([c for c in parsed.children(index) if parsed.tokens[c].dep == "compound"] + [index])
        for index, token in enumerate(parsed.tokens)
        if token.tag == "NN"
        and not HINT.search(token.text)
        and token.lower not in _MEASURES
        and any(parsed.tokens[c].lower in ("a", "an") for c in parsed.children(index))
    }


def _places(parsed: Parsed) -> set[str]:
    """Return the place that a sentence names, "the market in Nakuru"; nothing where it names something else that may
    be one."""
    tokens = parsed.tokens
    places = {i for name in parsed.names if name.label in _PLACES for i in range(name.start, name.end)}
    named: list[list[int]] = []
    for index, token in enumerate(tokens):
        if token.tag != "NNP" or not token.text[:1].isupper() or HINT.search(token.text):
            continue
        if named and named[-1][-1] == index - 1:
            named[-1].append(index)
        else:
            named.append([index])
    if len(named) != 1:
        return set()
    last = named[0][-1]
    is_at = tokens[last].dep == "pobj" and tokens[tokens[last].head].lower in _AT
    return {parsed.text_of(named[0])} if is_at or last in places else set()
