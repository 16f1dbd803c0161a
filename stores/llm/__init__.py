"""Language models, where one is configured."""

from __future__ import annotations

from collections.abc import Callable

from redis import Redis

from schema.errors import LLMUnavailable
from schema.settings import Settings, variable_of
from stores.breaker import CircuitBreaker, State
from stores.llm.base import Provider, Reply
from stores.llm.call_limiter import CallLimiter
from stores.llm.llm import LLM, Call, Completion
from stores.plugin import load_plugin, needs_extra

__all__ = ["LLM", "Call", "Completion", "Provider", "Reply", "open_llm"]


def open_llm(
    settings: Settings, redis: Redis, *, on_call: Callable[[Call], None], on_breaker: Callable[[str, State], None]
) -> LLM | None:
    """Return the language model that the settings name, or None.

    Raises:
        SettingsError: what the setting names cannot be loaded, or needs another setting; the message says which.
    """
    if settings.llm == "none":
        return None
    provider = _open_provider(settings)
    limiter = CallLimiter(
        redis,
        concurrency=settings.llm_concurrency,
        per_minute=settings.llm_requests_per_minute,
        call_seconds=settings.llm_timeout_seconds * 2,
    )
    return LLM(provider, limiter, CircuitBreaker("llm", (LLMUnavailable,), on_change=on_breaker), on_call)


def _open_provider(settings: Settings) -> Provider:
    variable = variable_of("llm")
    match settings.llm:
        case "bedrock":
            with needs_extra("bedrock", variable):
                from stores.llm.bedrock import open_bedrock_provider
            return open_bedrock_provider(settings)
        case "openai":
            with needs_extra("openai", variable):
                from stores.llm.openai import open_openai
            return open_openai(settings)
        case own:
            provider: Provider = load_plugin(own, variable)(settings)
            return provider
