"""Take what a backend says of an answer: which of the memories that it was given helped.

Source: "AI Memory Phase 1", experiments: retrieval is measured by what users make of its answers.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace

from memory.context import MemoryContext
from memory.metrics import FEEDBACK
from memory.rights import seen_of
from policies.access import may_see
from schema import Principal, Subject
from stores.catalog.feedback import Feedback


def note_feedback(
    principal: Principal, subject: Subject, given: Feedback, context: MemoryContext
) -> Sequence[uuid.UUID]:
    """Keep feedback on an answer about a subject, once an answer, and return the memories that it counts for: those
    that the principal may see. Each counts as used once more.

    Raises:
        NotAMember, NotAllowed: the principal may see nothing of the subject.
    """
    seen = seen_of(principal, subject, context.catalog)
    memories = context.catalog.memories(subject, given.useful)
    visible = [id_ for id_ in given.useful if id_ in memories and may_see(seen, memories[id_].labels)]
    if context.catalog.feedback.note(subject, replace(given, useful=tuple(visible))):
        FEEDBACK.labels("yes" if visible else "no").inc()
        context.accesses.note(subject, visible, given.at, way=None)
    return visible
