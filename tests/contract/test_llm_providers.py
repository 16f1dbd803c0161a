"""What every provider of language models promises, over real sockets. A provider is one more line in `VENDORS`."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from schema.errors import LLMRefused, LLMThrottled, LLMUnavailable
from stores.llm import Provider
from tests.contract.loopback import Answer, Loopback, Request, loopback
from tests.contract.vendors import BERLIN, SCHEMA, SECRET, VENDORS, City, Vendor, always, takes_only


@pytest.fixture(params=sorted(VENDORS))
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return VENDORS[request.param]


@pytest.fixture
def provider(vendor: Vendor, server: Loopback) -> Provider:
    return vendor.open(server)


@pytest.fixture
def settled(vendor: Vendor, server: Loopback, provider: Provider) -> Provider:
    """A provider that has been answered once, so that it knows how to ask; its requests are counted from now on."""
    server.answer = always(vendor.said(BERLIN, form=vendor.forms[0]))
    provider.reply("where?", SCHEMA)
    server.requests.clear()
    return provider


# --- what is asked and answered ---


def test_the_answer_comes_back_as_json_with_its_tokens(vendor: Vendor, server: Loopback, provider: Provider) -> None:
    server.answer = always(vendor.said(BERLIN, form=vendor.forms[0]))

    reply = provider.reply("where?", SCHEMA)

    assert City.model_validate_json(reply.text) == City(city="Berlin")
    assert (reply.prompt_tokens, reply.completion_tokens) == (12, 5)


def test_an_answer_that_reached_its_limit_says_so(vendor: Vendor, server: Loopback, settled: Provider) -> None:
    assert not settled.reply("where?", SCHEMA).is_cut
    server.answer = always(vendor.said(BERLIN, form=vendor.forms[0], is_cut=True))
    assert settled.reply("where?", SCHEMA).is_cut


def test_the_model_is_asked_at_temperature_0_for_the_schema_within_a_limit(vendor: Vendor, server: Loopback) -> None:
    provider = vendor.open(server, llm_model="a-model", llm_max_answer_tokens=321)
    server.answer = always(vendor.said(BERLIN, form=vendor.forms[0]))
    provider.reply("where?", SCHEMA)

    [request] = server.requests
    asked = vendor.asked(request)
    assert (asked.model, asked.prompt, asked.temperature, asked.max_tokens) == ("a-model", "where?", 0, 321)
    assert asked.form == vendor.forms[0]
    assert asked.schema is not None
    assert set(asked.schema["properties"]) == {"city", "since", "pets"}
    assert provider.name == "a-model"


def test_no_schema_that_is_sent_refers_to_definitions(vendor: Vendor, server: Loopback, provider: Provider) -> None:
    server.answer = always(vendor.said(BERLIN, form=vendor.forms[0]))
    provider.reply("where?", SCHEMA)

    assert "$" not in json.dumps(server.requests[0].body)


def test_words_in_any_script_arrive_and_come_back_as_they_are(
    vendor: Vendor, server: Loopback, provider: Provider
) -> None:
    words = 'Škoda, 漢字, "quotes", \u202eright to left, 🌒 and a \\ backslash'
    server.answer = always(vendor.said(json.dumps({"city": words}), form=vendor.forms[0]))

    reply = provider.reply(words, SCHEMA)

    assert vendor.asked(server.requests[0]).prompt == words
    assert City.model_validate_json(reply.text).city == words


def test_an_endpoint_is_asked_in_the_first_way_that_it_takes_and_only_that_from_then_on(
    vendor: Vendor, server: Loopback
) -> None:
    for position, form in enumerate(vendor.forms):
        provider = vendor.open(server)
        server.requests.clear()
        server.answer = takes_only(vendor, form, 400)

        for _ in range(2):
            assert City.model_validate_json(provider.reply("where?", SCHEMA).text).city == "Berlin"

        asked = [vendor.asked(request).form for request in server.requests]
        assert asked == [*vendor.forms[: position + 1], form]


def test_a_model_that_cannot_be_given_the_schema_finds_it_in_its_prompt(
    vendor: Vendor, server: Loopback, provider: Provider
) -> None:
    server.answer = takes_only(vendor, "prompt", 400)
    provider.reply("where?", SCHEMA)

    prompt = vendor.asked(server.requests[-1]).prompt
    assert prompt.startswith("where?\n")
    assert {"city", "since", "pets"} <= set(json.loads(prompt.splitlines()[-1])["properties"])


def test_once_a_way_is_known_a_refusal_is_the_calls_own(vendor: Vendor, server: Loopback, settled: Provider) -> None:
    server.answer = always(vendor.failed(400))
    with pytest.raises(LLMRefused):
        settled.reply("where?", SCHEMA)
    assert len(server.requests) == 1


# --- what goes wrong ---


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_will_never_be_answered_is_refused(
    vendor: Vendor, server: Loopback, provider: Provider, status: int
) -> None:
    server.answer = always(vendor.failed(status))
    with pytest.raises(LLMRefused, match=r"right\?|does not take"):
        provider.reply("where?", SCHEMA)


@pytest.mark.parametrize("status", [408, 424, 429, 500, 503])
def test_what_may_be_answered_later_is_unavailable_and_asked_once(
    vendor: Vendor, server: Loopback, settled: Provider, status: int
) -> None:
    if status == 424 and vendor is VENDORS["openai"]:
        pytest.skip("424 is Bedrock's own")
    server.answer = always(vendor.failed(status))
    with pytest.raises(LLMUnavailable):
        settled.reply("where?", SCHEMA)
    assert len(server.requests) == 1


def test_an_endpoint_that_fails_from_the_start_is_unavailable(
    vendor: Vendor, server: Loopback, provider: Provider
) -> None:
    server.answer = always(vendor.failed(500))
    with pytest.raises(LLMUnavailable):
        provider.reply("where?", SCHEMA)


@pytest.mark.parametrize("fault", ["reset", "closed", "truncated"])
def test_a_connection_that_breaks_is_unavailable_and_asked_once(
    vendor: Vendor, server: Loopback, settled: Provider, fault: str
) -> None:
    said = vendor.said(BERLIN, form=vendor.forms[0])
    server.answer = always(Answer(body=said.body, fault=fault))
    with pytest.raises(LLMUnavailable):
        settled.reply("where?", SCHEMA)
    assert len(server.requests) == 1


@pytest.mark.parametrize("body", [b"", b"{", b"<html>sign in</html>", b"{}", b'{"choices": []}', b'{"output": {}}'])
def test_an_answer_that_is_none_is_unavailable(
    vendor: Vendor, server: Loopback, settled: Provider, body: bytes
) -> None:
    server.answer = always(Answer(body=body))
    with pytest.raises(LLMUnavailable):
        settled.reply("where?", SCHEMA)


def test_nobody_listening_is_unavailable(vendor: Vendor, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    with loopback() as gone:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", gone.url)
        provider = vendor.open(gone)
    with pytest.raises(LLMUnavailable):
        provider.reply("where?", SCHEMA)


def test_a_silent_endpoint_is_given_up_in_time(vendor: Vendor, server: Loopback) -> None:
    provider = vendor.open(server, llm_timeout_seconds=0.3)
    server.answer = always(Answer(fault="silent"))
    with pytest.raises(LLMUnavailable):
        provider.reply("where?", SCHEMA)
    assert (len(server.requests), server.waited_out) == (1, 0)


def test_a_throttling_endpoint_says_how_long_to_wait(vendor: Vendor, server: Loopback, provider: Provider) -> None:
    server.answer = always(vendor.failed(429, headers={"Retry-After": "7"}))
    with pytest.raises(LLMThrottled) as throttled:
        provider.reply("where?", SCHEMA)
    assert throttled.value.retry_after == 7
    assert len(server.requests) == 1


@pytest.mark.parametrize("header", ["", "soon", "-3", "nan"])
def test_a_wait_that_is_none_does_no_harm(vendor: Vendor, server: Loopback, provider: Provider, header: str) -> None:
    server.answer = always(vendor.failed(429, headers={"Retry-After": header}))
    with pytest.raises(LLMUnavailable) as throttled:
        provider.reply("where?", SCHEMA)
    assert not throttled.value.retry_after


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_a_failure_does_not_repeat_what_was_said(vendor: Vendor, server: Loopback, status: int) -> None:
    provider = vendor.open(server, llm_api_key="sk-of-ours")
    server.answer = always(vendor.failed(status, message=f"cannot do this: {SECRET}"))
    with pytest.raises((LLMRefused, LLMUnavailable)) as failed:
        provider.reply(SECRET, SCHEMA)
    assert SECRET not in str(failed.value)
    assert "sk-of-ours" not in repr(failed.value)


# --- many at a time ---


def test_as_many_calls_as_slots_run_side_by_side_and_each_gets_its_own_answer(vendor: Vendor, server: Loopback) -> None:
    provider = vendor.open(server, worker_slots=16, llm_timeout_seconds=20)
    together = threading.Barrier(16)

    def answer(request: Request) -> Answer:
        together.wait(10)
        return vendor.said(json.dumps({"city": vendor.asked(request).prompt}), form=vendor.forms[0])

    server.answer = answer
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda number: provider.reply(f"city {number}", SCHEMA), range(32)))

    assert [City.model_validate_json(reply.text).city for reply in replies] == [f"city {n}" for n in range(32)]
    assert server.connections <= 16
