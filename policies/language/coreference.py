"""Context that a sentence needs to be understood: whether something in it stands for what was said before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from policies.language.clauses import (
    OF_SPEAKER,
    SUBJECTS,
    Mood,
    Tense,
    clause_of,
    is_of_speaker,
    main_clauses,
    tense_at,
)
from policies.language.parse import Parsed, Token
from policies.language.people import KIN
from policies.language.sentences import words

_POINTERS: Final = words(
    "it its itself they them their theirs he him his she her hers these those this that one ones both another such "
    "there similar same some any others"
)
_OF_A_PERSON: Final = frozenset({"he", "him", "his", "she", "her", "hers"})
_OF_A_THING: Final = frozenset({"it", "its", "itself"})
_PEOPLE: Final = KIN | words("people person men women kids guys folks everyone somebody someone")
_TIMES: Final = words(
    "morning afternoon evening night week weekend month year summer winter spring autumn fall time day "
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december christmas"
)
_SAY_NOTHING: Final = words(
    "is 's was be been being are were seems seemed feels felt takes took taken took looks looked sounds sounded "
    "turns turned happens happened raining snowing rained snowed rains snows"
)
"""Verbs beside which "it" may stand for what follows: "it takes courage to ask"; what makes, shows or helps was
named before."""
_PICTURES: Final = words("pic pics picture pictures photo photos photograph image video snap snapshot selfie")
"""Things that are sent and seen: "that photo" is understood without what was said before."""
_AROUND: Final = words("company firm office team job school city town country area neighbourhood house flat apartment")
"""Where somebody is who says "this": "at this company since 2019"."""
_DESCRIBES: Final = frozenset({"amod", "compound", "relcl", "acl", "prep"})
_COMPLEMENTS: Final = frozenset({"prep", "pobj", "acomp", "attr", "dobj", "npadvmod", "xcomp"})
_TOGETHER: Final = (" each other", " one another", " as a team", " together", " us all ", " us both ")
_JOINTS: Final = words("and but or so plus , ; - – —")
_BEFORE_A_THING: Final = words("the a an my our your their its")
"""Words that a clause does not end with unless its speaker broke off: "I'm at the uh"."""
_ALONE: Final = words("do did does have has am was will would can is are were too")
_CAUSES: Final = words("make makes made let lets")
"""Verbs behind whose object stands what somebody is made to do."""


def depends_on_context(parsed: Parsed) -> bool:
    """Return whether a word of the sentence refers to something that the sentence does not name."""
    return pointer_of(parsed) is not None


def leans_back(parsed: Parsed) -> bool:
    """Return whether a pronoun can stand for none of what the sentence names before it, though it may stand for the
    whole: "A friend made it for me", "I take notes on her style"."""
    return _first_pointer(parsed, _may_be) is not None


def pointer_of(parsed: Parsed) -> int | None:
    """Return the place of the first word that stands for something said before."""
    return _first_pointer(parsed, lambda _pointer, _thing: True)


def _first_pointer(parsed: Parsed, may_be: Callable[[str, Token], bool]) -> int | None:
    tokens = parsed.tokens
    named: list[Token] = []
    if lacks_subject(parsed):
        return 0
    for index, token in enumerate(tokens):
        lower = token.lower
        is_pointer = lower in _POINTERS and not _is_abbreviation(parsed, index)
        if is_pointer and not any(may_be(lower, thing) for thing in named) and _points(parsed, index):
            return index
        names = token.tag.startswith("NN") or (token.dep in SUBJECTS and token.tag.startswith("JJ"))
        if names and lower not in OF_SPEAKER and lower not in _TIMES:
            named.append(token)
    return len(tokens) - 1 if is_elliptical(parsed) else None


def _is_abbreviation(parsed: Parsed, index: int) -> bool:
    """Return whether "IT" is what somebody works in: in capital letters where nothing else is."""
    return parsed.tokens[index].text == "IT" and any(token.text.islower() for token in parsed.tokens)


def _may_be(pointer: str, thing: Token) -> bool:
    """Return whether a pronoun may stand for what is named before it: "it" for nobody, "her" for no several."""
    if pointer in _OF_A_PERSON:
        return thing.tag not in ("NNS", "NNPS")
    return pointer not in _OF_A_THING or thing.lower not in _PEOPLE


def lacks_subject(parsed: Parsed) -> bool:
    """Return whether a sentence begins with a verb of which something said before is the subject: "Reminds me of
    home"."""
    tokens = parsed.tokens
    return (
        bool(tokens)
        and tokens[0].tag == "VBZ"
        and tokens[0].dep == "ROOT"
        and tokens[0].lower not in _ALONE
        and not any(tokens[child].dep in SUBJECTS for child in parsed.children(0))
    )


