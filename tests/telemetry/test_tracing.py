import logging
import sys
from collections.abc import Iterator

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_OFF, ParentBased, Sampler
from opentelemetry.trace import StatusCode

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.frontier.traces import traceparent
from feedcrawl.telemetry.spans import Spans, exporting
from feedcrawl.telemetry.tracing import Untraced, traced, tracer_for

REMOTE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Traced:
    """A tracer and what it has sent."""

    def __init__(self, sampler: Sampler | None = None) -> None:
        self._exporter = InMemorySpanExporter()
        provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.tracer = Spans(provider)

    @property
    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self._exporter.get_finished_spans()}


@pytest.fixture
def seen() -> Iterator[Traced]:
    seen = Traced()
    yield seen
    seen.tracer.close()


def lease(token: str = "1", **payload: object) -> Lease:
    task = Task("u1", "article", "http://news.test/a", "news.test", payload=payload)
    return Lease(task, History(attempts=2, again="edited"), token)


def test_the_span_of_a_task_is_a_child_of_its_traceparent(seen: Traced) -> None:
    begun = seen.tracer.begin(lease(trace=REMOTE, request_id="r-1", title="A"))
    seen.tracer.end(begun, "fetched", "stored")
    span = seen.spans["article"]
    assert span.parent is not None
    assert (f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}") == tuple(REMOTE.split("-")[1:3])
    assert dict(span.attributes or {}) == {
        "url.full": "http://news.test/a",
        "server.address": "news.test",
        "feedcrawl.task": "u1",
        "feedcrawl.origin": "manual",
        "feedcrawl.attempts": 2,
        "feedcrawl.again": "edited",
        "feedcrawl.request_id": "r-1",
        "feedcrawl.end": "fetched",
        "feedcrawl.reason": "stored",
    }
    own = span.get_span_context()
    assert (traceparent(begun.task.payload) or "").split("-")[1:3] == [f"{own.trace_id:032x}", f"{own.span_id:016x}"]
    assert begun.task.payload["title"] == "A"


def test_a_task_without_a_traceparent_begins_a_trace(seen: Traced) -> None:
    outer = seen.tracer.begin(lease("1"))
    with seen.tracer.span("parse", outer):
        inner = seen.tracer.begin(lease("2"))
    seen.tracer.end(inner, "dead", "http_404")
    assert seen.spans["article"].parent is None
    assert seen.spans["article"].status.status_code is StatusCode.ERROR
    assert seen.spans["article"].status.description == "http_404"


def test_steps_record_attributes_and_errors(seen: Traced) -> None:
    begun = seen.tracer.begin(lease())

    def fail() -> None:
        with seen.tracer.span("store", begun, size=3, nothing=None):
            seen.tracer.note(begun, uid="u9")
            seen.tracer.note(None, alone=True)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    seen.tracer.end(begun, "given_back", "callback_failed")
    seen.tracer.end(begun, "lost")
    step, task = seen.spans["store"], seen.spans["article"]
    assert dict(step.attributes or {}) == {"feedcrawl.size": 3, "feedcrawl.uid": "u9", "feedcrawl.alone": True}
    assert [event.name for event in step.events] == ["exception"]
    assert step.status.status_code is StatusCode.ERROR
    assert (task.attributes or {})["feedcrawl.uid"] == "u9"
    assert "feedcrawl.alone" not in (task.attributes or {})
    assert ((task.attributes or {})["feedcrawl.end"], task.status.status_code) == ("given_back", StatusCode.UNSET)


def test_open_spans_are_sent_at_the_end() -> None:
    seen = Traced()
    seen.tracer.begin(lease())
    seen.tracer.close()
    assert list(seen.spans) == ["article"]


def test_the_sampling_decision_is_carried_along() -> None:
    seen = Traced(ParentBased(ALWAYS_OFF))
    begun = seen.tracer.begin(lease())
    with seen.tracer.span("store", begun):
        pass
    seen.tracer.end(begun, "fetched")
    assert seen.spans == {}
    assert (traceparent(begun.task.payload) or "").endswith(("-00", "-02"))
    on = Traced(ParentBased(ALWAYS_OFF))
    on.tracer.end(on.tracer.begin(lease(trace=REMOTE)), "fetched")
    assert list(on.spans) == ["article"]


def test_the_switch_of_opentelemetry_disables_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    tracer = Spans(exporting())
    given = lease(trace=REMOTE)
    assert (tracer.begin(given), tracer.begin(lease())) == (given, lease())
    with tracer.span("store", given):
        pass
    tracer.end(given, "fetched")
    tracer.close()


@pytest.mark.parametrize(("environment", "name"), [({}, "feedcrawl"), ({"OTEL_SERVICE_NAME": "polls"}, "polls")])
def test_the_service_has_a_name(environment: dict[str, str], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    provider = exporting()
    assert provider.resource.attributes["service.name"] == name
    provider.shutdown()


def test_log_lines_within_a_step_have_its_ids(seen: Traced) -> None:
    made, begun = Spans.log_ids(logging.LogRecord), seen.tracer.begin(lease())
    fields = ("feedcrawl", logging.INFO, "x.py", 1, "said", (), None)
    with seen.tracer.span("store", begun):
        within = made(*fields)
    context = seen.spans["store"].get_span_context()
    assert (vars(within)["trace_id"], vars(within)["span_id"]) == (
        f"{context.trace_id:032x}",
        f"{context.span_id:016x}",
    )
    assert "trace_id" not in vars(made(*fields))


def test_a_disabled_tracer_changes_nothing() -> None:
    off, given = tracer_for(on=False), lease(trace=REMOTE)
    assert isinstance(off, Untraced)
    assert off.begin(given) is given
    with off.span("store", given) as step:
        assert step is None
    off.note(given, uid="x")
    off.end(given, "fetched")
    off.close()


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    monkeypatch.delitem(sys.modules, "feedcrawl.telemetry.spans", raising=False)
    with pytest.raises(ValueError, match=r"pip install 'feedcrawl\[otel\]'"):
        tracer_for(on=True)


def test_a_step_of_a_pipeline_is_within_its_span(seen: Traced) -> None:
    class Pipeline:
        _tracer = seen.tracer

        @traced("store")
        def process_item(self, item: object) -> object:
            seen.tracer.note(None, within=True)
            return item

    class Item:
        pass

    item = Item()
    item.lease = seen.tracer.begin(lease())  # type: ignore[attr-defined]
    assert Pipeline().process_item(item) is item
    assert (seen.spans["store"].attributes or {})["feedcrawl.within"] is True
    assert Pipeline().process_item({"an": "item"}) == {"an": "item"}
