"""Each figure that other fetchers have a name for, set once under the one that it has here, and what comes of it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from typing import Any

import pytest
from kafka_cluster import Kafka
from ledger import Request
from origin import Answer, document, failure, hanging, html, redirect
from scrapy.settings import Settings
from scrapy_process import run_scrapy
from world import World, entry, feed, good_page, world_in

from feedcrawl.domain.cadence import Observation, PollState, next_poll
from feedcrawl.settings import from_environment, own_settings
from feedcrawl.wiring import Wiring

NOW = datetime(2026, 11, 28, tzinfo=UTC)
SET = {
    "FEEDCRAWL_CONTACT": "https://example.org/bot",
    "FEEDCRAWL_HOST_DELAY_SEC": "0.25",
    "FEEDCRAWL_HOST_CONCURRENCY": "2",
    "FEEDCRAWL_CIRCUIT_FAILURES": "2",
    "FEEDCRAWL_CIRCUIT_FIRST_WAIT_SEC": "1",
    "FEEDCRAWL_CIRCUIT_MAX_WAIT_SEC": "1.2",
    "FEEDCRAWL_FETCH_TIMEOUT_SEC": "0.6",
    "FEEDCRAWL_MAX_FEED_BYTES": "5000",
    "FEEDCRAWL_MAX_REDIRECTS": "1",
    "FEEDCRAWL_MAX_ATTEMPTS": "3",
    "FEEDCRAWL_RETRY_BASE_SEC": "0.3",
    "FEEDCRAWL_ROBOTS_TTL_SEC": "5400",
    "FEEDCRAWL_PAGE_CACHE_TTL_SEC": "500",
    "FEEDCRAWL_LINGER_SEC": "2.5",
}
"""All at once, for one crawl."""


def down(times: int) -> Callable[[Request], Answer]:
    """A host that is away for so many requests, whatever they ask for."""
    attempts = iter(range(times))

    def answer(request: Request) -> Answer:
        return good_page(request.path) if next(attempts, None) is None else failure(503)

    return answer


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("names"), **SET) as world:
        news, away, loop = (world.origin.site(f"{name}.test") for name in ("news", "away", "loop"))
        for name in "abc":
            news.serve(f"/{name}", good_page(name, wait_sec=0.4))
        news.serve("/broken", failure(500))
        returns = down(3)
        for path in ("/", "/x", "/y", "/z"):  # the first is what a probe asks for
            away.serve(path, returns)
        loop.serve("/2", redirect(loop.url("/3")))
        feeds = {
            "news": feed([entry(news, name) for name in ("a", "b", "c", "broken")]),
            "slow": hanging(),
            "big": document("<rss>" + "x" * 6000, content_type="application/rss+xml"),
            "loop": redirect(loop.url("/2")),
            "away": feed([entry(away, name) for name in "xyz"]),
        }
        urls = [world.origin.site(f"{name}.test").serve("/feed", answer) for name, answer in feeds.items()]
        world.crawl("all", world.feeds_file("".join(f"{url}\n" for url in urls)))
        yield world


def requests(world: World, host: str) -> list[Request]:
    return [request for request in world.requests["all"] if request.host == host and request.path != "/robots.txt"]


def gaps(found: list[Request]) -> list[float]:
    return [after.received - before.received for before, after in pairwise(found)]


def result(world: World, host: str) -> dict[str, Any]:
    """The line in the log of the poll that failed."""
    lines = [line for event in ("feed_failed", "feed_polled") for line in world.logged("all", event)]
    return next(line for line in lines if line["host"] == host)


def agent(world: World) -> None:
    assert all("https://example.org/bot" in (each.header("User-Agent") or "") for each in world.requests["all"])


def pace(world: World) -> None:
    found = [each for each in requests(world, "news.test") if each.path != "/feed"]
    assert 0.2 <= median(gaps(found)) < 0.95  # at the default it is 1


def at_a_time(world: World) -> None:
    assert max(each.open_on_host for each in requests(world, "news.test")) == 2


def timeout(world: World) -> None:
    assert len(requests(world, "slow.test")) >= 1
    assert result(world, "slow.test")["result"] == "total_timeout"


def too_large(world: World) -> None:
    assert result(world, "big.test")["result"] == "too_large"


def too_far(world: World) -> None:
    assert result(world, "loop.test")["result"] == "too_many_redirects"
    assert [each.path for each in requests(world, "loop.test")] == ["/feed", "/2"]


def robots(world: World) -> None:
    with world.client() as client:
        (key,) = client.keys("robots:news.test*")
        assert 5000 < client.ttl(key) <= 5400


def pages(world: World) -> None:
    with world.client() as client:
        found = [key for key in client.keys("webpage:*") if len(key) == len("webpage:") + 64]
        assert len(found) == 6
        assert all(400 < client.ttl(key) <= 500 for key in found)


def circuit(world: World) -> list[float]:
    """The seconds after each failure of the host that was away, once two had opened its circuit."""
    found = [each for each in requests(world, "away.test") if each.path != "/feed"]
    assert [each.status for each in found[:4]] == [503, 503, 503, 200]
    return gaps(found)


def opens(world: World) -> None:
    assert circuit(world)[0] < 1 <= circuit(world)[1]
    hosts = [line["host"] for line in world.logged("all", "circuit_open")]
    assert hosts.count("away.test") == 2


def first_wait(world: World) -> None:
    assert 1 <= circuit(world)[1] < 10


def longest_wait(world: World) -> None:
    assert 1.2 <= circuit(world)[2] < 1.95  # without a limit it is 2, twice the first


def tries(world: World) -> list[Request]:
    return [each for each in requests(world, "news.test") if each.path == "/broken"]


def attempts(world: World) -> None:
    assert len(tries(world)) == 3


def waits(world: World) -> None:
    first, second = gaps(tries(world))
    assert first >= 0.3
    assert second >= 0.6


IN_ONE_CRAWL: dict[str, Callable[[World], None]] = {
    "user_agent": agent,
    "HOST_RPS": pace,
    "rate_limit_per_second": pace,
    "min_delay_ms": pace,
    "HOST_MAX_CONCURRENCY": at_a_time,
    "circuit_breaker_failure_threshold": opens,
    "circuit_breaker_initial_backoff_seconds": first_wait,
    "circuit_breaker_max_backoff_seconds": longest_wait,
    "FETCH_TIMEOUT_MS": timeout,
    "request_timeout_seconds": timeout,
    "MAX_BODY_BYTES": too_large,
    "max_redirects": too_far,
    "max_retries": attempts,
    "retry_backoff_base_seconds": waits,
    "robots_txt_cache_ttl_seconds": robots,
    "robots_ttl_hours": robots,
    "cache_ttl_seconds": pages,
}


@pytest.mark.parametrize("name", IN_ONE_CRAWL)
def test_a_setting_takes_effect_in_a_crawl(name: str, world: World) -> None:
    IN_ONE_CRAWL[name](world)


QUIET, AWAY = Observation(304, 0, 0), Observation(503, 0, 0)
NEWS = Observation(200, 1, 5)
DATED = Observation(200, 1, 5, published=(NOW,))
KNOWN = PollState(1000.0, 1000.0, NOW.timestamp() - 4000)

# The seconds to the next poll as the default has it, and as the setting does.
CADENCE: dict[str, tuple[str, object, PollState, Observation, float, float]] = {
    "b_up": ("UP_FACTOR", 2, PollState(1000.0), QUIET, 1250, 2000),
    "b_down": ("DOWN_FACTOR", 0.5, PollState(1000.0), NEWS, 750, 500),
    "ewma_alpha": ("EWMA_ALPHA", 0.1, KNOWN, DATED, 1325, 1025),
    "blend_lambda": ("BLEND_LAMBDA", 0, KNOWN, DATED, 1325, 750),
    "SCHED_JITTER_RATIO": ("JITTER_RATIO", 0.1, PollState(1000.0), QUIET, 1437.5, 1375),
    "jitter_ratio": ("JITTER_RATIO", 0.1, PollState(1000.0), QUIET, 1437.5, 1375),
    "backoff_base": ("BACKOFF_BASE", 3, PollState(1000.0), AWAY, 2000, 3000),
    "backoff_cap_sec": ("BACKOFF_CAP_SEC", 5000, PollState(3000.0), AWAY, 3600, 5000),
    "SCHED_MIN_INTERVAL_SEC": ("MIN_INTERVAL_SEC", 200, PollState(320.0), NEWS, 300, 240),
    "SCHED_MAX_INTERVAL_SEC": ("MAX_INTERVAL_SEC", 90_000, PollState(80_000.0), QUIET, 86_400, 90_000),
    "feed_poll_interval_minutes": ("INITIAL_INTERVAL_SEC", 1200, PollState(), QUIET, 1125, 1500),
}


def wait_sec(state: PollState, seen: Observation, *, jitter: float, **given: object) -> float:
    settings = {f"FEEDCRAWL_{name}": str(value) for name, value in {"CADENCE": "baseline", **given}.items()}
    policy = Wiring(Settings(from_environment(settings))).cadence
    return next_poll(state, seen, now=NOW, policy=policy, jitter=jitter).interval_sec


@pytest.mark.parametrize("name", CADENCE)
def test_a_setting_takes_effect_in_a_decision(name: str) -> None:
    setting, value, state, seen, usual, wanted = CADENCE[name]
    jitter = 1.0 if "JITTER" in setting else 0.0
    assert wait_sec(state, seen, jitter=jitter) == pytest.approx(usual)
    assert wait_sec(state, seen, jitter=jitter, **{setting: value}) == pytest.approx(wanted)


def test_max_depth_bounds_a_crawl(world: World) -> None:
    site = world.origin.site("deep.test")
    for number in range(4):
        words = "<p>words</p>" * 40
        site.serve(f"/list/{number}", html(f'<title>List</title><a href="/list/{number + 1}">more</a>{words}'))
    site.serve("/", html('<title>List</title><a href="/list/0">more</a><p>words</p>'))
    world.crawl("site", f"url={site.url('/')}", spider="site", FEEDCRAWL_SITE_DEPTH="1")
    requested = [path for path in world.paths("site", "deep.test") if path != "/robots.txt"]
    assert requested == ["/", "/list/0"]


def test_brokers_and_topic_are_configured(world: World) -> None:
    kafka = Kafka()
    try:
        given = {"FEEDCRAWL_KAFKA_BOOTSTRAP": kafka.bootstrap, "FEEDCRAWL_KAFKA_WEBPAGE_TOPIC": "pages"}
        run = run_scrapy("relay", "--once", data_dir=world.data, env=world.env | given)
        assert run.code == 0, run.err
        assert len(kafka.read(["pages"], 3)) >= 3
    finally:
        kafka.close()


def test_every_documented_name_has_a_test() -> None:
    """That of the time a page may take to render is in tests/rendering/test_renderer.py, which has a browser."""
    here = {*IN_ONE_CRAWL, *CADENCE, "max_depth", "kafka_bootstrap_servers", "webpage_log_topic", "timeout_ms"}
    here |= {"input_queue", "dlq_queue", "poll_timeout_seconds", "circuit_breaker_backoff_multiplier"}  # of the queues
    assert here == {name for setting in own_settings for name in setting.also}