def is_elliptical(parsed: Parsed) -> bool:
    """Return whether the sentence has a helping verb and nothing that it helps: "I did too", "my kids made me"."""
    tokens = [token for token in parsed.tokens if token.tag not in (".", ",", "UH", "CC", "RB")]
    if len(tokens) > 1 and tokens[-1].tag == "PRP" and tokens[-2].lower in _CAUSES:
        return len(main_clauses(parsed)) == 1
    return 0 < len(tokens) <= 3 and tokens[-1].lower in _ALONE


def _points(parsed: Parsed, index: int) -> bool:
    token = parsed.tokens[index]
    lower = token.lower
    following = parsed.tokens[index + 1] if index + 1 < len(parsed.tokens) else None
    if (
        _says_which(parsed, index)
        or (token.dep in ("expl", "mark", "advmod") and lower != "there")
        or (lower == "they" and _is_anybody(parsed, index))
    ):
        points = False
    elif lower in ("similar", "same"):
        points = not any(t.lower in ("to", "as") for t in parsed.tokens[index + 1 : index + 4])
    elif lower in ("some", "any", "others"):
        alone = following is None or not following.text[:1].isalpha()
        points = alone and token.dep in ("dobj", "pobj", *SUBJECTS)
    elif lower == "there":
        points = token.tag in ("RB", "EX") and token.dep != "expl" and index > 0
    elif lower not in ("that", "this", "these", "those", "such", "another", "both", "one"):
        empty = lower == "it" and (
            _is_empty(parsed, index) if token.dep in SUBJECTS else _stands_for_clause(parsed, index)
        )
        points = not empty
    elif (lower == "this" and following is not None and following.lower in _AROUND) or (
        lower in ("this", "these") and _introduces(parsed, index)
    ):
        points = False
    elif token.dep == "det" or (following is not None and following.tag.startswith("NN")):
        points = following is None or (following.lower not in _TIMES and lower not in ("one", "another", "both"))
    else:
        points = token.tag in ("DT", "NN", "PRP")
    return points


def _says_which(parsed: Parsed, index: int) -> bool:
    """Return whether it is plain which thing "that" means: "that dog you gave me", "that photo", "this app Filo"."""
    token = parsed.tokens[index]
    thing, *name = parsed.tokens[token.head : token.head + 2]
    is_named = token.head > index + 1 if thing.tag == "NNP" else any(one.tag == "NNP" for one in name)
    described = any(parsed.tokens[child].dep == "relcl" for child in parsed.children(token.head))
    shown = parsed.tokens[token.head].lower in _PICTURES
    return token.dep == "det" and (shown or is_named or (token.lower in ("that", "those") and described))


def _introduces(parsed: Parsed, index: int) -> bool:
    """Return whether "this" brings in something new, as people do who tell a story: "I adopted this cute pup"."""
    token = parsed.tokens[index]
    thing = parsed.tokens[token.head]
    return (
        token.dep == "det"
        and thing.tag.startswith("NN")
        and thing.dep in ("dobj", "pobj")
        and any(parsed.tokens[child].dep in _DESCRIBES for child in parsed.children(token.head))
        and tense_at(parsed, token.head) in (Tense.PAST, Tense.PERFECT)
    )


