import platform
import urllib.request
from typing import get_args

import pytest
from ports import free_port
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from feedcrawl import __version__
from feedcrawl.domain.frontier.outcome import FAILURES, Failure
from feedcrawl.telemetry.metrics import Endpoint, Histograms, StatsCounters, describe_process
from feedcrawl.telemetry.names import COUNTERS, ENDED, EVENTS_CONSUMED, FETCH_SECONDS, HISTOGRAMS, METRICS

STATS = {
    "feedcrawl/fetches/article/fetched/none": 3,
    "feedcrawl/fetches/page/fetched/none": 4,
    "feedcrawl/fetches/feed/unstable/ours": 1,
    "feedcrawl/outcome/http_404": 5,
    "feedcrawl/articles/failed": 2,
    "feedcrawl/articles/failed/FAIL_HTTP": 2,
    "feedcrawl/fetches/article": 9,  # another depth: another stat
}


def samples(registry: CollectorRegistry, name: str) -> dict[tuple[str, ...], float]:
    found = (each for family in registry.collect() for each in family.samples)
    return {tuple(each.labels.values()): each.value for each in found if each.name == name}


@pytest.fixture
def registry() -> CollectorRegistry:
    registry = CollectorRegistry()
    registry.register(StatsCounters(lambda: STATS))
    return registry


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("feedcrawl_pages_fetched_total", {(): 7}),
        ("feedcrawl_pages_failed_total", {(): 2}),
        ("feedcrawl_articles_failed_total", {(code,): 2 * (code == "FAIL_HTTP") for code in get_args(Failure)}),
        ("feedcrawl_outcomes_total", {**{(name,): 0 for name in FAILURES}, ("http_404",): 5}),
        ("feedcrawl_retries_total", {(): 0}),
        ("feedcrawl_polls_total", {(each,): 0 for each in ("fetched", "not_modified", "unchanged", "failed")}),
        ("feedcrawl_circuit_breaker_probes_total", {("success",): 0, ("failure",): 0}),
        (
            "feedcrawl_fetches_total",
            {("article", "fetched", "none"): 3, ("page", "fetched", "none"): 4, ("feed", "unstable", "ours"): 1},
        ),
    ],
)
def test_counters_are_read_from_the_stats(registry: CollectorRegistry, name: str, values: dict) -> None:
    assert samples(registry, name) == values


def test_every_counter_is_read_from_each_of_its_stats() -> None:
    for metric in COUNTERS:
        for stat in metric.stats:
            name = stat + "/".join(metric.labels) if stat.endswith("/") else stat
            registry = CollectorRegistry()
            registry.register(StatsCounters(lambda name=name: {name: 6}))
            assert samples(registry, metric.full_name)[metric.labels] == 6


def test_series_exist_from_the_start() -> None:
    registry = CollectorRegistry()
    registry.register(StatsCounters(dict))
    Histograms(registry)
    for metric in (*COUNTERS, *HISTOGRAMS):
        if metric.known or not metric.labels:
            name = metric.full_name if metric in COUNTERS else f"{metric.full_name}_count"
            assert set(samples(registry, name)) == ({(each,) for each in metric.known} or {()}), metric.name
            assert len(metric.labels) == bool(metric.known)


def test_a_process_exports_its_version_and_resources() -> None:
    registry = CollectorRegistry()
    describe_process(registry)
    ((labels, value),) = samples(registry, "feedcrawl_build_info").items()
    assert (labels, value) == ((__version__, platform.python_version()), 1)
    for name in ("resident_memory_bytes", "cpu_seconds_total", "open_fds", "start_time_seconds"):
        assert samples(registry, f"process_{name}")[()] > 0


def test_every_help_text_is_specific() -> None:
    assert [metric.name for metric in METRICS if len(metric.meaning.split()) < 2] == []
    meanings = [metric.meaning for metric in METRICS]
    assert len(set(meanings)) == len(meanings)


def test_names_of_metrics_are_valid_and_unique() -> None:
    names = [metric.full_name for metric in METRICS]
    assert len(set(names)) == len(names)
    assert all(
        name.endswith("_total") == (name in {m.full_name for m in (*COUNTERS, ENDED, EVENTS_CONSUMED)})
        for name in names
    )
    assert not {label for metric in METRICS for label in metric.labels} & {"url", "host", "feed", "feed_id", "uid"}


def test_the_endpoint_serves_until_it_is_closed(registry: CollectorRegistry) -> None:
    Histograms(registry).observe(FETCH_SECONDS, 0.3, "feed")
    port = free_port()
    endpoint = Endpoint(registry, "127.0.0.1", port)
    with pytest.raises(OSError, match="in use"):
        Endpoint(registry, "127.0.0.1", port)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        families = {family.name: family for family in text_string_to_metric_families(answer.read().decode())}
    buckets = {
        each.labels["le"]: each.value
        for each in families["feedcrawl_fetch_duration_seconds"].samples
        if "le" in each.labels and each.labels["kind"] == "feed"
    }
    assert (buckets["0.25"], buckets["0.5"]) == (0, 1)
    endpoint.close()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics")
