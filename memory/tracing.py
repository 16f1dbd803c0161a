"""OpenTelemetry spans: of batches and their stages, of requests, and of what is done with memories. Off unless
`AFTERTURN_TRACING` says otherwise.

The packages are the optional extra `otel`; they are imported only when tracing is on. Spans carry names, times, counts,
a random batch id and ids of memories, never what was said nor whose it is: exceptions are recorded by their class
alone.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final, Literal, Protocol

from schema.errors import SettingsError
from schema.settings import variable_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

Mode = Literal["off", "otlp", "console"]
Attributes = Mapping[str, str | int]
RECORD_COUNT: Final = "gen_ai.memory.record.count"
"""The attribute that says how many memories an operation was about."""
Operation = Literal["search_memory", "upsert_memory", "update_memory", "delete_memory"]


class Span(Protocol):
    """A span that is open, or nothing at all while tracing is off."""

    def set_attribute(self, key: str, value: str | int) -> None: ...

    def update_name(self, name: str) -> None: ...


class _Nothing:
    def set_attribute(self, key: str, value: str | int) -> None:
        pass

    def update_name(self, name: str) -> None:
        pass


class _Opener(Protocol):
    def __call__(
        self, name: str, attributes: Attributes, headers: Mapping[str, str] | None = None
    ) -> AbstractContextManager[Span]: ...


_nothing: AbstractContextManager[Span] = nullcontext(_Nothing())
_spans: list[_Opener] = []
"""The opener of spans: empty while tracing is off."""


def span(name: str, attributes: Attributes | None = None) -> AbstractContextManager[Span]:
    """Return a span around a block; nothing while tracing is off."""
    return _spans[0](f"afterturn.{name}", attributes or {}) if _spans else _nothing


def request_span(method: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
    """Return a span around the answer to a request, in the trace that its headers name (W3C Trace Context); nothing
    while tracing is off."""
    return _spans[0](method, {"http.request.method": method}, headers) if _spans else _nothing


def memory_span(
    operation: Operation, *, record_id: uuid.UUID | None = None, count: int | None = None
) -> AbstractContextManager[Span]:
    """Return a span around what is done with memories; nothing while tracing is off.

    Source: OpenTelemetry's semantic conventions for generative AI, "Memory" spans, whose content is left out.
    """
    if not _spans:
        return _nothing
    attributes: dict[str, str | int] = {"gen_ai.operation.name": operation}
    if record_id is not None:
        attributes["gen_ai.memory.record.id"] = str(record_id)
    if count is not None:
        attributes[RECORD_COUNT] = count
    return _spans[0](operation, attributes)


def start_tracing(mode: Mode, *, service: str = "afterturn-worker") -> Callable[[], None]:
    """Begin to make spans and answer what ends it, with those sent that still wait; `service` names the process.

    "otlp" sends them over HTTP to where OpenTelemetry's own variables say (`OTEL_EXPORTER_OTLP_ENDPOINT`), "console"
    prints them to standard output.

    Raises:
        SettingsError: the OpenTelemetry packages are not installed.
    """
    if mode == "off":
        return lambda: None
    try:
        provider = _provider(mode, service)
    except ImportError as error:
        raise SettingsError(
            f"{variable_of('tracing')}: {mode} needs the OpenTelemetry packages and {error.name} is not installed; "
            "pip install 'afterturn[otel]', or set it to off"
        ) from error
    start_tracing_with(provider)

    def stop() -> None:
        _spans.clear()
        provider.shutdown()

    return stop


def start_tracing_with(provider: TracerProvider) -> None:
    """Make spans with a provider of the caller's own."""
    from opentelemetry.propagate import extract
    from opentelemetry.trace import SpanKind, Status, StatusCode

    tracer = provider.get_tracer("afterturn")

    @contextmanager
    def opened(name: str, attributes: Attributes, headers: Mapping[str, str] | None = None) -> Iterator[Span]:
        # The messages of exceptions may hold what was said; by default they would become part of the span.
        with tracer.start_as_current_span(
            name,
            context=None if headers is None else extract(headers),
            kind=SpanKind.INTERNAL if headers is None else SpanKind.SERVER,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as current:
            try:
                yield current
            except BaseException as error:
                current.set_attribute("error.type", type(error).__name__)
                current.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    _spans[:] = [opened]


def _provider(mode: Mode, service: str) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter

    exporter: SpanExporter
    if mode == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        exporter = OTLPSpanExporter()
    else:
        exporter = ConsoleSpanExporter(out=sys.stdout)
    name = os.environ.get("OTEL_SERVICE_NAME", service)
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
