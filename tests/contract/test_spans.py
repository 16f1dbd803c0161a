"""Spans of what is done with memories: named as the conventions for generative AI name them, without a word of it."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from typing import Any

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from producers.hot_path import HotPath
from recall.iterative import Limits, retrieve_in_rounds
from schema import Message, Turn
from tests.contract.pipeline import Worker, on_every_store_at_length
from tests.scripted import Scripted, guarded
from tests.turns import a_turn, subject

pytest_generate_tests = on_every_store_at_length
ALLERGIC = "I am allergic to peanuts."


def one(spans: InMemorySpanExporter, name: str) -> ReadableSpan:
    [found] = [span for span in spans.get_finished_spans() if span.name == name]
    return found


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def is_within(inner: ReadableSpan, outer: ReadableSpan) -> bool:
    return inner.parent is not None and inner.parent.span_id == outer.context.span_id


def test_what_the_hot_path_notes_is_an_upsert_within_it(worker: Worker, anna: str, spans: InMemorySpanExporter) -> None:
    with closing(HotPath(worker.context)) as hot:
        turn = Turn.model_validate(a_turn(anna, 0, ALLERGIC))
        candidate = hot.note(turn, by="backend", now=datetime.now(UTC)).candidate
    assert candidate is not None
    written = one(spans, "upsert_memory")
    assert is_within(written, one(spans, "afterturn.hot_path"))
    assert attributes(written) == {
        "gen_ai.operation.name": "upsert_memory",
        "gen_ai.memory.record.id": str(candidate.id),
        "gen_ai.memory.record.count": 1,
    }


def test_the_rounds_of_a_retrieval_are_a_span_with_its_searches_in_it(
    worker: Worker, anna: str, spans: InMemorySpanExporter
) -> None:
    worker.hear(anna, ALLERGIC)
    model = Scripted(
        {"decision": "GET_MEMORIES", "queries": ["allergies"], "selected": []},
        {"decision": "IGNORE", "queries": [], "selected": []},
    )
    retrieve_in_rounds(
        None,
        [subject(anna)],
        [Message(role="user", content="What shall I cook?")],
        worker.context,
        llm=guarded(model),
        limits=Limits(seconds=60),
        now=datetime.now(UTC),
    )
    whole = one(spans, "afterturn.retriever")
    assert attributes(whole) == {
        "afterturn.outcome": "ignored",
        "afterturn.rounds": 2,
        "gen_ai.memory.record.count": 0,
    }
    assert is_within(one(spans, "search_memory"), whole)
