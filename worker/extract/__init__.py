"""What makes candidates of turns."""

from __future__ import annotations

from memory.settings import Settings
from worker.extract.base import AdmittedTurn, Extractor
from worker.extract.rules import RulesExtractor

__all__ = ["AdmittedTurn", "Extractor", "open_extractor"]


def open_extractor(settings: Settings) -> Extractor:
    """The extractor that the settings name. Models load with the first turn, or with its `prepare()`."""
    return RulesExtractor(settings.categories)
