"""What a user says of themselves, told of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from policies.language.own_kin import with_my
from policies.language.parse import Parsed, Token
from worker.extract.corrections import corrected

_IRREGULAR: Final = {"be": "is", "have": "has", "do": "does", "go": "goes", "am": "is", "are": "is", "were": "was"}
_NEVER_INFLECTED: Final = frozenset(
    (
        "can",
        "could",
        "will",
        "would",
        "shall",
        "should",
        "may",
        "might",
        "must",
        "'ll",
        "'d",
        "ca",
        "wo",
        "ought",
        "better",
    )
)
_PAST_TOO: Final = frozenset(("hurt", "quit", "hit", "split", "beat"))
"""Verbs that people say of themselves once they have happened, and that read alike in the present."""
_WE: Final = {"we": "subject", "us": "object", "our": "possessive", "ours": "mine", "ourselves": "self"}
_I: Final = {"i": "subject", "me": "object", "my": "possessive", "mine": "mine", "myself": "self"}
_THOSE_TOO: Final = " and those with them"
_FULL_STOPS: Final = frozenset({".", "!", "?", "..."})
_PRESENT: Final = frozenset({"VBP", "VB"})
_SKIPPED: Final = frozenset({"RB", "RBR", "RBS", ",", "UH", "IN"})
_ANYONE_AFTER: Final = frozenset(("when", "if", "where", "whenever", "how", "because", "once", "what"))
_ANYONE_BEFORE: Final = frozenset(
    (
        "can",
        "could",
        "have",
        "get",
        "need",
        "should",
        "do",
        "want",
        "'ll",
        "wo",
        "feel",
        "never",
        "know",
        "ca",
        "would",
        "might",
        "two",
        "guys",
        "all",
        "both",
    )
)
_TYPOS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.IGNORECASE), better)
    for pattern, better in (
        (r"\b(?:i m|im)\b(?!\.)", "I'm"),
        (r"\bi ?ve\b", "I've"),
        (r"\bi'm\b", "I'm"),
        (r"\bi'(ve|ll|d)\b", r"I'\1"),
        (r"\bi\b(?!\.|'|-\w)", "I"),
        (r"\b(do|does|did|is|was|are|were|have|has|had|would|could|should)nt\b", r"\1n't"),
        (r"\bcant\b", "can't"),
        (r"\bwont\b", "won't"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\bgotta\b", "have to"),
        (r"\bu\b(?!\.)", "you"),
        (r"\bur\b", "your"),
        (r"\bill(?= (?:be|have|go|get|do|see|take|need|start|never|probably|just|make|call|pay|move|miss)\b)", "I'll"),
        (r"\bid(?= (?:be|have|like|love|rather|prefer|never|do|want)\b)", "I'd"),
        (
            r"\b(he|she|that|what|there|who)s(?= (?:an?|the|my|so|not|been|in|at|on|from|very|really|[a-z]+ing)\b)",
            r"\1's",
        ),
        (r"\b(they|you)re\b", r"\1're"),
        (r"\b(?:u[hm]+|uhm+|er+m+)\b,? ?", ""),
        (r"\bmy names (?=(?-i:[A-Z]))", "my name is "),
    )
)


_LETTER: Final = re.compile(r"(?!I)[B-Z]")
_GLUED: Final = frozenset(("d", "ll"))
"""What a parser cuts from "wed" and "well" as if it were "we'd" and "we'll"."""


def mended(text: str) -> str:
    """The text with the spellings of chat that mislead the parser put right ("im" -> "I'm"), and what was
    taken back ("Austin, no, Houston") as it was meant."""
    for pattern, better in _TYPOS:
        text = pattern.sub(better, text)
    return corrected(with_my(re.sub(r"\s{2,}", " ", text)))


@dataclass
class Narrator:
    """Who is spoken of, and whether the text at hand has named them yet."""

    name: str
    assistant: str | None = None
    named: bool = field(default=False)

    def mention(self, case: str) -> str:
        """How to refer to the user here: by name the first time, as "they" afterwards."""
        if not self.named:
            self.named = True
            if case in ("possessive", "mine"):
                return f"{self.name}'s"
            return self.name
        return {"subject": "they", "object": "them", "possessive": "their", "mine": "theirs", "self": "themself"}[case]


def inflected(verb: str) -> str:
    """The third person singular of a verb's base form: "bake" -> "bakes", "have" -> "has"."""
    lower = verb.lower()
    if verb.isupper() and len(verb) > 1:
        return inflected(lower).upper()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if lower.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    if lower.endswith("y") and lower[-2:-1] not in "aeiou":
        return verb[:-1] + "ies"
    return verb + "s"


def _finite(tokens: tuple[Token, ...], subject: int) -> int | None:
    """The place of the finite verb of the subject at `subject`."""
    for place in range(subject + 1, min(subject + 8, len(tokens))):
        token = tokens[place]
        if token.tag in ("MD", "VBP", "VBD", "VBZ", "VB", "VBN") or token.lower in ("'m", "'ve", "'d", "'ll", "'re"):
            return place
        if token.tag not in _SKIPPED and token.lower not in ("both", "all", "personally", "myself"):
            return None
    return None


