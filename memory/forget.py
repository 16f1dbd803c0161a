"""Carry out a spoken request to forget."""

from __future__ import annotations

import re
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from memory.attributes import prototypes_of
from memory.context import MemoryContext
from memory.draft import Draft
from memory.erasure.memories import family, remove
from memory.indexing import indexed_vectors
from memory.screening import masked_text
from memory.superseding import tolerance_of
from memory.third_parties import text_without_others
from policies.forgetting import Known, Meant, Shares, left_of, meant_by
from policies.language.attributes import attribute_shares
from policies.language.heads import EMBEDDER
from policies.language.life_topic_head import life_topic_chances
from policies.language.wording import READ_AS, called
from policies.pieces import left_standing, pieces_of
from policies.wish_words import life_topics_meant, names_nothing, names_what_stays
from schema import MAX_SUMMARY_CHARS, AuditAction, Candidate, EventName, ForgetRequest, Memory, Review, Status
from stores.index.base import Vector

FORGETTABLE = (Status.ACTIVE, Status.PROVISIONAL, Status.SUPERSEDED, Status.ARCHIVED)
"""The statuses of what a wish to forget may mean."""
LOOKED_THROUGH = 5_000
"""How many memories of a subject are looked through, the latest change first."""
_USER = "user"
"""Whom facts call the user."""
_WORDS = re.compile(r"\w+")
_TAKEN_APART = 20
"""Of how many memories that tell several things, the nearest first, each clause is looked at."""
_READ_BESIDE = 24
"""How many memories, the nearest first, a message is read beside."""
_ASKED = "the user asked for it to be forgotten"
_IN_DOUBT = "the user asked for something like it to be forgotten: hidden until somebody says more"
_AT_ONCE = "the user asked for it to be forgotten: hidden until it is"
_REST = "what is left of it without what was forgotten"
_NOTHING = "nothing is known that was asked to be forgotten"
NOTHING_TO_FORGET = "nothing_to_forget"
"""The code of the event that tells so."""
TOLD_LATER = "told_later"
"""The code of the event that tells that what is meant was told later than the wish."""
_SAID_LATER = "what was said later than the wish to forget it stays"
_SHOWN = (Status.ACTIVE, Status.PROVISIONAL)
_UNDER_LEGAL_HOLD = "it is under legal hold: nothing was forgotten of what the user asked for"


def forget(
    request: ForgetRequest, vector: Vector, draft: Draft, context: MemoryContext, conversation_id: str | None = None
) -> bool:
    """Remove on the draft what a request surely means, of the memories and of what waits for a person, and hide what it
    may mean until a person says so.

    `vector` is the request's, `conversation_id` that of its turn: only there something was just said. Returns whether
    anything was removed or hidden; where nothing was, an event says so. Under legal hold nothing is removed, and the
    audit says so; so it does of what was surely said later than the request, which stays.
    """
    request, memories, items, all_meant = _looked_through(request, vector, draft, context, conversation_id)
    meant = _said_before(all_meant, memories, request, context)
    later = [] if request.only_as_read else [memories[i].id for i in _places(all_meant) if i not in _places(meant)]
    for id_ in later:
        draft.audit_refusal(AuditAction.REFUSED, request.turn_id, _SAID_LATER, memory_id=id_)
    # What is read as meant goes with all pieces that may belong to it, unless the wish says that some of it is to stay:
    # where it did not, 3 of 82 pieces that were not read as meant were to stay, and 53 to go.
    stays = request.said is None or names_what_stays(request.said)
    beside = _rests([items[index] for index in meant.perhaps], request, draft, context, surely=not stays)
    hid = _hide([memories[index] for index in meant.perhaps], request, draft, context, conversation_id)
    for rest, rest_vector in beside:
        draft.create(rest, rest_vector, _REST)
    if hid:
        draft.hid.add(request.turn_id)
    if request.only_as_read:
        return hid
    sure = [memories[index] for index in meant.surely]
    if sure:
        draft.load(family(context.catalog, draft.subject, [memory.id for memory in sure]).values())
        narrowed = _narrowed(sure, request, draft, context)
        rests = _rests([items[index] for index in meant.surely], request, draft, context)
        aftermath = remove(narrowed, draft, context, _ASKED, staying=[rest for rest, _ in rests])
        for id_ in aftermath.held:
            draft.audit_refusal(AuditAction.REFUSED, request.turn_id, _UNDER_LEGAL_HOLD, memory_id=id_)
        if aftermath.held:
            return hid
        for rest, rest_vector in rests:
            draft.create(rest, rest_vector, _REST)
    if _withdraw(request, draft, context) or sure:
        draft.forgot.add(request.turn_id)
        return True
    if not hid:
        code, message = (TOLD_LATER, _SAID_LATER) if later else (NOTHING_TO_FORGET, _NOTHING)
        payload = {"turn_id": request.turn_id, "code": code, "message": message}
        draft.emit(EventName.ERROR, payload)
    return hid


