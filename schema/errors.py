"""Every failure that one room raises and another handles, under one root.

Its kind decides what happens to a failure: `Transient` is tried again, `Outage` for as long as it takes and at no
turn's expense, `Refused` goes back to the caller, and `OperatorError` needs a person: its message tells what to do. An
adapter raises these in the place of its library's own. What is none of them is a defect.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence

# -- the kinds --------------------------------------------------------------------------------------------------------


class AfterturnError(Exception):
    """The root. Every message says what to do next where that is not plain."""


class Transient(AfterturnError):
    """The same work may succeed later with nothing changed: connections, locks, timeouts, lost races.

    `retry_after` is how many seconds the other side asked us to wait, if it did.
    """

    def __init__(self, message: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Outage(Transient):
    """A transient failure that is nobody's turn's fault: every turn waits, however long it takes."""


class Refused(AfterturnError):
    """Raised where what the caller asked for cannot be done."""


class OperatorError(AfterturnError):
    """A person must mend something."""


def exit_code_of(failure: AfterturnError) -> int:
    """Return what a command ends with: 1 where the same may succeed later with nothing changed, so that a supervisor
    starts it again; 2 where a person must mend something first, or ask for something else."""
    return 1 if isinstance(failure, Transient) and not isinstance(failure, OperatorError) else 2


# -- settings and machine ---------------------------------------------------------------------------------------------


class SettingsError(OperatorError):
    """A setting cannot work. The message names the variable, or what it needs."""


class MachineExhausted(Outage):
    """The machine has no more to give: open files, memory, threads, room on a disk."""


class OutOfMemory(Transient):
    """The work needs more memory than there is: perhaps its turn's fault, so not tried for ever."""


# -- the broker -------------------------------------------------------------------------------------------------------


class BrokerFailed(AfterturnError):
    """The broker did not do what it was asked to."""


class BrokerOutage(BrokerFailed, Outage):
    """The broker is away, or serves nobody for now: full, read-only after a failover, still loading."""


class BrokerRefused(BrokerOutage, SettingsError):
    """The broker refuses who we say we are, or what its user may not do. Turns wait until somebody mends it."""


class BrokerRejected(BrokerFailed, OperatorError):
    """The broker never takes this command: it is of another version, or a key is not what it should be."""


class SpoolUnavailable(Outage, OperatorError):
    """The turn was not accepted: the broker does not take it and the spool cannot be written. The message says why."""


class SpoolFull(SpoolUnavailable):
    """The turn was not accepted: the broker does not take it and the spool holds as much as it may."""


# -- turns and leases -------------------------------------------------------------------------------------------------


class InvalidTurn(Refused, ValueError):
    """The turn cannot be taken. The message says which field is wrong and how."""


class ConflictingTurn(Refused):
    """A turn with this id and other content was enqueued before."""

    def __init__(self, turn_id: str) -> None:
        super().__init__(turn_id)
        self.turn_id = turn_id

    def __str__(self) -> str:
        return (
            f"turn_id {self.turn_id!r} was enqueued before with other content; a turn is immutable: "
            "give the new one an id of its own"
        )


