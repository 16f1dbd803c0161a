"""Other people of whom a candidate tells something sensitive: they never agreed to be remembered."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from policies.language.lexicon import word_set
from policies.language.people import NAMELIKE
from policies.language.reading.facts import says_whose
from policies.privacy import sensitive_head
from policies.privacy.name_evidence import people_in
from policies.privacy.names import NO_NAMES, is_no_name, is_sensitive, names_in, without_lead, words_of
from policies.privacy.sensitive import special_places
from policies.privacy.sensitive_head import LIKELY, SURELY, as_read
from schema import Candidate, Fact, Memory

PLACEHOLDER: Final = "[person]"
_USER: Final = "user"
_PET: Final = (
    r"(?:cats?|dogs?|kittens?|pupp(?:y|ies)|horses?|pon(?:y|ies)|parrots?|rabbits?|bunn(?:y|ies)|hamsters?|birds?|"
    r"fish|turtles?|pets?|guinea pigs?)(?: (?:named|called)|,)?"
)
_QUOTED: Final = re.compile(r"\A[^\n:\"“]{1,64}: [\"“]")
"""The frame of what is told in the speaker's own words: `Maya: "I am ill."`."""
_SENTENCE_END: Final = re.compile(r"[.!?][\"”]?\s")
"""The end of a sentence: "She left. He"."""
_TITLE_END: Final = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|sr|jr|[A-Z])\.\s\Z", re.IGNORECASE)
"""A full stop that ends none: "met Dr. "."""
_REFERS_BACK: Final = re.compile(r"\W*(?:and |but )?(?:he|she|they|his|her|their|it)\b", re.IGNORECASE)
"""A sentence about somebody of the one before it: "She is ill"."""
_SELF: Final = r"\b(?:I|me|we|us)\b"
_OWN_THING: Final = re.compile(r"['’]s (?:[\w-]+ ){0,2}\Z")
"""A thing of somebody's, between their name and what is told: "'s old dog "."""
_REST_OF_A_NAME: Final = re.compile(
    rf"{re.escape(PLACEHOLDER)}(?:[-’'](?!s\b)\w|[ -][^\W\d_a-zß-öø-ÿ][a-zß-öø-ÿ]|"
    rf"\s(?:van|von|de|del|della|di|da|dos|bin|ibn|al|el|ter|ten|zu)\s[^\W\d_])"
)
"""A mask that left a part of the name: "[person] Novak", "[person]-Maria"."""
_SURE: Final = ("LOCATION", "DATE", "MONEY")
"""Types of entities that a parse takes no person for; for an organisation or a product it often does."""
_WHOSE: Final = re.compile(r"\b(?:his|her)\s(?:[\w-]+\s){0,2}\Z")
"""A thing of somebody who is not named: "about her new "."""
_DONE_TO: Final = re.compile(
    r"\b(?:dr[io]ves?|driven|takes?|took|brings?|brought|accompan\w+|help(?:s|ed)?|visit(?:s|ed)|told|tells|join(?:s|ed)|"
    r"call(?:s|ed)|support(?:s|ed)|met|meets|saw|sees|walk(?:s|ed)|sen[dt]s?|nurse[sd]|guide[sd]) (?P<name>[^\W\d_]\w+)"
    r"(?:(?: [^\W\d_]\w+)? (?:to|from|through|with|into|at|after|during))?\s\Z"
)
"""A word in small letters to whom something is done, before what is told of them: "drove jonas to ", "took kevin "."""
_ANTECEDENT: Final = re.compile(
    rf"{re.escape(PLACEHOLDER)}|\b(?:{'|'.join(sorted(NO_NAMES.kin))})\b|\b(?:an?|the|who|whose|someone|somebody|one) |"
    rf"\b(?:he|she|him|her)\b",
    re.IGNORECASE,
)
"""Somebody whom "her" may mean: "my sister", "a friend"."""
_KIN: Final = rf"(?:{'|'.join(sorted(NO_NAMES.kin, key=len, reverse=True))}|little ones?)(?:-in-law)?"
_NO_MORE: Final = (
    r"(?![-’'](?!s\b)\w|[ -][^\W\d_a-zß-öø-ÿ][a-zß-öø-ÿ]|\s(?:van|von|de|del|di|da|dos|bin|ibn|al|el|ter)\s)"
)
"""The end of a name's place: what follows is no more of the name."""
_ONE_OR_MORE: Final = rf"{re.escape(PLACEHOLDER)}(?:(?:,| and| &|, and) {re.escape(PLACEHOLDER)})*"
_RELATED: Final = re.compile(
    rf"(?P<relation>\b(?i:{_KIN}))(?:,? (?:who is |is )?(?:called|named)|(?P<comma>,))? {_ONE_OR_MORE}{_NO_MORE}"
    rf"(?(comma),)"
)
"""A mask behind what the person is to somebody: "my sister [person]"."""
_RELATED_AFTER: Final = re.compile(
    rf"{re.escape(PLACEHOLDER)}, (?P<relation>(?:my|our|[\w]+['’]s) (?:[\w-]+ ){{0,2}}(?i:{_KIN})\b),"
)
"""The same in the other order: "[person], my sister,"."""
_TOLD_THEM: Final = re.compile(
    r"\b(?:tell|tells|told|telling|ask(?:s|ed|ing)?|inform\w*|warn\w*|text(?:s|ed|ing)?|remind\w*|assur\w+|"
    r"convinc\w+|show(?:s|ed|n|ing)?) (?:[\w'’-]+ ){0,3}\Z",
    re.IGNORECASE,
)
"""Before a mask after which the relative is told of somebody else: "Maya told her "."""
_KIN_BEFORE: Final = re.compile(rf"\b(?i:{_KIN})(?: (?:called|named)|,)? \Z")
"""A relation, before the name of who has it: "his sister ", "our son, "."""
_OWN_RELATION: Final = rf"(?:\b(?:my|our)|\w['’]s) (?:[\w-]+ ){{0,2}}(?P<relation>(?i:{_KIN}))"
OTHERS_READ_AS: Final = "Alex"
"""The name under which every other is read: who it is tells nothing, and a model knows it for somebody's."""
_READ_AS_NOT: Final = 0.01
_READ_SURELY: Final = 0.9
"""How likely a sentence must be read to tell something sensitive of somebody named: below the first it does not though
its words do, from the second on it does though they do not. With .1 as the first as many of an author held out
would go, and fewer harmless ones, .16 and .20; but not of "My friend Bartosz, who everybody calls Bart, has leukemia".
"""
Reads = Callable[[str], float | None]
"""How likely a text as it is read (`OTHERS_READ_AS`) tells something sensitive of somebody named in it, None where
nothing reads it."""
_COMMON: Final = word_set("will may can art mark bill grace hope faith joy rose june april august dawn mike")
"""Names that are words of every day, too: they are looked for with their capital letter only."""


