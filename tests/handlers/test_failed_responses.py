"""Tasks whose request brought nothing: the next try, the next document, or the end of the task."""

import asyncio
import logging
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import Response

from feedcrawl import handlers
from feedcrawl.crawl import robots_gate
from feedcrawl.domain.frontier.outcome import judge
from feedcrawl.domain.frontier.tasks import LANES, SITE_LANE, Lease, Task
from feedcrawl.domain.models import Extraction
from feedcrawl.domain.sitemaps.gaps import Gap
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.handlers.websub import LEAVING, NEWS, RETRY_SEC, TRIES
from feedcrawl.items import Article
from feedcrawl.services.sites import gaps
from feedcrawl.wiring import Wiring

HUB = "http://hub.test/"
FEED = Feed(Subscription("f", "http://a.test/feed"), PollRecord())
SINCE, UNTIL = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC)
FIRST, SECOND = "http://a.test/1.xml", "http://a.test/2.xml"


def leased(wired: Wiring, task: Task, *, attempts: int = 0) -> Lease:
    wired.leases.enqueue([task])
    (lease,) = wired.leases.take(1, (*LANES, SITE_LANE)).leases
    return replace(lease, history=replace(lease.history, attempts=attempts))


def request(lease: Lease, result: int | str, **meta: Any) -> Request:
    return Request(lease.task.url, meta={"lease": lease, "outcome": judge(result, task_kind=lease.task.kind), **meta})


def respond(handler: Any, lease: Lease, result: int | str, body: bytes = b"", **meta: Any) -> None:
    """Give a handler the response with this status, or the failure of this name."""
    sent = request(lease, result, **meta)
    if isinstance(result, int):
        made = handler.parse(Response(sent.url, result, body=body, request=sent))
    else:
        made = handler.failed(SimpleNamespace(request=sent, value=OSError(result)))
    asyncio.run(made)


def state(wired: Wiring, task_id: str) -> tuple[str, str | None, float]:
    """Status, reason and wait of a task; the wait in whole seconds."""
    found = wired.frontier.find(task_id)
    assert found is not None
    return found[1].status, found[1].reason, round(wired.frontier.take(0, lanes=(*LANES, SITE_LANE)).wait_sec or 0)


@pytest.mark.parametrize("prefix", [NEWS, LEAVING])
@pytest.mark.parametrize("result", [503, 404, 302, "dns"])
@pytest.mark.parametrize("tries", range(TRIES))
def test_a_single_request_to_a_hub_is_repeated_a_few_times(
    wired: Wiring, crawler: Any, prefix: str, result: int | str, tries: int
) -> None:
    task = Task(f"{prefix}x", "websub", HUB, "hub.test", payload={"topic": "http://a.test/feed", "tries": tries})
    respond(handlers.HubTasks(crawler), leased(wired, task), result)
    status, _, wait_sec = state(wired, task.id)
    assert wired.leases.leased == {}
    if tries + 1 == TRIES:
        assert status == "dead"
    else:
        assert (status, wait_sec) == ("pending", RETRY_SEC * (tries + 1))


@pytest.mark.parametrize(("success", "reason"), [(b"true", "asked"), (b"false", "not_registered")])
def test_an_rsscloud_server_refuses_with_status_200(wired: Wiring, crawler: Any, success: bytes, reason: str) -> None:
    payload: Any = {"topic": "http://a.test/feed", "protocol": "rsscloud"}
    task = Task("websub:f", "websub", HUB, "hub.test", payload=payload)
    body = b'<notifyResult success="%s" msg="x"/>' % success
    respond(handlers.HubTasks(crawler), leased(wired, task), 200, body)
    assert crawler.stats.get_value(f"feedcrawl/hubs/{reason}") == 1
    assert state(wired, task.id)[0] == "pending"


@pytest.mark.parametrize(("result", "attempts"), [(404, 0), (410, 0), ("address_refused", 0), ("read_timeout", 9)])
def test_a_sitemap_that_brings_nothing_is_left_out_of_a_gap(
    wired: Wiring, crawler: Any, result: int | str, attempts: int
) -> None:
    gap = Gap(SINCE, UNTIL, "a.test/", (SECOND,), 1, 4)
    task = Task("gap:f:2026-03-02", "gap", FIRST, "a.test", payload=gaps.payload_of(gap))
    respond(handlers.GapTasks(crawler), leased(wired, task, attempts=attempts), result, feed=FEED)
    found = wired.frontier.find(task.id)
    assert found is not None
    assert (found[0].url, found[1].status) == (SECOND, "pending")


