"""What a worker shows to Prometheus while it crawls: each metric by name, of one crawl in which all of it happens."""

import contextlib
import socket
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from documents import rss
from origin import document, failure, html
from ports import free_port
from prometheus_client.parser import text_string_to_metric_families
from world import World, entry, good_page, world_in

from feedcrawl.telemetry.names import COUNTERS, HISTOGRAMS, METRICS

ELSEWHERE = {
    "feedcrawl_pushes_total": "needs a hub",
    "feedcrawl_leases_lost_total": "needs a worker that sleeps",
    "feedcrawl_pauses_total": "needs a server in trouble",
    "feedcrawl_errors_total": "needs a failure of the program's own",
    "feedcrawl_articles_merged_total": "needs two pages of one story",
    "feedcrawl_possibly_missed_total": "needs a feed that outruns its polls",
    "feedcrawl_outgoing_requests_total": "needs addresses or proxies of the operator",
    "feedcrawl_outgoing_circuits_opened_total": "needs a proxy that fails",
    "feedcrawl_feeds_quiet_total": "needs a feed that falls silent for weeks",
    "feedcrawl_urls_known_total": "needs a URL that is queued again",
}
"""Counters that this crawl has no cause for; tests/telemetry holds each against its stat."""
SETTINGS = {
    "FEEDCRAWL_MIN_INTERVAL_SEC": "0.5",
    "FEEDCRAWL_INITIAL_INTERVAL_SEC": "0.5",
    "FEEDCRAWL_MAX_INTERVAL_SEC": "1",
    "FEEDCRAWL_CIRCUIT_FAILURES": "2",
    "FEEDCRAWL_CIRCUIT_FIRST_WAIT_SEC": "0.3",
    "FEEDCRAWL_MIN_HTML_CHARS": "20",
    "FEEDCRAWL_MEDIA_FILES": "true",
}


def scraped(port: int) -> dict[str, float]:
    """Sums over labels, by name; of histograms the count. Empty while nobody answers."""
    found: Counter[str] = Counter()
    with (
        contextlib.suppress(urllib.error.URLError),
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer,
    ):
        for family in text_string_to_metric_families(answer.read().decode()):
            for each in family.samples:
                if not each.name.endswith(("_bucket", "_sum", "_created")):
                    found[each.name.removesuffix("_count")] += each.value
    return dict(found)


def busy_world(world: World) -> None:
    """A feed that changes and then does not, pages that are good, missing, forbidden, and failing and back."""
    site, shaky = world.origin.site("good.test"), world.origin.site("shaky.test")
    names = ["one", "gone", "private", "flaky"]
    site.serve("/one", good_page("one"))
    site.serve("/private", good_page("private"))
    site.serve("/flaky", failure(500), good_page("flaky"))
    site.serve("/broken", document("no feed at all", content_type="text/plain"))
    site.serve("/robots.txt", document("User-agent: *\nDisallow: /private\n", content_type="text/plain"))
    shaky.serve("/", html("up"))
    for name in ("a", "b", "c"):
        shaky.serve(f"/{name}", failure(503), good_page(name))
    png = document(b"\x89PNG\r\n\x1a\n", content_type="image/png")
    entries = [replace(entry(site, "one"), files=(site.serve("/a.png", png), site.url("/no.png")))]
    entries += [entry(site, name) for name in names[1:]] + [entry(shaky, name) for name in ("a", "b", "c")]
    edited = [entry(site, "one", summary="said otherwise"), *entries[1:]]

    def of(items: list, tag: str) -> object:
        return document(rss(items), content_type="application/rss+xml", etag=tag, codings="gzip")

    feed = site.serve("/feed", of(entries, '"1"'), of(edited, '"2"'))
    world.feeds_file(f"{feed} news\n{site.url('/broken')}\n")


def test_every_metric_moves(tmp_path: Path) -> None:
    port = free_port()
    wanted = {metric.full_name for metric in (*COUNTERS, *HISTOGRAMS)} - set(ELSEWHERE)
    seen: Counter[str] = Counter()

    def all_moved() -> bool:
        for name, value in scraped(port).items():
            seen[name] = max(seen[name], value)
        time.sleep(0.1)
        return all(seen[name] for name in wanted)

    with world_in(tmp_path, FEEDCRAWL_METRICS_PORT=str(port), **SETTINGS) as world:
        busy_world(world)
        worker = world.start(f"feeds={world.folder / 'feeds.txt'}", "forever=1")
        try:
            world.until(all_moved, 60)
        except AssertionError as error:
            pytest.fail(f"never moved: {sorted(name for name in wanted if not seen[name])}\n{error}")
        assert (seen["feedcrawl_store_up"], seen["feedcrawl_feeds"]) == (1, 2)
        assert seen["feedcrawl_pages_fetched_total"] >= 4
        worker.terminate()
        assert worker.wait(timeout=30) == 0
        assert scraped(port) == {}


def test_a_taken_port_stops_no_crawl(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, world_in(tmp_path) as world:
        port = str(taken.getsockname()[1])
        site = world.origin.site("good.test")
        feed = site.serve("/feed", document(rss([entry(site, "one")]), content_type="application/rss+xml"))
        site.serve("/one", good_page("one"))
        world.crawl("first", f"feeds={feed}", FEEDCRAWL_METRICS_PORT=port)
        [line] = world.logged("first", "no_metrics")
        assert "of its own" in line["detail"]
        assert len(world.lines("articles")) == 1


def test_names_of_other_page_fetchers() -> None:
    theirs = """pages_fetched_total pages_failed_total pages_skipped_robots_total pages_requeued_total retries_total
        dlq_enqueued_total circuit_breaker_opened_total circuit_breaker_closed_total circuit_breaker_probes_total
        input_queue_size dlq_size circuit_breaker_state circuit_breaker_consecutive_failures
        circuit_breaker_current_backoff_seconds fetch_duration_seconds content_size_bytes"""
    assert set(theirs.split()) <= {metric.name for metric in METRICS}
