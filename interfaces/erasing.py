"""Erases a subject or a part of it for any of the faces: all that the stores hold, and the spool of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final

from memory.context import MemoryContext
from memory.erasure.proof import Proof
from memory.erasure.queue import is_turn_of
from memory.erasure.subjects import erase_subject, erase_turns
from producers.spool import Spool
from schema import Scope, Subject
from schema.errors import SpoolUnavailable
from schema.settings import Settings

SPOOL: Final = "spool of this machine"


def erase(
    subject: Subject,
    context: MemoryContext,
    *,
    by: str,
    scope: Scope = Scope.SUBJECT,
    key: str = "",
    wait_seconds: float | None = None,
    authored: bool = False,
) -> Proof:
    """Erase a subject, or the part of it that `scope` and `key` name, and what lay of it in this machine's spool when
    that was begun, turns that were put aside there too. The rest is as `erase_subject` and `erase_turns` have it.

    Raises:
        SubjectBusy, ConcurrentChange: others work on the subject; try again.
        UnderLegalHold: so is something that would go; nothing was erased.
        SpoolUnavailable: the spool cannot be read; nothing was erased.
    """
    is_meant = partial(is_turn_of, subject=subject, scope=scope, key=key)
    # Before the erasure: what is said later stays.
    with _spool_of(context.settings) as spool:
        spooled = spool.find(is_meant) if spool else frozenset()
    now = datetime.now(UTC)
    if scope is Scope.SUBJECT:
        proof = erase_subject(subject, context, by=by, now=now, wait_seconds=wait_seconds, authored=authored)
    else:
        proof, _ = erase_turns(subject, scope, key, context, by=by, now=now, wait_seconds=wait_seconds)
    try:
        with _spool_of(context.settings) as spool:
            proof.removed[SPOOL], proof.left[SPOOL] = spool.erase(spooled) if spool else (0, 0)
    except SpoolUnavailable:
        # The rest is done, and its proof must not be lost.
        proof.removed[SPOOL], proof.left[SPOOL] = 0, len(spooled)
        proof.notes.append("the spool of this machine cannot be written: see that it can, and erase again")
    proof.notes.append(
        "turns that still wait in the spools of other machines cannot be erased from here: they are refused when they "
        "arrive. One that does not say how long it waited, as of a spool of an earlier revision, is kept if it was "
        f"said in the {context.settings.clock_tolerance_seconds:g} s before it arrives"
    )
    return proof


@contextmanager
def _spool_of(settings: Settings) -> Iterator[Spool | None]:
    """Hold the spool of this machine, if there is one."""
    folder = settings.effective_spool_dir
    if not folder.exists():
        yield None
        return
    with closing(Spool(folder, max_turns=settings.spool_max_turns, max_bytes=settings.spool_max_bytes)) as spool:
        yield spool
