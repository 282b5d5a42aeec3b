"""Tracing in whole crawls, from the decision to the events, against a collector on loopback."""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from collector import Collector, Span
from documents import sitemap
from origin import document, failure, redirect
from scrapy_process import REPOSITORY, clean_environment
from world import World, entry, feed, good_page, world_in

STEPS = ["commit", "decision", "dedupe", "disk", "events", "parse", "request", "store"]


@pytest.fixture
def collector() -> Iterator[Collector]:
    with contextlib.closing(Collector()) as collector:
        yield collector


@pytest.fixture
def world(collector: Collector, tmp_path: Path) -> Iterator[World]:
    how = {"FEEDCRAWL_TRACING": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_SERVICE_NAME": "polls"}
    with world_in(tmp_path, **how) as world:
        yield world


def journal(world: World) -> list[dict[str, object]]:
    with world.client() as client:
        (key,) = client.scan_iter("fc:*journal:*")
        return [json.loads(line) for line in client.lrange(key, 0, -1)]


def test_a_poll_and_its_articles_form_a_trace_through_the_queue(world: World, collector: Collector) -> None:
    site = world.origin.site("news.test")
    site.serve("/a", good_page("a"))
    site.serve("/bad", failure(404))
    url = site.serve("/feed", feed([entry(site, name) for name in ("a", "bad")]))
    world.crawl("first", f"feeds={url}", FEEDCRAWL_TAKE_BATCH="1")
    (poll,) = collector.named("feed")
    articles = {span.attributes["url.full"].rpartition("/")[2]: span for span in collector.named("article")}
    assert set(collector.paths) == {"/v1/traces"}
    assert poll.parent == ""
    assert {span.trace for span in collector.spans} == {poll.trace}
    assert {span.parent for span in articles.values()} == {poll.id}
    assert collector.children(poll) == sorted([*STEPS, "article", "article"])
    assert collector.children(articles["a"]) == STEPS
    assert collector.children(articles["bad"]) == [step for step in STEPS if step != "parse"]
    assert all(0 <= span.seconds < 60 for span in collector.spans)
    assert poll.resource["service.name"] == "polls"
    check_records(world, collector, poll, articles)


def check_records(world: World, collector: Collector, poll: Span, articles: dict[str, Span]) -> None:
    """The same ids are in log, journal and events; the spans say what came."""
    (line,) = journal(world)
    assert (line["trace_id"], line["poll_id"]) == (poll.trace, poll.attributes["feedcrawl.poll_id"])
    assert (poll.attributes["feedcrawl.result"], poll.attributes["feedcrawl.new"]) == ("fetched", 2)
    assert (poll.attributes["feedcrawl.end"], poll.status) == ("pending", 0)
    assert (articles["a"].attributes["feedcrawl.end"], articles["a"].status) == ("fetched", 0)
    assert (articles["bad"].attributes["feedcrawl.end"], articles["bad"].status) == ("dead", 2)
    assert articles["bad"].attributes["feedcrawl.reason"] == "http_404"
    requests = {span.attributes["url.full"]: span.attributes for span in collector.named("request")}
    assert sorted(each["http.response.status_code"] for each in requests.values()) == [200, 200, 404]
    (article,) = world.lines("articles")
    assert requests[articles["a"].attributes["url.full"]]["feedcrawl.fetch_id"] == article["fetch_id"]
    assert all(span.attributes["feedcrawl.child_sec"] > 0 for span in collector.named("parse"))
    for event, owner in (
        ("feed_polled", poll),
        ("article_stored", articles["a"]),
        ("article_refused", articles["bad"]),
    ):
        (logged,) = world.logged("first", event)
        (commit,) = [span for span in collector.named("commit") if span.parent == owner.id]
        assert (logged["trace_id"], logged["span_id"]) == (owner.trace, commit.id)
    with world.client() as client:
        found = {fields["type"]: fields for _, fields in client.xrange("feedcrawl:events")}
    assert found["new_entry"]["traceparent"][:-3] == f"00-{poll.trace}-{poll.id}"
    assert found["article_ready"]["traceparent"][:-3] == f"00-{poll.trace}-{articles['a'].id}"
    assert "detach" not in world.runs["first"].err


def test_a_trace_goes_on_in_another_worker_and_over_redirects_and_ends_with_the_poll(
    world: World, collector: Collector
) -> None:
    site, other = world.origin.site("news.test"), world.origin.site("other.test")
    other.serve("/a", good_page("a"))
    site.serve("/a", redirect(other.url("/a")))
    moved = other.serve("/feed", feed([entry(site, "a")]), feed([entry(site, "a")]))
    url = site.serve("/feed", redirect(moved), redirect(moved))
    world.crawl("polls", f"feeds={url}")
    first = {span.trace for span in collector.spans}
    assert len(first) == 1
    assert len(collector.named("feed")) == 2  # a lease for each host
    world.crawl("again", "now=1")
    traces = {span.trace for span in collector.named("feed")}
    assert len(traces) == 2


def test_a_task_that_is_given_back_has_a_span_for_each_take(world: World, collector: Collector) -> None:
    site = world.origin.site("news.test")
    site.serve("/a", failure(503), good_page("a"))
    url = site.serve("/feed", feed([entry(site, "a")]))
    world.crawl("first", f"feeds={url}")
    first, second = sorted(collector.named("article"), key=lambda span: span.attributes["feedcrawl.end"], reverse=True)
    assert [span.attributes["feedcrawl.end"] for span in (first, second)] == ["given_back", "fetched"]
    assert first.attributes["feedcrawl.reason"] == "http_503"
    assert first.parent == second.parent == collector.named("feed")[0].id


def test_a_sitemap_is_a_poll_like_any_other(world: World, collector: Collector) -> None:
    site = world.origin.site("news.test")
    pages = [site.serve("/s", good_page("s"))]
    listed = document(sitemap(pages, modified=datetime.now(UTC)))
    world.crawl("first", f"sitemaps={site.serve('/sitemap.xml', listed)}", spider="sitemaps")
    (poll,), (article,) = collector.named("sitemap"), collector.named("article")
    assert (article.trace, article.parent) == (poll.trace, poll.id)
    assert {"decision", "request", "parse", "commit"} <= set(collector.children(poll))
    assert [line["trace_id"] for line in journal(world)] == [poll.trace]


def test_a_request_of_the_api_is_named_in_the_span(world: World, collector: Collector) -> None:
    url = world.origin.site("news.test").serve("/a", good_page("a"))
    with world.wired() as wired:
        wired.media.submit(url, "ada", wired.now(), request_id="r-1")
    world.crawl("first", spider="articles")
    (span,) = collector.named("article")
    assert (span.parent, span.attributes["feedcrawl.request_id"]) == ("", "r-1")


def test_an_unreachable_collector_costs_only_the_spans(tmp_path: Path) -> None:
    how = {"FEEDCRAWL_TRACING": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}
    with world_in(tmp_path, **how, OTEL_EXPORTER_OTLP_TIMEOUT="1") as world:
        site = world.origin.site("news.test")
        site.serve("/a", good_page("a"))
        world.crawl("first", f"feeds={site.serve('/feed', feed([entry(site, 'a')]))}")
        assert len(world.lines("articles")) == 1


@pytest.mark.parametrize("name", ["feedcrawl.console.operations.crawl", "feedcrawl.wiring", "feedcrawl.spiders.feeds"])
def test_disabled_tracing_imports_nothing(name: str) -> None:
    found = "[each for each in sys.modules if each.startswith(('opentelemetry.sdk.trace', 'opentelemetry.exporter'))]"
    code = f"import sys, {name}; print({found})"  # of the rest redis-py takes what is installed
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=REPOSITORY, env=clean_environment(), capture_output=True, check=True
    )
    assert ran.stdout == b"[]\n"


def test_disabled_tracing_adds_nothing_to_tasks(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("news.test")
        site.serve("/a", good_page("a"))
        world.crawl("first", f"feeds={site.serve('/feed', feed([entry(site, 'a')]))}")
        assert "trace_id" not in journal(world)[0]
        assert "trace_id" not in world.runs["first"].err
        with world.client() as client:
            assert all("traceparent" not in fields for _, fields in client.xrange("feedcrawl:events"))
