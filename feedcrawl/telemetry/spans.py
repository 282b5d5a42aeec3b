"""OpenTelemetry spans, sent by OTLP over HTTP. This module is imported only if tracing is on.

OpenTelemetry reads endpoint, headers, sampler, limits and service name from its own variables
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

    from opentelemetry.util.types import AttributeValue

    from feedcrawl.domain.frontier.tasks import Lease

_W3C: Final = TraceContextTextMapPropagator()
_HEADER: Final = "traceparent"
_FAILED: Final = frozenset({"dead", "lost"})
"""Ends of a task that mark its span as failed; a task that is given back has not failed yet."""


def exporting() -> TracerProvider:
    """A provider that sends spans in the background; OTEL_SERVICE_NAME overrides the name `feedcrawl`."""
    own = Resource({"service.name": "feedcrawl", "service.version": __version__})
    provider = TracerProvider(resource=own.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


class Spans:
    """The tracer (`telemetry.tracing.Tracer`) that records spans."""

    on = True

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("feedcrawl", __version__)
        self._tasks: dict[str, Span] = {}

    def begin(self, lease: Lease) -> Lease:
        """Starts a task's span as a child of the span in its payload, whichever process wrote it, else a new trace."""
        task, history = lease.task, lease.history
        facts = {
            "task": task.id,
            "origin": task.origin,
            "attempts": history.attempts,
            "again": history.again,
            "request_id": task.payload.get("request_id"),
        }
        attributes = {"url.full": without_secrets(task.url), "server.address": task.host, **_named(facts)}
        span = self._tracer.start_span(task.kind, _parent(lease), SpanKind.CONSUMER, attributes)
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, set_span_in_context(span, Context()))
        if not carrier:  # no span is recorded: OTEL_SDK_DISABLED
            return lease
        self._tasks[lease.token] = span
        return replace(lease, task=replace(task, payload={**task.payload, TRACE: carrier[_HEADER]}))

    def end(self, lease: Lease, status: str, reason: str = "") -> None:
        """Ends the task's span; a second end of the same lease does nothing."""
        span = self._tasks.pop(lease.token, None)
        if span is None:
            return
        span.set_attributes(_named({"end": status, "reason": reason}))
        if status in _FAILED:
            span.set_status(StatusCode.ERROR, reason)
        span.end()

    def start(self, name: str, lease: Lease, attributes: Mapping[str, AttributeValue]) -> Span:
        """Starts the span of a step; the caller ends it with the span's `end()`."""
        return self._tracer.start_span(name, _parent(lease), SpanKind.CLIENT, attributes)

    def span(self, name: str, lease: Lease | None, **attributes: object) -> AbstractContextManager[object]:
        """A step's span, current within the block; an exception is recorded and raised again."""
        return nullcontext() if lease is None else self._step(name, lease, attributes)

    @contextmanager
    def _step(self, name: str, lease: Lease, attributes: Mapping[str, object]) -> Iterator[Span]:
        span = self._tracer.start_span(name, _parent(lease), attributes=_named(attributes))
        with use_span(span, end_on_exit=True):
            yield span

    def note(self, lease: Lease | None, **attributes: object) -> None:
        """Sets attributes on the current step's span, and on the task's span if there is a lease."""
        task = self._tasks.get(lease.token) if lease is not None else None
        for span in (task, get_current_span()):
            if span is not None:
                span.set_attributes(_named(attributes))

    @staticmethod
    def log_ids(factory: Callable[..., logging.LogRecord]) -> Callable[..., logging.LogRecord]:
        """A factory of log records that adds the trace id and the span id of the current step."""

        def made(*args: object, **kwargs: object) -> logging.LogRecord:
            record, context = factory(*args, **kwargs), get_current_span().get_span_context()
            if context.is_valid:
                record.trace_id, record.span_id = f"{context.trace_id:032x}", f"{context.span_id:016x}"
            return record

        return made

    def close(self) -> None:
        """Ends the open spans and sends all that are queued, within OTEL_EXPORTER_OTLP_TIMEOUT."""
        for span in self._tasks.values():
            span.end()
        self._tasks.clear()
        self._provider.shutdown()


def _parent(lease: Lease) -> Context:
    """The context with the span named in the task's payload as parent, whatever span is current."""
    return _W3C.extract({_HEADER: traceparent(lease.task.payload) or ""}, Context())


def _named(attributes: Mapping[str, object]) -> dict[str, Any]:
    return {f"feedcrawl.{name}": value for name, value in attributes.items() if value not in (None, "")}
