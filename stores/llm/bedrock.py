"""Models of Amazon Bedrock, asked by its Converse API: Nova, Claude, Mistral, Llama and others."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from schema.errors import LLMRefused, LLMThrottled, LLMUnavailable
from schema.settings import Settings, variable_of
from stores.aws import AWS_FAILURES, AwsFailure, code_of, is_passing, open_bedrock, retry_after
from stores.llm.base import Reply
from stores.llm.formats import FormatRejected, RequestFormats
from stores.llm.schema import ANSWER, inlined, with_schema

if TYPE_CHECKING:
    from types_boto3_bedrock_runtime import BedrockRuntimeClient
    from types_boto3_bedrock_runtime.type_defs import ConverseRequestTypeDef, ToolConfigurationTypeDef

NOVA_MICRO = "amazon.nova-micro-v1:0"
"""The model of the "S3 Vectors Memory Implementation Plan (V1)" for quick decisions."""

_THROTTLING = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException"})
_CUT = "max_tokens"
"""Converse's `stopReason` of an answer that reached the limit of tokens."""

Choice = Literal["tool", "any", "auto", "prompt"]
_CHOICES: tuple[Choice, ...] = ("tool", "any", "auto", "prompt")
"""How an answer of a schema can be asked for, the most reliable first. Claude and Nova take a tool by name; some
models take "any" tool, some only offers of tools, some none at all (Bedrock's guide, "Tool use", `toolChoice`)."""


class BedrockProvider:
    """One model, or an inference profile of it, in one region.

    It is told to call a tool whose arguments are the answer; where the model refuses that, it is asked in the next of
    the ways above. Which one it takes is found out at the first call.
    """

    def __init__(self, client: BedrockRuntimeClient, model: str, *, answer_tokens: int) -> None:
        self.name = model
        self._client = client
        self._answer_tokens = answer_tokens
        self._formats: RequestFormats[Choice] = RequestFormats("tool", _next_choice)

    def reply(self, prompt: str, schema: dict[str, Any]) -> Reply:
        """Return what the model answers.

        Raises:
            LLMThrottled, LLMUnavailable, LLMRefused
        """
        return self._formats.ask(lambda choice: self._ask(choice, prompt, schema))

    def _ask(self, choice: Choice, prompt: str, schema: dict[str, Any]) -> Reply:
        try:
            answer = self._client.converse(**self._request(choice, prompt, schema))
        except AWS_FAILURES as error:
            raise _failure(error) from error
        return _reply(answer)

    def _request(self, choice: Choice, prompt: str, schema: dict[str, Any]) -> ConverseRequestTypeDef:
        text = with_schema(prompt, schema) if choice == "prompt" else prompt
        request: ConverseRequestTypeDef = {
            "modelId": self.name,
            "messages": [{"role": "user", "content": [{"text": text}]}],
            "inferenceConfig": {"temperature": 0, "maxTokens": self._answer_tokens},
        }
        if choice != "prompt":
            request["toolConfig"] = _tool(choice, schema)
        return request


def open_bedrock_provider(settings: Settings) -> BedrockProvider:
    """Return the model that the settings name, Nova Micro if they name none.

    Raises:
        SettingsError: no region is known, or it is none.
    """
    client = open_bedrock(settings, timeout=settings.llm_timeout_seconds, connections=settings.worker_slots)
    return BedrockProvider(client, settings.llm_model or NOVA_MICRO, answer_tokens=settings.llm_max_answer_tokens)


def _tool(choice: Choice, schema: dict[str, Any]) -> ToolConfigurationTypeDef:
    tool: ToolConfigurationTypeDef = {
        "tools": [
            {"toolSpec": {"name": ANSWER, "description": "Give the answer.", "inputSchema": {"json": inlined(schema)}}}
        ]
    }
    if choice == "tool":
        tool["toolChoice"] = {"tool": {"name": ANSWER}}
    elif choice == "any":
        tool["toolChoice"] = {"any": {}}
    return tool


def _next_choice(choice: Choice, _refusal: FormatRejected) -> Choice | None:
    position = _CHOICES.index(choice) + 1
    return _CHOICES[position] if position < len(_CHOICES) else None


def _failure(error: AwsFailure) -> Exception:
    code = code_of(error)
    if is_passing(error):
        kind = LLMThrottled if code in _THROTTLING else LLMUnavailable
        return kind(f"Bedrock: {code}", retry_after=retry_after(error))
    if code == "ValidationException":
        model = variable_of("llm_model")
        hint = f"Bedrock does not take the request; is {model} right? Some models need an inference profile's id"
        return FormatRejected(LLMRefused(f"{hint} ({code})"))
    return LLMRefused(f"Bedrock: {code}; are the AWS credentials, their rights and the region right?")


def _reply(answer: Mapping[str, Any]) -> Reply:
    content = answer.get("output", {}).get("message", {}).get("content")
    if not isinstance(content, list):
        raise LLMUnavailable("Bedrock's answer has no message")
    used = [block["toolUse"]["input"] for block in content if "toolUse" in block]
    text = "".join(block["text"] for block in content if "text" in block)
    usage = answer.get("usage", {})
    return Reply(
        json.dumps(used[0], ensure_ascii=False) if used else text,
        usage.get("inputTokens", 0),
        usage.get("outputTokens", 0),
        answer.get("stopReason") == _CUT,
    )
