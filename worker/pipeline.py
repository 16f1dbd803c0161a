"""What happens to the pending turns of one subject: read top to bottom, it is the story of `docs/architecture.md`."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from memory.catalog import Changes, LedgerEntry, Outcome
from memory.index.base import Entry, Vector
from memory.indexing import index, overtaken
from memory.mailbox import ConflictingTurn, Lease
from memory.queue import want_condensing
from memory.schema import (
    AdmissionAction,
    AuditAction,
    Candidate,
    Extraction,
    ForgetRequest,
    Memory,
    OpenTopic,
    Policy,
    Subject,
    Turn,
)
from policies.importance import importance, source_trust
from policies.limits import within_rate
from worker.context import admitted, context_of, name_of, questions_after, topics_after, without_told_secrets
from worker.crash_points import reached
from worker.draft import Draft
from worker.events import announce, take_back
from worker.extract.base import AdmittedTurn
from worker.extract.stated import with_stated_facts
from worker.failures import is_transient
from worker.metrics import count_committed, count_searchable
from worker.nights.consolidate import is_burst
from worker.parts import Parts
from worker.resolve import Item, Origin, Scored, resolve, text_of
from worker.screening import screened, source_of
from worker.stages import stage
from worker.wishes import Wishes, wishes_of, without_withheld

_log = structlog.get_logger()
_WORKER = "worker"


@dataclass(frozen=True)
class ReceivedTurn:
    """A turn as it came out of the mailbox: checked, with when it arrived there."""

    turn: Turn
    digest: str
    arrived_at: datetime


def process(received: Sequence[ReceivedTurn], lease: Lease, parts: Parts, now: datetime) -> None:
    """Take turns of one subject, oldest first, from the mailbox to memory. Repeatable: a turn has its effect once.

    Raises:
        StaleFence: the lease was taken over; nothing was written.
        ConflictingTurn: another turn was processed under the id of one of them; nothing was written.
        Exception: whatever a part raised before the commit; nothing was written.
    """
    subject = lease.subject
    with stage("admit"):
        fresh = _fresh(received, subject, parts)
        if not fresh:
            return
        context = context_of(subject, [one.turn for one in fresh], parts, now)
        said = without_told_secrets([one.turn for one in fresh], context)
        fresh = [replace(one, turn=turn) for one, turn in zip(fresh, said, strict=True)]
        turns = admitted(said, context)
        draft = Draft(subject, now, parts.policy.version, by=_WORKER, name=name_of(said, context))
        wishes = wishes_of(turns, context.preferences, draft)
        turns = without_withheld(turns, wishes)
    items: list[Item] = []
    vectors: dict[str, Vector] = {}
    effective: set[str] = set()
    topics: dict[str | None, OpenTopic | None] = {}
    if any(one.admission.action is not AdmissionAction.SKIP for one in turns):
        with stage("extract"):
            standing = parts.catalog.standing(subject, now - timedelta(hours=1))
            extraction = with_stated_facts(parts.extractor.extract(turns, context), turns, context.name)
            reached("after_extract")
            draft.made_by = _made_by(extraction)
        with stage("screen"):
            kept = list(screened(extraction, _turns_by_id(fresh), wishes, draft, parts))
            topics = topics_after(extraction, turns, context, wishes, parts.policy)
        with stage("score"):
            items = list(_score(kept, standing.writes, parts))
        if items:
            with stage("embed"):
                vectors = embed(items, standing.unindexed, draft, parts)
            with stage("resolve"):
                effective = resolve(items, vectors, _origins(fresh), draft, parts)
    with stage("commit"):
        questions = questions_after(turns, context, wishes, parts.policy)
        forgetting = {item.turn_id for item in items if isinstance(item, ForgetRequest)}
        changes = replace(
            draft.changes(lease.token),
            sources=tuple(_sources(fresh, wishes, draft, parts.policy)),
            ledger=tuple(_ledger(fresh, turns, effective, forgetting, draft)),
            topics=topics,
            questions=dict.fromkeys(questions) if forgetting else questions,
        )
        event_ids = commit(changes, vectors, parts)
    reached("after_commit")
    count_committed(changes)
    if draft.changed:
        tell(changes, event_ids, vectors, parts)
    if is_burst(subject, changes.created, parts, now):
        want_condensing(parts.celery, subject)


def _fresh(received: Sequence[ReceivedTurn], subject: Subject, parts: Parts) -> list[ReceivedTurn]:
    """Those of the turns that were neither processed nor erased."""
    processed = parts.catalog.processed(subject, [one.turn.turn_id for one in received])
    for one in received:
        if processed.get(one.turn.turn_id, one.digest) != one.digest:
            raise ConflictingTurn(one.turn.turn_id)
    erased = parts.catalog.erasing.tombstones(subject)
    return [
        one
        for one in received
        if one.turn.turn_id not in processed and not any(stone.covers(one.turn) for stone in erased)
    ]


def _made_by(extraction: Extraction) -> dict[str, str | int]:
    said: dict[str, str | int] = {"model": extraction.model}
    if extraction.prompt_version is None:
        return said
    return said | {
        "prompt_version": extraction.prompt_version,
        "batch_prompt_tokens": extraction.prompt_tokens,
        "batch_completion_tokens": extraction.completion_tokens,
    }


def _turns_by_id(received: Sequence[ReceivedTurn]) -> dict[str, Turn]:
    return {one.turn.turn_id: one.turn for one in received}


def _origins(received: Sequence[ReceivedTurn]) -> dict[str, Origin]:
    return {one.turn.turn_id: Origin(one.turn.conversation_id, one.turn.agent_id, one.turn.user_id) for one in received}


def _score(items: Sequence[Candidate | ForgetRequest], written: int, parts: Parts) -> Iterator[Item]:
    for item in items:
        if isinstance(item, ForgetRequest):
            yield item
            continue
        one = scored(item, parts)
        if one.importance < parts.policy.importance_minimum and not item.explicit:
            continue
        yield replace(one, importance=one.importance * within_rate(written, item.explicit, parts.policy))
        written += 1


def scored(candidate: Candidate, parts: Parts) -> Scored:
    """A candidate with the importance that it has by itself."""
    return Scored(
        candidate,
        importance(
            pinned=candidate.pinned,
            trust=source_trust(candidate.source),
            access_count=0,
            valence=candidate.valence,
            intensity=candidate.intensity,
            explicit=candidate.explicit,
            policy=parts.policy,
        ),
    )


def embed(items: Sequence[Item], unindexed: Sequence[Memory], draft: Draft, parts: Parts) -> dict[str, Vector]:
    """Vectors of all items and of what the index does not have yet, by their texts; the draft learns the latter."""
    texts = list(dict.fromkeys([*map(text_of, items), *(memory.summary for memory in unindexed)]))
    vectors: dict[str, Vector] = dict(zip(texts, parts.embedder.embed(texts), strict=True))
    # What the index was not told yet it cannot find: these are compared by their vectors here.
    draft.learn(unindexed)
    draft.vectors.update({memory.id: vectors[memory.summary] for memory in unindexed})
    return vectors


def _sources(fresh: Sequence[ReceivedTurn], wishes: Wishes, draft: Draft, policy: Policy) -> Iterator[Turn]:
    """The raw turns that memories of the draft came of, as they may be kept."""
    needed = {turn_id for memory in (*draft.created(), *draft.updated()) for turn_id in memory.source_turn_ids}
    for turn in (one.turn for one in fresh):
        if turn.turn_id in needed:
            yield source_of(turn, wishes.topics(turn.turn_id), draft.hidden.get(turn.turn_id, ()), policy)


def _ledger(
    fresh: Sequence[ReceivedTurn],
    turns: Sequence[AdmittedTurn],
    effective: set[str],
    forgetting: set[str],
    draft: Draft,
) -> Iterator[LedgerEntry]:
    """What became of each turn. `effective` are the ids of those of which something was kept or forgotten."""
    refused = {entry.turn_id for entry in draft.audit if entry.action in (AuditAction.REFUSED, AuditAction.QUARANTINED)}
    for one, said in zip(fresh, turns, strict=True):
        turn_id = one.turn.turn_id
        if turn_id in effective:
            outcome = Outcome.FORGOTTEN if turn_id in forgetting else Outcome.KEPT
        else:
            outcome = Outcome.REFUSED if turn_id in refused else Outcome.SKIPPED
        yield LedgerEntry(turn_id, one.digest, outcome, said.admission.reasons, one.arrived_at, draft.time())


def commit(changes: Changes, vectors: Mapping[str, Vector], parts: Parts) -> list[int]:
    """Write all changes at once, with the vectors of their memories where the index lies in the catalog's database,
    and answer the ids of the events.

    Raises:
        StaleFence, ConcurrentChange: somebody else wrote; nothing was written.
    """
    if not parts.catalog.carries_vectors:
        return parts.catalog.commit(changes)
    return parts.catalog.commit(changes, _completed(vectors, (*changes.created, *changes.updated), parts))


def tell(changes: Changes, event_ids: Sequence[int], vectors: Mapping[str, Vector], parts: Parts) -> None:
    """Index and announce. The catalog has it all already: what cannot be told now, the sweeper tells later."""
    written = (*changes.created, *changes.updated)
    try:
        if not parts.catalog.carries_vectors:
            with stage("index"):
                _index(written, [memory.index_key for memory in changes.deleted], changes.subject, vectors, parts)
        reached("after_index")
        count_searchable(changes)
        with stage("announce"):
            told = announce(list(zip(event_ids, changes.events, strict=True)), parts)
            jobs = changes.index_jobs()
            now = parts.catalog.told(jobs, event_ids)
            gone = {str(memory.id) for memory in written if memory.id not in now}
            of_gone = [id_ for id_, event in zip(event_ids, changes.events, strict=True) if event.tells_of(gone)]
            take_back(told, of_gone, parts)
        index(overtaken(jobs, {memory.id: memory.version for memory in written}, now), parts)
    except Exception as error:
        if not is_transient(error):
            raise
        _log.warning("index_or_events_behind", stage="index", error=type(error).__name__)


def _index(
    memories: Sequence[Memory],
    gone: Sequence[uuid.UUID],
    subject: Subject,
    vectors: Mapping[str, Vector],
    parts: Parts,
) -> None:
    known = _completed(vectors, memories, parts)
    if memories:
        parts.index.upsert([Entry.of(memory, known[memory.summary]) for memory in memories])
    if gone:
        parts.index.delete(subject, gone)


def _completed(vectors: Mapping[str, Vector], memories: Sequence[Memory], parts: Parts) -> dict[str, Vector]:
    """The vectors of all these memories' summaries, and whatever else was known."""
    missing = [memory.summary for memory in memories if memory.summary not in vectors]
    return {**vectors, **dict(zip(missing, parts.embedder.embed(missing), strict=True))} if missing else {**vectors}
