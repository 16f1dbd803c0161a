"""What makes vectors of texts."""

from __future__ import annotations

from memory.embedding.base import Embedder, Vectors
from memory.settings import Settings

__all__ = ["Embedder", "Vectors", "open_embedder"]


def open_embedder(settings: Settings) -> Embedder:
    """The embedder that the settings name; loading it takes about half a second.

    Raises:
        memory.settings.SettingsError: its model is not installed or is damaged; the message says what to install.
    """
    match settings.embedder:
        case "minilm":
            from memory.embedding.minilm import MiniLM

            return MiniLM()
