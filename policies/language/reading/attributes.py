"""Facts of which somebody has one value at a time, by the rows of `statement_forms.toml`, off a sentence's parse."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from policies.language.clauses import (
    SUBJECTS,
    Clause,
    Mood,
    Tense,
    clause_of,
    clauses,
    is_had,
    is_of_speaker,
    main_clauses,
)
from policies.language.parse import Parsed
from policies.language.people import KIN, Person, people_in
from policies.language.reading.forms import along, is_denied, noun_phrase, values_of, verbs_of
from policies.language.reading.lost import lost
from policies.language.reading.values import value_at
from policies.language.sentences import words
from policies.language.statement_forms import STATED, Stated, forms_of
from schema import Fact

USER: Final = "user"
"""The entity of facts about the user, whatever their name."""
_UNSURE: Final = words("would 'd could might should may hope hoping wish thinking planning about gonna")
_DONE: Final = frozenset({Tense.PAST, Tense.PERFECT})
_TOLD: Final = words("told said thought mentioned assumed")
_PLACED: Final = words(
    "is are was 's were been be has have had will moved postponed rescheduled changed extended pushed set up down went "
    "raised increased got called named now still only again currently due scheduled back forward about around to an a "
    "the probably definitely actually"
)
"""Words that may stand between "my exam" and its day."""


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
    collected = _Found()
    people = people_in(parsed)
    asserted = [clause for clause in (*clauses(parsed), *_musts(parsed)) if _is_told(parsed, clause)]
    for clause in asserted:
        entity = entity_of(parsed, clause.subject, people)
        verbs = verbs_of(parsed, clause)
        of_several = entity == USER and clause.subject is not None and parsed.tokens[clause.subject].lower != "i"
        for row in STATED if entity else ():
            if entity is not None and (row.others or entity == USER) and not (of_several and row.value in _OF_ONE):
                _by_forms(parsed, clause, verbs, row, entity, collected)
        _by_noun(parsed, clause, people, collected)
        _by_company(parsed, clause, collected)
    if collected.over:
        for clause in asserted:
            _then(parsed, clause, collected)
    _named(people, lost(parsed, asserted, people), collected)
    _called(parsed, collected)
    return tuple({**collected.over, **collected.facts}.values())


def _musts(parsed: Parsed) -> Iterator[Clause]:
    """Yield what somebody has to do: "I have to see the dentist on Monday"."""
    tokens = parsed.tokens
    for index, token in enumerate(tokens):
        if token.dep == "xcomp" and tokens[token.head].lower in ("have", "need", "got"):
            yield clause_of(parsed, index)


def _is_told(parsed: Parsed, clause: Clause) -> bool:
    """Return whether a clause tells how things are: no wish, condition or memory of old times, nothing taken back."""
    tokens = parsed.tokens
    head = tokens[clause.head]
    if clause.mood is not Mood.TELLING or clause.subject is None:
        return False
    children = parsed.children(clause.head)
    below = [tokens[child].lower for child in children]
    if any(parsed.tokens[c].lower in _UNSURE - {"about"} and not is_had(parsed, c) for c in children) or head.dep in (
        "acl",
        "csubj",
    ):
        return False
    if head.dep == "relcl":
        return _is_added(parsed, clause)
    if head.dep == "advcl":
        return bool({"because", "since", "as", "so", "although", "though"} & set(below))
    if head.dep == "ccomp" and head.head < clause.head:
        above = tokens[head.head].lower
        later = {token.lower for token in tokens[clause.head :]}
        return above not in _UNSURE and not (above in _TOLD and "but" in later)
    return True


def _is_added(parsed: Parsed, clause: Clause) -> bool:
    """Return whether a relative clause tells something of the speaker beside the rest: "..., where I work at Acme"; one
    without a comma only says which thing is meant."""
    begin = parsed.subtree(clause.head)[0]
    return is_of_speaker(parsed, clause.subject) and begin > 0 and parsed.tokens[begin - 1].text == ","


def entity_of(parsed: Parsed, subject: int | None, people: Sequence[Person]) -> str | None:
    """Return of whom a clause tells: the user, or somebody by their name or by what they are to the user."""
    if subject is None:
        return None
    if is_of_speaker(parsed, subject):
        return USER
    tokens = parsed.tokens
    if tokens[tokens[subject].head].tag == "VBZ" and any(tokens[c].dep == "conj" for c in parsed.children(subject)):
        return None  # "I met Tom and his mum works at ..." is read as if both did: two do not take a singular verb
    who = next((person for person in people if person.begin <= subject < person.end), None)
    if who is None:
        token = tokens[subject]
        named = (
            token.tag == "NNP"
            and token.dep in SUBJECTS
            and not any(tokens[child].dep in ("poss", "conj", "compound") for child in parsed.children(subject))
        )
        return token.text if named else None
    return who.canonical if who.name or who.of_speaker else None


def _by_forms(
    parsed: Parsed, clause: Clause, verbs: Sequence[int], row: Stated, entity: str, collected: _Found
) -> None:
    never = clause.tense in _DONE and "never" in {parsed.tokens[child].lower for child in parsed.children(clause.head)}
    for form in row.holds if not (never or _is_to_come(parsed, clause)) else ():
        if clause.tense is not Tense.PAST or is_denied(parsed, clause.subject or 0, clause.head + 1):
            for value, noun, at in values_of(parsed, verbs, row, form):
                ended = is_denied(parsed, clause.subject or 0, at) or is_denied(parsed, at, at + 6, late=True)
                if not ended or row.ended:
                    collected.add(entity, row, value, ended=ended, noun=noun)
    for forms, ended in ((row.became, False), (row.over, True)):
        for form in forms if clause.tense in _DONE and not clause.negated else ():
            for value, noun, at in values_of(parsed, verbs, row, form):
                leaving = ended and row.value == "org" and parsed.tokens[clause.head].lower in forms_of("leave")
                somebody = row.value == "org" and form.path == ("@",) and _is_somebody(parsed, at)
                thing = row.value == "place" and any(
                    parsed.tokens[c].dep == "dobj" for c in parsed.children(clause.head)
                )
                if not (somebody or thing or (leaving and _is_place_or_school(parsed, at))):
                    collected.add(entity, row, value, ended=ended, noun=noun)


def _is_to_come(parsed: Parsed, clause: Clause) -> bool:
    """Return whether something will be so, or is so once something else is: "when we retire we live in Crete"."""
    tokens = parsed.tokens
    below = parsed.children(clause.head)
    if any(tokens[child].lower in _TO_COME for child in below):
        return True
    whens = (
        child
        for child in below
        if tokens[child].dep == "advcl" and _ONCE & {tokens[c].lower for c in parsed.children(child)}
    )
    return clause.tense in (Tense.PRESENT, Tense.FUTURE) and any(
        clause_of(parsed, when).tense is Tense.PRESENT for when in whens
    )


def _is_somebody(parsed: Parsed, index: int) -> bool:
    """Return whether a person was joined or left: "I joined Tom for lunch"."""
    return any(name.label == "PERSON" and name.start <= index < name.end for name in parsed.names)


def _is_place_or_school(parsed: Parsed, index: int) -> bool:
    """Return whether what was left is a town or a school: "I left Oslo"."""
    town = any(name.label in ("GPE", "LOC") and name.start <= index < name.end for name in parsed.names)
    return town or value_at(parsed, index, "school") is not None


def _owner(parsed: Parsed, index: int, people: Sequence[Person]) -> str | None:
    """Return whose a noun is: the user's, or that of somebody named."""
    for child in parsed.children(index):
        token = parsed.tokens[child]
        if token.dep == "poss":
            if token.lower in ("my", "our"):
                return USER
            return entity_of(parsed, child, people) if token.tag.startswith("NN") else None
        if token.dep == "prep" and token.lower in ("of", "for"):
            below = (parsed.tokens[c].lower for c in parsed.subtree(child))
            return USER if {"my", "our"} & set(below) else None
    return None


