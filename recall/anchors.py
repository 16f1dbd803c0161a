"""Look up an entity: the facts that are known of it, all of them or those that a question is about.

Source: "Vectorized Episodic and Vectorized Semantic memory", section 0.E: vectors are entry points, the graph is the
truth. Memories found by the question are the anchors, or turns by their windows, or single facts; what is told are
facts of active memories that the graph and the catalog still have, never the memories or turns themselves.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Final, Literal

from memory.spending import spending
from policies.facts import type_of_object
from recall.audience import Audience, audiences, tellable
from recall.cursors import page_of, place_of
from recall.retrieve import Hit, retrieve
from recall.search_stages import search_stage
from recall.selectors import facts_near, turns_near
from schema import Memory, Principal, Subject, Way
from schema.errors import NotFound
from schema.selectors import StatedFact
from stores.graph import Relation
from stores.graph.base import folded_name
from stores.index.base import Family
from stores.open import Stores

Mode = Literal["semantic", "episodic", "hybrid"]
"""Where facts are entered: at the memories that a question finds, and facts that have vectors; at the turns that it
finds by their windows, or without windows at those that the memories came from; or at all of these."""
MOST_FACTS: Final = 1_000
"""Facts that are told at once at most."""
_EVERYTHING: Final = 10**9
_READ_AT_ONCE: Final = 200
"""Facts whose memories are read at a time, until enough may be told."""
_USER: Final = "user"


@dataclass(frozen=True)
class EntityName:
    """Whom or what to look up: the subject themself, or what has a name in their memory, in any case."""

    type: Literal["user_id", "name"]
    value: str


@dataclass(frozen=True)
class Question:
    """A question that facts are wanted for, and how they are looked for.

    `most` memories are anchors, each at least `min_similarity` near (a cosine; None: no limit); `hops` further steps
    are walked from the anchors' facts.
    """

    text: str
    most: int = 10
    min_similarity: float | None = None
    mode: Mode = "semantic"
    hops: int = 0

    def is_near(self, cosine: float) -> bool:
        """Return whether something is near enough to be an anchor."""
        return self.min_similarity is None or cosine >= self.min_similarity


@dataclass(frozen=True)
class KnownFact:
    """A fact as the graph has it, with the memory that states it.

    `score` is that of the best anchor that states it; None where it was walked to, or nothing was asked.
    """

    relation: Relation
    memory: Memory
    entity_id: uuid.UUID
    object_type: str
    score: float | None

    @property
    def fact_id(self) -> str:
        """Return the name of the fact's object with its type, such as "Hobby:Hiking"."""
        return f"{self.object_type}:{self.relation.object}"

    @property
    def relationship_key(self) -> str:
        """Return the name of the whole assertion, by which the same one is told once."""
        return f"{self.entity_id}:{self.relation.verb}:{self.fact_id}"


@dataclass(frozen=True)
class Anchor:
    """Where the graph was entered: a memory, a fact, or a turn; verified where the graph has a fact of it that may be
    told. `family` says what the question was compared with, and `similarity` how near it is: a cosine."""

    type: Literal["memory", "fact", "source"]
    id: str
    score: float
    similarity: float
    is_verified: bool
    family: Family = Family.MEMORIES
    relationship_key: str | None = None
    """A verified fact's."""


