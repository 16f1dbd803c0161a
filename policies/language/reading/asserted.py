"""Judgement of whether a clause says that something is so, and how it denies.

What is supposed, wished or likened is not so, and what is only said tells nothing but that.
"""

from __future__ import annotations

from typing import Final

from policies.language.clauses import SUBJECTS, Clause, Mood, clause_of, governor, is_had
from policies.language.parse import Parsed
from policies.language.sentences import words
from policies.language.wording import stem

_UNREAL: Final = words("would 'd could might may should shall must ought better")
"""Helpers of what is not so, or not yet: "might move"."""
_CONDITIONS: Final = frozenset({"if", "unless"})
_LIKENS: Final = words("basically practically virtually almost nearly")
"""Words by which what is said is not quite so: "basically a vampire"."""
_WISHES: Final = frozenset({"wish", "wishes", "wished", "wishing"})
_SAYING: Final = frozenset(
    stem(verb)
    for verb in words(
        "say says said saying tell told telling ask mention reply replied answer announce claim suggest explain remark "
        "whisper shout yell admit confess insist promise warn complain joke"
    )
)
"""Verbs by which a clause tells that something was said, and no more."""
_THINKING: Final = frozenset(
    stem(verb)
    for verb in words(
        "think thought believe guess suppose reckon assume hope hoping imagine bet doubt wonder suspect dream dreamt "
        "pretend"
    )
)
"""Verbs by which it is open whether what follows is so: "I think that he left"."""
_NONE: Final = frozenset({"neither", "no", "none", "hardly"})
"""Words beside a subject by which nobody does what follows: "neither my brother nor"."""
_SELDOM: Final = words("never hardly barely scarcely rarely seldom")


def tells_a_fact(parsed: Parsed, clause: Clause) -> bool:
    """Return whether a clause tells something that holds, or that does not: neither supposed, nor only said, nor of
    nobody."""
    if stem(parsed.tokens[clause.head].lower) in _SAYING or is_supposed(parsed, clause.head):
        return False
    beside = parsed.children(clause.subject) if clause.subject is not None else []
    return not any(parsed.tokens[child].lower in _NONE for child in beside)


def is_supposed(parsed: Parsed, head: int) -> bool:
    """Return whether what a verb says is supposed, wished for, or only likened to: "I'd buy a boat if I could"."""
    tokens = parsed.tokens
    children = parsed.children(head)
    if clause_of(parsed, head).mood in (Mood.SUPPOSING, Mood.ASKING) or tokens[head].lower in _WISHES:
        return True
    for child in children:
        lower = tokens[child].lower
        if tokens[child].dep == "advcl" and clause_of(parsed, child).mood is Mood.SUPPOSING:
            return True
        if lower in _CONDITIONS or lower in _LIKENS:
            return True
        if lower in _UNREAL and child < head and not (lower == "'d" and is_had(parsed, child)):
            return True
    shares = tokens[head].dep == "conj" and not any(tokens[child].dep in SUBJECTS for child in children)
    return shares and tokens[head].tag == "VB" and is_supposed(parsed, tokens[head].head)


def is_within_what_holds(parsed: Parsed, index: int) -> bool:
    """Return whether none of the clauses in which a word stands is supposed or denied."""
    verb = governor(parsed, index)
    while verb is not None:
        if is_supposed(parsed, verb) or denial_of(parsed, verb):
            return False
        above = parsed.tokens[verb].head
        verb = governor(parsed, above) if above != verb else None
    return True


def is_left_open(parsed: Parsed, verb: int) -> bool:
    """Return whether it is open after a verb whether what it takes as a clause is so."""
    return stem(parsed.tokens[verb].lower) in _THINKING


def denial_of(parsed: Parsed, head: int) -> str:
    """Return how a verb is denied: "not", "no longer", "never" or a word like "hardly"; "" where it is not."""
    tokens = parsed.tokens
    denial = ""
    for child in parsed.children(head):
        token = tokens[child]
        below = {tokens[c].lower for c in parsed.children(child)}
        if token.lower in _SELDOM:
            return token.lower
        if token.lower == "longer" and "no" in below:
            return "no longer"
        if token.dep == "neg" and child < head + 2:
            denial = denial or "not"
        elif denial and (token.lower == "anymore" or (token.lower in ("more", "longer") and "any" in below)):
            denial = "no longer"
    return denial
