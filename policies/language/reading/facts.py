"""Who does what, off the parse of a sentence: facts of the user and of the people it names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from policies.language.clauses import SUBJECTS, Clause, Mood, clause_of, is_had, is_of_speaker, is_verb, main_clauses
from policies.language.inflection import inflected
from policies.language.parse import Parsed, Token
from policies.language.people import KIN, Person, people_in
from policies.language.reading.asserted import denial_of, is_left_open, is_within_what_holds, tells_a_fact
from policies.language.reading.attributes import USER, attribute_facts, entity_of
from policies.language.reading.titles import with_whole_titles
from policies.language.reading.values import corrects_itself
from policies.language.sentences import words
from policies.language.wording import stem
from schema import Fact

_DIRECT: Final = ("dobj", "attr", "acomp", "oprd", "dative")
_FURTHER: Final = ("ccomp", "npadvmod", "advmod")
_LEFT_OUT: Final = frozenset({"relcl", "advcl", "cc", "conj", "prep", "punct", "appos", "mark", "acl"})
"""Dependencies that are no part of the name of a thing."""
_OWNING: Final = frozenset({"of"})
_BASES: Final = {
    "'m": "is", "am": "is", "are": "is", "'re": "is", "'s": "is", "s": "is", "'ve": "has", "were": "was", "ca": "can",
    "wo": "will", "'ll": "will", "'d": "would",
}  # fmt: skip
_OF_SPEAKER: Final = {
    "my": "their", "our": "their", "i": "they", "we": "they", "me": "them", "us": "them", "myself": "themself",
    "ourselves": "themself", "am": "are", "'m": "are", "was": "were",
}  # fmt: skip
_EDGE: Final = re.compile(r"^[^\w$€£]+|[^\w$€£%]+$")
"""Marks around a name: "Leo," """
_EMPTY: Final = words(
    "it that this them there so one ones what which who whom something anything everything lot lots bit always never "
    "often still also just now then again nobody none nothing noone anybody anyone everybody everyone somebody someone"
)
_TIMES: Final = words(
    "minute minutes hour hours day days week weeks weekend month months year years fortnight today tomorrow yesterday "
    "tonight monday tuesday wednesday thursday friday saturday sunday"
)
_BEFORE: Final = words("a an the this that these those some any another")
"""Words that are no part of a name that all facts have for a thing."""
_LEADING: Final = words(
    "about above across after against along among around as at before behind below beside between beyond by down "
    "during for from in inside into like near of off on onto out outside over past since through throughout to toward "
    "towards under until up upon with within without"
)
"""Words that no object of a fact begins with, unless they are part of its name: they belong to the verb, or say
when."""
_OF_NAMES: Final = frozenset({"amod", "compound", "nmod"})
_LIGHT: Final = words(
    "have has had 've having get got getting take took taken taking make made making do did done give gave"
)
"""Verbs that say with their object what is done: "had lunch with" Mia."""
_MAKERS: Final = frozenset({"by"})
_PLACES: Final = frozenset({"GPE", "LOC", "FAC"})
_IS: Final = words("is 's are 're am 'm was were be")
_WHERE_OR_WHEN: Final = words("in at near by until before after since during")
"""Prepositions with which a bare "is" says where or when something is, and no more: "is at" Christmas."""
_NAMING: Final = _PLACES | {"PERSON", "ORG", "PRODUCT", "WORK_OF_ART", "EVENT"}
_MINE: Final = frozenset({"my", "our"})
_RELATIVE: Final = frozenset({"who", "that", "which"})
_NAMED: Final = frozenset({"named", "called"})
_IN_COMPANY: Final = frozenset(
    stem(verb)
    for verb in words(
        "go went gone live work play talk chat speak spoke meet met collaborate travel hike camp train practice "
        "practise study dance run ran walk eat ate dine cook hang hung watch celebrate volunteer spend spent sing sang "
        "swim swam ride rode climb fish shop garden paint"
    )
)
"""Verbs of what somebody does with whoever does it with them."""
_MOST: Final = 12
"""How many facts one memory has at most."""


def facts_of(sentences: Sequence[Parsed], *, answered: bool = False, laughed: bool = False) -> tuple[Fact, ...]:
    """Return the facts of which somebody has one value at a time, and who else does what. What is only `answered` sets
    no such value: the question may have been about anybody. What is `laughed` at gives nothing else: it may be no more
    than a picture."""
    sentences = [with_whole_titles(parsed) for parsed in sentences]
    facts = [] if answered else [fact for parsed in sentences for fact in attribute_facts(parsed)]
    valued = {fact.entity for fact in facts}
    told = () if laughed else [parsed for parsed in sentences if not corrects_itself(parsed)]
    triples = (fact for parsed in told for fact in triples_of(parsed))
    further = (fact for fact in triples if fact.entity not in valued or says_whose(fact))
    return tuple(dict.fromkeys((*facts, *further)))[:_MOST]


def says_whose(fact: Fact) -> bool:
    """Return whether a fact says what somebody is to the user."""
    return fact.verb == "is" and fact.object.startswith(f"{USER}'s ")


def triples_of(parsed: Parsed) -> tuple[Fact, ...]:
    """Return who does what: of each clause of the user, of somebody who is named or of what is the user's, what its
    verb takes; and how the things that these clauses name hang together. A preposition belongs to the verb
    ("lives in", Porto), and people and things are named alike wherever they stand.

    Who is named with what they are has a fact of that, too: (Anna, is, user's sister).
    """
    people = people_in(parsed)
    facts: dict[Fact, None] = {}
    clauses = [clause for clause in _told_clauses(parsed) if clause.mood in (Mood.TELLING, Mood.WISHING)]
    for clause in (clause for clause in clauses if tells_a_fact(parsed, clause)):
        entity, verb = _entity(parsed, clause, people), _verb(parsed, clause.head)
        taken = _taken(parsed, clause.head, entity, verb, people) if entity and verb else []
        facts.update(dict.fromkeys(taken))
        if entity == USER:
            facts.update(dict.fromkeys(_in_company(parsed, clause, taken, people)))
    for person in people:
        if person.of_speaker and person.noun and person.name:
            facts[Fact(entity=person.name[:200], verb="is", object=f"user's {person.noun}")] = None
    if facts or clauses:
        facts.update(dict.fromkeys(_links(parsed, people)))
    return tuple(facts)


def _told_clauses(parsed: Parsed) -> Iterator[Clause]:
    """Yield the clauses that tell something: the main ones, and those about what one of them names."""
    yield from main_clauses(parsed)
    for index, token in enumerate(parsed.tokens):
        if token.dep == "relcl" and is_verb(token):
            clause = clause_of(parsed, index)
            if clause.subject is not None and parsed.tokens[clause.subject].lower in _RELATIVE:
                yield clause


def _entity(parsed: Parsed, clause: Clause, people: Sequence[Person]) -> str | None:
    """Return of whom or what a clause tells: the user, somebody named, what is the user's, or what it hangs on."""
    subject, tokens = clause.subject, parsed.tokens
    if subject is None:
        return None
    if tokens[subject].lower in _RELATIVE and tokens[clause.head].dep == "relcl":
        return _named(parsed, tokens[clause.head].head, people)[:200] or None
    if (name := _name_of(parsed, subject)) is not None:
        return _named(parsed, name, people)[:200] or None
    entity = entity_of(parsed, subject, people)
    if entity is not None or is_of_speaker(parsed, subject):
        return entity or USER
    if any(tokens[child].lower in _MINE for child in parsed.children(subject)):
        return _named(parsed, subject, people)[:200] or None
    return None


def _in_company(parsed: Parsed, clause: Clause, taken: Sequence[Fact], people: Sequence[Person]) -> Iterator[Fact]:
    """Yield what somebody did together with the user: "Max and I had a blast", "I hike with Tom"."""
    tokens, subject = parsed.tokens, clause.subject
    for person in people:
        beside = subject is not None and (
            person.index == subject or (tokens[person.index].dep == "conj" and tokens[person.index].head == subject)
        )
        if beside and (person.name or person.of_speaker):
            for fact in taken:
                yield Fact(entity=person.canonical[:200], verb=fact.verb, object=fact.object)
            continue
        lead = tokens[tokens[person.index].head]
        acts = stem(tokens[lead.head].lower) in _IN_COMPANY
        if lead.lower == "with" and acts and tokens[person.index].dep == "pobj" and (person.name or person.of_speaker):
            done = next((fact.verb for fact in taken if fact.object == person.canonical and "with" in fact.verb), "")
            if done:
                yield Fact(entity=person.canonical[:200], verb=done, object=USER)


def _links(parsed: Parsed, people: Sequence[Person]) -> Iterator[Fact]:
    """Yield how two things hang together that stand in one phrase: "a conference in Leeds", "Dune by Frank Herbert",
    "a cat named Bailey", "this woman, Jean", "Tom's boat"."""
    tokens = parsed.tokens
    for index, token in enumerate(tokens):
        head = token.head
        if not is_within_what_holds(parsed, index):
            continue
        yield from _named_within(parsed, index, people)
        if token.dep == "appos" and token.tag == "NNP" and _is_place(parsed, index) and _is_place(parsed, head):
            yield from _fact(_named(parsed, head, people), "is in", _named(parsed, index, people))
        elif token.dep == "pobj" and tokens[head].dep == "prep" and tokens[head].lower not in _OWNING:
            holder = tokens[head].head
            if _is_noun(tokens[holder]) and tokens[holder].dep in (*SUBJECTS, "dobj", "pobj", "attr"):
                yield from _fact(
                    _named(parsed, holder, people), f"is {tokens[head].lower}", _named(parsed, index, people)
                )
        elif token.dep == "poss" and (token.tag == "NNP" or token.lower in KIN) and _is_noun(tokens[head]):
            if tokens[head].lower not in KIN:
                yield from _fact(_named(parsed, index, people), "has", _bare(parsed, head))
        elif (
            _is_noun(token)
            and (name := _name_of(parsed, index)) is not None
            and all(person.noun is None or not person.begin <= name < person.end for person in people)
        ):
            yield from _fact(_named(parsed, name, people), "is", _bare(parsed, index))


def _named_within(parsed: Parsed, index: int, people: Sequence[Person]) -> Iterator[Fact]:
    """Yield of what a thing is that has a name within it: "the final of the Valorant tournament", "NBA games"."""
    token = parsed.tokens[index]
    if token.tag not in ("NN", "NNS") or token.dep not in ("dobj", "attr", "pobj", "nsubj", "nsubjpass"):
        return
    thing = _named(parsed, index, people)
    for name in parsed.names:
        inside = parsed.tokens[name.end - 1]
        text = parsed.text_of(range(name.start, name.end)).removesuffix("'s")
        is_part = inside.tag.startswith("NNP") and inside.dep in ("compound", "nmod", "pobj") and text in thing
        if name.label in _NAMING and is_part and name.end - 1 in parsed.subtree(index):
            yield from _fact(thing, "is of", text)


def _is_place(parsed: Parsed, index: int, labels: frozenset[str] = _PLACES) -> bool:
    return any(name.label in labels and name.start <= index < name.end for name in parsed.names)


def _is_place_or_time(parsed: Parsed, index: int) -> bool:
    return _is_place(parsed, index, _PLACES | {"DATE", "TIME"})


def _name_of(parsed: Parsed, index: int) -> int | None:
    """Return the place of the name that a noun is given beside it: "this woman, Jean", "a cat named Bailey"."""
    tokens = parsed.tokens
    if tokens[index].tag == "NNP":
        return None
    for child in parsed.children(index):
        if tokens[child].dep == "appos" and tokens[child].tag == "NNP":
            return child
        if tokens[child].dep == "acl" and tokens[child].lower in _NAMED:
            return next((c for c in parsed.children(child) if tokens[c].tag == "NNP"), None)
    return None


def _is_noun(token: Token) -> bool:
    return token.tag.startswith("NN") and token.lower not in _EMPTY


def _bare(parsed: Parsed, index: int) -> str:
    """Return a thing without whose it is: "Tom's old boat" -> "old boat"."""
    modifiers = [
        c for c in parsed.children(index) if parsed.tokens[c].dep in ("amod", "compound", "nummod") and c < index
    ]
    return _retold(parsed, [*modifiers, index])


def _taken(parsed: Parsed, head: int, entity: str, verb: str, people: Sequence[Person]) -> list[Fact]:
    """Return a fact for each thing that a verb takes, and for each that a preposition of it does; where it takes none,
    of the verb or the adjective that it governs: "went hiking with" (Tom), "is scared of" (thunder)."""
    tokens = parsed.tokens
    after = [child for child in parsed.children(head) if child > head]
    done = next((child for child in after if tokens[child].dep == "dobj"), None)
    made = _named(parsed, done, people) if done is not None else ""
    with_object = verb
    if done is not None and tokens[head].lower in _LIGHT and tokens[done].tag in ("NN", "NNS"):
        with_object = f"{verb} {_bare(parsed, done)}"
    facts: list[Fact] = []
    for child in after:
        token = tokens[child]
        if token.dep in ("prep", "agent"):
            for index, lead in _objects(parsed, child, token.lower):
                if (lead != "for" and _is_of_the_moment(parsed, index)) or (
                    tokens[head].lower in _IS and lead in _WHERE_OR_WHEN and _is_place_or_time(parsed, index)
                ):
                    continue
                if made and lead in _MAKERS and token.dep == "prep" and tokens[index].tag == "NNP":
                    facts += _fact(made, f"is {lead}", _named(parsed, index, people))
                else:
                    facts += _fact(entity, f"{with_object} {lead}", _named(parsed, index, people))
        elif token.dep == "xcomp" and token.tag in ("VB", "VBG"):
            to = "to " if any(tokens[c].tag == "TO" for c in parsed.children(child)) else ""
            rest = [index for index in parsed.subtree(child) if index >= child]
            governed = _taken(parsed, child, entity, f"{verb} {to}{token.lower}", people)
            facts += governed or _fact(entity, f"{verb} {to}", _retold(parsed, rest))
        elif token.dep in _DIRECT:
            governed = _taken(parsed, child, entity, f"{verb} {token.lower}", people) if token.dep == "acomp" else []
            facts += governed or _fact(entity, verb, _named(parsed, child, people))
    if not facts:
        further = (
            _retold(parsed, parsed.subtree(child))
            for child in after
            if tokens[child].dep in _FURTHER
            and not _is_of_the_moment(parsed, child)
            and not (tokens[child].dep == "ccomp" and is_left_open(parsed, head))
        )
        facts = [fact for text in further if text.lower() not in _EMPTY for fact in _fact(entity, verb, text)]
    return facts


def _is_of_the_moment(parsed: Parsed, index: int) -> bool:
    """Return whether a thing is a time that only who hears it then can tell: "in two weeks", "on Monday"."""
    return parsed.tokens[index].lower in _TIMES


def _fact(entity: str, verb: str, thing: str) -> list[Fact]:
    """Return the fact, none where its object is nothing, or nothing else."""
    if not thing.strip() or not entity.strip() or entity == thing:
        return []
    return [Fact(entity=entity[:200], verb=verb.strip()[:100], object=thing[:300])]


def _objects(parsed: Parsed, preposition: int, lead: str) -> Iterator[tuple[int, str]]:
    """Yield what a preposition takes, and what one within it does: "out of Leeds"."""
    for child in parsed.children(preposition):
        if parsed.tokens[child].dep == "pobj":
            yield child, lead
        elif parsed.tokens[child].dep == "prep":
            yield from _objects(parsed, child, f"{lead} {parsed.tokens[child].lower}")


def _named(parsed: Parsed, index: int, people: Sequence[Person]) -> str:
    """Return a thing without what is said about it, somebody by the name that all facts have for them; "" for
    nothing."""
    tokens = parsed.tokens
    if tokens[index].lower in _EMPTY:
        return ""
    if is_of_speaker(parsed, index) or tokens[index].lower in ("me", "us", "myself", "ourselves"):
        return USER
    who = next((person for person in people if person.begin <= index < person.end), None)
    if who is not None and (who.name or who.of_speaker):
        return who.canonical
    if (name := _name_of(parsed, index)) is not None:
        return _named(parsed, name, people)
    kept = {index}
    for child in parsed.children(index):
        within = tokens[child].dep == "prep" and tokens[child].lower in _OWNING
        if tokens[child].dep not in _LEFT_OUT or within:
            kept.update(parsed.subtree(child))
    places = sorted(kept)
    if tokens[index].tag.startswith("NN"):
        while len(places) > 1 and tokens[places[0]].lower in _BEFORE:
            places.pop(0)
        if tokens[places[0]].lower in _MINE and len(places) > 1:
            return f"user's {_retold(parsed, places[1:])}"
    return _retold(parsed, places)


def _retold(parsed: Parsed, places: Sequence[int]) -> str:
    """Return words told of the user: "my shop" -> "their shop"; "" for what is said of how or when."""
    tokens = parsed.tokens
    if places and tokens[places[0]].text in _LEADING and tokens[places[0]].dep not in _OF_NAMES:
        return ""
    pieces = (_OF_SPEAKER.get(tokens[i].lower, tokens[i].text) + " " * tokens[i].space for i in places)
    return _EDGE.sub("", " ".join("".join(pieces).split()))[:300]


def _verb(parsed: Parsed, root: int) -> str:
    """Return a verb with its helpers in the third person: "'ve started" -> "has started"."""
    tokens = parsed.tokens
    if not tokens[root].tag.startswith("VB") and tokens[root].lower not in _BASES:
        return ""
    verb_words: list[str] = []
    below = parsed.children(root)
    denial = denial_of(parsed, root)
    for child in below:
        if child < root and tokens[child].dep in ("aux", "auxpass"):
            word = "had" if is_had(parsed, child) else _BASES.get(tokens[child].lower, tokens[child].lower)
            verb_words.append(inflected(word) if word in ("have", "do") and not verb_words else word)
    main = _BASES.get(tokens[root].lower, tokens[root].lower)
    if not verb_words and tokens[root].tag in ("VBP", "VB") and main not in ("is", "has", "can", "will"):
        main = inflected(main)
    if denial == "no longer" and verb_words == ["does"]:
        verb_words, main = [], inflected(main)
    is_first = bool(verb_words) or main in ("is", "was")
    verb_words.append(main)
    if denial:
        verb_words.insert(1 if is_first else 0, denial)
    return " ".join([*verb_words, *(tokens[child].lower for child in below if tokens[child].dep == "prt")])[:100]
