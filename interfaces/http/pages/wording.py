"""The words in which pages tell of a memory, for people who build no software."""

from __future__ import annotations

from typing import Final

from interfaces.http.pages.language import gettext, marked
from schema import (
    AuditAction,
    AuditEntry,
    Capability,
    DocumentState,
    KeptDocument,
    Memory,
    MemoryType,
    Status,
    Visibility,
    Way,
)
from stores.catalog.uses import Use

_USER: Final = "user"
"""The name of the person themself in a fact, and how what is theirs begins."""
_USERS: Final = f"{_USER}'s "
STATUS: Final = {
    Status.PROVISIONAL: marked("being looked at"),
    Status.ACTIVE: marked("holds now"),
    Status.SUPERSEDED: marked("no longer holds"),
    Status.ARCHIVED: marked("put away"),
    Status.DELETED: marked("deleted"),
}
TYPE: Final = {
    MemoryType.SEMANTIC: marked("a fact"),
    MemoryType.EPISODIC: marked("something that happened"),
    MemoryType.PROCEDURAL: marked("how you want things done"),
}
CAPABILITY: Final = {
    Capability.READ: marked("read memories and documents"),
    Capability.WRITE_OWN: marked("write and change an agent's own memories"),
    Capability.WRITE: marked("write and change memories"),
    Capability.DELETE: marked("delete for good"),
    Capability.DOCUMENTS: marked("send and replace documents"),
    Capability.TURNS: marked("send what was said in a conversation"),
    Capability.ACT_AS: marked("ask in the name of any user"),
    Capability.ADMIN: marked("manage keys, members, holds, reviews and erasures"),
}
"""The words for what a key may do."""
FOR: Final = {
    Visibility.PUBLIC: marked("all members, those who only admire too"),
    Visibility.PRIVATE: marked("the members who look after it together"),
    Visibility.PERSONAL: marked("its author alone"),
}
"""Whom a document is for."""
_DOCUMENT_STATE: Final = {
    DocumentState.WAITING: marked("being read"),
    DocumentState.SEARCHABLE: marked("ready to be asked about"),
    DocumentState.QUARANTINED: marked("held back for a person to decide"),
    DocumentState.FAILED: marked("not read: it failed"),
    DocumentState.REFUSED: marked("refused"),
}
NOTHING_YET: Final = {
    DocumentState.WAITING: marked("It is being read. What it says is shown once what may not be kept is masked."),
    DocumentState.SEARCHABLE: marked("There is no text in it."),
    DocumentState.QUARANTINED: marked(
        "It may give the assistant orders behind your back, so a person decides about it first."
    ),
    DocumentState.FAILED: marked("It could not be read. Those who run this service can have it tried again."),
    DocumentState.REFUSED: marked("It is about something that is to be left alone, so nothing of it is kept."),
}
"""Why nothing of a document is shown, by where it stands."""
_DONE: Final = {
    AuditAction.CREATED: marked("written down"),
    AuditAction.UPDATED: marked("changed"),
    AuditAction.SUPERSEDED: marked("replaced by something newer"),
    AuditAction.ARCHIVED: marked("put away"),
    AuditAction.RESTORED: marked("taken out again"),
    AuditAction.DELETED: marked("deleted"),
    AuditAction.REFUSED: marked("not kept"),
    AuditAction.HELD: marked("kept for a legal reason"),
    AuditAction.LIFTED: marked("no longer kept for a legal reason"),
    AuditAction.APPROVED: marked("agreed to"),
    AuditAction.QUARANTINED: marked("held back for a person to decide"),
    AuditAction.DOCUMENT_INDEXED: marked("read"),
    AuditAction.DOCUMENT_REINDEXED: marked("read anew"),
    AuditAction.DOCUMENT_DELETED: marked("deleted"),
    AuditAction.VIEWED: marked("looked at"),
}
_WAY: Final = {
    Way.SEARCH: marked("a search found it"),
    Way.CONTEXT: marked("the assistant was told it before it answered"),
    Way.ROUNDS: marked("the assistant looked it up before it answered"),
    Way.TOOL: marked("the assistant read it with a tool"),
    Way.GRAPH: marked("the assistant followed how things belong together"),
}
_BY: Final = {
    "worker": marked("the assistant's memory"),
    "operator": marked("an operator"),
    "nightly": marked("the nightly tidying"),
}


