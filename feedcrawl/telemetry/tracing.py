"""Spans of what is done for a task, where FEEDCRAWL_TRACING is on; where it is off nothing is imported nor done."""

from __future__ import annotations

import inspect
from contextlib import nullcontext
from functools import wraps
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from feedcrawl.extras import missing

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from feedcrawl.domain.frontier.tasks import Lease

Step = TypeVar("Step", bound="Callable[..., Any]")
_NOTHING: Final = nullcontext()


class Tracer(Protocol):
    """A task's span lasts as long as its lease; spans of steps are its children."""

    on: bool

    def begin(self, lease: Lease) -> Lease:
        """The lease, its task carrying the span that has begun to whatever comes of it."""

    def end(self, lease: Lease, status: str, reason: str = "") -> None:
        """The task is no longer in this worker's hands."""

    def span(self, name: str, lease: Lease | None, **said: object) -> AbstractContextManager[Any]:
        """One step; log lines within it carry its ids. What has no lease is no step of a task."""

    def note(self, lease: Lease | None, **said: object) -> None:
        """What is known of the task by now, on its span and on that of the step; without a lease on that alone."""

    def close(self) -> None:
        """Sends what has not been sent."""


class Untraced:
    """Does nothing."""

    on = False

    def begin(self, lease: Lease) -> Lease:
        """The lease as it is."""
        return lease

    def end(self, lease: Lease, status: str, reason: str = "") -> None:
        """Nothing."""

    def span(self, name: str, lease: Lease | None, **said: object) -> AbstractContextManager[Any]:  # noqa: ARG002
        """Nothing."""
        return _NOTHING

    def note(self, lease: Lease | None, **said: object) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""


def tracer_for(*, on: bool) -> Tracer:
    """What FEEDCRAWL_TRACING asks for. ValueError where OpenTelemetry is not installed."""
    if not on:
        return Untraced()
    try:
        from feedcrawl.telemetry.spans import Spans, exporting  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise ValueError(f"FEEDCRAWL_TRACING is on, and {missing(error, 'otel')}") from error
    return Spans(exporting())


def traced(name: str) -> Callable[[Step], Step]:
    """A pipeline's `process_item` as a step of its item's task; the pipeline has the tracer as `_tracer`."""

    def wrapped(step: Step) -> Step:
        if inspect.iscoroutinefunction(step):

            @wraps(step)
            async def soon(self: Any, item: Any) -> Any:
                with self._tracer.span(name, getattr(item, "lease", None)):
                    return await step(self, item)

            return cast("Step", soon)

        @wraps(step)
        def now(self: Any, item: Any) -> Any:
            with self._tracer.span(name, getattr(item, "lease", None)):
                return step(self, item)

        return cast("Step", now)

    return wrapped
