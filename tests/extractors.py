"""The extractor that needs no language model, as a worker opens it."""

from __future__ import annotations

from schema import Policy
from schema.settings import Settings
from stores.embedding import open_utterance_reader
from worker.extract import Extractor, open_extractor


def by_rules() -> Extractor:
    """Return it with the model that reads what words leave open."""
    settings = Settings()
    return open_extractor(settings, None, Policy(), open_utterance_reader(settings))
