"""The service: how many requests a key may make, and what it is told of that."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import structlog

from interfaces.local.broker import embedded_broker
from memory.metrics import HTTP_RATES
from schema.settings import Settings
from tests.conftest import free_port
from tests.e2e.service import Served, served, settings_in

READS, WRITES = 5, 2
A_TURN = {"user_id": "anna", "messages": [{"role": "user", "content": "I live in Lisbon."}]}


def limited(folder: Any, broker_url: str) -> Settings:
    limits = {"http_reads_per_minute": READS, "http_writes_per_minute": WRITES}
    return settings_in(folder, broker_url).model_copy(update=limits)


@pytest.fixture(scope="module")
def service(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(limited(tmp_path_factory.mktemp("service"), broker_url)) as running:
        yield running


def counted(rate_class: str, outcome: str) -> float:
    return HTTP_RATES.labels(rate_class, outcome)._value.get()  # type: ignore[no-any-return]


def field(answer: httpx.Response, name: str) -> dict[str, int]:
    """The parameters of a field, such as r and t."""
    return {key: int(value) for key, value in re.findall(r";(\w)=(\d+)", answer.headers[name])}


def test_every_answer_says_what_is_left_and_the_one_past_it_when_to_come_again(service: Served) -> None:
    refused_before = counted("read", "refused")
    with service.client(service.key(user="anna")) as client:
        answers = [client.get("/api/v1/memories/") for _ in range(READS + 1)]
    assert [answer.status_code for answer in answers] == [200] * READS + [429]
    assert [field(answer, "RateLimit")["r"] for answer in answers] == [4, 3, 2, 1, 0, 0]
    assert {answer.headers["RateLimit-Policy"] for answer in answers} == {f'"read";q={READS};w=60'}
    refused = answers[-1]
    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json()["status"] == 429
    assert 0 < int(refused.headers["Retry-After"]) == field(refused, "RateLimit")["t"] <= 60 / READS
    assert counted("read", "refused") == refused_before + 1


def test_classes_and_keys_have_buckets_of_their_own(service: Served) -> None:
    key = service.key(user="bert")
    with service.client(key) as client, service.client(service.key(user="bert")) as other:
        path = "/api/v1/subjects/bert/topics/violin"
        assert [client.put(path).status_code for _ in range(WRITES + 1)] == [200, 200, 429]
        assert client.get("/api/v1/memories/").status_code == 200
        assert client.post("/api/v1/subjects/bert/topics/check", json={"text": "Hello"}).status_code == 200
        assert other.put(path).status_code == 200


def test_a_client_of_the_protocol_writes_by_the_tools_that_write_and_reads_by_all_else(service: Served) -> None:
    def asked(method: str, **params: Any) -> str:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        answer = client.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"})
        return answer.headers["RateLimit"].partition(";")[0].strip('"')

    def called(tool: str) -> str:
        return asked("tools/call", name=tool, arguments={})

    with service.client(service.key(user="mila")) as client:
        client_info = {"name": "test", "version": "1"}
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client_info}
        assert {asked("initialize", **hello), asked("tools/list"), called("search_memory")} == {"read"}
    with service.client(service.key(user="mila")) as client:
        assert {called("create_memory"), called("delete_memory"), called("update_memory")} == {"write"}
    with service.client(service.key(user="mila")) as client:
        assert {called("no_such_tool"), asked("ping")} == {"read"}


def test_failures_say_what_is_left_too(service: Served) -> None:
    with service.client(service.key(user="carl")) as client:
        answer = client.get("/api/v1/memories/00000000-0000-4000-8000-000000000000")
        assert answer.status_code == 404
        assert field(answer, "RateLimit")["r"] == READS - 1


def test_turns_are_not_limited_unless_a_setting_says_so(service: Served) -> None:
    with service.client(service.key()) as client:
        answers = [client.post("/api/v1/turns", json={**A_TURN, "turn_id": f"t{n}"}) for n in range(10)]
    assert {answer.status_code for answer in answers} == {202}
    assert "RateLimit" not in answers[0].headers


def test_who_has_no_key_in_force_takes_nothing_from_anybody(service: Served) -> None:
    answer = httpx.get(f"{service.url}/api/v1/memories/", headers={"X-API-Key": "at_wrong"}, timeout=30.0)
    assert answer.status_code == 401
    assert "RateLimit" not in answer.headers


def test_nobody_is_limited_while_the_broker_is_away_and_one_warning_says_so(tmp_path: Any) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    with structlog.testing.capture_logs() as logs, served(limited(tmp_path / "service", url)) as lonely:
        with lonely.client(lonely.key(user="anna")) as client:
            answers = [client.get("/api/v1/memories/") for _ in range(READS + 3)]
            assert {answer.status_code for answer in answers} == {200}
            assert all("RateLimit" not in answer.headers for answer in answers)
        assert [line["event"] for line in logs if line["log_level"] == "warning"] == ["rate_limits_away"]
        with embedded_broker(url, tmp_path / "broker"), lonely.client(lonely.key(user="anna")) as client:
            # It is asked again after a while.
            answer = client.get("/api/v1/memories/")
            while "RateLimit" not in answer.headers:
                answer = client.get("/api/v1/memories/")
            assert "rate_limits_back" in [line["event"] for line in logs]


def test_what_may_ask_the_language_model_has_a_limit_of_its_own(tmp_path: Any, broker_url: str) -> None:
    model = {"llm": "tests.fleet.oracle:open_model", "http_llm_per_minute": 1}
    settings = limited(tmp_path, broker_url).model_copy(update=model)
    with served(settings) as running, running.client(running.key(user="anna")) as client:
        answers = [client.post("/api/v1/memories/", json={"content": "Anna plays the violin."}) for _ in range(2)]
        topics = client.put("/api/v1/subjects/anna/topics/violin")
    assert [answer.status_code for answer in answers] == [201, 429]
    assert answers[1].headers["RateLimit-Policy"] == '"llm";q=1;w=60'
    assert topics.status_code == 200


def test_a_turn_past_the_quota_of_its_user_is_refused_with_when_to_send_it_again(
    broker_url: str, tmp_path: Any
) -> None:
    quota = {"quota_user_turns_per_minute": 1, "enqueue_budget_ms": 10_000.0}
    with (
        served(settings_in(tmp_path, broker_url).model_copy(update=quota)) as running,
        running.client(running.key(user="quota")) as client,
    ):
        turns = [A_TURN | {"user_id": "quota", "turn_id": f"quota-{number}"} for number in range(2)]
        first, second = (client.post("/api/v1/turns", json=turn) for turn in turns)
    assert (first.status_code, second.status_code) == (202, 429)
    assert 0 < int(second.headers["Retry-After"]) <= 60
    assert second.headers["Content-Type"] == "application/problem+json"
    assert "AFTERTURN_QUOTA_USER_TURNS_PER_MINUTE" in second.json()["detail"]
    assert second.json()["scope"] == "user"