def _nobody_reads(_: str) -> float | None:
    return None


def told_of(candidate: Candidate | Memory, own_names: Iterable[str], reads: Reads = _nobody_reads) -> tuple[str, ...]:
    """Return the names of others of whom the summary tells something sensitive, as `told_in`."""
    people = [entity.text for entity in candidate.entities if entity.type == "PERSON"]
    things = [entity.text for entity in candidate.entities if entity.type in _SURE]
    return told_in(candidate.summary, own_names, people, things, reads)


def told_in(
    text: str,
    own_names: Iterable[str],
    people: Sequence[str] = (),
    things: Sequence[str] = (),
    reads: Reads = _nobody_reads,
) -> tuple[str, ...]:
    """Return the names of others of whom a text tells something sensitive, each whole ("Anna Kowalska-Nowak"). `people`
    and `things` are what a parse has named in it.

    What a sentence tells is taken to be of all whom it names, unless the user is named last before it and the head
    takes it for none of theirs, or it surely reads otherwise. `own_names` are the user's; "Maya's sister Karin" is
    Karin, not Maya.
    """
    own = tuple(dict.fromkeys(part for name in (*own_names, _USER) if name for part in (name, *words_of(name))))
    names: dict[str, None] = {}
    for sentence, places in _sentences(text):
        named = names_in(sentence, people, things, own) if places else ()
        inside = {match.start() for name in named if is_sensitive(name) for match in _found(name, sentence)}
        outside = [offset for offset in places if offset not in inside]
        by_words = not all(_is_of_the_user(sentence, offset, own, named) for offset in outside)
        if not by_words:
            named = people_in(sentence, people, things, own)
        if not named:
            continue
        found = by_words or _is_likely_sensitive(as_read(sentence, named, own), of_user=bool(outside))
        read = reads(as_read(sentence, named, own, OTHERS_READ_AS))
        if not (found if read is None else read >= (_READ_AS_NOT if found else _READ_SURELY)):
            continue
        names |= {name: None for name in named if not _is_pet(name, text) and not _is_of_a_work(name, text)}
    names = {name: None for name in names if name.lower() not in NAMELIKE}
    name_words = {
        part: None for name in names for part in words_of(name) if part.lower() not in {n.lower() for n in own}
    }
    return tuple(dict.fromkeys((*names, *name_words)))


