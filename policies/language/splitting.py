"""A sentence of several statements cut into them, where each stands by itself."""

from __future__ import annotations

from typing import Final

from policies.language.clauses import FIRST_PERSON, OF_SPEAKER, ONLY_PAST, SUBJECTS, Clause, Mood, Tense, main_clauses
from policies.language.coreference import pointer_of
from policies.language.date_grammar import HINT
from policies.language.parse import Parsed, Token
from policies.language.sentences import words

_JOINTS: Final = words("and but plus also then , ; - – now so")
_AND: Final = words("and but plus also")
_FEWEST: Final = 3
_BEFORE_A_REQUEST: Final = words("please pls plz kindly just then now so also can could you")
_DONT: Final = words("do dont not n't")
_BREAKS: Final = words(", ; - – — so")
_COMMAS: Final = words(", ; - – —")
_IS_OR_HAS: Final = words("am 'm are 're was were have 've got had")
_ME: Final = words("me us")
_ASKED_FOR: Final = frozenset({"dobj", "dative", "prep", "prt", "advmod", "ccomp", "xcomp", "acomp"})
_STATES: Final = words("need want love hate like hope wish think guess know miss feel mean look seem sound have be")
"""Verbs that say how somebody is and ask for nothing: "the funeral is on Friday, need to travel"."""

_UNSAID: Final = words("mine ours yours hers theirs one ones")
"""Subjects of which the clause before says what they are: "everyone has a locker and mine is number 12"."""


def statements_in(parsed: Parsed) -> list[Parsed]:
    """Return the statements of a sentence, each as a sentence with its own subject; the sentence itself where it is
    one.

    A clause that leans on another, opens with an adverbial that may hold for all, or depends on a condition is not
    cut off.
    """
    tops = main_clauses(parsed)
    if len(tops) < 2 or any(c.mood is not Mood.TELLING or c.subject is None for c in tops):
        return [parsed]
    if _begin(parsed, tops[0]) != 0:
        return [parsed]
    begins = [(0, tops[0])]
    begins += [
        (begin, c) for c in tops[1:] if (begin := _begin(parsed, c)) is not None and _is_joined(parsed, c, begin)
    ]
    statements: list[Parsed] = []
    end = len(parsed.tokens)
    for begin, clause in reversed(begins):
        piece = _piece(parsed, clause, begin, _without_joints(parsed, begin, end), tops[0])
        if piece is not None:
            statements.insert(0, piece)
            end = begin
    return statements if end == 0 else [parsed]


def without_request(parsed: Parsed) -> Parsed:
    """Return what a sentence tells, without the request that opens or ends it: "I fly to Oslo, find me a hotel" tells
    of the flight; the sentence itself where there is none, or where the speaker tells on behind it."""
    if begin := _opening_request(parsed):
        parsed = parsed.slice(begin, len(parsed.tokens))
    tokens = parsed.tokens
    for index in range(_FEWEST, len(tokens)):
        end = _request_from(parsed, index)
        if end is None:
            continue
        tells_on = any(
            token.lower in FIRST_PERSON and token.dep in SUBJECTS and tokens[token.head].dep not in ("ccomp", "relcl")
            for token in tokens[index:]
        )
        statement = parsed.slice(0, end)
        whole = [
            c for c in main_clauses(statement) if c.owns_subject and c.finite is not None and c.mood is Mood.TELLING
        ]
        return statement if whole and not tells_on else parsed
    return parsed


def _opening_request(parsed: Parsed) -> int:
    """Return where the words begin behind a request that hangs on them: "Drop it, I'm tired"; 0 where there is none."""
    first = parsed.tokens[0]
    if first.tag != "VB" or first.dep not in ("advcl", "ccomp", "dep") or first.lower in _STATES | ONLY_PAST:
        return 0
    below = parsed.subtree(0)
    if any(parsed.tokens[index].dep in SUBJECTS for index in below):
        return 0
    break_at = below[-1] + 1
    main = parsed.tokens[first.head]
    owns = any(parsed.tokens[child].dep in SUBJECTS for child in parsed.children(first.head))
    if not (below == list(range(len(below))) and break_at < first.head and owns and main.dep == "ROOT"):
        return 0
    return break_at + 1 if parsed.tokens[break_at].lower in _BREAKS else 0


