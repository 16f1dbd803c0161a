"""Which memories a person means who asks for something to be forgotten."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from policies.language.attributes import ATTRIBUTES
from policies.language.languages import ENGLISH
from policies.language.life_topics import LIFE_TOPICS
from policies.language.own_topics import meant_by_words
from policies.language.wording import Wording, content, contents, read
from policies.likely_meant import Beside, likely_meant
from policies.pieces import leans, names_nobody, tells_alone, told_together
from policies.privacy.sensitive import is_of, kind_called
from policies.wish_words import (
    SPOKEN_WORD,
    attributes_named,
    idle_in,
    life_topics_meant,
    names_nothing,
    names_what_stays,
)
from schema import Candidate, ForgetRequest, Memory, MemoryType, Policy

_WHOSE: Final = re.compile(r"^(?:the user|my|our|i|i'm|i've)(?:['’]s)?\s+", re.IGNORECASE)
"""Whose the thing is that is to be forgotten: "my salary", "the user's age"."""
_MOST_WORDS: Final = 0.5
"""Share of the request's content words that a memory near it must have."""
_ATTRIBUTE_SURELY: Final = 0.5
"""Share from which a memory speaks of the attribute that the request names."""
_NEAR_SHARE: Final = 0.5
"""Share of the check threshold from which the memory nearest to a request that means nothing else may be meant."""
_TIE: Final = 0.03
"""Cosine within which two memories are equally near."""
_FAINT_SHARE: Final = 0.2
"""The same for what has a word of the request."""
_STANDS_OUT: Final = 0.1
"""How much less near than the nearest of what is meant by its attribute alone another one may be."""
_AT_ONCE: Final = timedelta(hours=1)
"""How long before a request a turn may lie that is what was just said."""
_LEANS_ON_IT: Final = re.compile(r"(?:he|she|his|her|it|its|it's)\b", re.IGNORECASE)
"""A sentence that tells of whom or what the one before it names: "She took the sofa"."""
_TOPIC_SURELY: Final = 0.9
_TOPIC_PERHAPS: Final = 0.15
"""How likely a memory is of a topic with which it is surely, or may be, meant. Of what the head finds of authors held
out nine in ten are of the topic from .8 on, three in five from .15 on (docs/reference/heads.md)."""
_READ_PERHAPS: Final = 0.2
"""How likely a message is read to ask for something known to be forgotten, from where on that may be meant: what is
read is hidden, and never erased by that alone (docs/reference/cross-encoder.md)."""
_READ_AS_NOT: Final = 0.02
"""The same, below which its attribute alone does not make it meant, "don't keep the door code" of a home, nor its whole
where no part of it is likelier."""
Shares = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Known:
    """Something that is known: a memory, or a candidate that waits for a person.

    `similarity` is its cosine to the request where that is known, `shares` how likely it speaks of each attribute,
    `pieces` are its clauses where it tells several things, `topics` is how likely it is of each everyday topic, `read`
    how likely the request's message is read to ask for it to be forgotten, where both were read together.
    """

    memory: Memory | Candidate
    similarity: float | None = None
    shares: Shares | None = None
    pieces: tuple[Known, ...] = ()
    topics: Shares | None = None
    read: float | None = None

    @property
    def likely(self) -> float | None:
        """Return how likely it, or a part of it, is read as meant; where no part is, it is not, however it reads."""
        parts = [piece.read for piece in self.pieces if piece.read is not None]
        no_part_is = len(parts) > 1 and max(parts) < _READ_AS_NOT
        return max([*parts, *([] if self.read is None or no_part_is else [self.read])], default=None)

    @property
    def nearest(self) -> float | None:
        """Return its cosine to the request, or that of a nearer part of it."""
        cosines = [item.similarity for item in (self, *self.pieces) if item.similarity is not None]
        return max(cosines, default=None)

    def is_read_from(self, least: float) -> bool:
        """Return whether it, or a part of it, is read as meant, at least so likely."""
        return self.likely is not None and self.likely >= least