def _expanded(tokens: tuple[Token, ...], place: int, singular: bool) -> str | None:
    """What a clitic after the subject stands for, or None when it is a word of its own."""
    lower = tokens[place].lower
    if lower in ("'m", "'re"):
        return "is" if singular else "are"
    if lower == "'ve":
        return "has" if singular else "have"
    if lower == "'ll":
        return "will"
    if lower == "'d":
        following = [t for t in tokens[place + 1 : place + 4] if t.tag not in _SKIPPED]
        is_had = following and (following[0].tag == "VBN" or following[0].lower == "better")
        return "had" if is_had else "would"
    return None


def _conjuncts(parsed: Parsed, finite: int, subject: int) -> list[int]:
    """The places of further present verbs that share the subject: "I love and bake"."""
    tokens = parsed.tokens
    head = finite
    if tokens[finite].dep in ("aux", "auxpass"):
        head = tokens[finite].head
    found: list[int] = []
    frontier = [head]
    while frontier:
        place = frontier.pop()
        for child in parsed.children(place):
            if tokens[child].dep != "conj" or child <= subject:
                continue
            own = [tokens[c] for c in parsed.children(child)]
            if any(t.dep in ("nsubj", "nsubjpass", "expl", "csubj") for t in own):
                continue
            frontier.append(child)
            governed = any(t.dep in ("aux", "auxpass") or t.tag == "TO" for t in own)
            aux = [c for c in parsed.children(child) if tokens[c].dep in ("aux", "auxpass")]
            if aux and tokens[aux[0]].tag == "VBP":
                found.append(aux[0])
            elif not governed and (
                tokens[child].tag == "VBP"
                or (tokens[child].tag == "VB" and head == finite and tokens[finite].tag in ("VBP", "VB", "VBD"))
            ):
                found.append(child)
    return found


def _companions(tokens: tuple[Token, ...]) -> tuple[int, int, int] | None:
    """A subject such as "my wife and I" at the very start: the places of "my", of "and" and of "I"."""
    lowers = [token.lower for token in tokens[:9]]
    if len(lowers) > 2 and lowers[0] == "my":
        for place in range(2, len(lowers) - 1):
            if tokens[place].tag == "MD" or tokens[place].tag.startswith("VB"):
                break
            if lowers[place] == "and" and lowers[place + 1] in ("i", "me", "myself"):
                return 0, place, place + 1
    if len(lowers) > 3 and lowers[0] in ("me", "i", "myself") and lowers[1] == "and":
        return 0, 1, 0
    return None