def hide_meant(
    request: ForgetRequest, vector: Vector, draft: Draft, context: MemoryContext, conversation_id: str | None = None
) -> bool:
    """Archive on the draft what a request surely means, as long as nobody has forgotten it yet; delete what of it is
    provisional, on which nobody has decided, also where it may only be what was just said.

    Returns whether anything was; what is under legal hold is left as it is.
    """
    request, memories, _, meant = _looked_through(request, vector, draft, context, conversation_id)
    meant = _said_before(meant, memories, request, context)
    shown = [memories[index] for index in meant.surely if memories[index].status in _SHOWN]
    if request.just_said:
        shown += [memories[index] for index in meant.perhaps if memories[index].status is Status.PROVISIONAL]
    free = [memory for memory in shown if not memory.legal_hold]
    for memory in free:
        if memory.status is Status.PROVISIONAL:
            draft.delete(memory, _AT_ONCE)
        else:
            draft.archive(memory, _AT_ONCE)
    return bool(free)


def _looked_through(
    request: ForgetRequest, vector: Vector, draft: Draft, context: MemoryContext, conversation_id: str | None
) -> tuple[ForgetRequest, list[Memory], list[Known], Meant]:
    """Return the memories that a request may mean, as they are known, and which of them it does; with the request as it
    was understood: one that means what was just said, where nothing was, means what the whole message is about, if it
    names anything."""
    memories, items, meant = _meant_of_known(request, vector, draft, context, conversation_id)
    if (
        not request.just_said
        or request.said is None
        or meant != Meant()
        or names_nothing(request.said, draft.name or "")
    ):
        return request, memories, items, meant
    of_message = request.model_copy(update={"just_said": False, "what": request.said})
    [message_vector] = context.embedder.embed([request.said])
    return of_message, *_meant_of_known(of_message, message_vector, draft, context, conversation_id)


def _said_before(
    meant: Meant, said: Sequence[Memory | Candidate], request: ForgetRequest, context: MemoryContext
) -> Meant:
    """Return what of that which is meant was not surely said later than the request: an old turn that is replayed
    takes nothing that was told since."""
    if request.said_at is None:
        return meant
    last = request.said_at + tolerance_of(context)
    surely, perhaps = (tuple(i for i in places if said[i].said_at <= last) for places in (meant.surely, meant.perhaps))
    return Meant(surely, perhaps)


def _places(meant: Meant) -> set[int]:
    return {*meant.surely, *meant.perhaps}


def _meant_of_known(
    request: ForgetRequest, vector: Vector, draft: Draft, context: MemoryContext, conversation_id: str | None
) -> tuple[list[Memory], list[Known], Meant]:
    draft.load(context.catalog.list_memories(draft.subject, statuses=FORGETTABLE, limit=LOOKED_THROUGH))
    memories = [
        memory
        for memory in draft.current.values()
        if memory.status in FORGETTABLE
        and (not request.just_said or (memory.conversation_id == conversation_id and memory.status in _SHOWN))
    ]
    items = _read(known_beside(memories, request, vector, draft, context), request, draft, context)
    meant = _named(request, memories) if request.known else meant_by(request, items, context.policy, draft.name or "")
    if request.spares is not None:
        meant = _without(meant, request.spares, memories, request, draft, context)
    return memories, items, meant