@dataclass(frozen=True, slots=True)
class Meant:
    """Places, among what is known, of what a request means: surely, and perhaps (nothing else is meant)."""

    surely: tuple[int, ...] = ()
    perhaps: tuple[int, ...] = ()


def meant_by(request: ForgetRequest, items: Sequence[Known], policy: Policy, name: str = "") -> Meant:
    """Return what a request to forget takes of what is known; `name` is what the user is called.

    Surely meant is what has all content words of the request, or speaks of the attribute that it names, or is as near
    as the same fact, or about the same thing with half of the words; never what is told of somebody whom the request
    does not name. Where nothing is surely meant, the nearest may be. Of what a doubtful request means nothing is sure.
    One that names a topic as a whole means what is surely of it, and perhaps what is likely.
    """
    if request.scope == "all":
        everything = tuple(range(len(items)))
        return Meant(perhaps=everything) if request.doubtful else Meant(surely=everything)
    if request.just_said:
        last = _just_said(request, items)
        return Meant(perhaps=tuple(i for i in last if items[i].is_read_from(_READ_PERHAPS)) or last)
    if request.said_on is not None:
        return _said_then(request, items, policy, name)
    meant = _named_by(request, items, policy, name)
    wanted = _Wanted.of(request, name)
    has_all = any(wanted.is_literally_in(items[place], name) for place in meant.surely)
    return meant if has_all else _named_apart(request, items, policy, name) or meant


def named_among(request: ForgetRequest, items: Sequence[Known], name: str = "") -> tuple[int, ...]:
    """Return the places, among what is known, of what a request names: what has all its content words, or speaks of the
    attribute that it names, and is told of nobody else. `name` is what the user is called."""
    wanted = _Wanted.of(request, name)
    return tuple(place for place, item in enumerate(items) if wanted.words and wanted.names(item, name))


def _named_apart(request: ForgetRequest, items: Sequence[Known], policy: Policy, name: str) -> Meant | None:
    """Return what is surely meant by what a request names one by one; None where nothing is by one of them."""
    each = [
        _named_by(request.model_copy(update={"what": what, "apart": ()}), items, policy, name) for what in request.apart
    ]
    surely = sorted({place for meant in each for place in meant.surely})
    return Meant(surely=tuple(surely)) if surely and all(meant.surely for meant in each) else None


def _named_by(request: ForgetRequest, items: Sequence[Known], policy: Policy, name: str) -> Meant:
    wanted = _Wanted.of(request, name)
    if wanted.topics and any(item.topics is not None for item in items):
        if of_topic := _of_topic(wanted, items, policy, name):
            return of_topic
        wanted = replace(wanted, topics=frozenset())
    judged = [wanted.judge_whole(item, policy, name) for item in items]
    surely = tuple(index for index, sure in enumerate(judged) if sure is True)
    if len(wanted.words) > 1 and (literal := tuple(p for p in surely if wanted.is_literally_in(items[p], name))):
        surely = literal
    # A weight and a height are of one attribute: of what has no word of the request, the nearest is meant.
    nearest = max((items[index].similarity or 0.0 for index in surely), default=0.0)
    surely = tuple(
        index
        for index in surely
        if wanted.shares_a_word(items[index], name) or (items[index].similarity or 0.0) >= nearest - _STANDS_OUT
    )
    if surely and not request.doubtful:
        return Meant(surely=surely)
    named = _Wanted.of(request.model_copy(update={"what": request.said}), name) if request.said else wanted
    likely = likely_meant([Beside(item.likely, item.nearest, named.shares_a_word(item, name)) for item in items])
    worded = meant_by_words(request.what, [item.memory.summary for item in items], request.language)
    if surely or likely or worded:
        return Meant(perhaps=tuple(sorted({*surely, *likely, *worded})))
    maybe = [index for index, sure in enumerate(judged) if sure is None]
    return Meant(perhaps=_faintly(wanted, maybe, items, policy, name))