def _is_empty(parsed: Parsed, index: int) -> bool:
    """Return whether an "it" stands for nothing: "it is hard to wait", "it's been two years since", "it rained"."""
    head = parsed.tokens[index].head
    below = {parsed.tokens[c].dep for c in parsed.children(head)}
    if parsed.tokens[head].lower not in _SAY_NOTHING:
        return False
    weather = parsed.tokens[head].lower in ("raining", "snowing", "rained", "snowed", "rains", "snows")
    since = any(t.lower == "since" and t.dep in ("mark", "prep") for t in parsed.tokens[index:])
    adjective = next((c for c in parsed.children(head) if parsed.tokens[c].dep in ("acomp", "attr")), None)
    deeper = {parsed.tokens[c].dep for c in parsed.children(adjective)} if adjective is not None else set()
    return weather or (since and "attr" in below) or bool({"xcomp", "ccomp", "csubj"} & (below | deeper))


def _stands_for_clause(parsed: Parsed, index: int) -> bool:
    """Return whether "it" stands for all that is told before it: "I've been divorced since May and am happier for
    it"."""
    tokens = parsed.tokens
    at = index
    while tokens[at].dep != "conj" and tokens[at].head != at:
        at = tokens[at].head
        if tokens[at].dep in ("advcl", "xcomp", "ccomp", "pcomp"):
            return False
    governor = tokens[at].head
    complete = any(tokens[child].dep in _COMPLEMENTS for child in parsed.children(governor) if child < at)
    return governor != at and (complete or tokens[governor].dep in ("prep", "pobj"))


def _is_anybody(parsed: Parsed, index: int) -> bool:
    """Return whether "they" are whoever did such a thing to the speaker or to something of theirs: "They moved my
    exam"."""
    tokens, verb = parsed.tokens, parsed.tokens[index].head
    things = [child for child in parsed.children(verb) if tokens[child].dep in ("dobj", "dative")]
    beside = [word for thing in things for word in (thing, *parsed.children(thing))]
    own = any(tokens[word].lower in OF_SPEAKER for word in beside)
    # "I'm 63 and they put a stent in": what the speaker tells of themself says who did it to whom.
    goes_on = tokens[verb].dep == "conj" and is_of_speaker(parsed, clause_of(parsed, tokens[verb].head).subject)
    is_told = own or (goes_on and any(tokens[word].lower in ("a", "an") for word in beside))
    return is_told and tense_at(parsed, verb) in (Tense.PAST, Tense.PERFECT)


def standing_clauses(parsed: Parsed) -> Iterator[Parsed]:
    """Yield the clauses of a sentence that the speaker tells of themself and that are understood without what was said
    before, though another clause is not: "It was hard, but I moved to Leeds"."""
    tops = main_clauses(parsed)
    for number, clause in enumerate(tops):
        if not (clause.owns_subject and clause.mood is Mood.TELLING and is_of_speaker(parsed, clause.subject)):
            continue
        begin = clause.subject or 0
        others = {index for other in tops[number + 1 :] for index in parsed.subtree(other.head)}
        span = sorted({index for index in parsed.subtree(clause.head) if index >= begin} - others)
        while span and parsed.tokens[span[-1]].lower in _JOINTS:
            span.pop()
        whole = parsed.slice(begin, max(span, default=begin) + 1)
        end = whole.tokens[-2:] if whole.tokens[-1].tag.startswith("JJ") else whole.tokens[-1:]
        breaks_off = end[0].lower in _BEFORE_A_THING
        if len(span) == len(whole.tokens) and not breaks_off and pointer_of(whole) is None:
            yield whole


def is_of_several(parsed: Parsed) -> bool:
    """Return whether "we" do what nobody does alone, or all of "us" are meant: "we help each other", "they fired us
    all"."""
    text = f" {parsed.text_of(range(len(parsed.tokens)))} ".lower()
    return any(token.lower in ("we", "us") for token in parsed.tokens) and any(phrase in text for phrase in _TOGETHER)
