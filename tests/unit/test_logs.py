"""Log lines and spans: what they carry, and that what was said is not in them."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import structlog
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from memory import tracing
from memory.stages import in_batch, stage
from schema.errors import SettingsError
from worker.logs import configure_logging
from worker.redacted import RedactedTask, TaskFailed

SAID = "marzipan"
Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lines]:
    """The log lines so far, with logging set up as in a worker."""
    root, hook = logging.getLogger(), threading.excepthook
    handlers, level = root.handlers[:], root.level
    configure_logging("info")
    written = io.StringIO()
    monkeypatch.setattr(root.handlers[0], "stream", written)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    root.handlers[:], threading.excepthook = handlers, hook
    root.setLevel(level)
    structlog.reset_defaults()


def fails() -> None:
    try:
        int(SAID)
    except ValueError as error:
        raise RuntimeError(f"of {SAID}") from error


# -- lines --------------------------------------------------------------------------------------------------------


def test_a_line_in_a_batch_carries_its_id_its_turns_and_its_stage(lines: Lines) -> None:
    log = structlog.get_logger()
    with in_batch(["t-1", "t-2"]):
        with stage("embed"):
            log.info("one")
        log.info("two", stage="mailbox")
    with in_batch(["t-3"]):
        log.info("three", stage="mailbox")
    log.info("four")
    one, two, three, four = lines()
    assert (one["stage"], two["stage"]) == ("embed", "mailbox")
    assert one["turn_ids"] == two["turn_ids"] == ["t-1", "t-2"]
    assert one["batch"] == two["batch"] != three["batch"]
    assert not {"batch", "turn_ids", "stage"} & set(four)


def test_lines_of_libraries_carry_the_batch_too(lines: Lines) -> None:
    with in_batch(["t-1"]), stage("extract"):
        logging.getLogger("somebody.else").warning("slow")
    [line] = lines()
    assert (line["event"], line["stage"], line["turn_ids"]) == ("slow", "extract", ["t-1"])


@pytest.mark.parametrize("whose", ["ours", "a library's"])
def test_an_exception_is_shown_by_its_classes_and_places_without_its_message(lines: Lines, whose: str) -> None:
    try:
        fails()
    except RuntimeError:
        if whose == "ours":
            structlog.get_logger().exception("broken")
        else:
            logging.getLogger("somebody.else").exception("broken")
    [line] = lines()
    shown = json.dumps(line)
    assert SAID not in shown
    assert ("ValueError" in shown, "RuntimeError" in shown, "in fails" in shown) == (True, True, True)


@pytest.mark.parametrize(
    "message",
    [
        "Received and deleted unknown message.\n\nThe full contents of the message body was: %s\n",
        "Received unregistered task of type %s.\n\nThe full contents of the message body was:\n",
        "Can't decode message body: %r\n\nbody: ...",
    ],
)
def test_celerys_lines_on_messages_that_it_cannot_read_leave_the_message_out(lines: Lines, message: str) -> None:
    logging.getLogger("celery.worker.consumer.consumer").error(message, SAID)
    [line] = lines()
    assert SAID not in json.dumps(line)
    assert line["event"].startswith(message[:15])


def test_other_lines_of_celery_are_whole(lines: Lines) -> None:
    logging.getLogger("celery.worker.consumer.connection").error("Cannot connect to %s", "redis://here")
    [line] = lines()
    assert line["event"] == "Cannot connect to redis://here"


def test_each_message_of_a_protocol_client_is_no_line_of_a_library(lines: Lines) -> None:
    logging.getLogger("mcp.server.streamable_http").info("Terminating session: None")
    logging.getLogger("mcp.server.streamable_http_manager").info("StreamableHTTP session manager started")
    assert [line["event"] for line in lines()] == ["StreamableHTTP session manager started"]


def test_the_end_of_a_thread_is_a_line_without_its_message(lines: Lines) -> None:
    thread = threading.Thread(target=fails)
    thread.start()
    thread.join()
    [line] = lines()
    assert (line["event"], SAID in json.dumps(line)) == ("thread_died", False)


def test_a_task_that_fails_tells_the_class_of_its_error_and_nothing_else(lines: Lines) -> None:
    class Failing(RedactedTask):
        name = "failing"

        def run(self, *args: Any, **kwargs: Any) -> None:
            fails()

    with pytest.raises(TaskFailed, match=r"^RuntimeError$") as failed:
        Failing()()
    assert failed.value.__suppress_context__
    [line] = lines()
    assert (line["event"], line["task"], SAID in json.dumps(line)) == ("task_failed", "failing", False)


# -- spans --------------------------------------------------------------------------------------------------------


def test_a_batch_is_a_span_with_one_for_each_stage_in_it(spans: InMemorySpanExporter) -> None:
    with in_batch(["t-1", "t-2"]):
        with stage("admit"):
            pass
        with stage("commit"):
            pass
    admit, commit, batch = spans.get_finished_spans()
    assert [span.name for span in (admit, commit, batch)] == ["afterturn.admit", "afterturn.commit", "afterturn.batch"]
    assert batch.context is not None
    for inner in (admit, commit):
        assert inner.parent is not None
        assert inner.parent.span_id == batch.context.span_id
    assert dict(batch.attributes or {})["afterturn.turns"] == 2
    assert set(batch.attributes or {}) == {"afterturn.turns", "afterturn.batch"}


def test_a_failed_span_says_the_class_of_the_error_and_no_more(spans: InMemorySpanExporter) -> None:
    with pytest.raises(RuntimeError), in_batch(["t-1"]), stage("extract"):
        fails()
    for span in spans.get_finished_spans():
        assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, "RuntimeError")
        assert SAID not in span.to_json()
        assert span.events == ()


def test_without_tracing_a_span_is_nothing() -> None:
    assert tracing.span("batch") is tracing.span("embed", {"afterturn.turns": 1})
    tracing.start_tracing("off")()
    assert tracing.span("batch") is tracing.span("embed")


def test_tracing_without_its_packages_names_the_setting_and_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(SettingsError, match=r"AFTERTURN_TRACING.*afterturn\[otel\]"):
        tracing.start_tracing("otlp")


def test_the_console_shows_spans_that_end_before_tracing_does(capsys: pytest.CaptureFixture[str]) -> None:
    stop = tracing.start_tracing("console")
    with in_batch(["t-1"]):
        pass
    stop()
    assert "afterturn.batch" in capsys.readouterr().out
    assert tracing.span("batch") is tracing.span("embed")
