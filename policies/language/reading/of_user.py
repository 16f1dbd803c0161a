"""Sentences about the user in the third person, read as if the user had said them: what a tool or a page states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from policies.authority import authority_of
from policies.language.clauses import SUBJECTS
from policies.language.parse import Parsed, Token
from policies.language.people import KIN, people_in
from policies.language.sentences import words
from schema.turn import TurnSource

_USER: Final = "user"
_POSSESSIVES: Final = words("his her their")
_PRONOUNS: Final = words("he she they")
_OBJECTS: Final = words("him them")
_ARTICLES: Final = frozenset({"the", "this"})


def as_told_by_user(sentences: Sequence[Parsed], names: Sequence[str]) -> tuple[Parsed, ...]:
    """Return sentences with a speaker's words in the place of those that stand for the user: "The user lives in Porto
    with their sister Mia" -> "I lives in Porto with my sister Mia". `names` are the user's own.

    A pronoun is the user's where it opens the statement or a sentence behind one of the user, or stands behind a word
    for the user, as long as it can mean nobody and nothing else that was named before it. Others stay.
    """
    called = {tuple(name.casefold().split()) for name in names if name.strip()}
    called |= {words[:1] for words in called}
    retold: list[Parsed] = []
    is_open, follows = True, True
    for sentence in sentences:
        named = _with_names(sentence, called)
        reach = _reach(named) if is_open else 0
        parsed = _with_pronouns(named, reach, opens=follows)
        follows = any(token.lower == "i" and token.dep in SUBJECTS for token in parsed.tokens)
        is_open = is_open and reach == len(named.tokens)
        retold.append(parsed)
    return tuple(retold)


def as_heard_from(source: TurnSource, sentences: Sequence[Parsed], name: str) -> Sequence[Parsed]:
    """Return sentences of a source as the user would say them: in a chat they do, others speak of them. `name` is what
    the user is called, which may be "The user"."""
    return sentences if authority_of(source).replaces_users else as_told_by_user(sentences, (name,))


def _with_names(parsed: Parsed, called: set[tuple[str, ...]]) -> Parsed:
    """Return a sentence with "I", "me" and "my" in the place of the user's names and of "the user"."""
    tokens = parsed.tokens
    spoken: dict[int, Token] = {}
    dropped: dict[int, int] = {}
    for index, token in enumerate(tokens):
        begin = _begin_of_user(parsed, index, called)
        if begin is None:
            continue
        spoken[index] = _of_speaker(token)
        dropped |= dict.fromkeys(range(begin, index), index)
        for child in parsed.children(index):
            if tokens[child].dep == "case":
                spoken[index] = replace(spoken[index], space=tokens[child].space)
                dropped[child] = index
    return parsed.rewritten(spoken, dropped)


def _begin_of_user(parsed: Parsed, index: int, called: set[tuple[str, ...]]) -> int | None:
    """Return where a word for the user begins whose main word this is, None where it is none."""
    tokens, token = parsed.tokens, parsed.tokens[index]
    if not token.tag.startswith("NN") or token.tag.endswith("S") or token.dep in ("compound", "amod", "nmod", "appos"):
        return None
    begin = index
    while begin and tokens[begin - 1].head == index and tokens[begin - 1].dep == "compound":
        begin -= 1
    if tuple(each.lower for each in tokens[begin : index + 1]) in called:
        is_described = any(tokens[child].dep in ("det", "amod", "poss") for child in parsed.children(index))
        return None if is_described else begin
    if token.lower != _USER or begin != index:
        return None
    if index and tokens[index - 1].lower in _ARTICLES and tokens[index - 1].head == index:
        return index - 1
    return None if any(child < index for child in parsed.children(index)) else index


def _reach(parsed: Parsed) -> int:
    """Return up to where a pronoun can mean only the user: the place of the first other person or several things."""
    people = [person.begin for person in people_in(parsed)]
    others = (index for index, token in enumerate(parsed.tokens) if token.tag in ("NNS", "NNPS") or token.lower in KIN)
    return min([*people, *others, len(parsed.tokens)])


def _with_pronouns(parsed: Parsed, reach: int, *, opens: bool) -> Parsed:
    spoken: dict[int, Token] = {}
    is_of_user = False
    for index, token in enumerate(parsed.tokens[:reach]):
        is_owner = token.dep == "poss" and token.lower in _POSSESSIVES
        if token.lower in ("i", "my", "me"):
            is_of_user = True
        elif opens and index == 0 and token.lower in _PRONOUNS:
            spoken[index] = _of_speaker(token)
            is_of_user = True
        elif is_of_user and (is_owner or token.lower in _OBJECTS):
            spoken[index] = _of_speaker(token)
    return parsed.rewritten(spoken)


def _of_speaker(token: Token) -> Token:
    if token.dep == "poss":
        return replace(token, text="my", tag="PRP$")
    return replace(token, text="I" if token.dep in SUBJECTS else "me", tag="PRP")