def _by_noun(parsed: Parsed, clause: Clause, people: Sequence[Person], collected: _Found) -> None:
    """Add what "my NOUN is VALUE" and "VALUE is my NOUN" say."""
    tokens, subject = parsed.tokens, clause.subject
    assert subject is not None
    for index in (subject, *(c for c in parsed.children(clause.head) if tokens[c].dep == "attr")):
        owner = _owner(parsed, index, people)
        if owner is None:
            continue
        noun, phrase = tokens[index].lower, noun_phrase(parsed, index)
        after = max(parsed.subtree(index)) + 1
        if favourite := _favourite(parsed, index):
            _add_favourite(parsed, clause, index, favourite, owner, collected)
            continue
        if (
            index == subject
            and owner == USER
            and noun not in KIN
            and "due" in {token.lower for token in tokens[after : after + 3]}
        ):
            _add_due(parsed, after, phrase, collected)
        appositive = next(
            (c for c in parsed.children(index) if tokens[c].dep == "appos" and tokens[c].tag == "NNP"), None
        )
        bound = any(tokens[c].dep == "prep" and tokens[c].lower in ("in", "at") for c in parsed.children(index))
        was = clause.tense is Tense.PAST and tokens[clause.head].lower in forms_of("be")
        beside = {tokens[child].lower for child in parsed.children(index)}
        for row in STATED:
            joined = phrase.replace(" ", "_")
            is_meant = bool({noun, joined} & row.nouns) and (owner == USER or row.others)
            if not is_meant or (was and row.value != "date") or _is_another(beside, row):
                continue
            called = noun if noun in row.nouns and row.value != "date" else phrase
            if index != subject:
                if tokens[subject].tag.startswith("NNP") and tokens[clause.head].lower in forms_of("be"):
                    begin = parsed.subtree(subject)[0]
                    collected.add(owner, row, value_at(parsed, begin, row.value) or "", noun=called)
                continue
            moved = _PLACED if row.value in ("date", "money") else _IS
            at = after
            while at < len(tokens) and tokens[at].lower in moved | row.of:
                at += 1
            of = _of(parsed, index)
            if appositive is not None and row.value in ("org", "name") and not row.named:
                collected.add(owner, row, value_at(parsed, parsed.subtree(appositive)[0], row.value) or "", noun=called)
            if bound and row.value == "name":
                continue
            if at > after and (of or "{of}" not in row.attribute or row.name == "budget"):
                collected.add(owner, row, value_at(parsed, at, row.value) or "", noun=called, of=of)


