"""The clauses of a parsed sentence: who, does what, when, and whether it is told, asked, ordered or supposed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from policies.language.date_grammar import HINT
from policies.language.parse import Parsed, Token
from policies.language.sentences import words


class Tense(StrEnum):
    PAST = "past"
    PERFECT = "perfect"
    PRESENT = "present"
    FUTURE = "future"
    NONE = "none"


class Mood(StrEnum):
    TELLING = "telling"
    ASKING = "asking"
    ORDER = "order"
    SUPPOSING = "supposing"
    WISHING = "wishing"


SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "expl", "csubj", "csubjpass"})
AUXILIARIES: Final = frozenset({"aux", "auxpass"})
FIRST_PERSON: Final = frozenset({"i", "we"})
OF_SPEAKER: Final = frozenset({"i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves"})
_CLAUSE_LINKS: Final = frozenset({"ROOT", "conj", "ccomp", "advcl", "relcl", "parataxis", "acl", "csubj", "dep"})
_HAVE: Final = frozenset({"have", "has", "'ve", "'s", "had", "'d", "having"})
_TO_COME: Final = frozenset({"will", "'ll", "wo", "shall", "gonna"})
_WISHES: Final = frozenset({"wish", "hope", "hoping", "dream", "dreaming", "want", "would", "'d", "wanna"})
_ASKS: Final = frozenset({"what", "who", "whose", "why", "how"})
"""Words that open a question, where the verb of its sentence has them: "what's 12% of 84"."""
_CONDITIONS: Final = frozenset({"if", "unless", "whether"})
_SUPPOSES: Final = frozenset({"suppose", "imagine", "pretend", "say", "hypothetically"})
_SAYS: Final = words(
    "say says said saying write writes wrote writing post posts posted tweet tweeted text texts texted type types "
    "typed begin begins began start starts started go goes went read reads shout shouts shouted sing sings sang claim "
    "claims claimed reply replies replied answer answers answered announce announces announced whisper "
    "whispers whispered"
)
_THINKS: Final = words(
    "think thinks thought believe believes believed assume assumes assumed insist insists insisted suspect suspects "
    "suspected guess guesses guessed reckon reckons reckoned figure figures figured hear hears heard mishear mishears "
    "misheard show shows showed list lists listed record records recorded display displays displayed"
)
"""Verbs of what somebody takes for so, or something holds as so, whether it is or not."""
_IS: Final = words("is 's was")
_HEARSAY: Final = words("word rumour rumours rumor rumors gossip hearsay legend myth joke lie")
"""Names of what is said without anybody who says it: "the rumour is that I moved"."""
_OTHER_WORLDS: Final = words(
    "timeline universe multiverse dream dreams nightmare nightmares daydream daydreams fantasy fantasies novel story "
    "stories fanfic fiction simulation scenario roleplay improv"
)
_ELSEWHERE: Final = words("alternate alternative parallel fictional imaginary imagined hypothetical invented")
"""Words that make another world of a noun: "in a parallel life"."""
_LIVES: Final = words("life world reality universe planet")
_FEIGNS: Final = words(
    "dream dreams dreamt dreamed imagine imagines imagined imagining fantasise fantasised fantasize fantasized pretend "
    "pretends pretended pretending lie lies lied lying joke jokes joked joking claim claims claimed bluff bluffed "
    "hallucinate hallucinated"
)
_EXPERT: Final = words(
    "doctor doctors dr gp nurse dentist specialist consultant surgeon allergist cardiologist dermatologist oncologist "
    "neurologist psychiatrist psychologist therapist midwife optician pharmacist physio lab test tests result results "
    "scan ultrasound mri biopsy bloodwork diagnosis court judge lawyer notary"
)
"""Who tells with knowledge what is so of somebody: "the doctor says that I am well"."""
_INSIDE: Final = frozenset({"ccomp", "xcomp", "acl", "relcl", "prep", "pobj", "dobj"})
"""Links of a part of a clause to the verb of whose clause it is a part."""
ONLY_PAST: Final = words(
    "arose ate awoke became began bent bit bled blew bought bred broke brought built burnt came caught chose "
    "clung crept dealt did drank dreamt drew drove dug fed fell felt fled flew flung forbade forgave forgot "
    "fought found froze gave got grew had heard held hid hung kept knelt knew laid leapt learnt led left lent lit "
    "lost made meant met overslept paid ran rang rode rose said sang sank sat saw sent shone shook shot shrank "
    "slept slid sold sought spent spoke sprang spun stole stood struck stuck stung swam swept swore swung taught "
    "thought threw told took tore understood underwent went wept withdrew woke won wore wrote"
)
"""Forms of irregular verbs that are of the past whatever a parser takes them for: "I completely forgot"."""
_MAY_BE_PAST: Final = ONLY_PAST | words("hurt quit hit split beat cut shut let swapped moved")
"""These, verbs that read alike in the present, and past forms that the parser takes for orders at the start of a
message: people say them of themselves once they have happened."""


BETWEEN: Final = frozenset({"RB", "RBR", "RBS", ",", "UH"})
"""Tags of words that may stand between a helper and its verb: "'d never been"."""
_MOREOVER: Final = frozenset({"also", "still", "already"})
"""Words beside which "have" is no order, but has left its "I" out: "also have asthma"."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A finite or bare predicate. `head` is the place of its main word, `subject` that of its subject's main word
    (the one it shares if it has none of its own), `finite` that of the verb that agrees with the subject."""

    head: int
    subject: int | None
    finite: int | None
    tense: Tense
    mood: Mood
    negated: bool = False
    owns_subject: bool = False


def is_verb(token: Token) -> bool:
    return token.tag.startswith("VB") or token.tag == "MD" or token.lower in ("'m", "'re", "'ve", "'ll")


def governor(parsed: Parsed, index: int) -> int | None:
    """Return the verb of the clause in which a word stands."""
    tokens = parsed.tokens
    for _ in range(len(tokens)):
        if is_verb(tokens[index]) and tokens[index].dep not in AUXILIARIES:
            return index
        if tokens[index].head == index:
            return None
        index = tokens[index].head
    return None


def clause_of(parsed: Parsed, head: int) -> Clause:
    """Return the clause whose main word stands at `head`."""
    tokens = parsed.tokens
    children = parsed.children(head)
    own = next((c for c in children if tokens[c].dep in SUBJECTS), None)
    helpers = [c for c in children if tokens[c].dep in AUXILIARIES]
    negated = any(tokens[c].dep == "neg" or tokens[c].lower in ("never", "no") for c in children)
    subject = own if own is not None else _shared(parsed, head)
    finite = next((c for c in helpers if tokens[c].tag != "TO"), None)
    if finite is None and is_verb(tokens[head]) and tokens[head].tag not in ("VBG",):
        finite = head
    if any(tokens[c].tag == "TO" for c in helpers):
        finite = None
    tense = _tense(tokens, head, helpers)
    mood = _mood(parsed, head, own, subject, finite, helpers)
    return Clause(head, subject, finite, tense, mood, negated, own is not None)


def clauses(parsed: Parsed) -> Iterator[Clause]:
    """Yield the clauses of a sentence, in order."""
    for index, token in enumerate(parsed.tokens):
        if token.dep in _CLAUSE_LINKS and is_verb(token) and token.dep not in AUXILIARIES:
            yield clause_of(parsed, index)


def main_clauses(parsed: Parsed) -> list[Clause]:
    """Return the clauses that stand beside each other at the top: the main one and those coordinated with it."""
    tokens = parsed.tokens
    roots = [index for index, token in enumerate(tokens) if token.dep == "ROOT"]
    return [
        clause_of(parsed, index)
        for index in range(len(tokens))
        if is_verb(tokens[index]) and any(_stands_beside(parsed, index, root) for root in roots)
    ]


def tense_at(parsed: Parsed, index: int) -> Tense:
    """Return the tense of the clause in which a word stands, NONE where no verb says it."""
    verb = governor(parsed, index)
    for _ in range(4):
        if verb is None:
            return Tense.NONE
        tense = clause_of(parsed, verb).tense
        if tense is not Tense.NONE or parsed.tokens[verb].head == verb:
            return tense
        verb = governor(parsed, parsed.tokens[verb].head)
    return Tense.NONE


def is_had(parsed: Parsed, index: int) -> bool:
    """Return whether a "'d" stands for "had": it has an object, "I'd a dog", or a participle or a form of the past
    stands behind it."""
    if parsed.tokens[index].lower != "'d":
        return False
    if parsed.tokens[index].tag == "VBD" and any(
        parsed.tokens[child].dep == "dobj" for child in parsed.children(index)
    ):
        return True
    behind = (token for token in parsed.tokens[index + 1 : index + 5] if token.tag not in BETWEEN)
    return (after := next(behind, None)) is not None and after.tag in ("VBN", "VBD")


def is_of_speaker(parsed: Parsed, index: int | None) -> bool:
    """Return whether a subject is the speaker, alone or with others."""
    if index is None:
        return False
    tokens = parsed.tokens
    return tokens[index].lower in FIRST_PERSON or any(
        tokens[c].dep == "conj" and tokens[c].lower in ("i", "me", "myself") for c in parsed.children(index)
    )


def is_not_vouched_for(parsed: Parsed) -> bool:
    """Return whether all that a sentence says in the first person hangs on what another says or thinks, or on what the
    speaker dreamt or made up, is of another world, or nearly was so: "her status says I live here", "I dreamt that I
    live here", "in another life I live here", not "the doctor says that I am well"."""
    spoken = [c for c in clauses(parsed) if c.owns_subject and is_of_speaker(parsed, c.subject)]
    hanging = {c.head: _hangs_on(parsed, c.head) for c in spoken}
    feigned = {says for says in hanging.values() if says in hanging}
    return bool(spoken) and all(
        hanging[c.head] is not None or c.head in feigned or _is_nearly(parsed, c.head) for c in spoken
    )


