"""Examples of how requests are handled, for the agent that hands them on: procedural memory that developers write.

They are documents of one subject of each tenant, named by `AFTERTURN_EXAMPLES`: what a user might say, and behind it
what is done then, an action a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from policies.access import require
from recall.excerpts import Excerpt, everybody, excerpts_for
from schema import Capability, Principal, Subject
from stores.open import Stores

FEW: Final = 2
MOST: Final = 3
"""How many examples a request gets, and gets at most. Source: "Memory System - Mechanics", section 5: one or two of
procedural memory, three at most."""


@dataclass(frozen=True)
class FoundExample:
    """An example that is like a request; `score` and `similarity`, 0 to 1, as those of an excerpt."""

    id: str
    input: str
    actions: tuple[str, ...]
    score: float
    similarity: float


def find_examples(
    principal: Principal | None, tenant_id: str, request: str, stores: Stores, *, limit: int = FEW
) -> list[FoundExample]:
    """Return the examples that a request is most like, best first, `MOST` at most; nothing where none is like it, or
    the settings name no examples. Everybody of the tenant may read them; None stands for an operator.

    Raises:
        ValueError: the request is empty.
        NotAllowed: the principal may not read.
    """
    if principal is not None:
        require(principal, Capability.READ)
        tenant_id = principal.tenant_id
    if stores.settings.examples is None:
        return []
    whose = Subject(tenant_id=tenant_id, subject_id=stores.settings.examples)
    excerpts = excerpts_for([everybody(whose)], request, stores, limit=min(limit, MOST))
    return [example for excerpt in excerpts if (example := _example(excerpt, stores)) is not None]


def _example(excerpt: Excerpt, stores: Stores) -> FoundExample | None:
    """Return the whole example, of which an excerpt may be a part."""
    document = stores.catalog.documents.get(excerpt.subject, excerpt.document_id)
    if document is None:
        return None
    sample, _, actions = document.content.partition("\n\n")
    return FoundExample(document.document_id, sample, tuple(actions.splitlines()), excerpt.score, excerpt.similarity)
