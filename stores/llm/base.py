"""The protocol of a provider of language models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Reply:
    """Reply of a model, and its cost in tokens. `is_cut` says that it would have said more than it may."""

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_cut: bool = False


class Provider(Protocol):
    """One model behind one API. Safe to call from many threads; it bounds every call in time by itself."""

    @property
    def name(self) -> str:
        """Return the model, as the audit names it."""
        ...

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        """Return what the model answers to a prompt at temperature 0, as JSON text of a schema where the API can ask
        for it.

        Raises:
            LLMThrottled, LLMUnavailable, LLMRefused
        """
        ...
