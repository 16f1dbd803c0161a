"""Mark what is known that an order only names: "pin my allergy"."""

from __future__ import annotations

from typing import Any, Final

from memory.context import MemoryContext
from memory.draft import Draft
from memory.forget import LOOKED_THROUGH, known_beside
from policies.forgetting import named_among
from schema import Candidate, EventName, ForgetRequest, Memory, Status
from stores.index.base import Vector

NOTHING_NAMED: Final = "nothing_named"
"""The code of the event that tells that an order names nothing that is known."""
_NOTHING: Final = "nothing is known by the name that was to be unpinned"
_MARKS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "remember": ({"explicit": True}, "the user asked for it to be remembered"),
    "pin": ({"explicit": True, "pinned": True}, "the user pinned it"),
    "unpin": ({"pinned": False}, "the user unpinned it"),
    "private": ({"private": True}, "the user called it private"),
}
"""Changes of a memory by each order, and the reason for them."""


def mark_named(candidate: Candidate, vector: Vector, draft: Draft, context: MemoryContext) -> list[Memory] | None:
    """Mark on the draft what is known by the name that a candidate gives, and return it as it is then.

    None where nothing is known by it and the candidate is to be a memory itself; an empty list, and an event, where it
    is not to be one. `vector` is the candidate's.
    """
    naming = candidate.naming
    if naming is None:
        return None
    # What names nobody is the user's own: "my", which some forms of orders take, says that it is of nobody else.
    what = f"my {naming.what.removeprefix('my ')}"
    request = ForgetRequest(turn_id=candidate.turn_id, ordinal=candidate.ordinal, what=what)
    draft.load(context.catalog.list_memories(draft.subject, statuses=(Status.ACTIVE,), limit=LOOKED_THROUGH))
    memories = [memory for memory in draft.current.values() if memory.status is Status.ACTIVE]
    items = known_beside(memories, request, vector, draft, context)
    changes, reason = _MARKS[naming.order]
    marked = [memories[place] for place in named_among(request, items, draft.name or "")]
    if not marked and not naming.tells_nothing:
        return None
    if not marked:
        payload = {"turn_id": candidate.turn_id, "code": NOTHING_NAMED, "message": _NOTHING}
        draft.emit(EventName.ERROR, payload)
    found = []
    for memory in marked:
        changed = memory.model_copy(update=changes)
        if changed != memory:
            changed = changed.model_copy(update={"updated_at": draft.now, "version": memory.version + 1})
            draft.update(changed, None, reason)
        found.append(changed)
    return found
