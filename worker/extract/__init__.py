"""Extraction: make candidates of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schema import AdmittedTurn, Policy
from schema.errors import SettingsError
from schema.settings import Settings, variable_of
from stores.plugin import load_plugin
from worker.extract.base import Extractor
from worker.extract.hot_path import WithHotPath
from worker.extract.judgement import Reader
from worker.extract.rules import RulesExtractor

if TYPE_CHECKING:
    from stores.llm import LLM

__all__ = ["AdmittedTurn", "Extractor", "open_extractor"]


def open_extractor(settings: Settings, llm: LLM | None, policy: Policy, reader: Reader | None = None) -> Extractor:
    """Return the extractor that the settings name; one of the user's own is called with the settings and the language
    model. The rules ask the reader, if they are given one, where words leave open what an utterance is.

    Models load with the first turn, or with its `prepare()`.

    Raises:
        SettingsError: what the setting names cannot be loaded, or no language model is set for it.
    """
    rules = WithHotPath(RulesExtractor(settings.categories, reader), settings.categories)
    if settings.extractor == "rules":
        return rules
    if settings.extractor == "llm":
        if llm is None:
            raise SettingsError(f"{variable_of('extractor')} is llm: {variable_of('llm')} must say which one")
        # The rules alone need neither a catalog nor a client of a language model.
        from memory.metrics import LLM_FALLBACKS, count_llm_dropped
        from worker.extract.model import ModelExtractor

        return ModelExtractor(
            llm,
            rules,
            settings.categories,
            policy,
            fallback=settings.llm_fallback,
            dropped=count_llm_dropped,
            fell_back=LLM_FALLBACKS.inc,
        )
    extractor: Extractor = load_plugin(settings.extractor, variable_of("extractor"))(settings, llm)
    return extractor
