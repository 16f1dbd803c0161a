"""The promise of an extractor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from schema import AdmittedTurn, Context, Extraction


class Extractor(Protocol):
    """Makes candidates of the pending turns of one subject, all at once. Safe to call from many threads."""

    def prepare(self) -> None:
        """Load what the first call would otherwise wait for."""
        ...

    def extract(self, turns: Sequence[AdmittedTurn], context: Context) -> Extraction:
        """Return what there is to remember or to forget in the turns, in the order in which it was said.

        The turns are of one subject, oldest first. `context` is what earlier turns left to understand them by.
        """
        ...