def _without(
    meant: Meant, spares: str, memories: Sequence[Memory], request: ForgetRequest, draft: Draft, context: MemoryContext
) -> Meant:
    """Return what a request means without what it spares."""
    spared = ForgetRequest(turn_id=request.turn_id, ordinal=request.ordinal, what=spares, language=request.language)
    [vector] = context.embedder.embed([spares])
    stay = meant_by(spared, known_beside(memories, spared, vector, draft, context), context.policy, draft.name or "")
    staying = {*stay.surely, *stay.perhaps}
    surely, perhaps = (tuple(i for i in places if i not in staying) for places in (meant.surely, meant.perhaps))
    return Meant(surely, perhaps)


def _rests(
    meant: Sequence[Known], request: ForgetRequest, draft: Draft, context: MemoryContext, *, surely: bool = False
) -> list[tuple[Memory, Vector]]:
    """Return what is left of the active memories that say more than what is meant, each as a memory of its own; if
    `surely`, only what is surely not meant."""
    rests = []
    for item in meant:
        memory = item.memory
        if not isinstance(memory, Memory) or memory.status is not Status.ACTIVE or memory.consolidated_from:
            continue
        name = draft.name or ""
        if surely:
            read = {piece.memory.summary: piece.read for piece in item.pieces if piece.read is not None}
            summary = left_standing(memory.summary, read, name)
        else:
            summary = left_of(item, request, context.policy, name)
        if summary is not None:
            rests.append((_alone(memory, summary, draft), context.embedder.embed([summary])[0]))
    return rests


def _alone(memory: Memory, summary: str, draft: Draft) -> Memory:
    spoken = f" {' '.join(_WORDS.findall(summary.casefold()))} "

    def tells(text: str) -> bool:
        return f" {' '.join(_WORDS.findall(text.casefold()))} " in spoken

    return memory.model_copy(
        update={
            "id": _rest_id(memory, summary),
            "summary": summary,
            "entities": tuple(entity for entity in memory.entities if tells(entity.text)),
            "facts": tuple(
                fact for fact in memory.facts if tells(fact.object) and (fact.entity == _USER or tells(fact.entity))
            ),
            "attachments": (),
            "tags": (),
            "created_at": draft.now,
            "updated_at": draft.now,
            "supersedes": (),
            "merged_from": (),
            "version": 1,
        }
    )


def is_rest_of(memory: Memory, whole: Memory) -> bool:
    """Return whether a memory is what was left of another one without what may have been meant."""
    return memory.id == _rest_id(whole, memory.summary)


def _rest_id(whole: Memory, summary: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, f"afterturn:{whole.subject.key}:rest:{whole.id}:{summary}")


def _named(request: ForgetRequest, memories: Sequence[Memory]) -> Meant:
    """Return the places of the memories that a request names, with all that they took the place of, and no other."""
    named = set(request.known)
    before = {memory.id: memory.supersedes for memory in memories}
    latest = named
    while latest:
        latest = {old for id_ in latest for old in before.get(id_, ())} - named
        named |= latest
    places = tuple(index for index, memory in enumerate(memories) if memory.id in named)
    return Meant(perhaps=places) if request.doubtful else Meant(surely=places)


def known_beside(
    memories: Sequence[Memory], request: ForgetRequest, vector: Vector, draft: Draft, context: MemoryContext
) -> list[Known]:
    """Return the memories with their cosines to a request, the attributes that they speak of, and the topics where the
    request names one as a whole and the embedder is the one that the head has learned from."""
    name = draft.name or ""
    reads_topics = context.embedder.name == EMBEDDER and bool(life_topics_meant(request, name))

    def topics_of(text: str, text_vector: Vector) -> Shares | None:
        return life_topic_chances(text, text_vector, name) if reads_topics else None

    vectors: Mapping[uuid.UUID, Vector] = {
        **indexed_vectors([memory for memory in memories if memory.id not in draft.vectors], context),
        **draft.vectors,
    }
    prototypes = prototypes_of(context.embedder)
    items = [
        Known(
            memory,
            float(memory_vector @ vector),
            attribute_shares(memory_vector, prototypes),
            topics=topics_of(memory.summary, memory_vector),
        )
        if (memory_vector := vectors.get(memory.id)) is not None
        else Known(memory)
        for memory in memories
    ]
    pieces = {index: cut for index, item in enumerate(items) if len(cut := pieces_of(item.memory.summary, name)) > 1}
    near = sorted(pieces, key=lambda index: -(items[index].similarity or 0.0))[:_TAKEN_APART]
    texts = [text for index in near for text in pieces[index]]
    embedded = dict(zip(texts, context.embedder.embed(texts), strict=True)) if texts else {}
    for index in near:
        items[index] = replace(
            items[index],
            pieces=tuple(
                Known(
                    items[index].memory.model_copy(update={"summary": text}),
                    float(embedded[text] @ vector),
                    attribute_shares(embedded[text], prototypes),
                    topics=topics_of(text, embedded[text]),
                )
                for text in pieces[index]
            ),
        )
    return items


