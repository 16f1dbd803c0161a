"""Which memories a person means who asks for something to be forgotten."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from policies.language.attributes import ATTRIBUTES
from policies.language.wording import Wording, contents, read
from schema import Candidate, ForgetRequest, Memory, MemoryType, Policy

_WHOSE: Final = re.compile(r"^(?:the user|my|our|i|i'm|i've)(?:['’]s)?\s+", re.IGNORECASE)
_IDLE: Final = contents(
    [
        "thing",
        "stuff",
        "information",
        "info",
        "detail",
        "data",
        "story",
        "topic",
        "matter",
        "memory",
        "note",
        "part",
        "bit",
        "whole",
        "entire",
        "everything",
        "anything",
        "all",
        "something",
        "said",
        "told",
        "mentioned",
        "tell",
        "talk",
        "entirely",
        "completely",
        "altogether",
        "business",
    ]
)
"""Words of a wish to forget that name nothing."""
_MOST_WORDS: Final = 0.5
"""Share of the wish's content words that a memory near it must have."""
_ATTRIBUTE_SURELY: Final = 0.5
"""Share from which a memory speaks of the attribute that the wish names."""
_NEAR_SHARE: Final = 0.5
"""Share of the check threshold from which the memory nearest to a wish that means nothing else may be meant."""
_TIE: Final = 0.03
"""Cosine within which two memories are equally near."""

Shares = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Known:
    """Something that is known: a memory, or a candidate that waits for a person.

    `similarity` is its cosine to the wish where that is known, `shares` how likely it speaks of each attribute.
    """

    memory: Memory | Candidate
    similarity: float | None = None
    shares: Shares | None = None


@dataclass(frozen=True, slots=True)
class Meant:
    """Places, among what is known, of what a wish means: surely, and perhaps (nothing else is meant)."""

    surely: tuple[int, ...] = ()
    perhaps: tuple[int, ...] = ()


def meant_by(request: ForgetRequest, known: Sequence[Known], policy: Policy, name: str = "") -> Meant:
    """Return what a wish to forget takes of what is known; `name` is what the user is called.

    Surely meant is what has all content words of the wish, or speaks of the attribute that it names, or is as near as
    the same fact, or about the same thing with half of the words; never what is told of somebody whom the wish does
    not name. Where nothing is surely meant, the nearest may be. Of what a doubtful wish means nothing is sure.
    """
    if request.scope == "all":
        everything = tuple(range(len(known)))
        return Meant(perhaps=everything) if request.doubtful else Meant(surely=everything)
    wish = _Wish.of(request, name)
    judged = [wish.judge(one, policy, name) for one in known]
    surely = tuple(place for place, sure in enumerate(judged) if sure is True)
    if surely:
        return Meant(perhaps=surely) if request.doubtful else Meant(surely=surely)
    return Meant(perhaps=_nearest([place for place, sure in enumerate(judged) if sure is None], known, policy))


@dataclass(frozen=True, slots=True)
class _Wish:
    request: ForgetRequest
    wording: Wording
    words: frozenset[str]
    attributes: frozenset[str]
    """Those that the wish names."""
    naming: frozenset[str]
    """The words with which it names them."""
    is_own: bool
    """Whether it speaks of the user, or of what is theirs."""

    @classmethod
    def of(cls, request: ForgetRequest, name: str) -> _Wish:
        wording = read(_WHOSE.sub("", request.what, count=1), name)
        words = (wording.words - _IDLE) | {quantity.value for quantity in wording.quantities}
        called = name.lower().split()
        own = _WHOSE.match(request.what) is not None or (bool(called) and request.what.lower().startswith(called[0]))
        named = {
            attribute: found
            for attribute, called in _CALLED.items()
            if (found := frozenset().union(*(one for one in called if one <= words)))
        }
        if request.attribute is not None and request.attribute in ATTRIBUTES:
            named.setdefault(request.attribute, frozenset())
        naming = frozenset().union(*named.values()) - wording.bearers
        return cls(request, wording, words, frozenset(named), naming, own)

    def judge(self, known: Known, policy: Policy, name: str) -> bool | None:
        """Return whether something is meant: surely (True), not (False), or perhaps (None)."""
        memory = known.memory
        if isinstance(memory, Memory) and memory.id in self.request.known:
            return True
        said = read(memory.summary, name)
        if self._is_of_another(memory, said):
            return False
        heard = said.words | {quantity.value for quantity in said.quantities}
        covered = len(self.words & heard) / len(self.words) if self.words else 0.0
        similarity = known.similarity if known.similarity is not None else -1.0
        same, near = _thresholds(memory.type, policy)
        near_and_worded = similarity >= near and covered >= _MOST_WORDS
        if covered == 1.0 or similarity >= same or near_and_worded or self._is_named(known, said):
            return True
        return None

    def _is_of_another(self, memory: Memory | Candidate, said: Wording) -> bool:
        """Return whether it is told of somebody whom a wish about the user does not name, or not of whom the wish
        names."""
        others = said.bearers | _named(memory, said)
        names_them = bool(self.wording.words & others)
        return bool(self.is_own and others and not names_them) or bool(self.wording.bearers - said.words)

    def _is_named(self, known: Known, said: Wording) -> bool:
        """Return whether the wish names the attribute of which it speaks, and nothing that it lacks."""
        share = sum((known.shares or {}).get(attribute, 0.0) for attribute in self.attributes)
        return share >= _ATTRIBUTE_SURELY and not self.words - self.naming - said.words


def _named(memory: Memory | Candidate, said: Wording) -> frozenset[str]:
    """Return the people whom a memory names."""
    people = contents(
        part for entity in memory.entities if entity.type == "PERSON" for part in entity.text.lower().split()
    )
    return people & said.words


def _nearest(places: Sequence[int], known: Sequence[Known], policy: Policy) -> tuple[int, ...]:
    """Return the nearest of what may be meant, with what is as near, if it is near at all."""
    near = {
        place: similarity
        for place in places
        if (similarity := known[place].similarity) is not None
        and similarity >= _thresholds(known[place].memory.type, policy)[1] * _NEAR_SHARE
    }
    best = max(near.values(), default=0.0)
    return tuple(place for place, similarity in near.items() if similarity >= best - _TIE)


def _thresholds(type_: MemoryType, policy: Policy) -> tuple[float, float]:
    if type_ is MemoryType.EPISODIC:
        return policy.episodic_auto_update, policy.episodic_check_low
    return policy.semantic_auto_update, policy.semantic_check_low


_CALLED: Final = {
    name: tuple(
        stems for text in (name.replace("_", " "), *row.called) if (stems := contents(text.split()) - contents(["of"]))
    )
    for name, row in ATTRIBUTES.items()
}
"""The names of each attribute, as stems."""
