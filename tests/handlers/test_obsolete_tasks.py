"""Tasks whose feed, sitemap or source was removed while they waited, and tasks that this spider does not handle."""

from typing import Any

import pytest

from feedcrawl import handlers
from feedcrawl.domain.frontier.tasks import LANES, SITE_LANE, Lease, Task
from feedcrawl.domain.sites.sources import Source
from feedcrawl.spiders.base import FrontierSpider
from feedcrawl.spiders.site import SiteSpider
from feedcrawl.wiring import Wiring

URL, HOST = "http://a.test/x", "a.test"


def leased(wired: Wiring, task: Task) -> Lease:
    wired.leases.enqueue([task])
    (lease,) = wired.leases.take(1, (*LANES, SITE_LANE)).leases
    return lease


@pytest.mark.parametrize(
    ("make", "task", "reason"),
    [
        (lambda crawler: handlers.FeedTasks(crawler, None), Task("feed:f", "feed", URL, HOST), "unsubscribed"),
        (handlers.ArchiveTasks, Task("archive:f", "archive", URL, HOST), "unsubscribed"),
        (handlers.GapTasks, Task("gap:f:2026-03-02", "gap", URL, HOST), "unsubscribed"),
        (handlers.HubTasks, Task("websub:f", "websub", URL, HOST, payload={"topic": URL}), "unsubscribed"),
        (lambda crawler: handlers.SitemapTasks(crawler, bool), Task("sitemap:s", "sitemap", URL, HOST), "forgotten"),
        (handlers.ListingTasks, Task("site:s", "site", URL, HOST, source="s"), "not_crawled"),
        (handlers.ListingTasks, Task("listing:x", "listing", URL, HOST, source="s"), "not_crawled"),
        (handlers.SearchTasks, Task("site_search:x", "site_search", URL, HOST, source="s"), "not_searched"),
    ],
    ids=lambda value: value.id if isinstance(value, Task) else None,
)
def test_a_task_of_a_removed_record_ends_without_a_request(
    wired: Wiring, crawler: Any, make: Any, task: Task, reason: str
) -> None:
    handler, lease = make(crawler), leased(wired, task)
    handler.prepare([lease])
    assert handler.request(lease) is None
    assert wired.leases.leased == {}
    found = wired.frontier.find(task.id)
    assert found is not None
    assert (found[1].status, found[1].reason) == ("dead", reason)
    assert wired.frontier.take(9, lanes=(*LANES, SITE_LANE)).leases == ()


@pytest.mark.parametrize(
    ("spider", "task"),
    [
        (FrontierSpider, Task("x", "of_a_later_version", URL, HOST)),  # type: ignore[arg-type]
        (SiteSpider, Task("site:other", "site", URL, HOST, source="other")),
        (SiteSpider, Task("listing:x", "listing", URL, HOST, source="other")),
    ],
)
def test_a_task_of_another_spider_is_given_back_without_an_attempt(
    wired: Wiring, crawler: Any, spider: type[FrontierSpider], task: Task
) -> None:
    made: Any = spider(name="x")
    made.wired, made.crawler, made.site = wired, crawler, Source("own", "http://own.test/")
    assert made.request_for(leased(wired, task)) is None
    found = wired.frontier.find(task.id)
    assert found is not None
    assert (found[1].status, found[1].attempts) == ("pending", 0)
    assert wired.frontier.take(9, lanes=(*LANES, SITE_LANE)).wait_sec > 1
