"""Any model behind an endpoint that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from schema.errors import LLMRefused, LLMThrottled, LLMUnavailable, SettingsError
from schema.settings import Settings, variable_of
from stores.llm.base import Reply
from stores.llm.formats import FormatRejected, RequestFormats
from stores.llm.schema import ANSWER, inlined, strict, with_schema
from stores.openai_endpoint import Endpoint, EndpointRefused, EndpointUnavailable

Form = Literal["json_schema", "json_object_of_schema", "json_object", "tool", "prompt"]
_FORMS: tuple[Form, ...] = ("json_schema", "json_object_of_schema", "json_object", "tool", "prompt")
"""How an answer of a schema can be asked for, the most reliable first. The second is the dialect of llama.cpp and some
hosts, `{"type": "json_object", "schema": ...}`."""
_MAYBE_THE_FORM = frozenset({400, 422, 500, 501})
"""Statuses with which endpoints answer to a form that they do not know. llama-cpp-python's server answers 500 to
`json_schema`."""
_THROTTLING = frozenset({429, 529})
"""Too many requests, and Anthropic's "overloaded"."""
_CUT = "length"
"""The protocol's `finish_reason` of an answer that reached the limit of tokens."""


@dataclass(frozen=True)
class _Way:
    form: Form = "json_schema"
    limit: str = "max_tokens"
    temperature: bool = True


def _tokens(value: object) -> int:
    # What is no number of tokens costs the count, not the answer.
    return value if isinstance(value, int) else 0


class _Function(BaseModel):
    arguments: str | dict[str, Any]


class _ToolCall(BaseModel):
    function: _Function


class _Part(BaseModel):
    text: str = ""


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    tool_calls: list[_ToolCall] | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: Annotated[int, BeforeValidator(_tokens)] = 0
    completion_tokens: Annotated[int, BeforeValidator(_tokens)] = 0


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: Annotated[_Usage, BeforeValidator(lambda value: value if isinstance(value, dict) else {})] = _Usage()


class OpenAIProvider:
    """One model of one endpoint.

    It is asked for `json_schema`; where the endpoint refuses that, for `json_object` with the schema beside it or at
    least in the prompt, then for a call of a tool, then by the prompt alone. Likewise, `max_completion_tokens` stands
    in for `max_tokens`, and the temperature is left out, where the endpoint says so: OpenAI's reasoning models do.
    What it takes is found out at the first call, within that call's time.
    """

    def __init__(self, endpoint: Endpoint, model: str, *, timeout: float, answer_tokens: int) -> None:
        self.name = model
        self._endpoint = endpoint
        self._timeout = timeout
        self._answer_tokens = answer_tokens
        self._formats = RequestFormats(_Way(), _other_way)

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        """Return what the model answers.

        Raises:
            LLMThrottled, LLMUnavailable, LLMRefused
        """
        deadline = time.monotonic() + self._timeout
        return self._formats.ask(lambda way: self._ask(way, prompt, schema, deadline))

    def _ask(self, way: _Way, prompt: str, schema: dict[str, Any], deadline: float) -> Reply:
        try:
            answer = self._endpoint.post("chat/completions", self._request(way, prompt, schema), deadline)
        except EndpointUnavailable as error:
            kind = LLMThrottled if error.status in _THROTTLING else LLMUnavailable
            unavailable = kind(str(error), retry_after=error.retry_after)
            if error.status in _MAYBE_THE_FORM:
                raise FormatRejected(unavailable) from error
            raise unavailable from error
        except EndpointRefused as error:
            refused = LLMRefused(f"{error}; {_remedy(error.status)}")
            if error.status in _MAYBE_THE_FORM:
                raise FormatRejected(refused, error.parameter) from error
            raise refused from error
        return _reply(answer)

    def _request(self, way: _Way, prompt: str, schema: dict[str, Any]) -> dict[str, Any]:
        in_prompt = way.form not in {"json_schema", "tool"}
        request: dict[str, Any] = {
            "model": self.name,
            "messages": [{"role": "user", "content": with_schema(prompt, schema) if in_prompt else prompt}],
            way.limit: self._answer_tokens,
        }
        if way.temperature:
            request["temperature"] = 0
        match way.form:
            case "json_schema":
                asked = {"name": ANSWER, "schema": strict(schema), "strict": True}
                request["response_format"] = {"type": "json_schema", "json_schema": asked}
            case "json_object_of_schema":
                request["response_format"] = {"type": "json_object", "schema": inlined(schema)}
            case "json_object":
                request["response_format"] = {"type": "json_object"}
            case "tool":
                function = {"name": ANSWER, "description": "Give the answer.", "parameters": inlined(schema)}
                request["tools"] = [{"type": "function", "function": function}]
                request["tool_choice"] = {"type": "function", "function": {"name": ANSWER}}
            case "prompt":
                pass
        return request


def open_openai(settings: Settings) -> OpenAIProvider:
    """Return the model that the settings name.

    Raises:
        SettingsError: they name none.
    """
    if not settings.llm_model:
        raise SettingsError(f"{variable_of('llm_model')}: {variable_of('llm')}=openai needs the name of a model")
    timeout = settings.llm_timeout_seconds
    endpoint = Endpoint(settings.llm_url, settings.llm_api_key, timeout=timeout, connections=settings.worker_slots)
    return OpenAIProvider(endpoint, settings.llm_model, timeout=timeout, answer_tokens=settings.llm_max_answer_tokens)


def _other_way(way: _Way, refusal: FormatRejected) -> _Way | None:
    if refusal.parameter == "max_tokens" and way.limit == "max_tokens":
        return replace(way, limit="max_completion_tokens")
    if refusal.parameter == "temperature" and way.temperature:
        return replace(way, temperature=False)
    position = _FORMS.index(way.form) + 1
    return replace(way, form=_FORMS[position]) if position < len(_FORMS) else None


def _reply(answer: Mapping[str, Any]) -> Reply:
    try:
        completion = _Completion.model_validate(answer)
    except ValidationError:
        # Without its cause: that would show the answer.
        raise LLMUnavailable("the endpoint's answer is no completion of a chat") from None
    choice, usage = completion.choices[0], completion.usage
    is_cut = choice.finish_reason == _CUT
    return Reply(_text_of(choice.message), usage.prompt_tokens, usage.completion_tokens, is_cut)


def _text_of(message: _Message) -> str:
    """Return what was said: by OpenAI's protocol a text, and JSON in a text; some servers give parts, or the JSON
    itself."""
    if message.tool_calls:
        arguments = message.tool_calls[0].function.arguments
        return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    if isinstance(message.content, list):
        return "".join(part.text for part in message.content)
    return message.content or ""


def _remedy(status: int) -> str:
    match status:
        case 401 | 403:
            return f"is {variable_of('llm_api_key')} right?"
        case 404:
            return f"are {variable_of('llm_url')} (often ending in /v1) and {variable_of('llm_model')} right?"
        case _ if status < 400:
            return f"is {variable_of('llm_url')} right?"
        case _:
            return "it does not take the request"
