"""Narration: tell of a speaker what they say of themselves: "I've two cats" -> "Maya has two cats".

Told only where the parse carries it: a clause with its own subject and finite verb, every word of the speaker found
again or inflected. What is not told so is for its caller to quote.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from policies.language.annotation import Note, offsets_of
from policies.language.clauses import BETWEEN, FIRST_PERSON, ONLY_PAST, SUBJECTS, is_had
from policies.language.inflection import inflected
from policies.language.parse import Parsed, Token
from policies.language.people import NAMELIKE, names_its_subject, people_in
from policies.language.sentences import words
from policies.language.tellable import is_anyone, may_be_told
from schema.errors import AfterturnError

_NEVER_INFLECTED: Final = words("can could will would shall should may might must 'll 'd ca wo ought better")
_PAST_TOO: Final = words("hurt quit hit split beat cut put set let cost shut broke read")
"""Verbs that read alike in the present: people say them of themselves once they have happened."""
_PARTICIPLES_TOO: Final = _PAST_TOO | words("come become overcome run rerun")
"""Verbs of which the parser cannot tell the present from the participle: "I've worked hard and come a long way"."""
_I: Final = {"i": "subject", "me": "object", "my": "possessive", "mine": "mine", "myself": "self"}
_WE: Final = {"we": "subject", "us": "object", "our": "possessive", "ours": "mine", "ourselves": "self"}
_LATER: Final = {"subject": "they", "object": "them", "possessive": "their", "mine": "theirs", "self": "themself"}
_OTHERS: Final = frozenset({"they", "them", "their", "theirs", "themselves", "they're", "they've"})
_FULL_STOPS: Final = frozenset({".", "!", "?", "...", ";"})
_BESIDE_SUBJECT: Final = frozenset({"both", "all", "personally", "myself", "ourselves", "each", "n't"})
_CLITICS: Final = frozenset({"'m", "'ve", "'d", "'ll", "'re"})


@dataclass
class Narrator:
    """Who is spoken of, what the other side is called, and whether the text at hand has named the first yet."""

    name: str
    assistant: str | None = None
    named: bool = False
    by_name: bool = field(default=False)
    """True where "they" would be taken for others that the text speaks of."""

    def mention(self, case: str) -> str:
        """Return how to refer to the speaker here: by name the first time, as "they" afterwards."""
        if not self.named or (self.by_name and case != "self"):
            self.named = True
            return f"{self.name}'s" if case in ("possessive", "mine") else self.name
        return _LATER[case]


def narrated(
    parsed: Parsed, narrator: Narrator, notes: Sequence[Note] = (), refers: Mapping[int, str] | None = None
) -> str | None:
    """Return the sentence told of its speaker with its dates, None where it cannot be told surely.

    `refers` says, by the index of its token, whom a pronoun stands for.
    """
    if not may_be_told(parsed, narrator.assistant is not None):
        return None
    writer = _Writer(parsed, narrator)
    for index, mention in (refers or {}).items():
        writer.words[index] = mention
        writer.known.add(index)
    writer.date(notes)
    sentence = writer.narration()
    names_whom = narrator.named or refers or any(who.is_subject and who.name for who in people_in(parsed))
    return sentence if names_whom else None


def dated(parsed: Parsed, notes: Sequence[Note]) -> str:
    """Return the sentence as it was said, with its dates."""
    writer = _Writer(parsed, Narrator(""))
    writer.date(notes)
    return writer.text()


def retold(parsed: Parsed, narrator: Narrator, notes: Sequence[Note] = ()) -> str:
    """Return an order told as what its speaker wants: no subject of its own is asked for."""
    writer = _Writer(parsed, narrator)
    writer.date(notes)
    return writer.narration() or parsed.text_of(range(len(parsed.tokens)))


def _finite(tokens: tuple[Token, ...], subject: int) -> int | None:
    """Return the place of the verb that agrees with the subject at `subject`."""
    for index in range(subject + 1, min(subject + 8, len(tokens))):
        token = tokens[index]
        if token.dep != "advmod" and (token.tag in ("MD", "VBP", "VBD", "VBZ", "VB", "VBN") or token.lower in _CLITICS):
            return index
        if token.tag not in BETWEEN and token.dep != "advmod" and token.lower not in _BESIDE_SUBJECT:
            return None
    return None


class UnsureError(AfterturnError):
    """A sentence that the parse does not carry."""


class _Writer:
    def __init__(self, parsed: Parsed, narrator: Narrator) -> None:
        self.parsed = parsed
        self.tokens = parsed.tokens
        self.narrator = narrator
        self.words = [token.text for token in self.tokens]
        self.known: set[int] = set()
        self.spaces = [token.space for token in self.tokens]
        narrator.by_name = narrator.by_name or any(token.lower in _OTHERS for token in self.tokens)

    def narration(self) -> str | None:
        was_named = self.narrator.named
        try:
            for index in range(self._open_with_companions(), len(self.tokens)):
                self._tell(index)
        except UnsureError:
            self.narrator.named = was_named
            return None
        am_i = any(token.tag == "VBP" and self.words[i] == "am" for i, token in enumerate(self.tokens))
        return None if am_i else self.text()  # "What am I in for" has its verb before its subject.

    def text(self) -> str:
        """Return the words as they stand now."""
        pieces = [word + " " * space for word, space in zip(self.words, self.spaces, strict=True) if word]
        return " ".join("".join(pieces).split())

    def date(self, notes: Sequence[Note]) -> None:
        """Write the dates in place of their adverbials, or in brackets after their words."""
        starts = offsets_of(self.parsed)
        for note in notes:
            places = [i for i, begin in enumerate(starts) if note.start <= begin < note.end]
            if not places or not note.text:
                continue
            if not note.whole:
                self.words[places[-1]] += f" [{note.text}]"
                continue
            lead = [i for i, begin in enumerate(starts) if note.lead <= begin < note.start]
            first = (lead or places)[0]
            text = f"{note.preposition} {note.text}".strip()
            before = self.tokens[first - 1] if first else None
            if before is not None and (
                (before.tag in ("IN", "TO") and before.dep != "prt")
                or before.lower in ("around", "about", "last", "than")
            ):
                text = note.text.removeprefix("around ") if before.lower in ("around", "about") else note.text
            elif self.tokens[places[-1]].dep in SUBJECTS:
                text = note.text
            if first == 0:
                text = text[:1].upper() + text[1:]
            self.words[first] = text
            for index in (*lead, *places):
                if index != first:
                    self.words[index] = ""
            self.spaces[first] = self.tokens[places[-1]].space

    def _tell(self, index: int) -> None:
        token = self.tokens[index]
        lower = token.lower
        if token.text == "US" or not self.words[index] or self._is_hyphenated(index) or self._is_in_a_title(index):
            return
        if index in self.known:
            self._expand_after(index)
            return
        if index and self.tokens[index - 1].text in _FULL_STOPS and lower in FIRST_PERSON:
            self.narrator.named = False
        if lower in _I and not (lower == "i" and self._is_no_word(index)):
            self._refer(index, _I[lower])
        elif lower in _WE:
            self._refer(index, _WE[lower])
        elif lower in ("you", "your", "yours") and self.narrator.assistant is not None:
            self._second_person(index, self.narrator.assistant)
        elif lower in NAMELIKE and self._is_own(index):
            self.words[index] = f"{self.narrator.mention('possessive')} {lower}"
            if index == 0:
                self.words[index] = self.words[index][:1].upper() + self.words[index][1:]

    def _is_own(self, index: int) -> bool:
        """Return whether "mum" is the speaker's own: named as if there were one, and neither spoken to nor
        somebody's."""
        before = self.tokens[index - 1] if index else None
        after = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        owned = before is not None and (before.tag in ("PRP$", "DT", "POS", "CD", "JJ") or before.tag.startswith("NN"))
        named = after is not None and (after.tag == "NNP" or (after.tag.startswith("NN") and after.text[:1].isalpha()))
        return (
            self.tokens[index].tag.startswith("NN") and not owned and not named and self.tokens[index].dep != "compound"
        )

    def _refer(self, index: int, case: str) -> None:
        plural = self.tokens[index].lower in _WE
        if plural and case == "subject" and self._are_several(index):
            raise UnsureError
        by_name = not self.narrator.named or self.narrator.by_name
        if case == "self" and not self.narrator.named:
            case = "object"
        elif case == "object" and self._is_oneself(index):
            case = "self"
        is_among_others = case == "object" and self._has_another_beside(index)
        mention = self._among_others() if is_among_others else self.narrator.mention(case)
        begins = index == 0 or self.tokens[index - 1].text in _FULL_STOPS
        if begins:
            mention = mention[:1].upper() + mention[1:]
        elif mention.startswith("The user"):
            mention = "t" + mention[1:]
        self.words[index] = mention
        if case == "subject":
            self._agree(index, singular=by_name and self.tokens[index].dep != "conj")
            for beside in (index + 1, index + 2):
                if plural and by_name and beside < len(self.tokens) and self.tokens[beside].lower in ("all", "both"):
                    self.words[beside] = ""

    def _has_another_beside(self, index: int) -> bool:
        """Return whether a speaker names somebody with themself: "between Ana and me"."""
        return any(
            0 <= joint < len(self.tokens)
            and self.tokens[joint].lower in ("and", "or")
            and 0 <= beside < len(self.tokens)
            and self.tokens[beside].tag.startswith(("NN", "PRP"))
            for joint, beside in ((index - 1, index - 2), (index + 1, index + 2))
        )

    def _among_others(self) -> str:
        """Return how to refer to a speaker beside others, whom "them" would take in; where they are "we" already, as in
        "we split up, Ana and me", it is not told."""
        if any(token.lower in _WE for token in self.tokens):
            raise UnsureError
        self.narrator.named = True
        return self.narrator.name

    def _is_oneself(self, index: int) -> bool:
        """Return whether one says of oneself to be oneself: "I can be me"."""
        beside = self.parsed.children(self.tokens[index].head) if self.tokens[index].dep == "attr" else []
        return any(self.tokens[c].dep in SUBJECTS and self.tokens[c].lower in FIRST_PERSON for c in beside)

    def _are_several(self, subject: int) -> bool:
        """Return whether "we" are said to be what one alone is not: "we are friends", "we're 20 now", "we met"."""
        verb = _finite(self.tokens, subject)
        if verb is None or self.tokens[verb].lower not in ("are", "'re", "were", "'ve", "have", "met"):
            return False
        heads = {verb, self.tokens[verb].head}
        return self.tokens[verb].lower == "met" or any(
            token.dep == "attr" and token.head in heads and token.tag in ("NN", "NNS", "CD")
            for token in self.tokens[verb + 1 :]
        )

    def _agree(self, subject: int, *, singular: bool) -> None:
        tokens = self.tokens
        finite = _finite(tokens, subject)
        if finite is None:
            if tokens[subject].dep in SUBJECTS and tokens[tokens[subject].head].tag not in ("VBG", "VBN"):
                raise UnsureError
            return
        self._turn(finite, singular)
        for index in _conjuncts(self.parsed, finite, subject) if singular else ():
            self._turn(index, singular)

    def _turn(self, index: int, singular: bool) -> None:
        """Put a finite verb into the third person, a clitic as a word of its own."""
        token = self.tokens[index]
        lower = token.lower
        if lower in _CLITICS:
            word = self._written_out(index, singular)
            self.words[index] = word if not index or self.tokens[index - 1].space else f" {word}"
        elif lower in ("am", "are"):
            self.words[index] = "is" if singular else "are"
        elif lower in ("was", "were"):
            self.words[index] = "was" if singular else "were"
        elif lower in ("ca", "wo", "sha"):
            self.words[index] = {"ca": "can", "wo": "will", "sha": "shall"}[lower]
        elif not token.text[-1:].isalpha():
            raise UnsureError  # "I do- Oscar"
        elif singular and token.tag in ("VBP", "VB") and lower not in _NEVER_INFLECTED | _PAST_TOO | ONLY_PAST:
            self.words[index] = inflected(token.text)
        following = index + 1
        if following < len(self.tokens) and self.tokens[following].lower in ("n't", "nt", "n’t"):
            can = lower in ("ca", "can") and not token.space
            self.words[following] = "not" if can or token.space else " not"
        elif token.lower == "can" and following < len(self.tokens) and self.tokens[following].lower == "not":
            self.words[following] = "not"

    def _written_out(self, index: int, singular: bool) -> str:
        lower = self.tokens[index].lower
        if lower in ("'m", "'re"):
            return "is" if singular else "are"
        if lower == "'ve":
            return "has" if singular else "have"
        if lower == "'ll":
            return "will"
        after = {token.lower for token in self.tokens[index + 1 : index + 3]}
        return "had" if is_had(self.parsed, index) or "better" in after else "would"

    def _open_with_companions(self) -> int:
        """Tell a subject such as "my wife and I" at the very start; where to go on from."""
        lowers = [token.lower for token in self.tokens[:9]]
        if lowers[:1] == ["my"]:
            for index in range(2, len(lowers) - 1):
                if self.tokens[index].tag.startswith("VB"):
                    break
                if lowers[index] == "and" and lowers[index + 1] in ("i", "me", "myself"):
                    others = self.parsed.text_of(range(1, index))
                    self.words[0] = f"{self.narrator.mention('subject')} and their {others}"
                    self.words[1 : index + 2] = [""] * (index + 1)
                    self.words[0] += "" if self.tokens[0].space else " "
                    self._agree(index + 1, singular=False)
                    return index + 2
        if len(lowers) > 3 and lowers[0] in ("me", "i", "myself") and lowers[1] == "and":
            self.words[0] = self.narrator.mention("subject")
            verb = next((i for i in range(2, len(lowers)) if self.tokens[i].tag.startswith(("VB", "MD"))), None)
            if verb is None:
                raise UnsureError
            self._agree(verb - 1, singular=False)
            return 1
        return 0

    def _expand_after(self, index: int) -> None:
        """Write out the clitic after a pronoun that gave way to a name: "he's" -> "Tom is"."""
        following = index + 1
        if following < len(self.tokens) and not self.tokens[index].space:
            clitic = self.tokens[following].lower
            if clitic == "'s":
                head = self.tokens[following].head
                has_done = self.tokens[head].tag == "VBN" and not names_its_subject(self.parsed, head)
                self.words[following] = " has" if has_done else " is"
            elif clitic in _CLITICS:
                self.words[following] = f" {self._written_out(following, singular=clitic != chr(39) + 're')}"

    def _second_person(self, index: int, assistant: str) -> None:
        token = self.tokens[index]
        if is_anyone(self.tokens, index):
            return
        if token.lower in ("your", "yours"):
            self.words[index] = f"{assistant}'s"
        elif token.dep in ("dobj", "pobj", "dative", "iobj"):
            self.words[index] = assistant
        elif token.dep in SUBJECTS:
            self.words[index] = assistant
            self._agree(index, singular=True)
        else:
            raise UnsureError

    def _is_hyphenated(self, index: int) -> bool:
        """Return whether a token is a part of a word with a hyphen: "forget-me-nots", "i-pad", "me-time"."""
        before, after = self.tokens[max(index - 2, 0) : index], self.tokens[index + 1 : index + 2]
        follows = len(before) == 2 and before[1].text == "-" and not before[0].space and not before[1].space
        return follows or (bool(after) and after[0].text == "-" and not self.tokens[index].space and not after[0].space)

    def _is_in_a_title(self, index: int) -> bool:
        """Return whether a word is written as a part of a title: "In Our Time", "How I Met Your Mother"."""
        token, after = self.tokens[index], self.tokens[index + 1 : index + 2]
        begins = index == 0 or not self.tokens[index - 1].text[-1:].isalnum()
        goes_on = bool(after) and after[0].text.istitle() and after[0].lower not in NAMELIKE
        if begins or not goes_on or not token.text.istitle():
            return False
        return token.text != "I" or (index > 1 and self.tokens[index - 1].text.istitle())

    def _is_no_word(self, index: int) -> bool:
        """Return whether an "i" is a number or a letter: "World War I", "i."."""
        token = self.tokens[index]
        spelt = any(
            0 <= beside < len(self.tokens) and len(self.tokens[beside].text) == 1 and self.tokens[beside].text.isupper()
            for beside in (index - 1, index + 1)
        )
        dotted = index + 1 < len(self.tokens) and self.tokens[index + 1].text == "." and not token.space
        return token.tag == "CD" or dotted or spelt