def _request_from(parsed: Parsed, index: int) -> int | None:
    """Return where the words before a request end that a verb opens, None where it opens none: it stands bare behind
    a break, has no subject, and cannot share the one before it."""
    tokens = parsed.tokens
    verb = tokens[index]
    below = [tokens[child] for child in parsed.children(index)]
    if (
        verb.tag not in ("VB", "VBP")
        or verb.lower in _STATES
        or any(t.dep in (*SUBJECTS, "aux") for t in below if t.lower not in _DONT)
    ):
        return None
    if not any(t.dep in _ASKED_FOR and t.tag != "CD" for t in below):
        return None
    begin = index
    while begin and tokens[begin - 1].lower in _BEFORE_A_REQUEST | _DONT:
        begin -= 1
    if begin and tokens[begin - 1].lower in _BREAKS:
        begin -= 1
    elif not any(token.lower == "so" for token in tokens[begin:index]):
        return None
    asks_of_you = index + 1 < len(tokens) and tokens[index + 1].lower in _ME
    before = next((c for c in reversed(main_clauses(parsed.slice(0, begin))) if c.finite is not None), None)
    if before is None:
        return None
    stands_alone = verb.dep == "ROOT" or asks_of_you or "so" in {token.lower for token in tokens[begin:index]}
    # "He used to smoke, drink and gamble": bare verbs in a row are one thing.
    if verb.dep != "ROOT" and any(token.tag == "VB" for token in tokens[:begin]):
        return None
    shares = tokens[before.head].tag in ("VBP", "VB") and tokens[before.head].lower not in ("'m", "am", "'re", "are")
    return begin if stands_alone or not shares else None


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


def _is_joined(parsed: Parsed, clause: Clause, begin: int) -> bool:
    """Return whether a clause stands beside the one before it: behind an "and", or behind a comma where it tells what
    the speaker is or has, or of what is theirs. What else they do may hang on what was said before it: "the cabin is in
    Raglan, we go most weekends"."""
    tokens = parsed.tokens
    if any(tokens[index].lower in _AND for index in range(max(0, begin - 2), begin)):
        return True
    if tokens[begin - 1].lower not in _COMMAS:
        return False
    if tokens[begin].lower in OF_SPEAKER - FIRST_PERSON:
        return True
    says_what = [i for i in parsed.children(clause.head) if tokens[i].dep in ("attr", "acomp", "dobj")]
    is_known = any(tokens[i].lower == "the" for place in says_what for i in parsed.subtree(place))
    is_or_has = tokens[clause.head].lower in _IS_OR_HAS and bool(says_what) and not is_known
    return tokens[begin].lower in FIRST_PERSON and is_or_has


def _without_joints(parsed: Parsed, begin: int, end: int) -> int:
    while end > begin and parsed.tokens[end - 1].lower in _JOINTS:
        end -= 1
    return end


def _piece(parsed: Parsed, clause: Clause, begin: int, end: int, first: Clause) -> Parsed | None:
    tokens = parsed.tokens
    piece = parsed.slice(begin, end)
    if sum(any(map(str.isalnum, token.text)) for token in piece.tokens) < _FEWEST:
        return None
    if clause.owns_subject:
        is_unsaid = clause.subject is not None and tokens[clause.subject].lower in _UNSAID
        leans = is_unsaid or pointer_of(piece) is not None or _leaves_all_unsaid(parsed, clause)
        if begin and (leans or _is_one_of_several(parsed, clause, first)):
            return None
        return piece
    subject = first.subject
    lasting = clause.tense is Tense.PRESENT and first.tense is Tense.PRESENT and not first.negated
    if subject != 0 or tokens[0].lower not in FIRST_PERSON or not lasting or _leans(piece):
        return None
    return _with_subject(tokens[0], piece, clause.head - begin)


def _leaves_all_unsaid(parsed: Parsed, clause: Clause) -> bool:
    """Return whether a clause of the speaker says no more than its verb and when: "... but I quit in 2019"."""
    tokens = parsed.tokens
    below = [i for i in parsed.subtree(clause.head) if i not in (clause.head, clause.subject)]
    of_speaker = clause.subject is not None and tokens[clause.subject].lower in FIRST_PERSON
    return of_speaker and not any(
        (tokens[i].tag.startswith(("NN", "JJ", "VB")) and not HINT.search(tokens[i].text))
        or (tokens[i].tag == "CD" and tokens[i].dep in ("dobj", "attr"))
        for i in below
    )


def _is_one_of_several(parsed: Parsed, clause: Clause, first: Clause) -> bool:
    """Return whether a name is one of those that the first clause tells of together: "We have two dogs and Rex is
    old"."""
    tokens = parsed.tokens
    return (
        clause.subject is not None
        and tokens[clause.subject].tag.startswith("NNP")
        and any(tokens[i].tag == "NNS" and tokens[i].dep in ("dobj", "attr") for i in parsed.children(first.head))
    )


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