def _hangs_on(parsed: Parsed, index: int) -> int | None:
    """Return the verb on which a clause hangs and by which nobody says that it is so, None where it hangs on none."""
    tokens = parsed.tokens
    while True:
        if _is_of_another_world(parsed, index) or _is_hearsay(parsed, index):
            return index
        before = _beside(parsed, index)
        if before is None:
            break
        index = before
    says = tokens[index].head
    if tokens[index].dep == "ccomp" and _is_hearsay(parsed, says):
        return says
    inside = index
    while tokens[inside].dep in _INSIDE and tokens[inside].head != inside:
        inside = tokens[inside].head
        if tokens[inside].lower in _FEIGNS:
            return inside
    by = clause_of(parsed, says).subject
    if tokens[index].dep != "ccomp" or by is None or is_of_speaker(parsed, by) or tokens[by].lower == "you":
        return None
    if index < says and any(c > says and tokens[c].dep in ("dobj", "ccomp") for c in parsed.children(says)):
        return None  # "I switched to tea, the doctor says no coffee".
    verb, knows = tokens[says].lower, tokens[by].lower in _EXPERT
    is_told = any(tokens[child].dep == "mark" for child in parsed.children(index))
    return says if (verb in _SAYS and not (knows and is_told)) or (verb in _THINKS and not knows) else None


