"""Change one memory for a person or an agent: edit, pin, archive, restore, suppress; each audited with who did."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from memory.context import MemoryContext
from memory.draft import Draft
from memory.failures import retry_on_conflict
from memory.metrics import RESTORED
from memory.publish import publish
from memory.rights import name_of, require_writable, writable_memory
from memory.statement_screening import reading_of, screened, stated_tags, stated_without_others
from memory.superseding import contradicted_by, put_in_place_of
from memory.tracing import memory_span
from memory.versions import require_version
from policies.authority import USER, may_replace
from policies.categories import normalised_category
from schema import AuditAction, Memory, Principal, Status, Subject, Visibility
from schema.errors import Refused
from schema.turn import TurnSource

_AGENT: Final[TurnSource] = "agent"
_SAID_THEMSELF: Final = "the user said it themself: remember what changed, and it waits for them to decide"
_COUNTS_FOR: Final = "the user said it themself: an agent may have it count for more, and not for less"
_FOR_THEM: Final = "the user said it themself: whether it is told, and to whom, is for them to say"
Verb = Literal["pin", "unpin", "archive", "restore", "suppress", "unsuppress"]
_Change = Callable[[Memory, Draft], None]


class NotPossible(Refused):
    """The memory is not in a state in which that can be done. The message says in which it is."""


@dataclass(frozen=True)
class Edit:
    """New values of a memory's fields; None leaves a field as it is."""

    summary: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    importance: float | None = None
    confidence: float | None = None
    visibility: Visibility | None = None
    """`individual` makes it the own of the agent who edits."""

    def lessens(self, memory: Memory) -> bool:
        """Return whether the memory would count for less than it does, and so be told less and forgotten sooner."""
        given = ((self.importance, memory.importance), (self.confidence, memory.confidence))
        return any(new is not None and new < old for new, old in given)

    def fields(self) -> dict[str, Any]:
        """Return the fields that are given, by their names."""
        return {name: value for name, value in vars(self).items() if value is not None}


def edit(
    principal: Principal | None,
    subject: Subject,
    memory_id: uuid.UUID,
    wanted: Edit,
    context: MemoryContext,
    *,
    now: datetime,
    versions: Collection[int] | None = None,
    by: str | None = None,
    by_hand: bool = False,
) -> Memory:
    """Change what a memory says or counts; with `versions` only while it is at one of those. Returns it as it is then.

    `by` is who does it, for the audit, where that is another than the principal's key or an operator; `by_hand` is for
    a face where a person writes and no program: see `screened`.

    A new summary is screened as one that comes of a turn, others' names as well as secrets, and its facts and entities
    are read off it; a person's are the user's own words from then on. It is said now: what another memory has as the
    value of the same it takes the place of. Of new tags those stay that may be kept. The audit names the fields, not
    their values. A confidence of 0 archives.

    Raises:
        NotFound, NotAMember, NotAllowed: see `writable_memory`; so may what it would be seen as not be written.
        VersionMismatch: it is at another version.
        NotPossible: it is provisional, or an agent would change the words of somebody who is trusted more, hide them or
            show them to others, have them count for less, or contradict them.
        NotKept: the new summary is a secret, planted, or on a blocked topic, or so is a tag or the category.
        pydantic.ValidationError: a value cannot be what its field says.
        ConcurrentChange: others kept changing it.
    """
    # Before any word is judged: a refusal may say that a topic is blocked.
    writable_memory(principal, subject, memory_id, context.catalog)
    fields = wanted.fields()
    if "category" in fields:
        fields["category"] = normalised_category(fields["category"], context.settings.categories)
    source = _AGENT if _is_agent(principal) else USER
    fields |= _kept_words(fields, subject, context, by_hand=by_hand, source=source)
    if "summary" in fields:
        read = reading_of(fields["summary"], subject, context, now)
        fields |= {"facts": read.facts, "entities": read.entities, "said_at": now}
        if not _is_agent(principal):
            fields["source"] = USER
    named = ", ".join(sorted(vars(wanted).keys() & fields.keys()))

    def change(memory: Memory, draft: Draft) -> None:
        if wanted.confidence == 0.0 or wanted.visibility not in (None, memory.visibility):
            _require_authority(principal, memory, _FOR_THEM)
        if wanted.lessens(memory):
            _require_authority(principal, memory, _COUNTS_FOR)
        if "summary" in fields and _is_agent(principal):
            _require_authority(principal, memory, _SAID_THEMSELF)
            fields["source"] = _AGENT
        own = {"agent_id": principal.agent_id} if principal and wanted.visibility is Visibility.INDIVIDUAL else {}
        changed = Memory.model_validate({**memory.model_dump(), **fields, **own, "updated_at": now})
        if "summary" in fields:
            changed = stated_without_others(changed, subject, context)
        if wanted.visibility is not None:
            require_writable(principal, subject, changed.labels, context.catalog)
        if wanted.confidence == 0.0 and memory.status is Status.ACTIVE:
            draft.update(changed, None, f"edited: {named}")
            draft.archive(changed, "its confidence was set to 0")
        elif "summary" in fields:
            outdated = contradicted_by(changed, memory, draft, context) if changed.status is Status.ACTIVE else []
            if not all(may_replace(changed.source, old.source) for old in outdated):
                raise NotPossible(_SAID_THEMSELF)
            supersedes = tuple(dict.fromkeys((*changed.supersedes, *(old.id for old in outdated))))
            changed = changed.model_copy(update={"supersedes": supersedes})
            draft.reword(changed, f"edited: {named}")
            put_in_place_of(outdated, changed, "an edit says otherwise", draft, context)
        else:
            draft.update(changed, None, f"edited: {named}")

    return _change(principal, subject, memory_id, change, context, now, by, versions)