DONE: Final = {
    "edit": marked("Saved."),
    "pin": marked("It will not fade."),
    "unpin": marked("It may fade again."),
    "archive": marked("Put away. You find it under “put away”."),
    "restore": marked("It is used again."),
    "suppress": marked("It will not be mentioned."),
    "unsuppress": marked("It may be mentioned again."),
    "delete": marked("Deleted."),
    "keep": marked("Kept."),
    "drop": marked("Dropped."),
    "paused": marked("Paused: nothing new is kept."),
    "resumed": marked("What you say may be remembered again."),
    "quiet": marked("Nothing more of that conversation is kept."),
    "heard": marked("That conversation may be remembered again."),
    "blocked": marked("It will be left alone."),
    "unblocked": marked("It may be talked about again."),
    "hold": marked("It is under legal hold."),
    "lift": marked("It is under legal hold no longer."),
    "thrown": marked("Thrown away."),
    "replayed": marked("Enqueued again."),
    "revoked": marked("The key opens nothing any more."),
    "member": marked("Saved."),
    "removed": marked("Taken away."),
}
"""The words with which a page answers that something was done."""


_PLACES: Final = {
    "memories": marked("what was known"),
    "catalog: memories": marked("what was known"),
    "catalog: sources": marked("the words it came from"),
    "catalog: provenance": marked("which words each came from"),
    "catalog: reviews": marked("what waited for you"),
    "catalog: preferences": marked("what you wanted"),
    "catalog: audit": marked("notes of what was done"),
    "catalog: uses": marked("what it was used for"),
    "catalog: accesses": marked("how often it was used"),
    "catalog: facts": marked("how things belong together"),
    "catalog: documents": marked("whole documents"),
    "catalog: chunks": marked("parts of documents"),
    "index": marked("what was found by meaning"),
    "index of chunks": marked("what was found by meaning in documents"),
    "events": marked("news of what changed"),
}


def after(done: str) -> str:
    """Return what a page says after something was done; nothing of what it does not know."""
    return gettext(DONE[done]) if done in DONE else ""


def document_state(document: KeptDocument) -> str:
    """Return the state of a document in words."""
    return gettext(_DOCUMENT_STATE[document.state])


def place_name(name: str) -> str:
    """Return where a proof says that something was removed, by its name."""
    if name in _PLACES:
        return gettext(_PLACES[name])
    return name.removeprefix("catalog: ").replace("_", " ")


def done(entry: AuditEntry) -> str:
    """Return what a line of the audit says was done."""
    return gettext(_DONE[entry.action]) if entry.action in _DONE else entry.action.value


def named(name: str, whose: str = "") -> str:
    """Return a name in a fact as whoever reads it would say it; `whose` is the user's id, for staff."""
    if name.casefold() == _USER:
        return whose or gettext("You")
    if not name.casefold().startswith(_USERS):
        return name
    thing = name[len(_USERS) :]
    if not whose:
        return gettext("your %(what)s") % {"what": thing}
    return gettext("%(what)s of %(whose)s") % {"what": thing, "whose": whose}


def used_for(use: Use) -> str:
    """Return for what a memory was used."""
    way = gettext(_WAY[use.way])
    return way if use.agent_id is None else gettext("%(way)s (%(agent)s)") % {"way": way, "agent": use.agent_id}


def by_whom(entry: AuditEntry, user_id: str, is_staff: bool = False) -> str:
    """Return who did it, as the person before the page would call them; staff are told who it was."""
    if entry.by == f"page:{user_id}":
        return gettext("the person themself") if is_staff else gettext("you")
    if is_staff:
        return entry.by
    if entry.by.startswith("staff:"):
        return gettext("somebody who runs this service")
    if entry.by.startswith("key_"):
        return gettext("an application that may write")
    return gettext(_BY[entry.by]) if entry.by in _BY else entry.by


def marks(memory: Memory) -> list[str]:
    """Return what is special about a memory."""
    named = (
        (gettext("pinned"), memory.pinned),
        (gettext("private"), memory.private),
        (gettext("never mentioned"), memory.suppressed),
        (gettext("kept for a legal reason"), memory.legal_hold),
        (gettext("you asked for it to be remembered"), memory.explicit),
    )
    return [name for name, is_so in named if is_so]


def weight(share: float) -> str:
    """Return how important something counts, from 0 to 1, in words."""
    if share >= 0.75:
        return gettext("very important")
    return gettext("important") if share >= 0.45 else gettext("not very important")


def sureness(share: float) -> str:
    """Return a share from 0 to 1 in words."""
    if share >= 0.85:
        return gettext("very sure")
    return gettext("fairly sure") if share >= 0.6 else gettext("not sure")
