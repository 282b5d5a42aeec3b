"""Spans of the work on a task, if FEEDCRAWL_TRACING is on; else nothing is imported and nothing recorded."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Final, Protocol, TypeVar, cast

from feedcrawl.hints import missing

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from feedcrawl.domain.frontier.tasks import Lease

Step = TypeVar("Step", bound="Callable[..., object]")
_NOTHING: Final = nullcontext()


class Tracer(Protocol):
    """Records spans: a task's span lasts as long as its lease, and the spans of its steps are its children."""

    on: bool

    def begin(self, lease: Lease) -> Lease:
        """Starts the task's span; returns the lease with the span in its payload, from where later tasks inherit
        the trace.
        """

    def end(self, lease: Lease, status: str, reason: str = "") -> None:
        """Ends the task's span: this worker no longer holds the task."""

    def span(self, name: str, lease: Lease | None, **attributes: object) -> AbstractContextManager[object]:
        """The span of one step; log lines within it carry its ids. Without a lease there is no span."""

    def note(self, lease: Lease | None, **attributes: object) -> None:
        """Sets attributes on the spans of the task and of the current step; without a lease only on the step's."""

    def close(self) -> None:
        """Sends the remaining spans."""


class Untraced:
    """The tracer that records nothing."""

    on = False

    def begin(self, lease: Lease) -> Lease:
        """The unchanged lease."""
        return lease

    def end(self, lease: Lease, status: str, reason: str = "") -> None:
        """Does nothing."""

    def span(self, name: str, lease: Lease | None, **attributes: object) -> AbstractContextManager[object]:  # noqa: ARG002
        """A context that does nothing."""
        return _NOTHING

    def note(self, lease: Lease | None, **attributes: object) -> None:
        """Does nothing."""

    def close(self) -> None:
        """Does nothing."""


class _Traced(Protocol):
    _tracer: Tracer


def tracer_for(*, on: bool) -> Tracer:
    """The tracer for FEEDCRAWL_TRACING. ValueError if tracing is on and OpenTelemetry is not installed."""
    if not on:
        return Untraced()
    try:
        from feedcrawl.telemetry.spans import Spans, exporting  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ValueError(f"FEEDCRAWL_TRACING is on, and {missing(error, 'otel')}") from error
    return Spans(exporting())


def traced(name: str) -> Callable[[Step], Step]:
    """Decorates a pipeline's `process_item` with a span of the item's task; the pipeline must have the tracer as
    `_tracer`.
    """

    def wrapped(step: Step) -> Step:
        if inspect.iscoroutinefunction(step):

            @wraps(step)
            async def soon(self: _Traced, item: object) -> object:
                with self._tracer.span(name, getattr(item, "lease", None)):
                    return await step(self, item)

            return cast("Step", soon)

        @wraps(step)
        def now(self: _Traced, item: object) -> object:
            with self._tracer.span(name, getattr(item, "lease", None)):
                return step(self, item)

        return cast("Step", now)

    return wrapped