def _is_agent(principal: Principal | None) -> bool:
    return principal is not None and principal.agent_id is not None


def _require_authority(principal: Principal | None, memory: Memory, refusal: str) -> None:
    """Check that who asks is no agent who would do something to the words of somebody who is trusted more.

    Raises:
        NotPossible: it is.
    """
    if _is_agent(principal) and not may_replace(_AGENT, memory.source):
        raise NotPossible(refusal)


def _kept_words(
    fields: Mapping[str, Any], subject: Subject, context: MemoryContext, *, by_hand: bool, source: TurnSource
) -> dict[str, Any]:
    """Return what may be kept of the new summary and tags, where there are any."""
    tags, category = fields.get("tags", ()), fields.get("category")
    labels = [*tags, category] if category else tags
    preferences = context.catalog.preferences.of(subject)
    # Without a summary, too: a label alone may be on a blocked topic.
    summary = screened(fields.get("summary", ""), preferences, context, labels=labels, by_hand=by_hand, source=source)
    kept = {"summary": summary, "tags": stated_tags(tags, subject, context)}
    return {name: value for name, value in kept.items() if name in fields}


def apply_verb(
    principal: Principal | None,
    subject: Subject,
    memory_id: uuid.UUID,
    verb: Verb,
    context: MemoryContext,
    *,
    now: datetime,
    versions: Collection[int] | None = None,
    by: str | None = None,
) -> Memory:
    """Do to a memory what a verb says, with `versions` only while it is at one of those, and return it as it is then.
    Doing it again changes nothing.

    `pin` keeps it from fading, `archive` takes it out of what is recalled and keeps it for a while, `restore` recalls
    it again, `suppress` keeps it and never tells it. `by` is as for `edit`.

    Raises:
        NotPossible: its status does not allow that, something else has taken its place, or an agent would do it to the
            words of somebody who is trusted more.
        NotFound, NotAMember, NotAllowed, VersionMismatch, ConcurrentChange: see `edit`.
    """

    def change(memory: Memory, draft: Draft) -> None:
        _require_authority(principal, memory, _FOR_THEM)
        _CHANGES[verb](memory, draft)

    return _change(principal, subject, memory_id, change, context, now, by, versions)


def _mark(field: str, value: bool, reason: str) -> _Change:
    def change(memory: Memory, draft: Draft) -> None:
        if getattr(memory, field) is not value:
            draft.update(memory.model_copy(update={field: value, "updated_at": draft.now}), None, reason)

    return change


def _archive(memory: Memory, draft: Draft) -> None:
    if memory.status is Status.ARCHIVED:
        return
    if memory.status is not Status.ACTIVE:
        raise NotPossible(f"it is {memory.status.value}: only what holds can be archived")
    draft.archive(memory, "archived by hand")


def _restore(memory: Memory, draft: Draft) -> None:
    if memory.status is Status.ACTIVE:
        return
    if memory.status is not Status.ARCHIVED:
        raise NotPossible(f"it is {memory.status.value}: only what is archived can be restored")
    if memory.superseded_by or memory.consolidated_into:
        raise NotPossible("something else tells it now: edit that")
    changed = {"status": Status.ACTIVE, "updated_at": draft.now, "last_accessed": draft.now}
    draft.update(memory.model_copy(update=changed), None, "restored by hand", AuditAction.RESTORED)


_CHANGES: Final[dict[Verb, _Change]] = {
    "pin": _mark("pinned", True, "pinned"),
    "unpin": _mark("pinned", False, "unpinned"),
    "archive": _archive,
    "restore": _restore,
    "suppress": _mark("suppressed", True, "suppressed: never told"),
    "unsuppress": _mark("suppressed", False, "no longer suppressed"),
}


@retry_on_conflict
def _change(
    principal: Principal | None,
    subject: Subject,
    memory_id: uuid.UUID,
    change: _Change,
    context: MemoryContext,
    now: datetime,
    by: str | None,
    versions: Collection[int] | None,
) -> Memory:
    """Read the memory, let `change` put what becomes of it on a draft, and publish."""
    by = by or name_of(principal)
    with memory_span("update_memory", record_id=memory_id, count=1):
        memory = writable_memory(principal, subject, memory_id, context.catalog)
        require_version(memory, versions)
        if memory.status is Status.PROVISIONAL:
            # What comes of its turn takes its place, and knows nothing of what was done to it.
            raise NotPossible("it is provisional: change what comes of it, in a moment, or delete it")
        draft = Draft(subject, now, context.policy.version, by=by)
        draft.load([memory])
        change(memory, draft)
        if not draft.changed:
            return memory
        publish(draft.changes(), draft.vectors, context)
        changed = next(updated for updated in draft.updated() if updated.id == memory_id)
        if memory.status is Status.ARCHIVED and changed.status is Status.ACTIVE:
            RESTORED.inc()
        return changed
