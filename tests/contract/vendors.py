"""What Bedrock and endpoints of OpenAI's protocol send and take, by the vendors' own models, for the tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol
from urllib.parse import unquote

from botocore.validate import ParamValidator
from openai.types.chat import ChatCompletion
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from pydantic import BaseModel, Field, TypeAdapter

from schema.settings import Settings
from stores.aws import session
from stores.llm import Provider
from stores.llm.bedrock import open_bedrock_provider
from stores.llm.openai import open_openai
from tests.contract.loopback import Answer, Loopback, Request

Form = str
TIMEOUT = 3.0
SECRET = "the user's PIN is 4711"
BERLIN = '{"city": "Berlin", "since": null, "pets": []}'


class Pet(BaseModel):
    name: str = Field(max_length=20)
    kind: Literal["cat", "dog"] = "cat"


class City(BaseModel):
    """With all that a schema of ours may hold: a default, a choice, an optional field, a nested model."""

    city: str
    since: int | None = None
    pets: list[Pet] = []


SCHEMA = City.model_json_schema()


@dataclass(frozen=True)
class Asked:
    """What a request asks of a model, whichever vendor's it is."""

    model: str
    prompt: str
    temperature: float | None
    max_tokens: int
    form: Form
    schema: dict[str, Any] | None


class Vendor(Protocol):
    """One vendor's side of the wire."""

    @property
    def forms(self) -> tuple[Form, ...]:
        """The ways of asking for a schema, in the order in which they are tried."""
        ...

    def open(self, server: Loopback, **settings: Any) -> Provider: ...

    def asked(self, request: Request) -> Asked:
        """What a request asks; fails when the vendor's own model does not take it."""
        ...

    def said(self, text: str, *, form: Form, is_cut: bool = False) -> Answer:
        """The answer of a model that took 12 tokens and gave 5."""
        ...

    def failed(self, status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Answer: ...


class OpenAIWire:
    forms = ("json_schema", "json_object_of_schema", "json_object", "tool", "prompt")

    def open(self, server: Loopback, **settings: Any) -> Provider:
        given = {"llm_model": "a-model", "llm_url": f"{server.url}/v1", "llm_timeout_seconds": TIMEOUT} | settings
        return open_openai(Settings.model_validate({"llm": "openai"} | given))

    def asked(self, request: Request) -> Asked:
        assert request.path == "/v1/chat/completions"
        body = request.body
        assert set(body) <= set(CompletionCreateParamsNonStreaming.__annotations__)
        _consumed(_chat_request().validate_python(body))
        [message] = body["messages"]
        form, schema = "prompt", None
        if "tools" in body:
            form, schema = "tool", body["tools"][0]["function"]["parameters"]
            assert body["tool_choice"]["function"]["name"] == body["tools"][0]["function"]["name"]
        elif "response_format" in body:
            asked = body["response_format"]
            form = "json_object_of_schema" if "schema" in asked else asked["type"]
            schema = asked.get("schema") or asked.get("json_schema", {}).get("schema")
        limit = body.get("max_tokens") or body["max_completion_tokens"]
        return Asked(body["model"], message["content"], body.get("temperature"), limit, form, schema)

    def said(self, text: str, *, form: Form, is_cut: bool = False) -> Answer:
        message: dict[str, Any] = {"role": "assistant", "content": text}
        if form == "tool":
            call = {"id": "1", "type": "function", "function": {"name": "answer", "arguments": text}}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        completion = {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": "a-model",
            "choices": [
                {"index": 0, "finish_reason": "length" if is_cut else "stop", "message": message, "logprobs": None}
            ],
            "usage": {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17},
        }
        return Answer(body=ChatCompletion.model_validate(completion).model_dump(mode="json"))

    def failed(self, status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Answer:
        error = {"message": message, "type": "some_error", "code": None, "param": None}
        return Answer(status, {"error": error}, headers or {})


class BedrockWire:
    forms = ("tool", "any", "auto", "prompt")

    def open(self, server: Loopback, **settings: Any) -> Provider:
        del server  # boto3 finds it in its own variable: see the fixture.
        given = {"aws_region": "eu-central-1", "llm_timeout_seconds": TIMEOUT} | settings
        return open_bedrock_provider(Settings.model_validate({"llm": "bedrock"} | given))

    def asked(self, request: Request) -> Asked:
        _, _, model, operation = request.path.split("/")
        assert operation == "converse"
        body = request.body
        _checked("input", body | {"modelId": unquote(model)})
        [message] = body["messages"]
        [content] = message["content"]
        form, schema = "prompt", None
        if "toolConfig" in body:
            [tool] = body["toolConfig"]["tools"]
            schema = tool["toolSpec"]["inputSchema"]["json"]
            [form] = body["toolConfig"].get("toolChoice", {"auto": {}})
        inference = body["inferenceConfig"]
        return Asked(unquote(model), content["text"], inference["temperature"], inference["maxTokens"], form, schema)

    def said(self, text: str, *, form: Form, is_cut: bool = False) -> Answer:
        block: dict[str, Any] = {"text": text}
        if form in {"tool", "any"}:
            block = {"toolUse": {"toolUseId": "1", "name": "answer", "input": json.loads(text)}}
        answer = {
            "output": {"message": {"role": "assistant", "content": [block]}},
            "stopReason": "max_tokens" if is_cut else "end_turn",
            "usage": {"inputTokens": 12, "outputTokens": 5, "totalTokens": 17},
            "metrics": {"latencyMs": 7},
        }
        _checked("output", answer)
        return Answer(body=answer)

    def failed(self, status: int, message: str = "no", headers: Mapping[str, str] | None = None) -> Answer:
        codes = {
            400: "ValidationException",
            401: "UnrecognizedClientException",
            403: "AccessDeniedException",
            404: "ResourceNotFoundException",
            408: "ModelTimeoutException",
            424: "ModelErrorException",
            429: "ThrottlingException",
            500: "InternalServerException",
            503: "ServiceUnavailableException",
        }
        return Answer(status, {"message": message}, {"x-amzn-ErrorType": codes[status], **(headers or {})})


VENDORS: dict[str, Vendor] = {"bedrock": BedrockWire(), "openai": OpenAIWire()}


@cache
def _chat_request() -> TypeAdapter[Any]:
    return TypeAdapter(CompletionCreateParamsNonStreaming)


def _consumed(value: Any) -> None:
    """Look at every part of a value: pydantic checks the items of an iterable only then."""
    if isinstance(value, dict):
        for part in value.values():
            _consumed(part)
    elif isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for part in value:
            _consumed(part)


@cache
def _converse() -> Any:
    client = session().client("bedrock-runtime", region_name="eu-central-1")
    return client.meta.service_model.operation_model("Converse")


def _checked(side: str, body: dict[str, Any]) -> None:
    shape = _converse().input_shape if side == "input" else _converse().output_shape
    report = ParamValidator().validate(body, shape)
    assert not report.has_errors(), report.generate_report()


def always(answer: Answer) -> Callable[[Request], Answer]:
    return lambda _request: answer


def takes_only(vendor: Vendor, form: str, status: int) -> Callable[[Request], Answer]:
    """An endpoint that refuses every other way of asking."""

    def answer(request: Request) -> Answer:
        if vendor.asked(request).form == form:
            return vendor.said(BERLIN, form=form)
        return vendor.failed(status)

    return answer
