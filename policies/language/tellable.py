"""Decide whether a sentence may be told of its speaker, or is to be quoted."""

from __future__ import annotations

from typing import Final

from policies.language.clauses import FIRST_PERSON, OF_SPEAKER, SUBJECTS, Clause, Mood, main_clauses
from policies.language.parse import Parsed, Token
from policies.language.sentences import words

_CUT_OFF: Final = frozenset({"d", "ll", "m", "ve", "re", "nt"})
"""Endings that a parser cuts from "wed" and "well" as if it were "we'd" and "we'll"."""
_QUOTES: Final = frozenset({'"', "``", "''", "“", "”", "'", "‘"})
_HOW_SURE: Final = words("imo imho afaik iirc idk")
"""Abbreviations of how sure a speaker is of what follows: told of somebody else they would say nothing."""
_ANYONE: Final = words("if when you whenever how once as thank")


def speaks_of_self(parsed: Parsed) -> bool:
    """Return whether the speaker is in a sentence at all."""
    return any(token.lower in OF_SPEAKER and token.text != "US" for token in parsed.tokens)


def may_be_told(parsed: Parsed, you_have_a_name: bool = False) -> bool:
    """Return whether the parse carries a telling: a main clause with its own subject and finite verb, nothing
    doubtful."""
    tokens = parsed.tokens
    tops = main_clauses(parsed)
    whole = [c for c in tops if c.subject is not None and c.finite is not None and c.mood is not Mood.ASKING]
    if not whole or not whole[0].owns_subject or any(c.mood in (Mood.ASKING, Mood.ORDER) for c in tops):
        return False
    root = next((c for c in tops if tokens[c.head].dep == "ROOT"), None)
    if root is None or root.subject is None or root.finite is None:
        return False
    if any(_is_run_into(parsed, clause) for clause in tops):
        return False
    if _opens_in_doubt(tokens[0]):
        return False
    return not any(_is_doubtful(tokens, i, you_have_a_name) or _runs_on(tokens, i) for i in range(len(tokens)))


def _opens_in_doubt(first: Token) -> bool:
    """Return whether the first word says how sure the speaker is, or is a deed of somebody who is not named: "Thinking
    of quitting, it wears me out"."""
    is_deed = first.tag in ("VBN", "VBD", "VBG") and first.dep not in (*SUBJECTS, "amod", "csubj", "pcomp")
    return first.lower in _HOW_SURE or is_deed or (first.lower.endswith("ing") and first.dep == "advcl")


def _is_run_into(parsed: Parsed, clause: Clause) -> bool:
    """Return whether an order begins without a mark behind what is told: "hers is tea n mine coffee dont mix em up"."""
    if clause.subject is None or clause.finite is None or parsed.tokens[clause.finite].lower != "do":
        return False
    is_one = parsed.tokens[clause.subject].tag in ("NN", "NNP", "JJ", "CD")
    return is_one and not any(parsed.tokens[child].dep == "conj" for child in parsed.children(clause.subject))


def _runs_on(tokens: tuple[Token, ...], index: int) -> bool:
    """Return whether a new sentence begins at an "I" without a mark: "I'm new here I live in Leeds"."""
    if not index or tokens[index].lower not in FIRST_PERSON or tokens[index].dep not in SUBJECTS:
        return False
    before = tokens[index - 1]
    head = tokens[tokens[index].head]
    if not any(token.tag in ("VBP", "VBD", "VBZ", "MD") for token in tokens[:index]):
        return False
    follows = before.tag.startswith(("NN", "CD", "JJ")) or before.lower in ("here", "there", "too", "it", "them")
    return follows and head.dep in ("ROOT", "conj", "parataxis", "ccomp")


def _is_doubtful(tokens: tuple[Token, ...], index: int, you_have_a_name: bool) -> bool:
    """Return whether a word may be other than it looks: of a quotation, cut in two by the parser, said to the other
    side."""
    token = tokens[index]
    if token.text in _QUOTES and (token.text != "'" or token.tag in ("``", "''")):
        return True
    if token.lower in ("you", "your", "yours", "u"):
        return not you_have_a_name and not is_anyone(tokens, index)
    glued = token.lower in _CUT_OFF and index > 0 and not tokens[index - 1].space
    return glued or (token.lower in FIRST_PERSON and token.tag not in ("PRP", "CD", "NNP"))


def is_anyone(tokens: tuple[Token, ...], index: int) -> bool:
    before = tokens[index - 1].lower if index else ""
    return before in _ANYONE
