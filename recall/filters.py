"""Which memories a caller wants, beside those that they may see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from schema import Kind, Memory, MemoryType, Status, Visibility


@dataclass(frozen=True)
class Filters:
    """Conditions on a memory. An empty tuple puts no limit on its field; `tags` asks for all of them, the others for
    any one. Times are of when it was said last; numbers are from 0 to 1."""

    types: tuple[MemoryType, ...] = ()
    kinds: tuple[Kind, ...] = ()
    categories: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    agent_ids: tuple[str, ...] = ()
    visibilities: tuple[Visibility, ...] = ()
    statuses: tuple[Status, ...] = (Status.ACTIVE,)
    """Of what is listed; a search finds what is active alone."""
    min_importance: float = 0.0
    min_confidence: float = 0.0
    min_trust: float = 0.0
    since: datetime | None = None
    until: datetime | None = None

    def let_through(self, memory: Memory) -> bool:
        """Return whether a memory is wanted, whatever its status."""
        return (
            _is_any(memory.type, self.types)
            and _is_any(memory.kind, self.kinds)
            and _is_any(memory.category, self.categories)
            and self.are_of(memory.visibility, memory.agent_id)
            and set(self.tags) <= set(memory.tags)
            and memory.importance >= self.min_importance
            and memory.confidence >= self.min_confidence
            and memory.trust_score >= self.min_trust
            and (self.since is None or memory.said_at >= self.since)
            and (self.until is None or memory.said_at < self.until)
        )

    def are_of(self, visibility: Visibility, agent_id: str | None) -> bool:
        """Return whether what is of this visibility, by this agent, may be wanted."""
        return _is_any(agent_id, self.agent_ids) and _is_any(visibility, self.visibilities)


ANYTHING: Final = Filters()
"""No limit."""


def _is_any(value: object, wanted: tuple[object, ...]) -> bool:
    return not wanted or value in wanted
