"""What makes candidates of turns."""

from __future__ import annotations

from memory.llm import LLM
from memory.plugin import load_plugin
from memory.settings import Settings, variable_of
from worker.extract.base import AdmittedTurn, Extractor
from worker.extract.rules import RulesExtractor

__all__ = ["AdmittedTurn", "Extractor", "open_extractor"]


def open_extractor(settings: Settings, llm: LLM | None) -> Extractor:
    """The extractor that the settings name; one of the user's own is called with the settings and the language model.

    Models load with the first turn, or with its `prepare()`.

    Raises:
        SettingsError: what the setting names cannot be loaded.
    """
    if settings.extractor == "rules":
        return RulesExtractor(settings.categories)
    extractor: Extractor = load_plugin(settings.extractor, variable_of("extractor"))(settings, llm)
    return extractor
