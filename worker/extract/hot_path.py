"""The promise of the hot path of what it would remember, as one more proposal: believed less, and only where the user's
words bear it out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policies.language.stems import share_said
from schema import (
    MAX_SUMMARY_CHARS,
    AdmissionAction,
    AdmittedTurn,
    Candidate,
    Context,
    Extraction,
    ForgetRequest,
    Kind,
    MemoryType,
    Turn,
)
from worker.extract.base import Extractor

CONFIDENCE: Final = 0.6
"""Below what a hedged statement of the user's has: nobody has checked it yet."""
_BORNE_OUT: Final = 0.6
"""The share of a proposal's words that must be the user's; and of those that another candidate may lack."""


class WithHotPath:
    """An extractor whose proposals are joined by those of the hot path that it does not make itself."""

    def __init__(self, extractor: Extractor, categories: Sequence[str]) -> None:
        self._extractor = extractor
        self._categories = tuple(categories)

    def prepare(self) -> None:
        """Load what the extractor needs."""
        self._extractor.prepare()

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        """Return what the extractor finds in the turns, and what the hot path noted of them beside it."""
        extraction = self._extractor.extract(turns, context)
        if all(admitted.turn.candidate is None for admitted in turns):
            return extraction
        items: list[Candidate | ForgetRequest] = []
        for admitted in turns:
            mine = [item for item in extraction.items if item.turn_id == admitted.turn.turn_id]
            if admitted.admission.action is not AdmissionAction.SKIP:
                mine += self._noted(admitted.turn, mine)
            items += mine
        return extraction.model_copy(update={"items": tuple(items)})

    def _noted(self, turn: Turn, extracted: Sequence[Candidate | ForgetRequest]) -> list[Candidate]:
        noted = turn.candidate
        summary = " ".join(noted.summary.split())[:MAX_SUMMARY_CHARS] if noted else ""
        if noted is None or not share_said(summary, turn.text_of("user")) >= _BORNE_OUT:
            return []
        if any(
            not item.only_as_read
            if isinstance(item, ForgetRequest)
            else not item.only_as_news and share_said(summary, item.summary) >= _BORNE_OUT
            for item in extracted
        ):
            return []
        return [
            Candidate(
                turn_id=turn.turn_id,
                ordinal=len(extracted),
                type=MemoryType(noted.type),
                kind=Kind.USER_FACT,
                category=noted.category if noted.category in self._categories else self._categories[-1],
                summary=summary,
                source=turn.source,
                confidence=CONFIDENCE,
                occurred_at=turn.occurred_at,
                said_at=turn.occurred_at,
            )
        ]
