"""Attachments: that something was shared is remembered, not what is in it."""

from __future__ import annotations

from typing import Final

from policies.language.spans import written_day
from schema import Candidate, Kind, MemoryType, Turn
from worker.extract.quotation import sentence

_MOST: Final = 10
"""Attachments of a turn of which a candidate is made."""


def attachments_of(turn: Turn, name: str, ordinal: int, category: str, confidence: float) -> list[Candidate]:
    """Return a candidate for each attachment of a turn, the first at `ordinal`: that it was shared, and when."""
    candidates = []
    for number, attachment in enumerate(turn.attachments[:_MOST]):
        sort = {"image": "an image", "audio": "a recording", "video": "a video"}.get(
            attachment.media_type.partition("/")[0], "a document"
        )
        title = f' titled "{attachment.title}"' if attachment.title else ""
        candidates.append(
            Candidate(
                turn_id=turn.turn_id,
                ordinal=ordinal + number,
                type=MemoryType.EPISODIC,
                kind=Kind.CONVERSATION_CONTEXT,
                category=category,
                summary=sentence(f"{name} shared {sort}{title} on {written_day(turn.occurred_at.date())}"),
                tags=("attachment", sort.split()[-1]),
                attachments=(attachment,),
                source=turn.source,
                confidence=confidence,
                occurred_at=turn.occurred_at,
                said_at=turn.occurred_at,
            )
        )
    return candidates
