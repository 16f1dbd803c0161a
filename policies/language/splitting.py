"""A sentence of several statements cut into them, where each stands by itself."""

from __future__ import annotations

from typing import Final

from policies.language.clauses import FIRST_PERSON, SUBJECTS, Clause, Mood, Tense, main_clauses
from policies.language.coreference import pointer_of
from policies.language.parse import Parsed, Token
from policies.language.sentences import words

_JOINTS: Final = words("and but plus also then , ; - – now so")
_AND: Final = words("and but plus also")
_FEWEST: Final = 3


def statements_in(parsed: Parsed) -> list[Parsed]:
    """Return the statements of a sentence, each as a sentence with its own subject; the sentence itself where it is
    one.

    A clause that leans on another, opens with an adverbial that may hold for all, or depends on a condition is not
    cut off.
    """
    tops = main_clauses(parsed)
    if len(tops) < 2 or any(c.mood is not Mood.TELLING or c.subject is None for c in tops):
        return [parsed]
    begins = [begin for clause in tops if (begin := _begin(parsed, clause)) is not None]
    if len(begins) < len(tops) or begins[0] != 0:
        return [parsed]
    statements = []
    for number, (begin, clause) in enumerate(zip(begins, tops, strict=True)):
        end = begins[number + 1] if number + 1 < len(begins) else len(parsed.tokens)
        while end > begin and parsed.tokens[end - 1].lower in _JOINTS:
            end -= 1
        piece = _piece(parsed, clause, begin, end, tops[0])
        if piece is None:
            return [parsed]
        statements.append(piece)
    return statements


def _begin(parsed: Parsed, clause: Clause) -> int | None:
    """Return where a clause begins: at its own subject, or at the first word of its verb if it shares one."""
    tokens = parsed.tokens
    if clause.owns_subject and clause.subject is not None:
        below = parsed.subtree(clause.subject)
        return below[0] if below[-1] - below[0] < len(below) else None
    below = [
        clause.head,
        *(c for c in parsed.children(clause.head) if tokens[c].dep in ("aux", "auxpass", "neg", "advmod")),
    ]
    first = min(below)
    return first if first and tokens[first - 1].lower in _JOINTS else None


def _piece(parsed: Parsed, clause: Clause, begin: int, end: int, first: Clause) -> Parsed | None:
    tokens = parsed.tokens
    piece = parsed.slice(begin, end)
    if begin and not any(tokens[index].lower in _AND for index in range(max(0, begin - 2), begin)):
        return None
    if sum(any(map(str.isalnum, token.text)) for token in piece.tokens) < _FEWEST:
        return None
    if clause.owns_subject:
        return None if begin and pointer_of(piece) is not None else piece
    subject = first.subject
    lasting = clause.tense is Tense.PRESENT and first.tense is Tense.PRESENT and not first.negated
    if subject != 0 or tokens[0].lower not in FIRST_PERSON or not lasting or _leans(piece):
        return None
    return _with_subject(tokens[0], piece, clause.head - begin)


def _leans(piece: Parsed) -> bool:
    return pointer_of(piece) is not None


def _with_subject(subject: Token, piece: Parsed, head: int) -> Parsed:
    from policies.language.parse import Name

    opening = Token(subject.text, True, subject.tag, "nsubj", head + 1)
    moved = (
        Token(
            t.text, t.space, "VBP" if i == head and t.tag == "VB" else t.tag, "ROOT" if i == head else t.dep, t.head + 1
        )
        for i, t in enumerate(piece.tokens)
        if t.dep not in SUBJECTS or i != head
    )
    names = (Name(n.text, n.label, n.start + 1, n.end + 1) for n in piece.names)
    return Parsed((opening, *moved), tuple(names))