def _beside(parsed: Parsed, index: int) -> int | None:
    """Return the clause that one is joined to, that of a parse in two pieces too: "in my dream I live here | and I have
    a cat"."""
    tokens = parsed.tokens
    if tokens[index].dep in ("conj", "parataxis") and tokens[index].head != index:
        return tokens[index].head
    if tokens[index].dep != "ROOT" or not any(tokens[c].dep == "cc" and c < index for c in parsed.children(index)):
        return None
    return next((at for at in range(index - 1, -1, -1) if tokens[at].dep == "ROOT"), None)


def _is_hearsay(parsed: Parsed, index: int) -> bool:
    """Return whether a verb says what is said, and nobody who says it: "word is", "the rumour was"."""
    tokens, by = parsed.tokens, clause_of(parsed, index).subject
    return by is not None and tokens[by].lower in _HEARSAY and tokens[index].lower in _IS


def _is_of_another_world(parsed: Parsed, index: int) -> bool:
    """Return whether what stands before the subject of a clause sets it in another world than this: "in my dream"."""
    tokens, subject = parsed.tokens, clause_of(parsed, index).subject
    for place in parsed.children(index):
        if subject is None or place >= subject or tokens[place].lower not in ("in", "at", "during"):
            continue
        for noun in (child for child in parsed.children(place) if tokens[child].dep == "pobj"):
            beside = {tokens[child].lower for child in parsed.children(noun)}
            if tokens[noun].lower in _OTHER_WORLDS or beside & _ELSEWHERE:
                return True
            if tokens[noun].lower in _LIVES and "another" in beside:
                return True
    return False


