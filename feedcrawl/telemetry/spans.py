"""Spans by OpenTelemetry, sent by OTLP over HTTP. Imported only where tracing is on.

Endpoint, headers, sampler, limits, service name and the rest are read by OpenTelemetry from its own variables
(`OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_SAMPLER`, `OTEL_SERVICE_NAME`, …).
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, get_current_span, set_span_in_context, use_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from feedcrawl import __version__
from feedcrawl.domain.frontier.traces import TRACE, traceparent
from feedcrawl.domain.secrets import without_secrets

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from feedcrawl.domain.frontier.tasks import Lease

_W3C: Final = TraceContextTextMapPropagator()
_HEADER: Final = "traceparent"
_FAILED: Final = frozenset({"dead", "lost"})
"""Ends of a task that are failures; one that is given back is not done yet."""


def exporting() -> TracerProvider:
    """What sends spans in the background, and names the program where OTEL_SERVICE_NAME does not."""
    own = Resource({"service.name": "feedcrawl", "service.version": __version__})
    provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class Spans:
    """A tracer as `telemetry.tracing.Tracer` has it."""

    on = True

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("feedcrawl", __version__)
        self._tasks: dict[str, Span] = {}

    def begin(self, lease: Lease) -> Lease:
        """Begins a task's span: below the one that its payload names, in whatever process that was, or a trace anew."""
        task, history = lease.task, lease.history
        said = {
            "task": task.id,
            "origin": task.origin,
            "attempts": history.attempts,
            "again": history.again,
            "request_id": task.payload.get("request_id"),
        }
        attributes = {"url.full": without_secrets(task.url), "server.address": task.host, **_named(said)}
        span = self._tracer.start_span(task.kind, _parent(lease), SpanKind.CONSUMER, attributes)
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, set_span_in_context(span, Context()))
        if not carrier:  # OTEL_SDK_DISABLED
            return lease
        self._tasks[lease.token] = span
        return replace(lease, task=replace(task, payload={**task.payload, TRACE: carrier[_HEADER]}))

    def end(self, lease: Lease, status: str, reason: str = "") -> None:
        """Ends it; the second end of a lease is none."""
        span = self._tasks.pop(lease.token, None)
        if span is None:
            return
        span.set_attributes(_named({"end": status, "reason": reason}))
        if status in _FAILED:
            span.set_status(StatusCode.ERROR, reason)
        span.end()

    def start(self, name: str, lease: Lease, attributes: Mapping[str, Any]) -> Span:
        """A step that ends elsewhere, by its own `end()`."""
        return self._tracer.start_span(name, _parent(lease), SpanKind.CLIENT, attributes)

    def span(self, name: str, lease: Lease | None, **said: object) -> AbstractContextManager[Any]:
        """One step, current within the block; what it raises is recorded and goes on."""
        return nullcontext() if lease is None else self._step(name, lease, said)

    @contextmanager
    def _step(self, name: str, lease: Lease, said: Mapping[str, object]) -> Iterator[Span]:
        span = self._tracer.start_span(name, _parent(lease), attributes=_named(said))
        with use_span(span, end_on_exit=True):
            yield span

    def note(self, lease: Lease | None, **said: object) -> None:
        """Sets attributes on the span of the task, if one is named, and on that of the step."""
        task = self._tasks.get(lease.token) if lease is not None else None
        for span in (task, get_current_span()):
            if span is not None:
                span.set_attributes(_named(said))

    def close(self) -> None:
        """Ends what is open, and waits for what is on its way, at most as long as OTEL_EXPORTER_OTLP_TIMEOUT says."""
        for span in self._tasks.values():
            span.end()
        self._tasks.clear()
        self._provider.shutdown()


def log_ids(factory: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
    """A factory of log records that adds the ids of the step within which a line is written."""

    def made(*args: Any, **kwargs: Any) -> logging.LogRecord:
        record, context = factory(*args, **kwargs), get_current_span().get_span_context()
        if context.is_valid:
            record.trace_id, record.span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
        return record

    return made


def _parent(lease: Lease) -> Context:
    """The span that the task carries, and nothing that is under way beside it."""
    return _W3C.extract({_HEADER: traceparent(lease.task.payload) or ""}, Context())


def _named(said: Mapping[str, Any]) -> dict[str, Any]:
    return {f"feedcrawl.{name}": value for name, value in said.items() if value not in (None, "")}