def _is_likely_sensitive(text: str, *, of_user: bool) -> bool:
    """Return whether a sentence as the head reads it likely tells something sensitive of somebody else; `of_user` says
    that its words for such things seem to be of the user."""
    least = SURELY if of_user or not sensitive_head.classes_of(text) else LIKELY
    return sensitive_head.chance(text) > least


def without_names(text: str, names: Sequence[str]) -> str:
    """Return the text with these names replaced by a placeholder, longest first, in capital and small letters."""
    for name in sorted(names, key=len, reverse=True):
        flags = re.NOFLAG if name.lower() in _COMMON else re.IGNORECASE
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", PLACEHOLDER, text, flags=flags)
    first, *rest = text.split(PLACEHOLDER)
    # What leads a name is a part of it: "J.R. Hollis".
    text = PLACEHOLDER.join([*(without_lead(piece) for piece in (first, *rest[:-1])), *rest[-1:]]) if rest else text
    return re.sub(rf"{re.escape(PLACEHOLDER)}(?:[ -]{re.escape(PLACEHOLDER)})+", PLACEHOLDER, text)


def with_relation(text: str) -> str:
    """Return a text whose names were replaced, with those left out that say no more than what somebody is to the user:
    "Maya's mother [person] has diabetes" is told of Maya's mother."""
    for match in reversed(list(_RELATED.finditer(text))):
        if not _TOLD_THEM.search(text[: match.start()]):
            text = f"{text[: match.start()]}{match['relation']}{text[match.end() :]}"
    for match in reversed(list(_RELATED_AFTER.finditer(text))):
        text = f"{text[: match.start()]}{match['relation']}{text[match.end() :]}"
    return text


def with_known_relations(text: str, relations: Mapping[str, str], name: str) -> str:
    """Return a text with what people are to the user in the place of their names, unless that stands before them: "Tom
    has diabetes" is told of "Maya's brother" if `name` is Maya and `relations` are {"Tom": "user's brother"}."""
    quoted = _QUOTED.match(text) is not None
    for person in sorted(relations, key=len, reverse=True):
        relation = relations[person].removeprefix(f"{_USER}'s ")
        for match in reversed(list(_found(person, text))):
            before = text[: match.start()]
            if _KIN_BEFORE.search(before):
                continue
            whose = "my" if quoted else f"{name}'s" if name else "the user's"
            opens = not before or before.rstrip(' "“')[-1:] in ".!?:"
            phrase = f"{whose[:1].upper() if opens else whose[:1]}{whose[1:]} {relation}"
            text = f"{before}{phrase}{text[match.end() :]}"
    return text


def relations_of(facts: Iterable[Fact]) -> dict[str, str]:
    """Return what people are to the user, such as "user's brother", by the names that facts have of them."""
    relations = {}
    for fact in facts:
        if says_whose(fact):
            relations[fact.entity] = fact.object
        elif fact.entity == _USER and fact.attribute == "partner":
            relations[fact.object] = f"{_USER}'s partner"
    return relations


def relations_in(text: str, names: Iterable[str]) -> dict[str, str]:
    """Return what somebody is to the user who is named with it, such as "user's mum" for "my mum Rosa", by the name."""
    relations = {}
    for name in names:
        match = re.search(rf"{_OWN_RELATION},? (?:(?:is |was )?(?:called|named) )?{re.escape(name)}(?!\w)", text)
        if match is not None:
            relations[name] = f"user's {match['relation'].lower()}"
    return relations