@dataclass(frozen=True)
class EntityFacts:
    """The facts of an entity: best score first, then nearest, then by what it says.

    `seconds` says what each part of a search took; it is empty where nothing was asked. `cursor` says where the next
    facts begin: None where these are the last, or something was asked.
    """

    entity: EntityName
    entity_id: uuid.UUID
    facts: tuple[KnownFact, ...]
    anchors: tuple[Anchor, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    cursor: str | None = None


def look_up(
    principal: Principal | None,
    subject: Subject,
    entity: EntityName,
    stores: Stores,
    *,
    question: Question | None = None,
    cursor: str = "",
    limit: int = MOST_FACTS,
    now: datetime,
) -> EntityFacts:
    """Return the facts of an entity in a subject's memory: all of them, page by page, or those that a question is
    about; of what may be told the first `limit`.

    Pages are complete while others write: what is known all the time comes exactly once.

    Raises:
        InvalidCursor: no list gave the cursor.
        NotFound: nothing that the principal may be told has the entity's name, or is of the subject.
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    [audience] = audiences(principal, [subject], stores)
    if entity.type == "user_id" and entity.value != subject.subject_id:
        raise NotFound("there is no such entity")
    if question is not None:
        found = _asked(principal, audience, entity, question, stores, limit, now)
    else:
        facts = _all_facts(audience, entity, stores, limit + 1, place_of(cursor, str, str, str, str) if cursor else ())
        page, following = page_of(facts, limit, _place_of_fact)
        found = EntityFacts(entity, _entity_id(subject, _name_of(entity)), tuple(page), cursor=following or None)
    if not found.facts and not cursor and not _is_known(audience, entity, stores):
        raise NotFound("there is no such entity")
    return found


def _is_known(audience: Audience, entity: EntityName, stores: Stores) -> bool:
    """Return whether anything may be told of an entity: a fact, or a memory of the subject that states none."""
    if _all_facts(audience, entity, stores, 1):
        return True
    return entity.type == "user_id" and bool(tellable(audience, stores.catalog.list_memories(audience.subject)))


def _all_facts(
    audience: Audience, entity: EntityName, stores: Stores, limit: int, after: tuple[str, ...] = ()
) -> list[KnownFact]:
    """Return the first facts behind a place, each assertion once, by what it says."""
    if entity.type == "user_id":
        relations = stores.graph.facts_of_subject(audience.subject, limit=_EVERYTHING)
    else:
        relations = stores.graph.about(audience.subject, [entity.value], limit=_EVERYTHING)
    behind = sorted((relation for relation in relations if _says(relation) >= after[:3]), key=_says)
    facts: list[KnownFact] = []
    read: list[Relation] = []
    # Whatever says the same is read together: of which type its object is only its memory knows.
    for _, same in groupby(behind, key=_says):
        read += same
        if len(read) >= _READ_AT_ONCE:
            facts += _known(read, {}, audience, stores, _EVERYTHING)
            read = []
        if len(facts) > limit:
            break
    else:
        facts += _known(read, {}, audience, stores, _EVERYTHING)
    return sorted((fact for fact in facts if _place_of_fact(fact) > after), key=_place_of_fact)[:limit]


def _asked(
    principal: Principal | None,
    audience: Audience,
    entity: EntityName,
    question: Question,
    stores: Stores,
    limit: int,
    now: datetime,
) -> EntityFacts:
    subject, clock = audience.subject, _Clock()
    found = retrieve(principal, [subject], question.text, stores, limit=question.most, way=Way.GRAPH, now=now)
    hits = [hit for hit in found if question.is_near(hit.similarity)]
    by_memory = {str(hit.memory.id): hit.score for hit in hits} if question.mode != "episodic" else {}
    near = _by_selectors(question, audience, stores) if found else _Near()
    by_turn = {}
    if question.mode != "semantic":
        by_turn = _best_of_turns(hits, lambda hit: hit.score) if near.turns is None else near.turns
    clock.stop("vector_search")
    stated = {(fact.memory.id, fact.ordinal): cosine for fact, cosine in near.facts}
    by_fact = {fact.memory.id: cosine for fact, cosine in reversed(near.facts)}
    memory_ids = {*map(uuid.UUID, by_memory), *by_fact}
    with search_stage("graph"):
        entered = [
            *(
                relation
                for relation in stores.graph.facts_of_memories(subject, memory_ids, limit=_EVERYTHING)
                if str(relation.memory_id) in by_memory or (relation.memory_id, relation.ordinal) in stated
            ),
            *stores.graph.facts_said_in(subject, list(by_turn), limit=_EVERYTHING),
        ]
    if entity.type == "name":
        entered = [relation for relation in entered if folded_name(entity.value) in relation.names]
    scores = {
        relation.memory_id: max(
            by_memory.get(str(relation.memory_id), 0.0),
            by_fact.get(relation.memory_id, 0.0),
            *(by_turn.get(turn, 0.0) for turn in relation.sources),
            0.0,
        )
        for relation in entered
    }
    verified = _known(entered, scores, audience, stores, limit)
    clock.stop("graph_verify")
    walked: Sequence[Relation] = ()
    if verified and question.hops:
        with search_stage("graph"):
            walked = stores.graph.facts_of_memories(
                subject, {fact.memory.id for fact in verified}, hops=question.hops, limit=_EVERYTHING
            )
    further = [relation for relation in walked if relation.distance]
    facts = _once([*verified, *_known(further, {}, audience, stores, limit)])[:limit]
    clock.stop("graph_fetch")
    verified_ids = {str(fact.memory.id) for fact in verified} | {
        turn for fact in verified for turn in fact.relation.sources
    }
    keys = {(fact.memory.id, fact.relation.ordinal): fact.relationship_key for fact in verified}
    compared = Family.MEMORIES if near.turns is None else Family.WINDOWS
    nearest = _best_of_turns(hits, lambda hit: hit.similarity) if near.turns is None else near.turns
    anchors = (
        *(
            Anchor("memory", id_, by_memory[id_], hit.similarity, id_ in verified_ids)
            for hit in hits
            for id_ in [str(hit.memory.id)]
            if id_ in by_memory
        ),
        *(
            Anchor("fact", str(fact.id), cosine, cosine, key is not None, Family.FACTS, key)
            for fact, cosine in near.facts
            for key in [keys.get((fact.memory.id, fact.ordinal))]
        ),
        *(
            Anchor("source", turn, score, nearest[turn], turn in verified_ids, compared)
            for turn, score in by_turn.items()
        ),
    )
    return EntityFacts(entity, _entity_id(subject, _name_of(entity)), tuple(facts), anchors, clock.seconds)


@dataclass(frozen=True)
class _Near:
    """The findings of a question by windows (None: there are none for this asker) and by facts."""

    turns: dict[str, float] | None = None
    facts: list[tuple[StatedFact, float]] = field(default_factory=list)


def _by_selectors(question: Question, audience: Audience, stores: Stores) -> _Near:
    by_windows = question.mode != "semantic" and stores.settings.episodic_windows == "on"
    by_facts = question.mode != "episodic" and stores.settings.fact_vectors == "on"
    if not (by_windows or by_facts):
        return _Near()
    with search_stage("embed"), spending("question"):
        [vector] = stores.embedder.embed([question.text])
    turns = turns_near(vector, audience, question.most, stores).turns if by_windows else {}
    facts = facts_near(vector, audience, question.most, stores) if by_facts else []
    return _Near(
        {turn: cosine for turn, cosine in turns.items() if question.is_near(cosine)} if turns else None,
        [(fact, cosine) for fact, cosine in facts if question.is_near(cosine)],
    )


def _best_of_turns(hits: Sequence[Hit], value: Callable[[Hit], float]) -> dict[str, float]:
    best: dict[str, float] = {}
    for hit in hits:
        for turn in hit.memory.source_turn_ids:
            best[turn] = max(value(hit), best.get(turn, value(hit)))
    return best


def _known(
    relations: Sequence[Relation], scores: Mapping[uuid.UUID, float], audience: Audience, stores: Stores, limit: int
) -> list[KnownFact]:
    """Return the first facts whose memory may be told as the catalog has it now, each assertion once."""
    ordered = sorted(relations, key=lambda relation: (-scores.get(relation.memory_id, 0.0), relation.distance))
    memories: dict[uuid.UUID, Memory] = {}
    facts: dict[str, KnownFact] = {}
    for start in range(0, len(ordered), _READ_AT_ONCE):
        page = ordered[start : start + _READ_AT_ONCE]
        read = stores.catalog.memories(audience.subject, {relation.memory_id for relation in page} - memories.keys())
        memories |= {memory.id: memory for memory in tellable(audience, read.values())}
        for relation in page:
            if memory := memories.get(relation.memory_id):
                fact = _fact(relation, memory, scores.get(memory.id))
                facts.setdefault(fact.relationship_key, fact)
        if len(facts) >= limit:
            break
    return _once(facts.values())[:limit]


def _fact(relation: Relation, memory: Memory, score: float | None) -> KnownFact:
    return KnownFact(
        relation,
        memory,
        _entity_id(memory.subject, relation.entity),
        type_of_object(relation.attribute, relation.object, memory.entities),
        score,
    )


def _once(facts: Iterable[KnownFact]) -> list[KnownFact]:
    ordered = sorted(facts, key=_rank)
    return list({fact.relationship_key: fact for fact in reversed(ordered)}.values())[::-1]


def _rank(fact: KnownFact) -> tuple[float, int, str, str, str, int]:
    relation = fact.relation
    return -(fact.score or 0.0), relation.distance, relation.entity, relation.verb, relation.object, fact.memory.id.int


def _says(relation: Relation) -> tuple[str, ...]:
    return relation.entity, relation.verb, relation.object


def _place_of_fact(fact: KnownFact) -> tuple[str, ...]:
    return *_says(fact.relation), fact.object_type


def _name_of(entity: EntityName) -> str:
    return _USER if entity.type == "user_id" else folded_name(entity.value)


def _entity_id(subject: Subject, name: str) -> uuid.UUID:
    own = uuid.uuid5(uuid.NAMESPACE_URL, subject.key)
    return own if name == _USER else uuid.uuid5(own, name)


class _Clock:
    """A clock of the parts of a search, one after the other, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = time.monotonic()

    def stop(self, part: str) -> None:
        now = time.monotonic()
        self.seconds[part] = now - self._began
        self._began = now
