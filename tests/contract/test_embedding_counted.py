"""Every call of an embedder is counted and timed by what it is for, whoever makes it; and searches by their stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import get_args

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import REGISTRY

import memory.tracing
from memory.attributes import prototypes_of
from memory.embedding import CountedEmbedder
from memory.reindex import reindex
from memory.remember import Statement, remember
from memory.spending import Purpose, spending
from memory.tracing import start_tracing_with
from recall.retrieve import retrieve
from recall.search_stages import SearchStage
from schema import Thresholds
from schema.errors import EmbedderUnavailable
from stores.embedding.base import Vectors, reading_of
from tests.contract.pipeline import Worker
from tests.turns import subject


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"afterturn_{name}", labels) or 0.0


def calls() -> dict[str, float]:
    return {kind: counted("embedding_calls_total", kind=kind, outcome="answered") for kind in get_args(Purpose)}


@contextmanager
def embeds_for(*purposes: str) -> Iterator[None]:
    before = calls()
    yield
    assert {kind for kind, number in calls().items() if number > before[kind]} == set(purposes)


class Tokenizer:
    """An embedder of a caller's own, that knows its tokens and may be away."""

    name = "own"
    dimensions = 2
    thresholds: Thresholds | None = None

    def __init__(self, embed: Callable[[Sequence[str]], Vectors]) -> None:
        self.embed = embed


def away(texts: Sequence[str]) -> Vectors:
    raise EmbedderUnavailable("away")


def test_what_turns_questions_and_statements_embed_is_counted_as_theirs(worker: Worker, anna: str) -> None:
    now = datetime.now(UTC)
    prototypes_of(worker.context.embedder)
    with embeds_for("turn"):
        worker.hear(anna, "I play the violin.", "I moved to Porto in May.")
    with embeds_for("question"):
        retrieve(None, [subject(anna)], "Which instrument?", worker.context, now=now)
    with embeds_for("change"):
        remember(None, subject(anna), Statement("Anna has a cat."), worker.context, now=now)


def test_a_whole_index_that_is_made_anew_is_embedded_as_a_repair(alone: Worker, anna: str) -> None:
    alone.hear(anna, "I play the violin.")
    alone.context.index.delete(subject(anna), [memory.index_key for memory in alone.known(subject(anna))])
    with embeds_for("repair"):
        reindex(alone.context)


def test_a_counted_embedder_is_what_it_counts_and_a_failed_call_is_told_apart() -> None:
    inner = Tokenizer(away)
    embedder = CountedEmbedder(inner)
    assert (embedder.name, embedder.dimensions, embedder.thresholds) == ("own", 2, None)
    assert reading_of(embedder).max_tokens == reading_of(inner).max_tokens
    failed = counted("embedding_calls_total", kind="night", outcome="failed")
    texts = counted("embedding_texts_total", kind="night")
    with embeds_for(), spending("night"), pytest.raises(EmbedderUnavailable):
        embedder.embed(["one", "two"])
    assert counted("embedding_calls_total", kind="night", outcome="failed") == failed + 1
    assert counted("embedding_texts_total", kind="night") == texts


def test_a_search_tells_what_each_of_its_stages_took(worker: Worker, anna: str) -> None:
    worker.hear(anna, "I play the violin.")
    before = {name: counted("search_duration_seconds_count", stage=name) for name in get_args(SearchStage)}
    whole = counted("search_duration_seconds_sum", stage="whole")
    sums = sum(counted("search_duration_seconds_sum", stage=name) for name in get_args(SearchStage) if name != "access")
    retrieve(None, [subject(anna)], "Which instrument?", worker.context, now=datetime.now(UTC))
    grown = {name for name, count in before.items() if counted("search_duration_seconds_count", stage=name) > count}
    assert grown == set(get_args(SearchStage)) - {"graph"}
    in_stages = sum(
        counted("search_duration_seconds_sum", stage=name) for name in get_args(SearchStage) if name != "access"
    )
    # Nothing that takes long is in no stage, and nothing is in two.
    took = counted("search_duration_seconds_sum", stage="whole") - whole
    assert 0.5 * took < in_stages - sums <= took


def test_spans_of_the_embedder_say_what_for_and_how_many_and_never_what(
    worker: Worker, anna: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(memory.tracing, "_spans", [])
    start_tracing_with(provider)
    worker.hear(anna, "I play the violin.")
    spans = [span for span in exporter.get_finished_spans() if span.name == "afterturn.embedding"]
    assert spans
    for span in spans:
        attributes = dict(span.attributes or {})
        assert attributes.pop("afterturn.kind") == "turn"
        assert isinstance(attributes.pop("afterturn.texts"), int)
        assert not attributes