def _faintly(
    wanted: _Wanted, maybe: Sequence[int], items: Sequence[Known], policy: Policy, name: str
) -> tuple[int, ...]:
    """Return what may be meant of what no word and no reading says is: what is of the kind, or a little near."""
    if wanted.request.language != ENGLISH:
        return _nearest(maybe, items, policy, share=1.0)  # Of an English embedder all of a language are a little near.
    if of_kind := tuple(index for index in maybe if wanted.is_of_its_kind(items[index].memory)):
        return of_kind
    if any(item.likely is not None for item in items):
        return ()
    named = [index for index in maybe if wanted.shares_a_word(items[index], name)]
    return (
        _nearest(named, items, policy) or _nearest(maybe, items, policy) or _nearest(named, items, policy, _FAINT_SHARE)
    )


def _of_topic(wanted: _Wanted, items: Sequence[Known], policy: Policy, name: str) -> Meant | None:
    """Return what a request means that names a topic as a whole; None where nothing that is known is likely of it."""
    judged = [wanted.judge_whole(item, policy, name) for item in items]
    surely = tuple(index for index, sure in enumerate(judged) if sure is True)
    maybe = (i for i, sure in enumerate(judged) if sure is None and items[i].topics is not None)
    perhaps = tuple(i for i in maybe if (likely := items[i].likely) is None or likely >= _READ_AS_NOT)
    if not surely and not perhaps:
        return None
    return Meant(perhaps=tuple(sorted(surely + perhaps))) if wanted.request.doubtful else Meant(surely, perhaps)


def _said_then(request: ForgetRequest, items: Sequence[Known], policy: Policy, name: str) -> Meant:
    """Return what a request means of what was said on its day; all of that where it means none of it in particular."""
    that_day = [position for position, item in enumerate(items) if item.memory.said_at.date() == request.said_on]
    of_any_day = request.model_copy(update={"said_on": None})
    meant = (
        Meant()
        if names_nothing(request.what, name)
        else meant_by(of_any_day, [items[p] for p in that_day], policy, name)
    )
    if not meant.surely and not meant.perhaps:
        return Meant(perhaps=tuple(that_day))
    return Meant(tuple(that_day[index] for index in meant.surely), tuple(that_day[index] for index in meant.perhaps))


def left_of(item: Known, request: ForgetRequest, policy: Policy, name: str) -> str | None:
    """Return what a memory says without the pieces that a request means, None where nothing or all is left, or
    only half a thought."""
    pieces = item.pieces
    if len(pieces) < 2 or request.scope == "all" or request.known:
        return None
    wanted = _Wanted.of(request, name)
    meant: list[bool] = []
    for piece in pieces:
        summary = piece.memory.summary
        leans_on_it = _LEANS_ON_IT.match(summary) is not None or leans(summary, name)
        meant.append((leans_on_it and meant[-1:] == [True]) or wanted.means_piece(piece, policy, name))
    rest = [piece for piece, sure in zip(pieces, meant, strict=True) if not sure and wanted.may_stay(piece, name)]
    if not any(meant) or all(names_nobody(piece.memory.summary, name) for piece in rest):
        return None
    return told_together([piece.memory.summary for piece in rest], name) or None


