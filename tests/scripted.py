"""A language model that answers what a test tells it to."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from fakeredis import FakeRedis, FakeServer

from schema.errors import LLMUnavailable
from stores.breaker import CircuitBreaker
from stores.llm import LLM, Call, Reply
from stores.llm.call_limiter import CallLimiter

Answering = Callable[[str], Any]


class Scripted:
    """A provider that answers each prompt in turn, the last answer for ever, and remembers what it was asked.

    An answer is a text, a value that becomes JSON, an exception to raise, a whole reply, or a function of the prompt
    that makes one.
    """

    name = "scripted"

    def __init__(self, *answers: Any) -> None:
        self._answers = list(answers)
        self.prompts: list[str] = []
        self.schemas: list[dict[str, Any]] = []

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        self.prompts.append(prompt)
        self.schemas.append(schema)
        answer = self._answers[0] if len(self._answers) == 1 else self._answers.pop(0)
        if callable(answer):
            answer = answer(prompt)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return Reply(text, prompt_tokens=100, completion_tokens=10)


def guarded(provider: Scripted, on_call: Callable[[Call], None] = lambda _: None) -> LLM:
    """The provider as the pipeline uses it, with no caps."""
    limiter = CallLimiter(FakeRedis(server=FakeServer(), version=(7,)), concurrency=0, per_minute=0, call_seconds=1)
    return LLM(provider, limiter, CircuitBreaker("llm", (LLMUnavailable,)), on_call)


def told(evidence: str, summary: str, turn: str = "T1", **fields: Any) -> dict[str, Any]:
    """A memory as a model tells it."""
    return {"turn": turn, "evidence": evidence, "summary": summary} | fields


def answer(*memories: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"memories": list(memories), "forget": [], "open_topics": []} | fields