class _Rewriter:
    def __init__(self, parsed: Parsed, narrator: Narrator) -> None:
        self.parsed = parsed
        self.tokens = parsed.tokens
        self.narrator = narrator
        self.words = [token.text for token in self.tokens]
        self.done: set[int] = set()

    def _agree(self, subject: int, singular: bool) -> None:
        tokens = self.tokens
        finite = _finite(tokens, subject)
        if finite is None:
            return
        clitic = _expanded(tokens, finite, singular)
        if clitic is not None:
            self._glue(finite, clitic)
        else:
            self._inflect(finite, singular)
        self._open_negation(finite)
        for place in _conjuncts(self.parsed, finite, subject) if singular else ():
            if tokens[place].lower in ("'m", "'ve"):
                self._glue(place, _expanded(tokens, place, singular) or tokens[place].text)
            else:
                self._inflect(place, singular)
                self._open_negation(place)

    def _glue(self, place: int, word: str) -> None:
        before = place - 1
        self.words[place] = ("" if before >= 0 and self.tokens[before].space else " ") + word

    def _inflect(self, place: int, singular: bool) -> None:
        token = self.tokens[place]
        lower = token.lower
        if lower in ("am", "are", "'m"):
            self.words[place] = "is" if singular else "are"
        elif lower in ("was", "were"):
            self.words[place] = "was" if singular else "were"
        elif singular and token.tag in _PRESENT and lower not in _NEVER_INFLECTED and lower not in _PAST_TOO:
            self.words[place] = inflected(token.text)
        elif lower in ("ca", "wo"):
            self.words[place] = {"ca": "can", "wo": "will"}[lower]

    def _open_negation(self, verb: int) -> None:
        following = verb + 1
        if following < len(self.tokens) and self.tokens[following].lower in ("n't", "nt", "not"):
            if self.tokens[following].lower != "not":
                self.words[following] = ("" if self.tokens[verb].space else " ") + "not"
            if self.tokens[verb].lower in ("ca", "can") and not self.tokens[verb].space:
                self.words[verb], self.words[following] = "can", "not"

    def _refer(self, place: int, case: str) -> None:
        first = not self.narrator.named
        if case == "self" and first:
            case = "object"
        self.words[place] = self._cased(self.narrator.mention(case), place)
        several = first and case == "subject" and self.tokens[place].lower == "we" and self._are_something(place)
        if several:
            self.words[place] += _THOSE_TOO
        if case == "subject":
            self._agree(place, singular=first and not several)
        if first and not several and case == "subject" and self.tokens[place].lower == "we":
            self._alone(place)

    def _are_something(self, subject: int) -> bool:
        """Whether "we" are said to be what one alone is not: "we are a family of five", "we're 20 now"."""
        verb = _finite(self.tokens, subject)
        if verb is None or self.tokens[verb].lower not in ("are", "'re", "were", "'ve", "have"):
            return False
        heads = {verb, self.tokens[verb].head}
        return any(
            token.dep == "attr" and token.head in heads and token.tag in ("NN", "NNS", "CD")
            for token in self.tokens[verb + 1 :]
        )

    def _alone(self, place: int) -> None:
        """Leave out "all" and "both" of one who is told of alone: "we're all off to Rome"."""
        for beside in (place + 1, place + 2):
            if beside < len(self.tokens) and self.tokens[beside].lower in ("all", "both"):
                self.words[beside] = ""

    def _cased(self, mention: str, place: int) -> str:
        """A mention as it is written there: "the user" has a capital letter where a sentence begins."""
        begins = place == 0 or self.tokens[place - 1].text in _FULL_STOPS
        if begins:
            return mention[:1].upper() + mention[1:]
        return mention[:1].lower() + mention[1:] if mention.startswith("The user") else mention

    def _open_with_companions(self) -> int:
        match = _companions(self.tokens)
        if match is None:
            return 0
        start, conjunction, own = match
        if own:
            others = "".join(
                self.tokens[i].text + (" " if self.tokens[i].space else "") for i in range(1, conjunction)
            ).strip()
            self.words[start] = f"{self.narrator.mention('subject')} and their {others}"
            for place in range(1, own + 1):
                self.words[place] = ""
            last = own
        else:
            self.words[0] = self.narrator.mention("subject")
            last = (
                next(
                    (
                        i
                        for i in range(2, min(8, len(self.tokens)))
                        if self.tokens[i].tag.startswith("VB") or self.tokens[i].tag == "MD"
                    ),
                    3,
                )
                - 1
            )
        self._agree(last, singular=False)
        return last + 1 if own else 1

    def _second_person(self, place: int) -> None:
        other = self.narrator.assistant
        token = self.tokens[place]
        if other is None:
            return
        if token.lower == "your":
            self.words[place] = f"{other}'s"
        elif token.lower == "you" and token.dep in ("dobj", "pobj", "dative", "iobj"):
            self.words[place] = other
        elif token.lower == "you" and not self._is_anyone(place):
            self.words[place] = other
            self._agree(place, singular=True)

    def _is_no_word(self, place: int) -> bool:
        """Whether an "i" is a number, or the first letter of a word that is broken up."""
        token = self.tokens[place]
        hyphen = place + 1 < len(self.tokens) and self.tokens[place + 1].text == "-"
        glued = place + 1 < len(self.tokens) and not token.space and self.tokens[place + 1].text in _GLUED
        spelt = any(
            0 <= beside < len(self.tokens) and _LETTER.fullmatch(self.tokens[beside].text)
            for beside in (place - 1, place + 1)
        )
        return glued or spelt or token.tag == "CD" or (hyphen and not token.space and not self.tokens[place + 1].space)

    def _is_anyone(self, place: int) -> bool:
        before = self.tokens[place - 1].lower if place else ""
        after = self.tokens[place + 1].lower if place + 1 < len(self.tokens) else ""
        return before in _ANYONE_AFTER or after in _ANYONE_BEFORE

    def rewrite(self) -> str:
        for place in range(self._open_with_companions(), len(self.tokens)):
            lower = self.tokens[place].lower
            if self.tokens[place].text == "US":
                continue
            if place and self.tokens[place - 1].text in _FULL_STOPS:
                self.narrator.named = self.narrator.named and lower not in ("i", "we")
            if lower in _I and not (lower == "i" and self._is_no_word(place)):
                self._refer(place, _I[lower])
            elif lower in _WE and not (lower == "we" and self._is_no_word(place)):
                self._refer(place, _WE[lower])
            elif lower in ("you", "your"):
                self._second_person(place)
        pieces: list[str] = []
        for token, word in zip(self.tokens, self.words, strict=True):
            if word:
                pieces.append(word + (" " if token.space else ""))
        return re.sub(r"\s{2,}", " ", "".join(pieces)).strip()


def told_of(parsed: Parsed, narrator: Narrator) -> str:
    """A first-person sentence in the third person: "I've two cats" -> "Maya has two cats".

    The first mention is by name, later ones are "they". "We" is told of the user alone, since who else is meant
    is not said ("we moved" holds of the user), unless the sentence opens by naming them ("my wife and I").
    Mentions in `narrator` carry over, so a following sentence may go on with "they".
    """
    return _Rewriter(parsed, narrator).rewrite()