@dataclass(frozen=True, slots=True)
class _Wanted:
    request: ForgetRequest
    wording: Wording
    words: frozenset[str]
    attributes: frozenset[str]
    """Those that the request names."""
    naming: frozenset[str]
    """The words with which it names them."""
    is_own: bool
    """True where it speaks of the user, or of what is theirs."""
    kind: str | None
    """The kind of sensitive data that it names as a whole: "my medical stuff"."""
    topics: frozenset[str]
    """The everyday topics that it names as a whole."""

    @classmethod
    def of(cls, request: ForgetRequest, name: str) -> _Wanted:
        wording = read(_WHOSE.sub("", request.what, count=1), name)
        words = (wording.words - idle_in(request.what)) | {quantity.value for quantity in wording.quantities}
        called = name.lower().split()
        own = _WHOSE.match(request.what) is not None or (bool(called) and request.what.lower().startswith(called[0]))
        named = attributes_named(words)
        if request.attribute is not None and request.attribute in ATTRIBUTES:
            named.setdefault(request.attribute, frozenset())
        naming = frozenset().union(*named.values()) - wording.bearers
        kinds = {kind_called(word) for word in SPOKEN_WORD.findall(request.what) if content(word.lower()) in words}
        kinds.discard(None)
        is_narrow = any(ATTRIBUTES[attribute].single for attribute in named)
        kind = kinds.pop() if len(kinds) == 1 and not is_narrow else None
        return cls(request, wording, words, frozenset(named), naming, own, kind, life_topics_meant(request, name))

    def judge_whole(self, item: Known, policy: Policy, name: str) -> bool | None:
        """Return whether something, or a clause of it, is meant: as `judge`."""
        whole = self.judge(item, policy, name)
        return whole or (True if any(self.judge(piece, policy, name) for piece in item.pieces) else whole)

    def judge(self, item: Known, policy: Policy, name: str) -> bool | None:
        """Return whether something is meant: surely (True), not (False), or perhaps (None)."""
        memory = item.memory
        if isinstance(memory, Memory) and memory.id in self.request.known:
            return True
        memory_wording = read(memory.summary, name)
        if self.topics and item.topics is not None:
            return self._judge_by_topic(item, memory_wording)
        if self._is_of_another(memory, memory_wording, name):
            return False
        heard = memory_wording.words | {quantity.value for quantity in memory_wording.quantities}
        covered = len(self.words & heard) / len(self.words) if self.words else 0.0
        similarity = item.similarity if item.similarity is not None else -1.0
        same, near = _thresholds(memory.type, policy)
        near_and_worded = similarity >= near and covered >= _MOST_WORDS
        if covered == 1.0 or similarity >= same or near_and_worded or self._is_named(item, memory_wording):
            return True
        return None

    def means_piece(self, piece: Known, policy: Policy, name: str) -> bool:
        """Return whether a piece of what is meant is meant itself."""
        return piece.is_read_from(_READ_PERHAPS) or self.judge(piece, policy, name) is True

    def may_stay(self, piece: Known, name: str) -> bool:
        """Return whether a piece that is not meant tells something, and nothing of what is."""
        wording, summary = read(piece.memory.summary, name), piece.memory.summary
        some_stays = names_what_stays(self.request.said or "")
        if not tells_alone(summary, len(wording.words | wording.quantities), some_stays=some_stays):
            return False
        return piece.read is not None or not self.shares_a_word(piece, name)

    def _judge_by_topic(self, item: Known, memory_wording: Wording) -> bool | None:
        """Return whether something is of the topic that the request names: surely, not, or perhaps (None)."""
        memory = item.memory
        rows = [LIFE_TOPICS[topic] for topic in self.topics]
        likely = max((item.topics or {}).get(topic, 0.0) for topic in self.topics)
        sure = likely >= _TOPIC_SURELY or (bool(self.words) and self.words <= memory_wording.words)
        sure = sure or self._is_named(item, memory_wording)
        perhaps = likely >= _TOPIC_PERHAPS or self.is_of_its_kind(memory)
        if not any(row.others for row in rows):
            theirs = frozenset().union(*(row.people for row in rows))
            if memory_wording.bearers - theirs:
                return False
            if _named(memory, memory_wording) and not memory_wording.bearers:
                sure, perhaps = False, sure or perhaps
        return True if sure else None if perhaps else False

    def is_literally_in(self, item: Known, name: str) -> bool:
        """Return whether something has all content words of the request."""
        memory_wording = read(item.memory.summary, name)
        return self.words <= memory_wording.words | {quantity.value for quantity in memory_wording.quantities}

    def names(self, item: Known, name: str) -> bool:
        """Return whether something is told of whom the request names, and of what it names, whatever is near it."""
        memory_wording = read(item.memory.summary, name)
        is_named = self.is_literally_in(item, name) or self._is_named(item, memory_wording)
        return is_named and not self._is_of_another(item.memory, memory_wording, name)

    def is_of_its_kind(self, memory: Memory | Candidate) -> bool:
        """Return whether something speaks of the kind of sensitive data that the request names as a whole."""
        return self.kind is not None and (self.kind in memory.tags or is_of(self.kind, memory.summary))

    def shares_a_word(self, item: Known, name: str) -> bool:
        """Return whether something has a content word of the request."""
        memory_wording = read(item.memory.summary, name)
        return bool(self.words & (memory_wording.words | {quantity.value for quantity in memory_wording.quantities}))

    def _is_of_another(self, memory: Memory | Candidate, memory_wording: Wording, name: str) -> bool:
        """Return whether it is told of somebody whom a request about the user does not name, or not of whom the
        request names."""
        # "my teacher Ann" is named by "my teacher", too.
        others = memory_wording.bearers | _named(memory, memory_wording)
        called = {before for before, name in pairwise(memory_wording.order) if name in others - memory_wording.bearers}
        names_them = bool(self.wording.words & (others | called))
        # "I see a therapist, she is called Ann" is about the user, whoever else is named in it.
        if memory.summary.startswith(f"{name or 'The user'} ") and not memory_wording.bearers:
            names_them = names_them or bool(self.words & memory_wording.words)
        return bool(self.is_own and others and not names_them) or bool(self.wording.bearers - memory_wording.words)

    def _is_named(self, item: Known, memory_wording: Wording) -> bool:
        """Return whether the request names the attribute of which it, or a fact of it, speaks, and nothing it lacks."""
        share = sum((item.shares or {}).get(attribute, 0.0) for attribute in self.attributes)
        share *= item.likely is None or item.likely >= _READ_AS_NOT
        # A piece has the facts of the whole.
        told = (f.attribute.split("_") for f in item.memory.facts if f.attribute and f.object in item.memory.summary)
        is_told = share >= _ATTRIBUTE_SURELY or any(contents(called) <= self.naming for called in told)
        return is_told and not self.words - self.naming - memory_wording.words