def _is_another(beside: set[str], row: Stated) -> bool:
    """Return whether the words beside a noun make of it another one than the one that somebody has."""
    return bool(beside & _ANOTHER) and not (row.name == "name" and beside & _ANOTHER == {"first"})


def _of(parsed: Parsed, index: int) -> str:
    """Return what a budget or a deadline is for: its compound, its owner, or what stands behind "for"."""
    tokens = parsed.tokens
    for child in parsed.children(index):
        if tokens[child].dep in ("compound", "amod") and tokens[child].tag.startswith("NN"):
            return tokens[child].lower
        if tokens[child].dep == "prep" and tokens[child].lower in ("for", "of"):
            return next((tokens[c].lower for c in parsed.children(child) if tokens[c].dep == "pobj"), "")
        if tokens[child].dep == "poss" and tokens[child].tag.startswith("NN"):
            return tokens[child].lower
    return ""


def _add_due(parsed: Parsed, begin: int, noun: str, collected: _Found) -> None:
    row = next(row for row in STATED if row.name == "deadline")
    at = begin
    while at < len(parsed.tokens) and parsed.tokens[at].lower in _PLACED | row.of | {"by", "until"}:
        at += 1
    collected.add(USER, row, value_at(parsed, at, "date") or "", of=noun)


def _favourite(parsed: Parsed, index: int) -> str:
    """Return of what something is somebody's favourite, "" if it is not."""
    below = parsed.children(index)
    if not any(parsed.tokens[child].lower in _FAVOURITE for child in below):
        return ""
    noun = " ".join(word for word in noun_phrase(parsed, index).split() if word not in _FAVOURITE)
    return _ONE_SPELLING.get(noun, noun)


def _add_favourite(parsed: Parsed, clause: Clause, index: int, noun: str, owner: str, collected: _Found) -> None:
    begin = max(parsed.subtree(index)) + 1
    if index != clause.subject:
        begin = parsed.subtree(clause.subject or 0)[0]
    while begin < len(parsed.tokens) and parsed.tokens[begin].lower in _IS:
        begin += 1
    value = value_at(parsed, begin, "words")
    if value:
        fact = Fact(
            entity=owner, verb=f"has as favorite {noun}"[:100], object=value, attribute=f"favorite_{_key(noun)}"[:60]
        )
        collected.facts.setdefault((owner, fact.attribute or ""), fact)


