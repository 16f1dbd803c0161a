"""Facts of which somebody has one value at a time, by the rows of `stated.toml`, off the parse of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from policies.language.clauses import SUBJECTS, Clause, Mood, Tense, clause_of, clauses, is_of_speaker
from policies.language.parse import Parsed
from policies.language.people import KIN, Person, people_in
from policies.language.sentences import words
from policies.language.stated import STATED, Form, Stated, forms_of
from schema import Fact
from worker.extract.values import value_at

USER: Final = "user"
"""The entity of facts about the user, whatever their name."""
_UNSURE: Final = words("would 'd could might should may hope hoping wish thinking planning about gonna")
_NOW: Final = frozenset({Tense.PRESENT, Tense.PERFECT})
_DONE: Final = frozenset({Tense.PAST, Tense.PERFECT})
_NO_LONGER: Final = (("no", "longer"), ("any", "more"), ("anymore",), ("not",), ("n't",), ("never",), ("nt",))
_TOLD: Final = words("told said thought mentioned assumed")
_PLACED: Final = words(
    "is are was 's were been be has have had will moved postponed rescheduled changed extended pushed set up down went "
    "raised increased got called named now still only again currently due scheduled back forward about around to an a "
    "the probably definitely actually"
)
"""What may stand between "my exam" and its day."""
_LONGEST_GAP: Final = 7


@dataclass
class _Found:
    """The facts of a sentence; of an attribute of somebody the first counts, and what holds before what has ended."""

    facts: dict[tuple[str, str], Fact] = field(default_factory=dict)
    over: dict[tuple[str, str], Fact] = field(default_factory=dict)

    def add(self, entity: str, row: Stated, value: str, *, ended: bool = False, noun: str = "", of: str = "") -> None:
        attribute = row.attribute.format(noun=_key(noun), of=_key(of)).strip("_")
        verb = (row.ended if ended else row.verb).format(noun=noun, of=of)
        if value and attribute and verb:
            fact = Fact(entity=entity[:200], verb=verb[:100], object=value[:300], attribute=attribute[:60])
            (self.over if ended else self.facts).setdefault((entity, attribute), fact)


def attribute_facts(parsed: Parsed) -> tuple[Fact, ...]:
    """Return what a sentence says that somebody can have only one of at a time: "I moved to Berlin", "I live in Berlin"
    and "we're based in Berlin now" all give `home_city` Berlin.

    What is wished, planned, supposed or long past gives none. What has ended gives a verb that says so ("no
    longer works at").
    """
    found = _Found()
    people = people_in(parsed)
    told = [clause for clause in (*clauses(parsed), *_musts(parsed)) if _is_told(parsed, clause)]
    for clause in told:
        entity = entity_of(parsed, clause.subject, people)
        for row in STATED if entity else ():
            if entity is not None and (row.others or entity == USER):
                _by_forms(parsed, clause, row, entity, found)
        _by_noun(parsed, clause, people, found)
        _by_company(parsed, clause, found)
    if found.over:
        for clause in told:
            _then(parsed, clause, found)
    _named(people, found)
    _called(parsed, found)
    return tuple({**found.over, **found.facts}.values())


def _musts(parsed: Parsed) -> Iterator[Clause]:
    """Yield what somebody has to do: "I have to see the dentist on Monday"."""
    tokens = parsed.tokens
    for place, token in enumerate(tokens):
        if token.dep == "xcomp" and tokens[token.head].lower in ("have", "need", "got"):
            yield clause_of(parsed, place)


def _is_told(parsed: Parsed, clause: Clause) -> bool:
    """Return whether a clause tells how things are: no wish, condition or memory of old times, nothing taken back."""
    tokens = parsed.tokens
    head = tokens[clause.head]
    if clause.mood is not Mood.TELLING or clause.subject is None:
        return False
    below = [tokens[child].lower for child in parsed.children(clause.head)]
    if any(lower in _UNSURE for lower in below if lower != "about") or head.dep in ("acl", "csubj"):
        return False
    if head.dep == "relcl":
        # "Lisbon, where I work at Acme" tells it; "the flat that I live in" only says which.
        return clause.owns_subject and "where" in below
    if head.dep == "advcl":
        return bool({"because", "since", "as", "so", "although", "though"} & set(below))
    if head.dep == "ccomp" and head.head < clause.head:
        above = tokens[head.head].lower
        later = {token.lower for token in tokens[clause.head :]}
        return above not in _UNSURE and not (above in _TOLD and "but" in later)
    return True


def entity_of(parsed: Parsed, subject: int | None, people: Sequence[Person]) -> str | None:
    """Return of whom a clause tells: the user, or somebody by their name or by what they are to the user."""
    if subject is None:
        return None
    if is_of_speaker(parsed, subject):
        return USER
    who = next((one for one in people if one.begin <= subject < one.end), None)
    if who is None:
        token = parsed.tokens[subject]
        named = (
            token.tag == "NNP"
            and token.dep in SUBJECTS
            and not any(parsed.tokens[child].dep in ("poss", "conj", "compound") for child in parsed.children(subject))
        )
        return token.text if named else None
    return who.canonical if who.name or who.of_speaker else None


def _by_forms(parsed: Parsed, clause: Clause, row: Stated, entity: str, found: _Found) -> None:
    for form in row.holds:
        if clause.tense is not Tense.PAST or _is_denied(parsed, clause.subject or 0, clause.head + 1):
            for value, noun, at in _values(parsed, clause, row, form):
                ended = _is_denied(parsed, clause.subject or 0, at) or _is_denied(parsed, at, at + 6, late=True)
                if not ended or row.ended:
                    found.add(entity, row, value, ended=ended, noun=noun)
    for forms, ended in ((row.became, False), (row.over, True)):
        for form in forms if clause.tense in _DONE and not clause.negated else ():
            for value, noun, at in _values(parsed, clause, row, form):
                left = ended and row.value == "org" and parsed.tokens[clause.head].lower in forms_of("leave")
                if not (left and _is_place_or_school(parsed, at)):
                    found.add(entity, row, value, ended=ended, noun=noun)


def _is_place_or_school(parsed: Parsed, place: int) -> bool:
    """Return whether what was left is a town or a school: "I left Oslo"."""
    town = any(name.label in ("GPE", "LOC") and name.start <= place < name.end for name in parsed.names)
    return town or value_at(parsed, place, "school") is not None


def _is_denied(parsed: Parsed, begin: int, end: int, *, late: bool = False) -> bool:
    """Return whether it is said between two places that something is not, or not any more; `late` of what follows a
    value."""
    lowers = [token.lower for token in parsed.tokens[begin:end]]
    denials = _NO_LONGER[1:3] if late else _NO_LONGER
    return any(tuple(lowers[at : at + len(said)]) == said for said in denials for at in range(len(lowers)))


def _values(parsed: Parsed, clause: Clause, row: Stated, form: Form) -> Iterator[tuple[str, str, int]]:
    """Yield the value that a clause of a form gives, the noun in its path, and where the value begins."""
    tokens = parsed.tokens
    subject = clause.subject if clause.subject is not None else 0
    heads = {clause.head, *(c for c in parsed.children(clause.head) if tokens[c].dep in ("aux", "auxpass"))}
    for begin in sorted(heads):
        going = form.path and form.path[0].endswith("ing")
        if begin <= subject or tokens[begin].lower not in form.head or (tokens[begin].tag == "VBG" and not going):
            continue
        if (matched := _along(parsed, begin + 1, row, form.path)) is not None:
            yield matched
            return


def _along(parsed: Parsed, begin: int, row: Stated, path: tuple[str, ...]) -> tuple[str, str, int] | None:
    """Follow the words of a form from a place on."""
    tokens = parsed.tokens
    at, noun, between = begin, "", False
    for step in path:
        if step == "~":
            between = True
            at += 1
            continue
        if step == "@":
            while at < len(tokens) and (tokens[at].tag in ("RB", "RBR", "RP") or _is_denied(parsed, at, at + 2)):
                at += 1
            value = value_at(parsed, at, row.value)
            return (value, noun, at) if value else None
        if step.startswith("="):
            return _literally(parsed, at, step[1:].split("_"))
        wanted = (row.nouns | row.seen) if step == "{noun}" else {step}
        near = tokens[begin - 1].lower in forms_of("be")
        place = _next(parsed, at, wanted, far=between or (step in _PREPOSITIONS and not near))
        if place is None:
            return None
        if step == "{noun}":
            noun = (
                _noun_phrase(parsed, place)
                if row.value == "date" and not row.seen
                else _singular(tokens[place].lower, wanted)
            )
        at, between = place + 1, False
    return None


def _next(parsed: Parsed, begin: int, wanted: frozenset[str] | set[str], *, far: bool) -> int | None:
    tokens = parsed.tokens
    for place in range(begin, min(begin + _LONGEST_GAP, len(tokens))):
        token = tokens[place]
        if token.lower in wanted or (token.lower.endswith("s") and token.lower[:-1] in wanted):
            return place
        if token.tag in ("VBD", "VBZ", "VBP", "MD") or token.text in ".;" or (token.text == "," and not far):
            return None
        if not far and not (token.tag in ("RB", "RP", "DT", "PRP$", "JJ", "UH", "NN") or token.lower in ("a", "an")):
            return None
    return None


def _literally(parsed: Parsed, begin: int, said: Sequence[str]) -> tuple[str, str, int] | None:
    tokens = parsed.tokens
    at = begin
    while at < len(tokens) and tokens[at].tag in ("RB", "RP"):
        at += 1
    if [token.lower for token in tokens[at : at + len(said)]] != list(said):
        return None
    return " ".join(said), "", at


def _noun_phrase(parsed: Parsed, place: int) -> str:
    compounds = [c for c in parsed.children(place) if parsed.tokens[c].dep == "compound" and c < place]
    first = place
    while first and parsed.tokens[first - 1].tag in ("NN", "NNP") and first - 1 not in compounds:
        first -= 1
    begin = min((*compounds, first))
    return " ".join(token.lower for token in parsed.tokens[begin : place + 1] if token.tag.startswith(("NN", "HYPH")))


def _singular(noun: str, known: frozenset[str] | set[str]) -> str:
    return noun if noun in known else noun.removesuffix("s")


def _owner(parsed: Parsed, place: int, people: Sequence[Person]) -> str | None:
    """Return whose a noun is: the user's, or that of somebody named."""
    for child in parsed.children(place):
        token = parsed.tokens[child]
        if token.dep == "poss":
            if token.lower in ("my", "our"):
                return USER
            return entity_of(parsed, child, people) if token.tag.startswith("NN") else None
        if token.dep == "prep" and token.lower in ("of", "for"):
            below = (parsed.tokens[c].lower for c in parsed.subtree(child))
            return USER if {"my", "our"} & set(below) else None
    return None


def _by_noun(parsed: Parsed, clause: Clause, people: Sequence[Person], found: _Found) -> None:
    """Add what "my NOUN is VALUE" and "VALUE is my NOUN" say."""
    tokens, subject = parsed.tokens, clause.subject
    assert subject is not None
    for place in (subject, *(c for c in parsed.children(clause.head) if tokens[c].dep == "attr")):
        owner = _owner(parsed, place, people)
        if owner is None:
            continue
        noun, phrase = tokens[place].lower, _noun_phrase(parsed, place)
        after = max(parsed.subtree(place)) + 1
        if favourite := _favourite(parsed, place):
            _add_favourite(parsed, clause, place, favourite, owner, found)
            continue
        if (
            place == subject
            and owner == USER
            and noun not in KIN
            and "due" in {token.lower for token in tokens[after : after + 3]}
        ):
            _add_due(parsed, after, phrase, found)
        appositive = next(
            (c for c in parsed.children(place) if tokens[c].dep == "appos" and tokens[c].tag == "NNP"), None
        )
        bound = any(tokens[c].dep == "prep" and tokens[c].lower in ("in", "at") for c in parsed.children(place))
        for row in STATED:
            joined = phrase.replace(" ", "_")
            if not {noun, joined} & row.nouns or (owner != USER and not row.others):
                continue
            called = noun if noun in row.nouns and row.value != "date" else phrase
            if place != subject:
                if tokens[subject].tag.startswith("NNP") and tokens[clause.head].lower in forms_of("be"):
                    begin = parsed.subtree(subject)[0]
                    found.add(owner, row, value_at(parsed, begin, row.value) or "", noun=called)
                continue
            moved = _PLACED if row.value in ("date", "money") else _IS
            at = after
            while at < len(tokens) and tokens[at].lower in moved | row.of:
                at += 1
            of = _of(parsed, place)
            if appositive is not None and row.value in ("org", "name") and not row.named:
                found.add(owner, row, value_at(parsed, parsed.subtree(appositive)[0], row.value) or "", noun=called)
            if bound and row.value == "name":
                continue
            if at > after and (of or "{of}" not in row.attribute or row.name == "budget"):
                found.add(owner, row, value_at(parsed, at, row.value) or "", noun=called, of=of)


def _of(parsed: Parsed, place: int) -> str:
    """Return what a budget or a deadline is for: its compound, its owner, or what stands behind "for"."""
    tokens = parsed.tokens
    for child in parsed.children(place):
        if tokens[child].dep in ("compound", "amod") and tokens[child].tag.startswith("NN"):
            return tokens[child].lower
        if tokens[child].dep == "prep" and tokens[child].lower in ("for", "of"):
            return next((tokens[c].lower for c in parsed.children(child) if tokens[c].dep == "pobj"), "")
        if tokens[child].dep == "poss" and tokens[child].tag.startswith("NN"):
            return tokens[child].lower
    return ""


def _add_due(parsed: Parsed, begin: int, noun: str, found: _Found) -> None:
    row = next(row for row in STATED if row.name == "deadline")
    at = begin
    while at < len(parsed.tokens) and parsed.tokens[at].lower in _PLACED | row.of | {"by", "until"}:
        at += 1
    found.add(USER, row, value_at(parsed, at, "date") or "", of=noun)


def _favourite(parsed: Parsed, place: int) -> str:
    """Return of what something is somebody's favourite, "" if it is not."""
    below = parsed.children(place)
    if not any(parsed.tokens[child].lower in _FAVOURITE for child in below):
        return ""
    noun = " ".join(word for word in _noun_phrase(parsed, place).split() if word not in _FAVOURITE)
    return _ONE_SPELLING.get(noun, noun)


def _add_favourite(parsed: Parsed, clause: Clause, place: int, noun: str, owner: str, found: _Found) -> None:
    begin = max(parsed.subtree(place)) + 1
    if place != clause.subject:
        begin = parsed.subtree(clause.subject or 0)[0]
    while begin < len(parsed.tokens) and parsed.tokens[begin].lower in _IS:
        begin += 1
    value = value_at(parsed, begin, "words")
    if value:
        fact = Fact(
            entity=owner, verb=f"has as favorite {noun}"[:100], object=value, attribute=f"favorite_{_key(noun)}"[:60]
        )
        found.facts.setdefault((owner, fact.attribute or ""), fact)


def _by_company(parsed: Parsed, clause: Clause, found: _Found) -> None:
    """Add what somebody else and the user did, or somebody did to the user: "Ines and I split up", "Hooli hired me"."""
    tokens, subject = parsed.tokens, clause.subject
    assert subject is not None
    verb = tokens[clause.head].lower
    below = parsed.children(clause.head)
    mine = next((c for c in below if tokens[c].dep in ("dobj", "dative", "nsubj") and tokens[c].lower == "me"), None)
    with_me = any(tokens[c].dep == "conj" and tokens[c].lower == "i" for c in parsed.children(subject))
    begin = parsed.subtree(subject)[0]
    for row in STATED:
        if verb in row.company and with_me and clause.tense is not Tense.FUTURE:
            found.add(USER, row, value_at(parsed, begin, row.value) or "", ended=True)
        elif with_me and row.together & {token.lower for token in tokens[clause.head - 2 : clause.head + 3]}:
            found.add(USER, row, value_at(parsed, begin, row.value) or "")
        if verb in row.doers and mine is not None and clause.tense in _DONE:
            found.add(USER, row, value_at(parsed, begin, row.value) or "")
        if tokens[subject].lower in row.callers and verb in forms_of("call"):
            at = next((i + 1 for i in range(clause.head, len(tokens)) if tokens[i].lower == "me"), len(tokens))
            found.add(USER, row, value_at(parsed, at, row.value) or "")
        if tokens[subject].lower in row.seen and verb in _PLACED:
            matched = _along(parsed, clause.head + 1, row, ("appointment", "to", "@"))
            found.add(USER, row, matched[0] if matched else "", noun=tokens[subject].lower)


def _then(parsed: Parsed, clause: Clause, found: _Found) -> None:
    for row in STATED:
        if (USER, row.attribute) in found.over and is_of_speaker(parsed, clause.subject):
            for form in row.then if clause.tense is not Tense.PAST else ():
                for value, noun, _ in _values(parsed, clause, row, form):
                    found.add(USER, row, value, noun=noun)


def _named(people: Sequence[Person], found: _Found) -> None:
    """Add the names of a partner and of pets: "my husband Ivo", "my dog Rex"."""
    for row in STATED:
        for person in people if row.named else ():
            former = _FORMER & set(person.phrase.lower().split())
            if person.of_speaker and person.name and person.noun in row.nouns and not former:
                found.add(USER, row, person.name, noun=person.noun or "")


def _called(parsed: Parsed, found: _Found) -> None:
    """Add what the user asks to be called: "call me Pri"."""
    lowers = [token.lower for token in parsed.tokens]
    for row in STATED:
        if row.callers and lowers[:2] == ["call", "me"]:
            found.add(USER, row, value_at(parsed, 2, row.value) or "")


def _key(noun: str) -> str:
    key = noun.lower().replace("-", "").replace(" ", "_")
    return _SAME_THING.get(key, key)


_PREPOSITIONS: Final = words("at for with in to by on from of as out away")
_IS: Final = words("is are 's s was be been has now named called still currently probably definitely the a")
_FORMER: Final = words("first ex former late old")
_FAVOURITE: Final = words("favourite favorite fav fave")
_ONE_SPELLING: Final = {
    "colour": "color", "colours": "color", "colors": "color", "flavour": "flavor", "flavors": "flavor", "movie": "film",
}  # fmt: skip
_SAME_THING: Final = {
    "gp": "doctor", "physician": "doctor", "mother_tongue": "native_language", "barber": "hairdresser",
}  # fmt: skip