def _named(memory: Memory | Candidate, memory_wording: Wording) -> frozenset[str]:
    """Return the people whom a memory names."""
    people = contents(
        part for entity in memory.entities if entity.type == "PERSON" for part in entity.text.lower().split()
    )
    return people & memory_wording.words


def _just_said(request: ForgetRequest, items: Sequence[Known]) -> tuple[int, ...]:
    """Return the places of what came last of the turns before a request, if that was not long ago."""
    if request.said_at is None:
        return ()
    since = request.said_at - _AT_ONCE
    recent = {
        index: (item.memory.said_at, _turn_of(item.memory))
        for index, item in enumerate(items)
        if since <= item.memory.said_at <= request.said_at and _turn_of(item.memory) != request.turn_id
    }
    last: tuple[datetime, str] | None = max(recent.values(), default=None)
    return tuple(index for index, turn in recent.items() if turn == last)


def _turn_of(memory: Memory | Candidate) -> str:
    if isinstance(memory, Candidate):
        return memory.turn_id
    return memory.source_turn_ids[-1] if memory.source_turn_ids else ""


def _nearest(
    places: Sequence[int], items: Sequence[Known], policy: Policy, share: float = _NEAR_SHARE
) -> tuple[int, ...]:
    """Return the nearest of what may be meant, if near at all: from `share` of the check threshold on."""
    near = {
        index: similarity
        for index in places
        if (similarity := items[index].similarity) is not None
        and similarity >= _thresholds(items[index].memory.type, policy)[1] * share
    }
    best = max(near.values(), default=0.0)
    return tuple(index for index, similarity in near.items() if similarity >= best - _TIE)


def _thresholds(type_: MemoryType, policy: Policy) -> tuple[float, float]:
    if type_ is MemoryType.EPISODIC:
        return policy.episodic_auto_update, policy.episodic_check_low
    return policy.semantic_auto_update, policy.semantic_check_low
