"""What those who run the service are told of each request: times by route, a span, a line; nothing that was said."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from schema import Capability
from tests.e2e.command import wait_until
from tests.e2e.service import Served

SAID: Final = "Anna plays the marzipan harp."
ASKED: Final = "Does she play the marzipan harp?"
SECRETS: Final = ("marzipan", "harp")


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"afterturn_{name}", labels) or 0.0


def answered(method: str, route: str, status: int) -> float:
    """How many requests to a route were measured with this status."""
    labels = {"method": method, "route": route, "status": f"{status}"}
    return counted("http_request_duration_seconds_count", **labels)


@contextmanager
def grows_by(number: int, read: Callable[[], float]) -> Iterator[None]:
    before = read()
    yield
    # A request is measured once its answer has gone out: the client may have it a moment before.
    wait_until(lambda: read() - before == number, f"{read() - before} grows to {number}")


def remember(client: httpx.Client) -> str:
    return str(client.post("/api/v1/memories/", json={"content": SAID}).json()["memory_id"])


# -- metrics ----------------------------------------------------------------------------------------------------------


def test_each_request_is_measured_by_its_route_and_outcome(me: httpx.Client) -> None:
    one, every = "/api/v1/memories/{memory_id}", "/api/v1/memories/"
    with grows_by(1, lambda: answered("POST", every, 201)), grows_by(1, lambda: answered("GET", one, 200)):
        me.get(f"/api/v1/memories/{remember(me)}")
    with grows_by(1, lambda: answered("GET", one, 422)):
        me.get("/api/v1/memories/marzipan")
    with grows_by(1, lambda: answered("GET", "none", 404)):
        me.get("/marzipan")
    with grows_by(1, lambda: answered("other", "none", 405) + answered("other", "none", 404)):
        me.request("MARZIPAN", "/marzipan")
    with grows_by(1, lambda: answered("POST", "/mcp", 400) + answered("POST", "/mcp", 406)):
        me.post("/mcp", json={})
    for metric in REGISTRY.collect():
        assert not any(word in str(sample.labels) for sample in metric.samples for word in SECRETS)


def test_who_is_not_allowed_is_counted_once(service: Served, me: httpx.Client, user: str) -> None:
    id_ = remember(me)

    def not_allowed() -> float:
        return counted("access_denied_total", reason="not_allowed")

    def no_member() -> float:
        return counted("access_denied_total", reason="not_a_member")

    with service.client(service.key(Capability.READ, user=user)) as reader, grows_by(1, not_allowed):
        assert reader.delete(f"/api/v1/memories/{id_}").status_code == 403
    with service.client(service.key(user="somebody")) as other:
        with grows_by(1, no_member):
            assert other.get("/api/v1/memories/search", params={"query": "x", "subject_id": user}).status_code == 403
        with grows_by(1, not_allowed):
            assert other.get("/api/v1/memories/search", params={"query": "x", "user_id": user}).status_code == 403


def test_who_listens_is_counted_as_long_as_they_do_and_measured_from_the_beginning(me: httpx.Client) -> None:
    with grows_by(0, lambda: counted("sse_listeners")):
        before = counted("sse_listeners")
        with (
            grows_by(1, lambda: answered("GET", "/api/v1/events", 200)),
            me.stream("GET", "/api/v1/events") as stream,
        ):
            lines = stream.iter_lines()  # Who lets go of it hangs up.
            assert next(lines) == ": listening"
            wait_until(lambda: counted("sse_listeners") == before + 1, "the listener is counted")


# -- the log ----------------------------------------------------------------------------------------------------------


def test_a_request_is_a_line_with_its_route_key_and_time_and_without_content(
    service: Served, me: httpx.Client, user: str
) -> None:
    def lines() -> list[dict[str, Any]]:
        return [dict(entry) for entry in entries if entry["event"] == "request"]

    [key] = [key for key in service.catalog.keys.all("acme") if key.user_id == user]
    with capture_logs() as entries:
        remember(me)
        me.get("/api/v1/memories/search", params={"query": ASKED}, headers={"X-Request-ID": "mine"})
        me.get("/livez")
        me.get(f"/api/v1/subjects/{user}/context", params={"question": ASKED})
        wait_until(lambda: len(lines()) == 3, "three requests are told of")
    assert [(line["method"], line["route"], line["status"]) for line in lines()] == [
        ("POST", "/api/v1/memories/", 201),
        ("GET", "/api/v1/memories/search", 200),
        ("GET", "/api/v1/subjects/{subject_id}/context", 200),
    ]
    assert lines()[1]["request_id"] == "mine"
    assert {line["key"] for line in lines()} == {key.id}
    shown = json.dumps(entries)
    assert not any(word in shown for word in (*SECRETS, user))


STAGES = {f"afterturn.search.{name}" for name in ("access", "words", "embed", "dense", "lexical", "rerank", "read")} | {
    "afterturn.embedding"
}

# -- spans ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "spans_within"),
    [
        ("/api/v1/memories/search?query=" + ASKED, {"search_memory", *STAGES}),
        ("/api/v1/subjects/{user}/context?question=" + ASKED, {"afterturn.context", "search_memory", *STAGES}),
        (
            "/api/v1/subjects/somebody-else/context?question=" + ASKED,
            {"afterturn.context", "afterturn.search.access", "afterturn.denied"},
        ),
    ],
)
def test_a_request_to_read_has_within_it_what_it_took(
    me: httpx.Client, user: str, spans: InMemorySpanExporter, path: str, spans_within: set[str]
) -> None:
    remember(me)
    wait_until(lambda: any(span.name.startswith("POST") for span in spans.get_finished_spans()), "it is told")
    spans.clear()
    me.get(path.format(user=user))
    wait_until(lambda: any(span.name.startswith("GET") for span in spans.get_finished_spans()), "it is answered")
    assert {span.name for span in spans.get_finished_spans() if not span.name.startswith("GET")} == spans_within


def test_the_hot_path_is_a_span(me: httpx.Client, user: str, spans: InMemorySpanExporter) -> None:
    said = {"user_id": user, "messages": [{"role": "user", "content": "I am allergic to peanuts."}]}
    me.post("/api/v1/turns/candidate", json=said)
    wait_until(lambda: any(span.name == "afterturn.hot_path" for span in spans.get_finished_spans()), "it is one")


def test_a_request_is_a_span_in_its_callers_trace_with_what_is_done_with_memories(
    me: httpx.Client, user: str, spans: InMemorySpanExporter
) -> None:
    def finished() -> list[ReadableSpan]:
        return list(spans.get_finished_spans())

    def operations() -> list[tuple[str, Any]]:
        named = [span for span in finished() if "gen_ai.operation.name" in (span.attributes or {})]
        return [(span.name, (span.attributes or {}).get("gen_ai.memory.record.count")) for span in named]

    trace = "0af7651916cd43dd8448eb211c80319c"
    me.headers["traceparent"] = f"00-{trace}-b7ad6b7169203331-01"
    id_ = remember(me)
    me.get("/api/v1/memories/search", params={"query": ASKED})
    me.patch(f"/api/v1/memories/{id_}", json={"importance": 0.9})
    me.delete(f"/api/v1/memories/{id_}")
    requests = 4
    wait_until(
        lambda: sum(span.name.startswith(("GET", "POST", "PATCH", "DEL")) for span in finished()) == requests, ""
    )
    assert operations() == [("upsert_memory", 1), ("search_memory", 1), ("update_memory", 1), ("delete_memory", 1)]
    assert {f"{span.context.trace_id:032x}" for span in finished() if span.context} == {trace}
    [search] = [span for span in finished() if span.name == "GET /api/v1/memories/search"]
    assert search.attributes == {
        "http.request.method": "GET",
        "http.route": "/api/v1/memories/search",
        "http.response.status_code": 200,
    }
    shown = "".join(span.to_json() for span in finished())
    assert not any(word in shown for word in (*SECRETS, user))
