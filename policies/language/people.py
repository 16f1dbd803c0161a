"""The people whom a sentence names: relatives, friends, pets, and those called by name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from policies.language.clauses import SUBJECTS
from policies.language.discourse_markers import INTERJECTIONS
from policies.language.parse import Parsed
from policies.language.sentences import words

_SHE: Final = words(
    "sister mom mum mother mama mam wife girlfriend daughter aunt auntie niece grandmother grandma nan nana granny "
    "fiancee stepmom stepmother stepsister goddaughter missus"
)
_HE: Final = words(
    "brother dad father papa husband boyfriend son uncle nephew grandfather grandpa granddad grandad fiance stepdad "
    "stepfather stepbrother godson hubby"
)
_SEVERAL: Final = words("parents grandparents in-laws kids children twins sisters brothers sons daughters friends")
_ANYONE: Final = words(
    "friend pal mate buddy bestie partner spouse boss manager cousin roommate roomie flatmate colleague coworker "
    "teacher doctor therapist "
    "dentist vet coach mentor neighbour neighbor ex baby kid child nanny landlord landlady apprentice tutor student "
    "godfather godmother dog cat puppy kitten horse rabbit hamster parrot bird tortoise inspector"
)
FAMILY: Final = _SHE | _HE | _SEVERAL
KIN: Final = FAMILY | _ANYONE
NAMELIKE: Final = words("mum mom mam mummy mommy dad daddy grandma grandpa granny grandad nan nana gran")
"""Relatives who are named as if there were one of each."""
_OTHER_KIN: Final = words("ex former late future step half great god foster")
"""Words before a relative that make another one of them: "my ex wife", "my half-brother"."""
_OWN_PEOPLE: Final = re.compile(
    rf"\W*(?:(?:and|but|so|also|oh|well),? )?(?:my|our) (?:[\w-]+ ){{0,2}}?(?:{'|'.join(sorted(KIN))})\b", re.IGNORECASE
)
"""How a sentence opens that is about somebody of the speaker's own: "My older sister"."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a sentence: the index of the main word, from where to where they are named, what they are to the
    speaker ("sister"), and their own name."""

    index: int
    begin: int
    end: int
    noun: str | None
    name: str | None
    of_speaker: bool
    is_subject: bool
    phrase: str
    """The words that name them, without "my"."""

    @property
    def gender(self) -> str:
        kin = next((part for part in re.split("[ -]", self.noun or "") if part in KIN), self.noun)
        if kin in _SEVERAL:
            return "they"
        return "she" if kin in _SHE else "he" if kin in _HE else ""

    def told_of(self, name: str) -> str:
        """Return how they are named in what is told of the user of that name: "Maya's brother Tom"."""
        own = f"{name}'s" if self.of_speaker else "the"
        return self.phrase if self.noun is None else f"{own} {self.phrase}"

    @property
    def canonical(self) -> str:
        """Return how facts name them: by their name, else by what they are to the user."""
        return self.name or f"user's {self.noun}"


def opens_with_own_people(sentence: str) -> bool:
    """Return whether a sentence opens with somebody of its speaker's own. What is made up sounds the same and has a
    frame ("In my novel, ..."), which `reported_speech` knows: by such a sentence alone no head can tell."""
    return _OWN_PEOPLE.match(sentence) is not None


def people_in(parsed: Parsed) -> list[Person]:
    """Return the people that a sentence names, in order."""
    people: list[Person] = []
    taken: set[int] = set()
    for index in range(len(parsed.tokens)):
        if index in taken:
            continue
        person = _relative(parsed, index) or _named(parsed, index)
        if person is not None:
            people.append(person)
            taken.update(range(person.begin, person.end))
    return people


def referent(pronoun: str, people: Sequence[Person]) -> Person | None:
    """Return whom "he", "she" or "they" stands for, if of those named before it is surely one."""
    gender = {"his": "he", "him": "he", "her": "she", "hers": "she", "them": "they", "their": "they"}.get(
        pronoun, pronoun
    )
    may_be = {
        person.canonical: person
        for person in people
        if person.gender == gender or (not person.gender and gender != "they")
    }
    person = next(iter(may_be.values()), None)
    return person if len(may_be) == 1 and person is not None and person.noun is not None else None


def _relative(parsed: Parsed, index: int) -> Person | None:
    tokens = parsed.tokens
    lower = tokens[index].lower
    noun = lower if lower in KIN else None
    owned = index > 0 and tokens[index - 1].tag == "PRP$"
    if noun is None or not (tokens[index].tag.startswith("NN") or owned):
        return None
    begin = index
    while (
        begin
        and tokens[begin - 1].tag in ("PRP$", "JJ", "JJR", "JJS", "NN", "DT", "HYPH")
        and tokens[begin - 1].lower != "a"
    ):
        begin -= 1
    of_another = tokens[begin].tag == "PRP$" or (begin > 0 and tokens[begin - 1].tag == "POS")
    if tokens[begin].lower not in ("my", "our", "the") and (of_another or noun not in NAMELIKE):
        return None
    end = index + 1
    while end + 1 < len(tokens) and tokens[end].text == "-" and tokens[end + 1].lower in ("in", "law", "to", "be"):
        end += 2
    noun += parsed.text_of(range(index + 1, end)).lower()
    former = [token.lower for token in tokens[begin:index] if token.lower in _OTHER_KIN]
    name_at = end + 1 if end < len(tokens) and tokens[end].text == "," else end
    name = None
    stop = name_at
    while stop < len(tokens) and tokens[stop].tag == "NNP" and stop - name_at < 3 and tokens[stop].text[:1].isupper():
        stop += 1
    if stop == end and owned and _is_typed_small(parsed, end):
        stop += 1
    closes = name_at == end or (stop < len(tokens) and tokens[stop].text in (",", "."))
    if stop > name_at and closes:
        name, end = parsed.text_of(range(name_at, stop)), stop
    mine = tokens[begin].lower in ("my", "our") or noun in NAMELIKE
    first = begin + 1 if tokens[begin].lower in ("my", "our", "the") else begin
    phrase = parsed.text_of(range(first, end))
    noun = " ".join([*former, noun])
    return Person(index, begin, end, noun, name, mine, tokens[index].dep in SUBJECTS, phrase)


def _is_typed_small(parsed: Parsed, index: int) -> bool:
    """Return whether a name follows that was typed in small letters, before its verb: "my brother leo is"."""
    tokens = parsed.tokens
    return index + 1 < len(tokens) and tokens[index].tag == "NNP" and tokens[index + 1].tag in ("VBZ", "VBD", "MD")


def _named(parsed: Parsed, index: int) -> Person | None:
    name = next((n for n in parsed.names if n.start == index and n.label == "PERSON"), None)
    if name is None or not name.text[:1].isupper():
        return None
    head, begin = name.end - 1, name.start
    while begin < head and parsed.tokens[begin].lower in INTERJECTIONS:
        begin += 1
    text = parsed.text_of(range(begin, name.end)).removesuffix("'s")
    return Person(head, begin, name.end, None, text, False, parsed.tokens[head].dep in SUBJECTS, text)


def introduced_in(parsed: Parsed | None, known_name: str | None = None) -> str | None:
    """Return the name by which speakers introduce themselves: "my name is Bob"; "I'm bob" where that name is known."""
    tokens = parsed.tokens if parsed is not None else ()
    words = [token.lower for token in tokens]
    if words[:2] == ["my", "name"] and words[2:3] in (["is"], ["'s"]):
        at = 3
    elif (
        words[:1] in (["i"], ["this"]) and words[2:3] == [(known_name or "").lower()] and words[1] in ("am", "'m", "is")
    ):
        at = 2
    else:
        return None
    alone = at < len(tokens) and all(not token.text[:1].isalnum() for token in tokens[at + 1 :])
    if known_name is not None and words[at : at + 1] == [known_name.lower()]:
        return known_name if alone else None
    return tokens[at].text if alone and tokens[at].text[:1].isupper() else None


def names_its_subject(parsed: Parsed, verb: int) -> bool:
    """Return whether a verb says how somebody is called: "she's called Pixel", not "she's called me"."""
    named = (parsed.tokens[child] for child in parsed.children(verb) if parsed.tokens[child].dep == "oprd")
    return parsed.tokens[verb].lower in ("called", "named") and any(name.text[:1].isupper() for name in named)
