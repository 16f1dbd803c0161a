"""What a page says of a memory, in words for people who build no software."""

from __future__ import annotations

from typing import Final

from schema import (
    AuditAction,
    AuditEntry,
    DocumentState,
    KeptDocument,
    Memory,
    MemoryType,
    Status,
    Visibility,
)

STATUS: Final = {
    Status.PROVISIONAL: "being looked at",
    Status.ACTIVE: "holds now",
    Status.SUPERSEDED: "no longer holds",
    Status.ARCHIVED: "put away",
    Status.DELETED: "deleted",
}
TYPE: Final = {
    MemoryType.SEMANTIC: "a fact",
    MemoryType.EPISODIC: "something that happened",
    MemoryType.PROCEDURAL: "how you want things done",
}
FOR: Final = {
    Visibility.PUBLIC: "all members, those who only admire too",
    Visibility.PRIVATE: "the members who look after it together",
    Visibility.PERSONAL: "its author alone",
}
"""Whom a document is for."""
_STANDING: Final = {
    DocumentState.WAITING: "being read",
    DocumentState.SEARCHABLE: "found by questions",
    DocumentState.QUARANTINED: "held back for a person to decide",
    DocumentState.FAILED: "not read: it failed",
    DocumentState.REFUSED: "refused",
}
NOTHING_YET: Final = {
    DocumentState.WAITING: "It is being read. What it says is shown once what may not be kept is masked.",
    DocumentState.SEARCHABLE: "There is no text in it.",
    DocumentState.QUARANTINED: "It may give the assistant orders behind your back, so a person decides about it first.",
    DocumentState.FAILED: "It could not be read. Those who run this service can have it tried again.",
    DocumentState.REFUSED: "It is about something that is to be left alone, so nothing of it is kept.",
}
"""Why nothing of a document is shown, by where it stands."""
_DONE: Final = {
    AuditAction.CREATED: "written down",
    AuditAction.UPDATED: "changed",
    AuditAction.SUPERSEDED: "replaced by something newer",
    AuditAction.ARCHIVED: "put away",
    AuditAction.RESTORED: "taken out again",
    AuditAction.DELETED: "deleted",
    AuditAction.REFUSED: "not kept",
    AuditAction.HELD: "kept for a legal reason",
    AuditAction.LIFTED: "no longer kept for a legal reason",
    AuditAction.APPROVED: "agreed to",
    AuditAction.QUARANTINED: "held back for a person to decide",
    AuditAction.DOCUMENT_INDEXED: "read",
    AuditAction.DOCUMENT_REINDEXED: "read anew",
    AuditAction.DOCUMENT_DELETED: "deleted",
    AuditAction.VIEWED: "looked at",
}
_BY: Final = {"worker": "the assistant's memory", "operator": "an operator", "nightly": "the nightly tidying"}


DONE: Final = {
    "edit": "Saved.",
    "pin": "It will not fade.",
    "unpin": "It may fade again.",
    "archive": "Put away. You find it under “put away”.",
    "restore": "It is used again.",
    "suppress": "It will not be mentioned.",
    "unsuppress": "It may be mentioned again.",
    "delete": "Deleted.",
    "keep": "Kept.",
    "drop": "Dropped.",
    "paused": "Paused: nothing new is kept.",
    "resumed": "What you say may be remembered again.",
    "quiet": "Nothing more of that conversation is kept.",
    "heard": "That conversation may be remembered again.",
    "blocked": "It will be left alone.",
    "unblocked": "It may be talked about again.",
    "hold": "It is under legal hold.",
    "lift": "It is under legal hold no longer.",
    "thrown": "Thrown away.",
    "replayed": "Enqueued again.",
    "revoked": "The key opens nothing any more.",
    "member": "Saved.",
    "removed": "Taken away.",
}
"""What a page says after something was done."""


_PLACES: Final = {
    "memories": "what was known",
    "catalog: memories": "what was known",
    "catalog: sources": "the words it came from",
    "catalog: provenance": "which words each came from",
    "catalog: reviews": "what waited for you",
    "catalog: preferences": "what you wanted",
    "catalog: audit": "notes of what was done",
    "index": "what was found by meaning",
    "events": "news of what changed",
}


def standing(document: KeptDocument) -> str:
    """Return where a document stands."""
    return _STANDING[document.state]


def place(name: str) -> str:
    """Return where a proof says that something was removed, by its name."""
    return _PLACES.get(name, name.removeprefix("catalog: ").replace("_", " "))


def done(entry: AuditEntry) -> str:
    """Return what a line of the audit says was done."""
    return _DONE.get(entry.action, entry.action.value)


def by_whom(entry: AuditEntry, user_id: str, is_staff: bool = False) -> str:
    """Return who did it, as the person before the page would call them; staff are told who it was."""
    if entry.by == f"page:{user_id}":
        return "the person themself" if is_staff else "you"
    if is_staff:
        return entry.by
    if entry.by.startswith("staff:"):
        return "somebody who runs this service"
    if entry.by.startswith("key_"):
        return "an application that may write"
    return _BY.get(entry.by, entry.by)


def marks(memory: Memory) -> list[str]:
    """Return what is special about a memory."""
    named = (
        ("pinned", memory.pinned),
        ("private", memory.private),
        ("never mentioned", memory.suppressed),
        ("kept for a legal reason", memory.legal_hold),
        ("you asked for it to be remembered", memory.explicit),
    )
    return [name for name, is_so in named if is_so]


def weight(share: float) -> str:
    """Return how important something counts, from 0 to 1, in words."""
    if share >= 0.75:
        return "very important"
    return "important" if share >= 0.45 else "not very important"


def sureness(share: float) -> str:
    """Return a share from 0 to 1 in words."""
    if share >= 0.85:
        return "very sure"
    return "fairly sure" if share >= 0.6 else "not sure"