def _is_nearly(parsed: Parsed, index: int) -> bool:
    """Return whether what a clause tells nearly was so, and was not: "I almost moved"."""
    return any(parsed.tokens[c].lower in ("almost", "nearly") for c in parsed.children(index) if c < index)


def _stands_beside(parsed: Parsed, index: int, root: int) -> bool:
    """Return whether a verb is the main one, or joined to it or to what stands beside it."""
    tokens = parsed.tokens
    while index != root and not _is_beside(parsed, index, root):
        if tokens[index].dep not in ("conj", "parataxis") or tokens[index].head == index:
            return False
        index = tokens[index].head
    return True


def _is_beside(parsed: Parsed, index: int, root: int) -> bool:
    """Return whether what the parser calls a complement before the verb is a sentence of its own: "I fell, it
    hurts"."""
    token = parsed.tokens[index]
    if token.dep != "ccomp" or token.head != root or index > root:
        return False
    return any(parsed.tokens[c].dep in SUBJECTS for c in parsed.children(index))


def _shared(parsed: Parsed, head: int) -> int | None:
    tokens = parsed.tokens
    index = head
    for _ in range(8):
        if tokens[index].dep not in ("conj", "xcomp", "advcl") or tokens[index].head == index:
            return None
        index = tokens[index].head
        for child in parsed.children(index):
            if tokens[child].dep in SUBJECTS:
                return child
    return None


def _tense(tokens: tuple[Token, ...], head: int, helpers: list[int]) -> Tense:  # noqa: PLR0911 (a table)
    words = {tokens[h].lower for h in helpers}
    tag, lower = tokens[head].tag, tokens[head].lower
    if words & _TO_COME:
        return Tense.FUTURE
    if "did" in words:
        return Tense.PAST
    if tag == "VBN" and words & _HAVE:
        return Tense.PERFECT if not words & {"had", "'d"} else Tense.PAST
    if words & {"was", "were", "got", "had"}:
        return Tense.PAST
    if tag == "VBG" and (words & {"'m", "am", "is", "are", "'re", "'s"} or not helpers):
        return Tense.FUTURE if words else Tense.NONE
    if lower == "going" and words:
        return Tense.FUTURE
    if tag == "VBD" or (lower in _MAY_BE_PAST and tag in ("VBP", "VB") and not helpers):
        return Tense.PAST
    if tag == "VBN" and not helpers:
        return Tense.PAST
    if tag == "VB" and not helpers and tokens[head].dep in ("xcomp", "ccomp"):
        return Tense.NONE
    if tag in ("VBP", "VBZ", "VB", "MD", "VBN") or lower in ("'m", "'re", "'s"):
        return Tense.PRESENT if not any(tokens[h].tag == "TO" for h in helpers) else Tense.FUTURE
    return Tense.NONE