def test_a_sitemap_that_may_answer_later_is_requested_again(wired: Wiring, crawler: Any) -> None:
    task = Task("gap:f:2026-03-02", "gap", FIRST, "a.test", payload=gaps.payload_of(Gap(SINCE, UNTIL, "a.test/")))
    respond(handlers.GapTasks(crawler), leased(wired, task), "read_timeout", feed=FEED)
    found = wired.frontier.find(task.id)
    assert found is not None
    assert (found[0].url, found[1].status, found[1].attempts) == (FIRST, "pending", 1)


@pytest.mark.parametrize(
    ("task", "event", "level"),
    [
        (Task("site:s", "site", "http://a.test/", "a.test", source="s"), "site_unread", logging.WARNING),
        (Task("listing:x", "listing", "http://a.test/x", "a.test", source="s"), "listing_refused", logging.INFO),
    ],
)
@pytest.mark.parametrize("result", [404, "too_large"])
def test_a_listing_page_that_cannot_be_read_is_logged(
    wired: Wiring, crawler: Any, caplog: pytest.LogCaptureFixture, task: Task, event: str, level: int, result: int | str
) -> None:
    caplog.set_level(logging.INFO)
    respond(handlers.ListingTasks(crawler), leased(wired, task), result)
    assert wired.leases.leased == {}
    assert [record.levelno for record in caplog.records if record.msg == event] == [level]


async def items_of(handler: Any, response: Response) -> list[Any]:
    return [item async for item in handler.parse(response)]


@pytest.mark.parametrize(
    ("status", "header", "value", "code", "reason", "maker"),
    [
        (403, "cf-mitigated", "challenge", "FAIL_HTTP", "http_403", "Cloudflare"),
        (405, "x-amzn-waf-action", "captcha", "FAIL_HTTP", "http_405", "AWS"),
        (202, "x-amzn-waf-action", "challenge", "FAIL_EMPTY", "empty", "AWS"),
    ],
)
def test_a_challenge_in_place_of_a_page_is_named(
    wired: Wiring, crawler: Any, status: int, header: str, value: str, code: str, reason: str, maker: str
) -> None:
    handler = handlers.ArticleTasks(crawler)
    lease = leased(wired, Task("0123456789abcdef", "article", "http://a.test/1", "a.test"))
    response = Response("http://a.test/1", status, headers={header: value}, request=request(lease, status))
    (item,) = asyncio.run(items_of(handler, response))
    assert (item.code, item.reason, item.dead_letter) == (code, reason, True)
    assert item.detail == f"challenge: a page of {maker} that requires proof that the client is no robot"


def test_a_challenge_in_place_of_a_feed_is_named(wired: Wiring, crawler: Any) -> None:
    lease = leased(wired, Task("feed:f", "feed", "http://a.test/feed", "a.test"))
    sent = request(lease, 403, feed=FEED, kind="scheduled", push=None, started=0.0)
    response = Response(sent.url, 403, headers={"cf-mitigated": "challenge"}, request=sent)
    received = handlers.FeedTasks(crawler, unfold=None)._received(response)
    assert (received.result, received.detail.partition(":")[0]) == ("http_403", "challenge")


def article(lease: Lease, canonical: str) -> Article:
    values: dict[str, Any] = dict.fromkeys(
        ("title", "abstract", "image", "published", "modified", "language", "site_name")
    )
    values |= {"text": "x", "html": "x", "authors": (), "extractor": "prose", "raw_len": 1, "text_len": 1}
    found = Extraction(**values, canonical_url=canonical)
    return Article(lease, lease.task.url, UNTIL, "success", final_url=lease.task.url, http_status=200, extraction=found)


@pytest.mark.parametrize(
    ("allowed", "moves", "reason"), [(None, True, ""), (False, False, "robots_blocked"), (True, False, "")]
)
def test_robots_txt_of_the_canonical_host_decides(
    wired: Wiring, crawler: Any, monkeypatch: pytest.MonkeyPatch, allowed: bool | None, moves: bool, reason: str
) -> None:
    monkeypatch.setattr(robots_gate, "of", lambda crawler: SimpleNamespace(known=lambda url: allowed))
    task = Task("0123456789abcdef", "article", "http://m.a.test/1", "m.a.test")
    item = article(leased(wired, task), "http://www.a.test/1")
    assert handlers.ArticleTasks(crawler)._belongs_elsewhere(item, task.url) is moves
    found = wired.frontier.find(task.id)
    assert found is not None
    host, chain = ("www.a.test", [task.url]) if moves else ("m.a.test", None)
    assert (found[0].host, found[0].payload.get("redirect_chain")) == (host, chain)
    assert (item.reason, item.extraction is None) == (reason, reason != "")


def test_a_canonical_url_on_the_same_host_needs_no_robots_txt(wired: Wiring, crawler: Any) -> None:
    item = article(leased(wired, Task("0123456789abcdef", "article", "http://a.test/1", "a.test")), "http://a.test/2")
    assert not handlers.ArticleTasks(crawler)._belongs_elsewhere(item, "http://a.test/1")
