"""The service: what holds of every route. Requests that are sent again, stores that are away, sizes, ids, and what the
OpenAPI document says of them."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import httpx
import pytest
from mcp.shared.inbound import MCP_METHOD_HEADER, MCP_NAME_HEADER, MCP_PROTOCOL_VERSION_HEADER
from sqlalchemy import make_url

from interfaces.http.app import create_app
from interfaces.local.broker import embedded_broker
from memory.remember import Remembered, remember
from schema.settings import Settings
from tests.conftest import free_port
from tests.contract.loopback import Answer, Loopback, loopback
from tests.e2e.service import Served, served, settings_in
from tests.fleet.bad_broker import Proxy
from tests.postgres import PostgresServer

MEMORIES = "/api/v1/memories/"
VIOLIN = {"content": "Anna plays the violin."}
_users = count()


def named(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key}


# -- sent again ---------------------------------------------------------------------------------------------------


def test_a_statement_that_is_sent_again_is_answered_as_the_first_time(me: httpx.Client) -> None:
    first, again = (me.post(MEMORIES, json=VIOLIN, headers=named("a")) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert me.post(MEMORIES, json=VIOLIN, headers=named("b")).status_code == 200


def test_a_key_in_quotes_as_the_draft_has_it_is_the_same_key(me: httpx.Client) -> None:
    first, again = (me.post(MEMORIES, json=VIOLIN, headers=named(key)) for key in ("k2", '"k2"'))
    assert (again.status_code, again.json()) == (201, first.json())
    turn = {"messages": [{"role": "user", "content": "I play the violin."}]}
    ids = [me.post("/api/v1/turns", json=turn, headers=named(key)).json()["turn_id"] for key in ("t2", '"t2"')]
    assert ids == ["t2", "t2"]
    assert me.post(MEMORIES, json=VIOLIN, headers=named('""')).status_code == 422


def test_a_key_is_not_taken_for_another_request(me: httpx.Client) -> None:
    me.post(MEMORIES, json=VIOLIN, headers=named("a"))
    other = me.post(MEMORIES, json={"content": "Anna is vegan."}, headers=named("a"))
    assert (other.status_code, other.headers["content-type"]) == (422, "application/problem+json")
    assert [item["content"] for item in me.get(MEMORIES).json()["items"]] == [VIOLIN["content"]]


def test_keys_of_two_who_ask_are_two(service: Served, me: httpx.Client) -> None:
    me.post(MEMORIES, json=VIOLIN, headers=named("a"))
    with service.client(service.key(user=f"other{next(_users)}")) as other:
        assert other.post(MEMORIES, json={"content": "Bert skis."}, headers=named("a")).status_code == 201


def test_what_failed_is_done_when_it_is_sent_again(me: httpx.Client, user: str) -> None:
    path = f"/api/v1/subjects/{user}/preferences"
    me.patch(path, json={"consent": "withdrawn"})
    assert me.post(MEMORIES, json=VIOLIN, headers=named("a")).status_code == 422
    me.patch(path, json={"consent": "granted"})
    assert me.post(MEMORIES, json=VIOLIN, headers=named("a")).status_code == 201


def test_what_was_erased_since_is_not_told_again(me: httpx.Client) -> None:
    memory = me.post(MEMORIES, json=VIOLIN, headers=named("a")).json()["memory"]
    me.delete(f"{MEMORIES}{memory['memory_id']}")
    again = me.post(MEMORIES, json=VIOLIN, headers=named("a"))
    assert (again.status_code, again.json()) == (201, {"outcome": "created", "memory_id": None, "memory": None})
    assert me.get(MEMORIES).json()["items"] == []


def test_a_request_that_still_goes_on_is_not_begun_twice(me: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(*args: Any, **kwargs: Any) -> Remembered:
        begun.set()
        go_on.wait(20)
        return remember(*args, **kwargs)

    monkeypatch.setattr("interfaces.http.memories.remember", slow)
    answers: list[httpx.Response] = []
    first = threading.Thread(target=lambda: answers.append(me.post(MEMORIES, json=VIOLIN, headers=named("a"))))
    first.start()
    assert begun.wait(20)
    meanwhile = me.post(MEMORIES, json=VIOLIN, headers=named("a"))
    go_on.set()
    first.join()
    assert (meanwhile.status_code, meanwhile.headers["Retry-After"]) == (409, "1")
    assert answers[0].status_code == me.post(MEMORIES, json=VIOLIN, headers=named("a")).status_code == 201


def test_a_turn_that_does_not_say_when_it_was_said_may_be_sent_again(service: Served) -> None:
    user = f"someone{next(_users)}"
    turn = {"user_id": user, "messages": [{"role": "user", "content": "I live in Lisbon."}]}
    with service.client(service.key()) as backend:
        answers = [backend.post("/api/v1/turns", json=turn, headers=named(user)) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [202, 202]


# -- what nobody expects -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_the_ends_of_time_are_moments_as_others(me: httpx.Client, moment: str) -> None:
    assert me.post(MEMORIES, json=VIOLIN | {"occurred_at": moment}).status_code == 201
    for bound in ("since", "until"):
        assert me.get(MEMORIES, params={bound: moment}).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", MEMORIES, {"content": "Anna plays\0."}),
        ("POST", MEMORIES, VIOLIN | {"tags": ["mu\0sic"]}),
        ("POST", MEMORIES, VIOLIN | {"category": "Mu\0sic"}),
        ("GET", f"{MEMORIES}?words=%00", None),
        ("GET", f"{MEMORIES}?category=Mu%00sic", None),
        ("PUT", "/api/v1/subjects/{user}/topics/mu%00sic", None),
        ("PUT", "/api/v1/agents/coach/metadata", {"a": {"b": ["mu\0sic"]}}),
        ("PUT", "/api/v1/documents/tale", {"content": "Once upon a time.", "title": "A\0tale"}),
    ],
)
def test_text_that_a_store_cannot_keep_is_refused(
    me: httpx.Client, user: str, method: str, path: str, body: dict[str, Any] | None
) -> None:
    refused = me.request(method, path.format(user=user), json=body)
    assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")


def test_a_body_that_is_no_json_is_told_what_to_send(me: httpx.Client) -> None:
    for body in (b'{"content": "\xff"}', b"[" * 100_000):
        refused = me.post(MEMORIES, content=body, headers={"Content-Type": "application/json"})
        assert refused.status_code == 400
        assert "JSON" in refused.json()["detail"]


# -- pages of other origins ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def open_to_a_page(broker_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    settings = settings_in(tmp_path_factory.mktemp("open"), broker_url)
    with served(settings.model_copy(update={"http_cors_origins": ("https://chat.example.com",)})) as running:
        yield running


def asks_first(service: Served, origin: str) -> httpx.Response:
    """What a browser asks before it lets a page change something."""
    wanted = {
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "x-api-key, if-match, afterturn-waited-seconds",
    }
    return httpx.options(f"{service.url}{MEMORIES}x", headers={"Origin": origin} | wanted)


def test_no_page_of_another_origin_may_ask_unless_a_setting_says_so(service: Served, me: httpx.Client) -> None:
    for origin in ("https://chat.example.com", "null"):
        answers = asks_first(service, origin), me.get(MEMORIES, headers={"Origin": origin})
        assert not any(field.startswith("access-control-") for answer in answers for field in answer.headers)


def test_a_page_that_the_settings_name_may_ask_and_read_failures_and_no_other_may(open_to_a_page: Served) -> None:
    page = "https://chat.example.com"
    allowed = asks_first(open_to_a_page, page)
    assert (allowed.status_code, allowed.headers["Access-Control-Allow-Origin"]) == (200, page)
    assert "access-control-allow-credentials" not in allowed.headers
    refused = httpx.get(f"{open_to_a_page.url}{MEMORIES}", headers={"Origin": page}, timeout=30.0)
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, page)
    assert "Retry-After" in refused.headers["Access-Control-Expose-Headers"]
    assert "access-control-allow-origin" not in asks_first(open_to_a_page, "https://evil.example").headers


def test_a_page_that_the_settings_name_may_speak_the_model_context_protocol(open_to_a_page: Served) -> None:
    page = "https://chat.example.com"
    sent = {MCP_PROTOCOL_VERSION_HEADER, MCP_METHOD_HEADER, MCP_NAME_HEADER, "content-type", "authorization"}
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": ", ".join(sorted(sent))}
    allowed = httpx.options(f"{open_to_a_page.url}/mcp", headers={"Origin": page} | wanted)
    assert allowed.status_code == 200, allowed.text
    refused = httpx.post(f"{open_to_a_page.url}/mcp", headers={"Origin": page}, timeout=30.0)
    assert refused.status_code == 401
    assert "WWW-Authenticate" in refused.headers["Access-Control-Expose-Headers"]


# -- stores that are away -----------------------------------------------------------------------------------------


def assert_is_away(answer: httpx.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert int(answer.headers["Retry-After"]) > 0
    assert answer.headers["content-type"] == "application/problem+json"


def test_while_the_broker_is_away_what_needs_it_says_when_to_ask_again_and_the_rest_goes_on(tmp_path: Any) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    with served(settings_in(tmp_path / "service", url)) as lonely, lonely.client(lonely.key(user="anna")) as me:
        assert_is_away(me.post(MEMORIES, json=VIOLIN))
        assert_is_away(me.post(MEMORIES, json=VIOLIN, headers=named("a")))
        assert_is_away(me.post("/api/v1/subjects/anna/page-link"))
        assert_is_away(me.get("/api/v1/events"))
        assert me.get(MEMORIES).json()["items"] == []
        assert me.get(f"{MEMORIES}search", params={"query": "violin"}).json() == []
        with embedded_broker(url, tmp_path / "broker"):
            assert me.post(MEMORIES, json=VIOLIN, headers=named("a")).status_code == 201


def test_a_broker_that_hangs_is_away_before_a_client_loses_patience(tmp_path: Any) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    with (
        embedded_broker(url, tmp_path / "broker") as broker,
        served(settings_in(tmp_path / "service", url)) as running,
        running.client(running.key(user="anna")) as me,
        running.client(running.key(user="bert")) as other,
    ):
        assert me.post(MEMORIES, json=VIOLIN).status_code == 201
        me.timeout = httpx.Timeout(10)
        broker.send_signal(signal.SIGSTOP)
        try:
            assert_is_away(me.post(MEMORIES, json={"content": "Anna is vegan."}))
            assert len(me.get(MEMORIES).json()["items"]) == 1
        finally:
            broker.send_signal(signal.SIGCONT)
        # What it was asked meanwhile it does now, so that for a while a worker seems to have Anna in hand.
        assert other.post(MEMORIES, json={"content": "Bert skis."}).status_code == 201


def test_a_listener_is_let_go_where_the_broker_goes_away_and_comes_back_to_where_it_was(tmp_path: Any) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    with ExitStack() as broker, served(settings_in(tmp_path / "service", url)) as running:
        broker.enter_context(embedded_broker(url, tmp_path / "broker"))
        with running.client(running.key(user="anna")) as me, me.stream("GET", "/api/v1/events") as heard:
            lines = heard.iter_lines()
            assert next(lines) == ": listening"
            broker.close()
            # It ends as a stream does, not in the middle of a line.
            assert [line for line in lines if line.startswith("event:")] == []
            assert_is_away(me.get("/api/v1/events"))


def test_while_the_catalog_is_away_every_route_says_when_to_ask_again(
    tmp_path: Any, broker_url: str, postgres: PostgresServer, postgres_catalog: str
) -> None:
    postgres.empty(postgres_catalog)
    url = make_url(postgres_catalog)
    proxy = Proxy(int(url.port or 5432))
    behind = url.set(host="127.0.0.1", port=proxy.port).render_as_string(hide_password=False)
    settings = settings_in(tmp_path, broker_url).model_copy(update={"catalog_url": behind})
    with served(settings) as running, running.client(running.key(user="anna")) as me:
        assert me.post(MEMORIES, json=VIOLIN).status_code == 201
        proxy.close()
        for path in (MEMORIES, f"{MEMORIES}search?query=violin", "/api/v1/subjects/anna/context", "/readyz"):
            assert_is_away(me.get(path))
        assert me.get("/readyz").json()["stores"] == {"broker": "ok", "catalog": "away"}
        assert me.get("/readyz").json()["detail"] == "catalog cannot be reached"
        assert_is_away(me.post(MEMORIES, json={"content": "Anna is vegan."}, headers=named("v")))
        assert me.get("/livez").status_code == 200
        proxy.open()
        assert me.post(MEMORIES, json={"content": "Anna is vegan."}, headers=named("v")).status_code == 201
    proxy.close()


@pytest.fixture
def qdrant() -> Iterator[Loopback]:
    """A server in the place of Qdrant."""
    from tests.contract.qdrant_server import QdrantServer

    with loopback() as told:
        told.answer = QdrantServer()
        yield told


@pytest.mark.parametrize("fault", ["closed", "silent"])
def test_a_service_whose_index_has_a_server_that_is_away_takes_turns_and_says_that_it_is_degraded(
    tmp_path: Any, broker_url: str, qdrant: Loopback, fault: str
) -> None:
    settings = settings_in(tmp_path, broker_url).model_copy(
        update={"index": "qdrant", "index_url": qdrant.url, "index_timeout_seconds": 30.0 if fault == "silent" else 1.0}
    )
    answering = {"broker": "ok", "catalog": "ok"}
    with served(settings, anonymous=True) as running, running.client() as client:
        assert client.get("/readyz").json() == {"status": "ok", "stores": {**answering, "index": "ok"}}
        healthy, qdrant.answer = qdrant.answer, lambda _request: Answer(fault=fault)
        began = time.monotonic()
        answer = client.get("/readyz")
        assert time.monotonic() - began < 5, "a probe of the chart waits for no longer"
        assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
        assert answer.json()["stores"] == {**answering, "index": "away"}
        turn = {"user_id": "anna", "messages": [{"role": "user", "content": "I live in Lisbon."}]}
        assert client.post("/api/v1/turns", json=turn).status_code == 202
        assert client.get("/api/v1/memories/", params={"user_id": "anna"}).status_code == 200
        qdrant.answer = healthy
        assert client.get("/readyz").json()["status"] == "ok"
        # What hangs would hold up the end.
        qdrant.over.set()


# -- sizes and fields ---------------------------------------------------------------------------------------------


def test_a_long_answer_comes_compressed_where_the_client_takes_it(me: httpx.Client) -> None:
    for number in ("violin", "cello", "flute", "oboe"):
        me.post(MEMORIES, json={"content": f"Anna plays the {number}."})
    packed = me.get(MEMORIES, headers={"Accept-Encoding": "gzip"})
    plain = me.get(MEMORIES, headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert packed.json() == plain.json()


def test_failures_have_the_id_of_their_request_too(service: Served, me: httpx.Client) -> None:
    mine = {"X-Request-ID": "mine-1"}
    too_large = b"x" * (service.settings.http_max_body_bytes + 1)
    answers = [
        me.get(f"{MEMORIES}nothing", headers=mine),
        me.post(MEMORIES, content=too_large, headers=mine),
        httpx.get(f"{service.url}{MEMORIES}", headers=mine, timeout=30.0),
    ]
    assert [answer.status_code for answer in answers] == [422, 413, 401]
    assert {answer.headers["X-Request-ID"] for answer in answers} == {"mine-1"}


def test_no_cache_on_the_way_keeps_what_is_told_to_who_has_a_key(service: Served, me: httpx.Client, user: str) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answers = [
        me.get(MEMORIES),
        me.get(f"{MEMORIES}nothing"),
        me.get(f"/api/v1/subjects/{user}/export"),
        me.post("/mcp", json=message, headers={"Accept": "application/json, text/event-stream"}),
        me.post(MEMORIES, content=b"x" * (service.settings.http_max_body_bytes + 1)),
        httpx.get(f"{service.url}{MEMORIES}", timeout=30.0),
    ]
    with me.stream("GET", "/api/v1/events") as listening:
        answers.append(listening)
    assert [answer.status_code for answer in answers] == [200, 422, 200, 200, 413, 401, 200]
    assert {answer.headers["Cache-Control"] for answer in answers} == {"private, no-store"}
    assert "Cache-Control" not in me.get("/livez").headers


# -- the document -------------------------------------------------------------------------------------------------


def test_the_document_names_every_failure_and_the_fields_of_answers(me: httpx.Client) -> None:
    document = me.get("/openapi.json").json()
    operation = document["paths"][MEMORIES]["post"]
    assert {"201", "401", "403", "409", "413", "422", "429", "503"} <= set(operation["responses"])
    for status, response in operation["responses"].items():
        if status.startswith(("4", "5")):
            assert list(response["content"]) == ["application/problem+json"]
        assert "X-Request-ID" in response["headers"]
        assert ("RateLimit" in response["headers"]) == (status != "401")
    assert {"Retry-After"} <= set(operation["responses"]["429"]["headers"])
    assert "Retry-After" in operation["responses"]["409"]["headers"]
    assert "WWW-Authenticate" in operation["responses"]["401"]["headers"]
    assert "Idempotency-Key" in {parameter["name"].title() for parameter in operation["parameters"]}
    assert {"RateLimit", "RateLimit-Policy"} <= set(document["components"]["headers"])


def test_the_document_says_when_the_service_is_not_ready(me: httpx.Client) -> None:
    responses = me.get("/openapi.json").json()["paths"]["/readyz"]["get"]["responses"]
    assert set(responses) == {"200", "503"}
    assert list(responses["503"]["content"]) == ["application/problem+json"]
    assert "Retry-After" in responses["503"]["headers"]


def test_the_document_of_a_service_without_keys_says_that_it_answers_this_machine_alone(tmp_path: Any) -> None:
    for anonymous in (False, True):
        paths = create_app(Settings(data_dir=tmp_path), anonymous=anonymous).openapi()["paths"]
        answers = [set(operation["responses"]) for item in paths.values() for operation in item.values()]
        assert {"421" in statuses for statuses in answers} == {anonymous}
        assert not anonymous or all("403" in statuses for statuses in answers)


def test_the_document_says_when_the_fields_of_limits_are_sent(me: httpx.Client) -> None:
    headers = me.get("/openapi.json").json()["components"]["headers"]
    for name in ("RateLimit", "RateLimit-Policy"):
        assert "only where" in headers[name]["description"]
        assert "AFTERTURN_HTTP_READS_PER_MINUTE" in headers[name]["description"]
    # The settings of this service limit nothing that is read.
    assert "RateLimit" not in me.get(MEMORIES).headers


def test_every_route_under_the_api_wants_a_key(me: httpx.Client) -> None:
    document = me.get("/openapi.json").json()
    open_to_all = {
        path for path, item in document["paths"].items() for operation in item.values() if "security" not in operation
    }
    assert open_to_all == {"/livez", "/readyz"}
