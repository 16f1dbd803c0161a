"""What is a single provider's own: the dialects of OpenAI's protocol, and the ways of Bedrock."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from schema.errors import LLMRefused, LLMUnavailable
from stores.aws import session
from stores.llm import Provider
from tests.contract.loopback import Answer, Loopback, Request
from tests.contract.vendors import BERLIN, SCHEMA, SECRET, VENDORS, City, always, takes_only

# --- OpenAI's protocol alone ---


@pytest.fixture
def openai(server: Loopback) -> Provider:
    return VENDORS["openai"].open(server)


@pytest.mark.parametrize("status", [422, 500, 501])
def test_a_server_that_fails_over_json_schema_is_asked_for_a_json_object(
    server: Loopback, openai: Provider, status: int
) -> None:
    wire = VENDORS["openai"]
    server.answer = takes_only(wire, "json_object_of_schema", status)

    assert City.model_validate_json(openai.reply("where?", SCHEMA).text).city == "Berlin"
    assert [wire.asked(request).form for request in server.requests] == ["json_schema", "json_object_of_schema"]


def test_a_strict_schema_requires_every_field_and_allows_no_other(server: Loopback, openai: Provider) -> None:
    server.answer = always(VENDORS["openai"].said(BERLIN, form="json_schema"))
    openai.reply("where?", SCHEMA)

    schema = VENDORS["openai"].asked(server.requests[0]).schema
    assert schema is not None
    pet = schema["properties"]["pets"]["items"]
    for part in (schema, pet):
        assert part["additionalProperties"] is False
        assert part["required"] == list(part["properties"])
    assert not {"default", "maxLength"} & set(pet["properties"]["name"]) | set(pet["properties"]["kind"]) & {"default"}


def test_a_model_without_temperature_and_with_another_limit_is_asked_as_it_wants(
    server: Loopback, openai: Provider
) -> None:
    def reasoning(request: Request) -> Answer:
        for parameter in ("max_tokens", "temperature"):
            if parameter in request.body:
                error = {"message": "no", "type": "invalid_request_error", "code": "unsupported", "param": parameter}
                return Answer(400, {"error": error})
        return VENDORS["openai"].said(BERLIN, form="json_schema")

    server.answer = reasoning

    assert City.model_validate_json(openai.reply("where?", SCHEMA).text).city == "Berlin"
    assert set(server.requests[-1].body) == {"model", "messages", "max_completion_tokens", "response_format"}


@pytest.mark.parametrize(
    "message",
    [
        pytest.param({"content": [{"type": "text", "text": BERLIN}]}, id="in parts"),
        pytest.param({"content": [{"type": "thinking", "thinking": []}, {"text": BERLIN}]}, id="a thought before it"),
        pytest.param({"content": None, "tool_calls": [{"function": {"arguments": json.loads(BERLIN)}}]}, id="object"),
        pytest.param({"content": BERLIN, "tool_calls": []}, id="no call of a tool"),
    ],
)
@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None, "completion_tokens": 2.5}, "many"])
def test_an_answer_may_come_in_the_forms_that_servers_give_it(
    server: Loopback, openai: Provider, message: object, usage: object
) -> None:
    server.answer = always(Answer(body={"choices": [{"message": message}], "usage": usage}))
    assert City.model_validate_json(openai.reply("where?", SCHEMA).text).city == "Berlin"


def test_an_answer_that_was_refused_by_the_model_is_empty(server: Loopback, openai: Provider) -> None:
    said = VENDORS["openai"].said("", form="json_schema").body
    said["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I cannot say"}
    server.answer = always(Answer(body=said))
    assert openai.reply("where?", SCHEMA).text == ""


@pytest.mark.parametrize("body", [b"null", b"[]", b'"words"', json.dumps({"choices": SECRET}).encode()])
def test_an_answer_of_another_shape_is_unavailable_and_not_repeated(
    server: Loopback, openai: Provider, body: bytes
) -> None:
    server.answer = always(Answer(body=body))
    with pytest.raises(LLMUnavailable) as failed:
        openai.reply("where?", SCHEMA)
    assert SECRET not in str(failed.value)
    assert failed.value.__suppress_context__ or failed.value.__context__ is None


def test_the_key_is_sent_as_a_bearer_and_none_without_one(server: Loopback) -> None:
    server.answer = always(VENDORS["openai"].said(BERLIN, form="json_schema"))
    VENDORS["openai"].open(server, llm_api_key="sk-of-ours").reply("where?", SCHEMA)
    VENDORS["openai"].open(server).reply("where?", SCHEMA)

    with_key, without = server.requests
    assert with_key.headers["authorization"] == "Bearer sk-of-ours"
    assert "authorization" not in without.headers


def test_an_endpoint_that_sends_a_byte_now_and_then_is_given_up_in_time(server: Loopback) -> None:
    provider = VENDORS["openai"].open(server, llm_timeout_seconds=0.5)
    said = VENDORS["openai"].said(BERLIN, form="json_schema")
    server.answer = always(Answer(body=said.body, fault="dripping"))
    with pytest.raises(LLMUnavailable, match="in time"):
        provider.reply("where?", SCHEMA)
    assert server.waited_out == 0


def test_a_wait_may_be_given_as_a_date(server: Loopback, openai: Provider) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(minutes=5), usegmt=True)
    server.answer = always(VENDORS["openai"].failed(429, headers={"Retry-After": date}))
    with pytest.raises(LLMUnavailable) as throttled:
        openai.reply("where?", SCHEMA)
    assert 200 < (throttled.value.retry_after or 0) <= 300


# --- Bedrock alone ---


def test_bedrock_asks_nova_micro_unless_told_otherwise(server: Loopback) -> None:
    assert VENDORS["bedrock"].open(server).name == "amazon.nova-micro-v1:0"


def test_an_inference_profile_is_asked_by_its_whole_name(server: Loopback) -> None:
    arn = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-haiku-4-5-20251001-v1:0"
    provider = VENDORS["bedrock"].open(server, llm_model=arn)
    server.answer = always(VENDORS["bedrock"].said(BERLIN, form="tool"))
    provider.reply("where?", SCHEMA)
    assert VENDORS["bedrock"].asked(server.requests[0]).model == arn


def test_missing_credentials_are_refused_and_said(
    server: Loopback, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    session.cache_clear()
    with pytest.raises(LLMRefused, match=r"NoCredentialsError.*credentials"):
        VENDORS["bedrock"].open(server).reply("where?", SCHEMA)
    assert server.requests == []
    session.cache_clear()


def test_a_guardrail_that_stepped_in_leaves_its_text(server: Loopback, settled_bedrock: Provider) -> None:
    answer = VENDORS["bedrock"].said("Sorry, I cannot answer that.", form="auto").body | {
        "stopReason": "guardrail_intervened"
    }
    server.answer = always(Answer(body=answer))
    assert settled_bedrock.reply("where?", SCHEMA).text == "Sorry, I cannot answer that."


@pytest.fixture
def settled_bedrock(server: Loopback) -> Provider:
    provider = VENDORS["bedrock"].open(server)
    server.answer = always(VENDORS["bedrock"].said(BERLIN, form="tool"))
    provider.reply("where?", SCHEMA)
    return provider
