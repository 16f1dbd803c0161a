"""Read what a message says beside what is known: what of it ends."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Final

from memory.context import MemoryContext
from memory.draft import Draft
from memory.parser.english import parse
from memory.scoring import Item, Origin, Scored
from memory.superseding import is_for_the_same, tolerance_of
from policies.access import shared_labels
from policies.dedup import Neighbour, is_earlier
from policies.language.former_states import tells_of_a_former_state
from policies.language.kinds import tells_of_another
from policies.language.sentences import split_sentences
from policies.language.wording import READ_AS, called
from policies.likely_ended import READ_BESIDE, beside_each_other, likely_ended, of_whom_it_tells
from policies.pieces import left_after, pieces_of
from schema import Candidate, Memory, MemoryType
from stores.index.base import Vector, Where

COMPARABLE: Final = (MemoryType.SEMANTIC, MemoryType.EPISODIC)
"""The types of memories whose place each other may take: an event can end a fact, and a fact an event."""
_PIECE_ENDS_FROM: Final = 0.2
"""How likely a piece of what ends must be read to end, not to be left."""


@dataclass(frozen=True)
class Message:
    """All that a turn's user says themself, its vector, the cosines of known memories to it, and the summaries of the
    candidates that came of it. `held` is how many memories there were of its subject before its batch; `read` has what
    was read so far: how likely, by what is known and what was said."""

    said: str
    vector: Vector
    similarities: Mapping[uuid.UUID, float]
    summaries: tuple[str, ...]
    held: int
    read: dict[tuple[str, str], float] = field(default_factory=dict, compare=False)


def messages_of(
    items: Sequence[Item], origins: Mapping[str, Origin], draft: Draft, context: MemoryContext
) -> dict[str, Message]:
    """Return the messages of a batch that are read beside what is known, by turn: of those that candidates came of, the
    English ones, where there is a model that reads."""
    if context.cross_encoder is None:
        return {}
    said: dict[str, str] = {}
    summaries: dict[str, list[str]] = {}
    for item in items:
        if isinstance(item, Scored) and item.candidate.said is not None and item.candidate.type in COMPARABLE:
            said[item.candidate.turn_id] = item.candidate.said
            summaries.setdefault(item.candidate.turn_id, []).append(item.candidate.summary)
    if not said:
        return {}
    held = context.catalog.quota_counts.memories(draft.subject.tenant_id, draft.subject.subject_id)
    vectors = context.embedder.embed(list(said.values()))
    return {
        turn_id: Message(text, vector, _near(vector, origins[turn_id], draft, context), tuple(summaries[turn_id]), held)
        for (turn_id, text), vector in zip(said.items(), vectors, strict=True)
    }


def with_endings(
    candidate: Candidate,
    near: Sequence[Neighbour],
    message: Message,
    origin: Origin | None,
    draft: Draft,
    context: MemoryContext,
    earlier: Sequence[tuple[Memory, Vector]] = (),
) -> list[Neighbour]:
    """Return what is near a candidate, and what its message ends by what the candidate tells, each with whether it
    does."""
    tolerance = tolerance_of(context)
    beside = [
        neighbour
        for neighbour in draft.neighbours(COMPARABLE, message.similarities, message.vector, earlier)
        if is_for_the_same(neighbour.memory, origin)
        and candidate.turn_id not in neighbour.memory.source_turn_ids
        and not is_earlier(candidate, neighbour.memory, tolerance)
    ][:READ_BESIDE]
    chances = _chances([(neighbour.memory.summary, message.said) for neighbour in beside], message, draft, context)
    # What the message itself has told by now is nothing that was known before it.
    told = sum(candidate.turn_id in memory.source_turn_ids for memory in draft.current.values())
    among = message.held + max(draft.gained - told, 0) + len(earlier)
    read = beside_each_other(message.said, chances, [neighbour.similarity for neighbour in beside], among)
    likely = [neighbour for neighbour, one in zip(beside, read, strict=True) if likely_ended(one)]
    ended = _without_what_stays(likely, message, candidate.said_at, draft.name or "")
    by_this = {n.memory.id for n in ended if _is_told_by(candidate, n.memory, message, draft, context)}
    known = {n.memory.id for n in near}
    further = [n for n in ended if n.memory.id in by_this and n.memory.id not in known]
    return [
        replace(n, ended=True, left=_left_of(n.memory, message, draft, context))
        if n.memory.id in by_this
        else replace(n, ended=False)
        for n in (*near, *further)
    ]


def _without_what_stays(likely: Sequence[Neighbour], message: Message, at: datetime, name: str) -> list[Neighbour]:
    """Return what likely ended but for memories of another thing of the same kind, two exams, or of others than the
    message names, and what was told after the time of which the message tells was over."""
    if not likely:
        return []
    said = parse([sentence.text for sentence in split_sentences(message.said)])
    known = parse([neighbour.memory.summary for neighbour in likely])
    people = [
        {entity.text for entity in n.memory.entities if entity.type == "PERSON" and entity.text != name} for n in likely
    ]
    return [
        n
        for n, parsed, tells_of_them in zip(likely, known, of_whom_it_tells(message.said, people), strict=True)
        if tells_of_them
        and not tells_of_another(parsed, said, name)
        and not tells_of_a_former_state(message.said, said, at, n.memory.said_at)
    ]


def _left_of(memory: Memory, message: Message, draft: Draft, context: MemoryContext) -> str | None:
    """Return what a message leaves of a memory that it ends, None where that is nothing."""
    name = draft.name or ""
    pieces = pieces_of(memory.summary, name)
    if len(pieces) == 1:
        return None
    chances = _chances([(piece, message.said) for piece in pieces], message, draft, context)
    least = min(_PIECE_ENDS_FROM, max(chances))
    return left_after(pieces, [chance >= least for chance in chances], name)


def _is_told_by(candidate: Candidate, memory: Memory, message: Message, draft: Draft, context: MemoryContext) -> bool:
    """Return whether of all that came of a message a candidate is what tells most likely that a memory is over."""
    if len(message.summaries) == 1:
        return True
    pairs = [(memory.summary, summary) for summary in message.summaries]
    chances = _chances(pairs, message, draft, context)
    return message.summaries[chances.index(max(chances))] == candidate.summary


def _chances(pairs: Sequence[tuple[str, str]], message: Message, draft: Draft, context: MemoryContext) -> list[float]:
    """Return how likely the later of each pair ends the earlier. All users are read under one name: with another name
    the same words would get other chances."""
    unread = [pair for pair in pairs if pair not in message.read]
    if unread and context.cross_encoder is not None:
        name = draft.name or ""
        alike = [(called(known, name, READ_AS), called(said, name, READ_AS)) for known, said in unread]
        message.read.update(zip(unread, context.cross_encoder.chances(alike), strict=True))
    return [message.read[pair] for pair in pairs]


def _near(vector: Vector, origin: Origin, draft: Draft, context: MemoryContext) -> dict[uuid.UUID, float]:
    shared = shared_labels(origin.visibility, origin.author_id, origin.agent_id)
    where = Where(draft.subject, types=COMPARABLE, seen_by=shared)
    hits = context.index.query(vector, where, READ_BESIDE)
    return {hit.memory_id: hit.similarity for hit in hits}