def may_name_others(text: str, own_names: Iterable[str] = ()) -> bool:
    """Return whether a part of a name still stands beside a placeholder, or something sensitive is told of one who is
    named, if at all, by a word that nothing knows for a name ("Maya drove jonas to his chemo"): neither is kept."""
    if _REST_OF_A_NAME.search(text):
        return True
    own = re.compile("|".join(rf"(?<!\w){re.escape(name)}(?!\w)" for name in (*own_names, _USER) if name))
    for sentence, places in _sentences(text):
        for offset in places:
            pronoun = _WHOSE.search(sentence[:offset])
            before = sentence[: pronoun.start()] if pronoun else ""
            somebody = _DONE_TO.search(before)
            done_to_unknown = somebody is not None and not is_no_name(somebody["name"])
            meant = {match.group() for match in _ANTECEDENT.finditer(before)}
            # "[person] drove jonas to his": whose it is nobody can tell between a mask and a word like that.
            if not pronoun or (meant and not (done_to_unknown and meant == {PLACEHOLDER})):
                continue
            if done_to_unknown or not own.search(before):
                return True
    return False


def claim_words(text: str, own_names: Iterable[str]) -> tuple[str, ...]:
    """Return the words of a claim that may be names of others: all but those of grammar, and the user's own names."""
    own = {part.lower() for name in (*own_names, _USER) for part in (name, *words_of(name))}
    return tuple(word for word in words_of(text) if not is_no_name(word) and word.lower() not in own)


def _sentences(text: str) -> Iterator[tuple[str, list[int]]]:
    """Yield the sentences, and where in them a word of something sensitive stands; one that refers back ("She has
    HIV.") with the one before it."""
    frame = _QUOTED.match(text)
    begin = frame.end() if frame else 0
    ends = [m.end() for m in _SENTENCE_END.finditer(text, begin) if not _TITLE_END.search(text[: m.end()])]
    starts = [begin, *ends]
    places = special_places(text)
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(text)
        inside = [offset for offset in places if start <= offset < end]
        begin = starts[number - 1] if number and _REFERS_BACK.match(text, start) else start
        yield text[begin:end], [offset - begin for offset in inside]


def _is_of_the_user(sentence: str, offset: int, own: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether the user, or who speaks, is named last before a sensitive word."""
    before = sentence[:offset]
    user = -1
    for name in own:
        for match in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", before):
            tail = before[match.end() :]
            if _TOLD_THEM.search(before[: match.start()]) and _REFERS_BACK.match(tail):
                continue
            if not tail.startswith(("'s", "’s")) or _is_own_thing(tail):
                user = max(user, match.start())
    for match in re.finditer(_SELF, before):
        if not (_TOLD_THEM.search(before[: match.start()]) and _REFERS_BACK.match(before[match.end() :])):
            user = max(user, match.start())
    if user < 0:
        return False
    return user > max((match.start() for name in others for match in _found(name, before)), default=-1)


def _is_own_thing(tail: str) -> bool:
    """Return whether a thing of the user's own follows ("Maya's chronic asthma"), and nobody of theirs."""
    return _OWN_THING.match(tail) is not None and not any(word in NO_NAMES.kin for word in words_of(tail.lower()))


def _found(name: str, text: str) -> Iterator[re.Match[str]]:
    return re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)


def _is_pet(name: str, text: str) -> bool:
    """Return whether a name is an animal's: it is said to be one, or one that is taken to a vet is spoken of."""
    animal = rf"\b{_PET} {re.escape(name)}(?!\w)|\b(?:the|our|to|from|at)(?: an?| the| our)? vet(?:'s|erinarian)?\b"
    return re.search(animal, text, re.IGNORECASE) is not None


def _is_of_a_work(name: str, text: str) -> bool:
    """Return whether a name stands in a title or is its author's: 'I'm reading "Emma" by Jane Austen'."""
    title = rf"(?<=[^:,]\s)[\"“](?:[\w' ]{{1,40}} )?{re.escape(name)}(?: [\w' ]{{1,40}})?[\"”]"
    return re.search(rf"{title}|[\"”] by {re.escape(name)}(?!\w)", text) is not None