def _read(items: Sequence[Known], request: ForgetRequest, draft: Draft, context: MemoryContext) -> list[Known]:
    """Return what is known with how likely the request's message is read to ask for it: of the nearest, and of their
    pieces. All users are read under one name, as `memory.decisions` reads them."""
    if request.said is None or request.scope == "all" or request.known or context.forget_reader is None:
        return list(items)
    name = draft.name or ""
    # What a message tells itself reads like a wish to forget it where it may be none: "About time, I drove half of it".
    apart = [
        index
        for index, item in enumerate(items)
        if not (
            request.doubtful
            and isinstance(item.memory, Memory)
            and set(item.memory.source_turn_ids) == {request.turn_id}
        )
    ]
    beside = sorted(apart, key=lambda index: -(items[index].similarity or 0.0))[:_READ_BESIDE]
    texts = [item.memory.summary for index in beside for item in (items[index], *items[index].pieces)]
    pairs = [(called(text, name, READ_AS), request.said) for text in texts]
    chances = iter(context.forget_reader.chances(pairs))
    found = list(items)
    for index in beside:
        whole = replace(items[index], read=next(chances))
        found[index] = replace(whole, pieces=tuple(replace(piece, read=next(chances)) for piece in whole.pieces))
    return found


def _hide(
    memories: Collection[Memory],
    request: ForgetRequest,
    draft: Draft,
    context: MemoryContext,
    conversation_id: str | None,
) -> bool:
    """Archive what may be meant and ask a person: it is not told any more, and nothing is lost. Returns whether
    anything was."""
    shown = [memory for memory in memories if memory.status is Status.ACTIVE]
    for memory in shown:
        draft.archive(memory, _IN_DOUBT)
    if shown:
        review = Review.of_forgetting(
            draft.subject,
            tuple(memory.id for memory in shown),
            request.turn_id,
            policy_version=draft.policy_version,
            opened_at=draft.now,
            conversation_id=conversation_id,
            wish=_wish_kept(request, draft, context),
        )
        draft.queue_review(review)
    return bool(shown)


def _wish_kept(request: ForgetRequest, draft: Draft, context: MemoryContext) -> str | None:
    """Return the words of a wish as a person who decides may be shown them, None where none of them may be kept."""
    own = [name for name in (draft.name, draft.subject.subject_id) if name]
    words = masked_text(request.said or request.what, context.policy)
    return text_without_others(words, own, context.policy)[:MAX_SUMMARY_CHARS] or None


def _withdraw(request: ForgetRequest, draft: Draft, context: MemoryContext) -> bool:
    """Withdraw what waits for a person and is surely meant. Returns whether anything was."""
    waiting = [review for review in (*draft.reviews, *context.catalog.reviews.page(draft.subject)) if review.candidate]
    candidates = [review.candidate for review in waiting if review.candidate]
    meant = meant_by(request, [Known(candidate) for candidate in candidates], context.policy, draft.name or "")
    withdrawn = _said_before(meant, candidates, request, context).surely
    for index in withdrawn:
        draft.withdraw_review(waiting[index], _ASKED)
    return bool(withdrawn)


def _narrowed(meant: Sequence[Memory], request: ForgetRequest, draft: Draft, context: MemoryContext) -> set[uuid.UUID]:
    """Return the memories that are meant; of a consolidated one only the originals that are, if any is by itself."""
    ids = set()
    for memory in meant:
        originals = [draft.current[id_] for id_ in memory.consolidated_from if id_ in draft.current]
        chosen = meant_by(request, [Known(original) for original in originals], context.policy, draft.name or "").surely
        ids |= {originals[index].id for index in chosen} or {memory.id}
    return ids
