"""Embedders behind an endpoint: how they ask, and how each failure of the endpoint is classified."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from memory.failures import is_outage, is_transient, pause_before_retry
from schema.errors import EmbedderRefused, EmbedderUnavailable, SettingsError
from stores.embedding import Embedder, try_out
from stores.embedding.base import Billed
from tests.contract import embedders
from tests.contract.embedders import open_bedrock, open_openai
from tests.contract.loopback import Answer, Loopback, Request, loopback
from tests.contract.vendors import SECRET, VENDORS, always

OPENERS: dict[str, Callable[..., Embedder]] = {"bedrock": open_bedrock, "openai": open_openai}


@pytest.fixture(params=sorted(OPENERS))
def vendor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def embedder(vendor: str, server: Loopback) -> Embedder:
    return OPENERS[vendor](server)


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_what_may_work_later_is_unavailable_and_asked_once(
    vendor: str, server: Loopback, embedder: Embedder, status: int
) -> None:
    server.answer = always(VENDORS[vendor].failed(status))
    with pytest.raises(EmbedderUnavailable) as failed:
        embedder.embed(["a text"])
    assert len(server.requests) == 1
    assert is_transient(failed.value)
    assert not is_outage(failed.value)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_what_never_will_is_refused_and_names_the_settings(
    vendor: str, server: Loopback, embedder: Embedder, status: int
) -> None:
    server.answer = always(VENDORS[vendor].failed(status, message=f"no: {SECRET}"))
    with pytest.raises(EmbedderRefused, match="AFTERTURN_EMBEDDER_MODEL") as failed:
        embedder.embed([SECRET])
    assert SECRET not in str(failed.value)
    assert not is_transient(failed.value)


@pytest.mark.parametrize("fault", ["reset", "closed", "truncated"])
def test_a_connection_that_breaks_is_unavailable(vendor: str, server: Loopback, embedder: Embedder, fault: str) -> None:
    server.answer = always(Answer(body={"embedding": [1.0] * 1024}, fault=fault))
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["a text"])


@pytest.mark.parametrize(
    "body", [b"", b"{", b"<html>", b"{}", b"[]", b'{"embedding": "no"}', b'{"data": []}', b'{"data": [{"index": 4}]}']
)
def test_an_answer_without_vectors_is_unavailable(server: Loopback, embedder: Embedder, body: bytes) -> None:
    server.answer = always(Answer(body=body))
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["a text"])


def test_a_silent_endpoint_is_given_up_in_time(vendor: str, server: Loopback) -> None:
    embedder = OPENERS[vendor](server, embedder_timeout_seconds=0.3)
    server.answer = always(Answer(fault="silent"))
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["a text"])
    assert server.waited_out == 0


def test_nobody_listening_is_unavailable(vendor: str, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    with loopback() as gone:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", gone.url)
        embedder = OPENERS[vendor](gone)
    with pytest.raises(EmbedderUnavailable):
        embedder.embed(["a text"])


def test_a_throttling_endpoint_is_left_alone_as_long_as_it_asks(
    vendor: str, server: Loopback, embedder: Embedder
) -> None:
    server.answer = always(VENDORS[vendor].failed(429, headers={"Retry-After": "7"}))
    with pytest.raises(EmbedderUnavailable) as throttled:
        embedder.embed(["a text"])
    assert pause_before_retry(1, throttled.value) == 7


@pytest.mark.parametrize("vector", [[], [0.0] * 1024, [float("nan")] * 1024, [1.0] * 7])
def test_vectors_of_other_dimensions_or_of_no_direction_are_refused(
    vendor: str, server: Loopback, vector: list[float]
) -> None:
    embedder = OPENERS[vendor](server, embedder_dimensions=1024)
    data = [{"object": "embedding", "index": 0, "embedding": vector}]
    server.answer = always(Answer(body={"embedding": vector, "data": data, "model": "m", "object": "list"}))
    with pytest.raises(EmbedderRefused, match="choose another model"):
        embedder.embed(["a text"])


def test_an_embedder_that_can_never_work_stops_the_start(vendor: str, server: Loopback, embedder: Embedder) -> None:
    server.answer = always(VENDORS[vendor].failed(403))
    with pytest.raises(SettingsError, match="AFTERTURN_EMBEDDER: "):
        try_out(embedder)
    server.answer = embedders.bedrock if vendor == "bedrock" else embedders.openai
    try_out(embedder)


def test_what_the_model_wants_before_each_text_is_sent_and_in_the_name(vendor: str, server: Loopback) -> None:
    embedder = OPENERS[vendor](server, embedder_prefix="query: ")
    embedder.embed(["a text"])
    body = server.requests[0].body
    assert (body.get("inputText") or body["input"][0]) == "query: a text"
    assert "query: " in embedder.name


def test_the_dimensions_are_in_the_name(vendor: str, server: Loopback) -> None:
    assert OPENERS[vendor](server, embedder_dimensions=256).name != OPENERS[vendor](server).name


# --- Titan alone ---


def test_titan_is_asked_for_unit_vectors_of_its_dimensions(server: Loopback) -> None:
    open_bedrock(server, embedder_dimensions=512).embed(["a text"])
    assert server.requests[0].body == {"inputText": "a text", "dimensions": 512, "normalize": True}


def test_titan_has_the_thresholds_of_the_plan(server: Loopback) -> None:
    thresholds = open_bedrock(server).thresholds
    assert thresholds is not None
    assert (thresholds.semantic_auto_update, thresholds.semantic_check_low) == (0.90, 0.80)
    assert (thresholds.episodic_auto_update, thresholds.episodic_check_low) == (0.92, 0.85)


def test_dimensions_that_titan_does_not_make_are_refused_at_the_start(server: Loopback) -> None:
    with pytest.raises(SettingsError, match="AFTERTURN_EMBEDDER_DIMENSIONS: Titan makes 256, 512 or 1024"):
        open_bedrock(server, embedder_dimensions=384)


def test_a_text_of_too_many_tokens_is_halved_until_it_is_taken(server: Loopback) -> None:
    embedder = open_bedrock(server)

    def few_tokens(request: Request) -> Answer:
        if len(request.body["inputText"]) > 6_000:
            return VENDORS["bedrock"].failed(400)
        return embedders.bedrock(request)

    server.answer = few_tokens
    assert embedder.embed(["🌒" * 30_000]).shape == (1, 1024)
    assert [len(request.body["inputText"]) for request in server.requests] == [20_000, 10_000, 5_000]


# --- OpenAI's protocol alone ---


def test_dimensions_are_only_asked_for_where_the_models_own_are_others(server: Loopback) -> None:
    open_openai(server).embed(["a text"])
    assert "dimensions" not in server.requests[0].body

    server.requests.clear()
    shortened = open_openai(server, embedder_dimensions=128)
    for _ in range(2):
        assert shortened.embed(["a text"]).shape == (1, 128)
    assert [request.body.get("dimensions") for request in server.requests] == [None, 128, 128]


def test_a_model_that_cannot_be_asked_for_dimensions_is_refused_with_its_own(server: Loopback) -> None:
    embedder = open_openai(server, embedder_dimensions=999)
    numbers = {"object": "embedding", "index": 0, "embedding": [1.0] * 384}
    server.answer = always(Answer(body={"object": "list", "model": "m", "data": [numbers]}))
    with pytest.raises(EmbedderRefused, match="384 numbers and not 999; set AFTERTURN_EMBEDDER_DIMENSIONS"):
        embedder.embed(["a text"])


def test_many_texts_are_asked_for_together_and_no_more_than_64(server: Loopback) -> None:
    vectors = open_openai(server).embed([f"text {number % 5}" for number in range(70)])
    assert [len(request.body["input"]) for request in server.requests] == [64, 6]
    assert np.array_equal(vectors[0], vectors[5])


@pytest.mark.parametrize("missing", ["embedder_model", "embedder_dimensions"])
def test_a_model_and_its_dimensions_must_be_named(server: Loopback, missing: str) -> None:
    with pytest.raises(SettingsError, match=f"AFTERTURN_{missing.upper()}: "):
        open_openai(server, **{missing: None})


def test_the_embedders_key_is_sent_as_a_bearer(server: Loopback) -> None:
    open_openai(server, embedder_api_key="sk-of-ours").embed(["a text"])
    assert server.requests[0].headers["authorization"] == "Bearer sk-of-ours"


@pytest.mark.parametrize(("vendor", "tokens"), [("bedrock", 7 * 2), ("openai", 3)], indirect=["vendor"])
def test_the_tokens_that_a_provider_counts_are_told(vendor: str, server: Loopback, tokens: int) -> None:
    embedder = OPENERS[vendor](server)
    assert isinstance(embedder, Billed)
    vectors, billed = embedder.embed_billed(["one text", "another text"])
    assert (len(vectors), billed) == (2, tokens)


@pytest.mark.parametrize("usage", [None, "many", {"total_tokens": "seven"}, {}])
def test_tokens_are_guessed_of_an_endpoint_that_does_not_tell_them(server: Loopback, usage: object) -> None:
    def untold(request: Request) -> Answer:
        answer = embedders.openai(request)
        return Answer(body={**answer.body, "usage": usage})

    embedder = open_openai(server)
    server.answer = untold
    assert isinstance(embedder, Billed)
    _, billed = embedder.embed_billed(["a text of some twenty characters"])
    assert 5 < billed < 10
