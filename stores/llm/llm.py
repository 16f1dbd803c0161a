"""A language model as the pipeline uses it: capped, guarded, counted, and held to a schema."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential, wait_random_exponential

from schema.errors import LLMAnswerCut, LLMAnswerInvalid, LLMThrottled
from schema.wrong_fields import wrong_fields
from stores.breaker import CircuitBreaker
from stores.llm.base import Provider, Reply
from stores.llm.call_limiter import CallLimiter
from stores.llm.cancellation import ensure_wanted
from stores.llm.schema import characters_sent

Answer = TypeVar("Answer", bound=BaseModel)
_MAX_ANSWER_CHARS = 100_000
_PATIENCE_SECONDS = 5.0
_SHORT_SECONDS = 2.0
_TRIES = 3
"""How often a throttled call is tried on the spot, and what a provider may ask to be waited there."""
_THOUGHT = re.compile(r"<(?P<end>/)?(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_REPAIR = "{prompt}\n\nYour last answer was not valid:\n{error}\nAnswer again with nothing but the JSON asked for."


@dataclass(frozen=True)
class Completion(Generic[Answer]):
    """A valid answer, with the tokens that it took in all."""

    answer: Answer
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Call:
    """One call of the provider, for the metrics: how it ended, how long it took in seconds, the characters that were
    sent, with the schema, and its tokens."""

    outcome: str
    seconds: float
    characters: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


class LLM:
    """Asks a provider within the fleet's caps. Safe to call from many threads. `on_call` is told of every call."""

    def __init__(
        self,
        provider: Provider,
        limiter: CallLimiter,
        breaker: CircuitBreaker,
        on_call: Callable[[Call], None] = lambda _call: None,
    ) -> None:
        self._provider = provider
        self._call_limiter = limiter
        self._breaker = breaker
        self._on_call = on_call

    @property
    def name(self) -> str:
        return self._provider.name

    def complete(self, prompt: str, response_model: type[Answer]) -> Completion[Answer]:
        """Return what the model answers, as a value of a pydantic model; asked once more with the error if it is not
        valid.

        Raises:
            LLMAnswerCut: the answer was longer than it may be.
            LLMAnswerInvalid: the second answer was not valid either.
            LLMThrottled, LLMUnavailable, LLMBusy, CircuitOpen: it may work later.
            LLMRefused: it never will.
        """
        first = self._ask(prompt, response_model)
        try:
            answer = _parse(first, response_model)
        except ValidationError as error:
            if first.is_cut:
                raise LLMAnswerCut("the answer was cut off at the limit of tokens") from None
            second = self._ask(_REPAIR.format(prompt=prompt, error=wrong_fields(error)), response_model)
            try:
                answer = _parse(second, response_model)
            except ValidationError as again:
                raise LLMAnswerInvalid(wrong_fields(again)) from None
            return Completion(
                answer, first.prompt_tokens + second.prompt_tokens, first.completion_tokens + second.completion_tokens
            )
        return Completion(answer, first.prompt_tokens, first.completion_tokens)

    def _ask(self, prompt: str, response_model: type[BaseModel]) -> Reply:
        half = {"multiplier": 0.1, "max": _SHORT_SECONDS / 2}
        return Retrying(
            retry=retry_if_exception(_is_soon_over),
            stop=stop_after_attempt(_TRIES),
            wait=wait_exponential(**half) + wait_random_exponential(**half),
            reraise=True,
        )(self._ask_once, prompt, response_model)

    def _ask_once(self, prompt: str, response_model: type[BaseModel]) -> Reply:
        schema = _schema_of(response_model)
        characters = len(prompt) + _schema_size(response_model)
        # What is not asked takes no place of those that are.
        self._breaker.raise_if_open()
        with self._call_limiter.slot(_PATIENCE_SECONDS):
            ensure_wanted()
            started = time.monotonic()
            try:
                reply = _unless_throttled(self._breaker.call(self._reply, prompt, schema))
            except Exception as error:
                self._on_call(Call(type(error).__name__, time.monotonic() - started, characters))
                raise
        seconds = time.monotonic() - started
        self._on_call(Call("answered", seconds, characters, reply.prompt_tokens, reply.completion_tokens))
        return reply

    def _reply(self, prompt: str, schema: dict[str, Any]) -> Reply | LLMThrottled:
        try:
            return self._provider.reply(prompt, schema)
        except LLMThrottled as error:
            # To the breaker it works: it is not ill, it is asked too much.
            return error


def _unless_throttled(reply: Reply | LLMThrottled) -> Reply:
    if isinstance(reply, LLMThrottled):
        raise reply
    return reply


def _is_soon_over(error: BaseException) -> bool:
    return isinstance(error, LLMThrottled) and (error.retry_after or 0.0) <= _SHORT_SECONDS


@cache
def _schema_of(response_model: type[BaseModel]) -> dict[str, Any]:
    # To make one costs a millisecond.
    return response_model.model_json_schema()


@cache
def _schema_size(response_model: type[BaseModel]) -> int:
    return characters_sent("", _schema_of(response_model))


def _parse(reply: Reply, response_model: type[Answer]) -> Answer:
    text = reply.text[:_MAX_ANSWER_CHARS].strip()
    try:
        return response_model.model_validate_json(text)
    except ValidationError:
        json_text = _object_in(text)
        if json_text == text:
            raise
    return response_model.model_validate_json(json_text)


def _object_in(text: str) -> str:
    """Return the JSON object of an answer without what models put around it: their thoughts, the fence of a Markdown
    block, a sentence before or behind. The whole text if there is none, or if it may be but a thought."""
    rest = text
    if not text.startswith("{"):
        thoughts = list(_THOUGHT.finditer(text))
        end = next((tag.end() for tag in thoughts if tag["end"]), 0)
        if thoughts and not end:
            return text
        rest = text[max(0, text.find("{", end)) :]
    try:
        _, length = json.JSONDecoder().raw_decode(rest)
    except (ValueError, RecursionError):
        return text
    return rest[:length]