def _conjuncts(parsed: Parsed, finite: int, subject: int) -> list[int]:
    """Return the places of further present verbs that share the subject: "I love and bake"."""
    tokens = parsed.tokens
    head = tokens[finite].head if tokens[finite].dep in ("aux", "auxpass") else finite
    is_have = tokens[finite].lower in ("have", "has", "'ve", "had") or is_had(parsed, finite)
    is_perfect = head != finite and tokens[head].tag in ("VBN", "VBD") and is_have
    verbs: list[int] = []
    frontier = [head]
    while frontier:
        index = frontier.pop()
        for child in parsed.children(index):
            if tokens[child].dep != "conj" or child <= subject:
                continue
            own = parsed.children(child)
            if any(tokens[c].dep in SUBJECTS for c in own):
                continue
            frontier.append(child)
            helpers = [c for c in own if tokens[c].dep in ("aux", "auxpass")]
            if helpers and tokens[helpers[0]].tag == "VBP":
                verbs.append(helpers[0])
            elif is_perfect and not helpers and tokens[child].lower in _PARTICIPLES_TOO:
                raise UnsureError
            elif is_perfect and not helpers and tokens[child].tag in ("VBP", "VB"):
                verbs.append(child)
            elif not helpers and tokens[child].tag in ("VBP", "VB") and tokens[finite].tag in ("VBD", "MD"):
                if tokens[finite].tag == "VBD" and tokens[child].lower not in _PAST_TOO:
                    raise UnsureError
            elif not helpers and (tokens[child].tag == "VBP" or (tokens[child].tag == "VB" and head == finite)):
                if not any(tokens[c].tag == "CC" for c in parsed.children(index)):
                    raise UnsureError
                verbs.append(child)
    return verbs
