"""OpenTelemetry spans: one per batch, one per stage in it. Off unless `AFTERTURN_TRACING` says otherwise.

The packages are the optional extra `otel`; they are imported only when tracing is on. Spans carry names, times, counts
and a random batch id, never what was said nor whose it is: exceptions are recorded by their class alone.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Literal

from schema.errors import SettingsError
from schema.settings import variable_of

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

Mode = Literal["off", "otlp", "console"]
Attributes = Mapping[str, str | int]

_nothing: AbstractContextManager[None] = nullcontext()
_spans: list[Callable[[str, Attributes], AbstractContextManager[None]]] = []
"""What opens a span: empty while tracing is off."""


def span(name: str, attributes: Attributes | None = None) -> AbstractContextManager[None]:
    """Return a span around a block; nothing while tracing is off."""
    return _spans[0](f"afterturn.{name}", attributes or {}) if _spans else _nothing


def start_tracing(mode: Mode) -> Callable[[], None]:
    """Begin to make spans and answer what ends it, with those sent that still wait.

    "otlp" sends them over HTTP to where OpenTelemetry's own variables say (`OTEL_EXPORTER_OTLP_ENDPOINT`), "console"
    prints them to standard output.

    Raises:
        SettingsError: the OpenTelemetry packages are not installed.
    """
    if mode == "off":
        return lambda: None
    try:
        provider = _provider(mode)
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
    from opentelemetry.trace import Status, StatusCode

    tracer = provider.get_tracer("afterturn")

    @contextmanager
    def opened(name: str, attributes: Attributes) -> Iterator[None]:
        # The messages of exceptions may hold what was said; by default they would become part of the span.
        with tracer.start_as_current_span(
            name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as current:
            try:
                yield
            except BaseException as error:
                current.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    _spans[:] = [opened]


def _provider(mode: Mode) -> TracerProvider:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter, SpanExporter

    exporter: SpanExporter
    if mode == "otlp":
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        exporter = OTLPSpanExporter()
    else:
        exporter = ConsoleSpanExporter(out=sys.stdout)
    service = os.environ.get("OTEL_SERVICE_NAME", "afterturn-worker")
    provider = TracerProvider(resource=Resource.create({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
