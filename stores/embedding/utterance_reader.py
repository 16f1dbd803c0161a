"""MiniLM fine-tuned to read an utterance by itself: how likely it is worth a memory, what it orders, and
whether it tells news.

The heads (`policies.language.heads`) read words and the parse; where these leave it open, it is asked.
`python -m benchmarks.fit_utterance_reader` fits the weights; docs/reference/utterance-reader.md says on what, and how
right they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stores.embedding.adapted import AdaptedMiniLM
from stores.embedding.reading import Reading

WEIGHTS: Final = "utterance_reader.npz"
_WORTH: Final = "worth:1"
_FORGETS: Final = "intent:forget"
_ORDERS_NOTHING: Final = "intent:none"
_PLANTED: Final = "planted:1"
_SENSITIVE: Final = "sensitive:1"
_OTHERS: Final = "others:1"
_WHOLE: Final = "whole:1"
_CHANGES: Final = tuple(f"change:{change}" for change in ("replaces", "ends", "moves", "corrects"))


class UtteranceReader:
    """all-MiniLM-L6-v2, adapted, with a regression for each label of the heads. Safe to call from many threads; loaded
    with the first utterance."""

    def __init__(self) -> None:
        self._model = AdaptedMiniLM(WEIGHTS)

    def read(self, utterances: Sequence[tuple[str, str]]) -> list[Reading]:
        """Return what is read of utterances in English, each with what was said before it (`read_as`)."""
        if not utterances:
            return []
        asked = (_WORTH, _FORGETS, _ORDERS_NOTHING, _PLANTED, _SENSITIVE, _OTHERS, _WHOLE, *_CHANGES)
        columns = [self._model.questions.index(name) for name in asked]
        return [
            Reading(worth, forgets, 1 - nothing, min(1.0, sum(changes)), planted, sensitive, others, whole)
            for worth, forgets, nothing, planted, sensitive, others, whole, *changes in self._model.chances(utterances)[
                :, columns
            ].tolist()
        ]