def _names_event(parsed: Parsed, below: list[int]) -> bool:
    """Return whether nothing stands under a word but when it is, so that it is no verb: "dentist on 8 april"."""
    tokens = parsed.tokens
    children = [index for index in below if tokens[index].dep != "punct"]
    days = [index for child in children for index in parsed.children(child) if HINT.search(tokens[index].text)]
    return bool(days) and all(tokens[child].dep == "prep" for child in children)


def _opens_a_question(tokens: tuple[Token, ...], head: int) -> bool:
    """Return whether a sentence opens as questions do, with or without their mark: "what's 12% of 84", "can I still
    have a pint is what I want to know"."""
    first = tokens[0]
    if first.lower in _ASKS and first.head == head and tokens[head].dep == "ROOT":
        return True
    # "Which jabs have egg in", "which is better, tea or coffee"; "which is why I left" tells of what was said before.
    if first.lower == "which" and tokens[head].dep == "ROOT":
        of_things = len(tokens) > 1 and (tokens[1].tag in ("NN", "NNS") or tokens[1].dep in SUBJECTS)
        is_of_names = len(tokens) > 1 and tokens[1].tag.startswith(("PRP", "NNP"))
        return (of_things and not is_of_names) or any(token.lower in ("or", "better", "best") for token in tokens)
    is_inverted = first.dep in ("aux", "auxpass") and first.tag in ("MD", "VBP", "VBZ", "VBD") and len(tokens) > 1
    return is_inverted and tokens[1].dep in SUBJECTS and tokens[1].head == first.head


def _tells_what_was_had(tokens: tuple[Token, ...], subject: int) -> bool:
    """Return whether a sentence says what its speaker had done: "Had my left hip replaced", not "had I known"."""
    supposes = tokens[-1].text == "?" or any(token.lower in ("would", "'d") for token in tokens)
    return tokens[0].lower == "had" and tokens[subject].tag.startswith("NN") and not supposes


def _mood(
    parsed: Parsed, head: int, own: int | None, subject: int | None, finite: int | None, helpers: list[int]
) -> Mood:
    tokens = parsed.tokens
    children = parsed.children(head)
    is_conditional = any(tokens[c].dep == "mark" and tokens[c].lower in _CONDITIONS for c in children)
    if is_conditional or (tokens[head].lower in _SUPPOSES and subject is None):
        return Mood.SUPPOSING
    if _opens_a_question(tokens, head):
        return Mood.ASKING
    # A verb that has a subject before it asks nothing: "the party is this coming Saturday".
    is_behind_one = finite is not None and any(
        tokens[c].dep in SUBJECTS and c < finite for c in parsed.children(finite)
    )
    if own is not None and finite is not None and finite < own and tokens[own].dep != "expl" and not is_behind_one:
        # "Here's my dog" tells; "Is here your dog?" would not begin so.
        is_here = finite > 0 and tokens[finite - 1].lower in ("here", "there")
        return Mood.TELLING if is_here or _tells_what_was_had(tokens, own) else Mood.ASKING
    is_top = tokens[head].dep == "ROOT"
    if (
        is_top
        and subject is None
        and tokens[head].tag in ("VB", "VBP")
        and not helpers
        and head <= 3
        and tokens[head].lower not in _MAY_BE_PAST
        and not _names_event(parsed, children)
        and not (tokens[head].lower == "have" and any(tokens[c].lower in _MOREOVER for c in children))
    ):
        return Mood.ORDER
    if any(tokens[h].lower in _WISHES and not is_had(parsed, h) for h in helpers) or tokens[head].lower in _WISHES:
        return Mood.WISHING
    return Mood.TELLING