def _by_company(parsed: Parsed, clause: Clause, collected: _Found) -> None:
    """Add what somebody else and the user did, or somebody did to the user: "Ines and I split up", "Hooli hired me"."""
    tokens, subject = parsed.tokens, clause.subject
    assert subject is not None
    verb = tokens[clause.head].lower
    below = parsed.children(clause.head)
    mine = next((c for c in below if tokens[c].dep in ("dobj", "dative", "nsubj") and tokens[c].lower == "me"), None)
    with_me = any(tokens[c].dep == "conj" and tokens[c].lower == "i" for c in parsed.children(subject))
    shares = any(tokens[c].dep == "dobj" for c in below)
    begin = parsed.subtree(subject)[0]
    for row in STATED:
        are = verb in forms_of("be") | row.together
        if verb in row.company and with_me and clause.tense is not Tense.FUTURE and not shares:
            collected.add(USER, row, value_at(parsed, begin, row.value) or "", ended=True)
        elif with_me and are and row.together & {token.lower for token in tokens[clause.head : clause.head + 3]}:
            collected.add(USER, row, value_at(parsed, begin, row.value) or "")
        if verb in row.doers and mine is not None and clause.tense in _DONE:
            collected.add(USER, row, value_at(parsed, begin, row.value) or "")
        if tokens[subject].lower in row.callers and verb in forms_of("call") and _is_unopposed(parsed, clause):
            at = next((i + 1 for i in range(clause.head, len(tokens)) if tokens[i].lower == "me"), len(tokens))
            collected.add(USER, row, value_at(parsed, at, row.value) or "")
        if tokens[subject].lower in row.seen and verb in _PLACED:
            matched = along(parsed, clause.head + 1, row, ("appointment", "to", "@"))
            collected.add(USER, row, matched[0] if matched else "", noun=tokens[subject].lower)


def _is_unopposed(parsed: Parsed, clause: Clause) -> bool:
    """Return whether what others do is told for itself, and neither hangs on what is felt about it nor is spoken
    against: not "I hate that everyone calls me Tommy"."""
    tokens = parsed.tokens
    stands = clause.head in {top.head for top in main_clauses(parsed)} and not clause.negated
    behind = {token.lower for token in tokens[clause.head :]}
    return stands and "but" not in behind and not any(token.lower in _OPPOSES for token in tokens)


def _then(parsed: Parsed, clause: Clause, collected: _Found) -> None:
    for row in STATED:
        if (USER, row.attribute) in collected.over and is_of_speaker(parsed, clause.subject):
            for form in row.then if clause.tense is not Tense.PAST else ():
                for value, noun, _ in values_of(parsed, verbs_of(parsed, clause), row, form):
                    collected.add(USER, row, value, noun=noun)


def _named(people: Sequence[Person], gone: Sequence[Person], collected: _Found) -> None:
    """Add the names of a partner and of pets: "my husband Ivo", "my dog Rex"; of those who are `gone`, that they are no
    more."""
    for row in STATED:
        for person in people if row.named else ():
            former = _FORMER & set(person.phrase.lower().replace("-", " ").split())
            if person.of_speaker and person.name and person.noun in row.nouns and not former:
                collected.add(USER, row, person.name, ended=person in gone, noun=person.noun or "")


def _called(parsed: Parsed, collected: _Found) -> None:
    """Add what the user asks to be called: "call me Pri"."""
    lowers = [token.lower for token in parsed.tokens]
    for row in STATED:
        if row.callers and lowers[:2] == ["call", "me"]:
            collected.add(USER, row, value_at(parsed, 2, row.value) or "")


def _key(noun: str) -> str:
    key = noun.lower().replace("-", "").replace(" ", "_")
    return _SAME_THING.get(key, key)


_OPPOSES: Final = words("though although however despite hate dislike")
_IS: Final = words("is are 's s was be been has now named called still currently probably definitely the a")
_FORMER: Final = words("first ex former late old")
_ANOTHER: Final = _FORMER | words(
    "previous next future last middle maiden second third other dream ideal rental spare work office"
)
"""Words that make of "my NOUN" another one than the one that somebody has."""
_TO_COME: Final = words("will 'll wo shall")
_ONCE: Final = words("when once after until till")
_OF_ONE: Final = frozenset({"age", "measure"})
"""Values that several together have not: "we're 12"."""
_FAVOURITE: Final = words("favourite favorite fav fave")
_ONE_SPELLING: Final = {
    "colour": "color", "colours": "color", "colors": "color", "flavour": "flavor", "flavors": "flavor", "movie": "film",
}  # fmt: skip
_SAME_THING: Final = {
    "gp": "doctor", "physician": "doctor", "mother_tongue": "native_language", "barber": "hairdresser",
}  # fmt: skip