class QuotaExceeded(Refused):
    """The user, or the tenant, has had as much as the settings allow: this was not taken.

    `scope` is "user" or "tenant"; `retry_after` is in how many seconds the same may be sent again, None where something
    must be forgotten first.
    """

    def __init__(self, message: str, *, scope: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.scope = scope
        self.retry_after = retry_after


class AlreadyDecided(Refused):
    """The turn was processed or erased before: there is nothing to note of it any more."""

    def __str__(self) -> str:
        return "this turn was processed or erased before: there is nothing to note of it"


class LeaseLost(Transient):
    """Another worker may hold the mailbox: what was being done must not be committed."""


class StaleFence(Transient):
    """A worker wrote under a lease that another has taken over since: nothing of it was written."""


# -- the catalog ------------------------------------------------------------------------------------------------------


class CatalogUnavailable(OperatorError):
    """The catalog's database, or what lies in it, cannot be used as it is set."""


class ContractionRefused(OperatorError):
    """Something cannot go from the catalog's tables yet. The message says which processes need it."""


class CatalogOutage(Outage):
    """The catalog's database does not answer, is locked, or ended the transaction for a reason of its own."""


class CatalogRefused(CatalogOutage, CatalogUnavailable):
    """The database is there and does not let us in. Turns wait until somebody mends it."""


class ConcurrentChange(Outage):
    """Raised where somebody else changed the same since it was read: nothing was written; read it again."""


class Outdated(Refused):
    """The thing to be changed is no longer as whoever asks for it has read it: nothing was done. The message says what
    to do."""

    def __str__(self) -> str:
        return super().__str__() or "somebody else changed it since you have read it: read it again"


class UnderLegalHold(Refused):
    """Memories or documents are under legal hold that would be removed, or say what would be: nothing was.

    `ids` are those of the memories and `documents` those of the documents; the message says which they are, and what
    to do.
    """

    _NAMED = 20

    def __init__(self, ids: Iterable[uuid.UUID] = (), documents: Iterable[str] = ()) -> None:
        self.ids = tuple(sorted(ids))
        self.documents = tuple(sorted(documents))
        super().__init__(self.ids, self.documents)

    def __str__(self) -> str:
        kinds = ("memories", list(map(str, self.ids))), ("documents", list(self.documents))
        held = " and ".join(
            f"{len(ids)} {kind} that it would take are under legal hold ({self._listed(ids)})"
            for kind, ids in kinds
            if ids
        )
        lift = [*(["ID"] if self.ids else []), *(["--user SUBJECT --document ID"] if self.documents else [])]
        commands = " and ".join(f"`afterturn holds lift {argument} --why ...`" for argument in lift)
        return f"nothing was erased: {held}. If they may go, lift the holds first: {commands}"

    def _listed(self, ids: Sequence[str]) -> str:
        return ", ".join(ids[: self._NAMED]) + (" ..." if len(ids) > self._NAMED else "")


# -- who may what -----------------------------------------------------------------------------------------------------


class Denied(Refused):
    """The principal may not do what it asks."""

    is_counted = False
    """True where the metrics know of it."""


class NotAMember(Denied):
    """The principal's user is no member of the subject."""

    def __str__(self) -> str:
        return "you are no member of this subject; its creator or an admin can make you one (`afterturn members set`)"


class NotAllowed(Denied):
    """The credential lacks a capability."""

    def __init__(self, capability: str) -> None:
        super().__init__(capability)
        self.capability = capability

    def __str__(self) -> str:
        return f"this key may not do that: it lacks the capability '{self.capability}' (`afterturn keys create --help`)"


class NotTheSubject(NotAllowed):
    """All that is known of a subject is asked for by somebody else, who does not administer."""

    def __str__(self) -> str:
        return (
            "all that is known of a user is for them and for keys with 'admin': a key with 'act_as' names the user for "
            "whom it asks, by `?user_id=` (as in `/api/v1/subjects/maya/export?user_id=maya`)"
        )


class NotAPerson(Denied):
    """An agent asks for what only the user, or somebody in their place, decides."""

    def __str__(self) -> str:
        return "an agent may not decide that for the user: ask with a key that names no agent, or on the user's page"


class NotFound(Refused):
    """There is no such thing, or none that the principal may see: the two are told alike."""


# -- the index --------------------------------------------------------------------------------------------------------


class IndexUnavailable(Outage):
    """The index cannot be read or written just now. The message says which part of it, and what to do."""


class IndexRefused(IndexUnavailable, OperatorError):
    """The index is there and does not let us in, or is damaged. Turns wait until somebody mends it."""


class IndexMismatch(OperatorError):
    """The index holds vectors of another width, metric or model than the settings ask for."""


class IndexUnbuilt(OperatorError):
    """The index has not all memories yet."""


class MoveRefused(Refused):
    """One index is built from the catalog at a time, by one process. The message says which, and the way out."""


# -- backups ----------------------------------------------------------------------------------------------------------


class BackupRefused(OperatorError):
    """A backup cannot be made or restored as it is asked for: nothing was changed. The message says what to do."""


# -- models -----------------------------------------------------------------------------------------------------------


class CircuitOpen(Outage):
    """The part was not asked: it failed too often just now."""

    def __init__(self, part: str, seconds: float) -> None:
        super().__init__(f"the {part} keeps failing and is not asked for another {seconds:.1f} s")
        self.part = part


class EmbedderUnavailable(Transient):
    """The embedder cannot be reached, is throttling, or took too long."""


class EmbedderRefused(OperatorError):
    """The embedder will never answer as the settings ask: wrong credentials, no such model, other dimensions."""


class LLMFailed(AfterturnError):
    """The language model was asked and did not answer as it was asked to."""


class LLMUnavailable(LLMFailed, Transient):
    """The provider cannot be reached, is throttling, or took too long."""


class LLMThrottled(LLMUnavailable, Outage):
    """The provider takes no more calls for now: nobody's fault, and no sign that it is ill."""


class LLMAnswerInvalid(LLMFailed, Transient):
    """The answer was no valid JSON of the asked form, nor was the second one."""


class LLMAnswerCut(LLMAnswerInvalid):
    """The answer was longer than it may be, and is not whole: ask for less."""


class LLMRefused(LLMFailed, OperatorError):
    """The provider will never answer this call: wrong credentials, no such model, a request that it does not take."""


class LLMBusy(Outage):
    """The fleet has as many calls under way as the settings allow: nobody's fault."""
