import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import redis
from polls import feed_poll

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.tasks import LANES
from feedcrawl.domain.http.url_gate import Gate
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.handlers import lists
from feedcrawl.items import FeedPoll
from feedcrawl.parsing import Done, Failed
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.subscriptions import registering
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.subscriptions.registry import Registry

FEED, OTHER = "became_a_list", "list_not_named"
NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
OPML = b'<opml><body><outline text="F"><outline xmlUrl="http://b.test/"/></outline><outline xmlUrl="ftp://no/"/></body></opml>'


class Here:
    """Parses in this process."""

    async def run(self, function: Callable[..., Any], *args: Any, wall_sec: float, **how: Any) -> Done[Any] | Failed:
        try:
            return Done(function(*args, **how))
        except Refusal as refused:
            return Failed(refused.code, refused.detail)


@pytest.fixture
def wired(redis_client: redis.Redis) -> SimpleNamespace:
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    return SimpleNamespace(
        registry=Registry(redis_client),
        frontier=frontier,
        leases=Leases(frontier),
        parsers=Here(),
        now=lambda: NOW,
        gate=Gate("127.1.0.0/16", ""),
        config=SimpleNamespace(max_feeds_per_list=3),
    )


def unfolding(wired: SimpleNamespace) -> lists.Lists:
    stores = (wired.registry, wired.frontier, wired.leases)
    return lists.Lists(*stores, wired.gate, wired.parsers, wired.now, wired.config.max_feeds_per_list)


def poll(
    wired: SimpleNamespace, result: str, body: bytes, *, was_a_feed: bool = False, **fields: Any
) -> tuple[list[str], str]:
    """The ids that come of polling a subscribed address which answers with `body`, and the poll's result then."""
    spec = SubscriptionSpec("http://a.test/list", ("mine",), fields={"unfolds": True, **fields})
    registering.subscribe(wired.registry, wired.frontier, spec, NOW)
    (feed,) = wired.registry.all()
    (lease,) = wired.leases.take(5, LANES).leases
    polls = SimpleNamespace(last_success_at="2026-03-01T00:00:00Z" if was_a_feed else None)
    polled = SimpleNamespace(id=feed.id, subscription=feed.subscription, polls=polls)
    item = feed_poll(lease, "x", NOW, 200, result, polled)
    unfolded = asyncio.run(unfolding(wired).unfold(item, SimpleNamespace(body=body)))
    return ([], unfolded.received.result) if isinstance(unfolded, FeedPoll) else (unfolded, result)


@pytest.mark.parametrize(("result", "body"), [("opml", OPML), ("text", b"# mine\nhttp://b.test/ F\n")])
def test_an_address_of_a_list_is_replaced_by_its_feeds(wired: SimpleNamespace, result: str, body: bytes) -> None:
    ids, _ = poll(wired, result, body)
    (feed,) = wired.registry.all()
    assert [feed.id] == ids
    assert (feed.subscription.url, feed.subscription.categories) == ("http://b.test/", ("mine", "F"))
    assert wired.leases.leased == {}
    assert [lease.task.url for lease in wired.leases.take(5, LANES).leases] == ["http://b.test/"]


@pytest.mark.parametrize(
    ("result", "body", "how", "then"),
    [
        ("opml", OPML, {"was_a_feed": True}, FEED),
        ("text", b"http://b.test/\n", {"was_a_feed": True}, FEED),
        ("opml", OPML, {"unfolds": False}, OTHER),  # of another list, or of a page
        ("opml", OPML, {"page": "http://b.test/page"}, OTHER),  # where a named page's feed may be
        ("opml", OPML, {"no_discovery": True}, OTHER),
        ("html", b"<html>http://b.test/</html>", {}, "html"),
        ("text", b"Sorry, see http://b.test/\nhttp://b.test/\n", {}, "text"),
        ("text", b"b.test\n", {}, "text"),
        ("text", b"b.test\n", {"was_a_feed": True}, "text"),
        ("opml", b"<opml><body/></opml>", {}, "opml"),
        ("opml", b'<opml><body><outline xmlUrl="ftp://no/"/></body></opml>', {}, "opml"),
        ("http_404", OPML, {}, "http_404"),
    ],
)
def test_a_document_without_a_list_is_a_failed_poll(
    wired: SimpleNamespace, result: str, body: bytes, how: dict[str, Any], then: str
) -> None:
    assert poll(wired, result, body, **how) == ([], then)
    assert [feed.subscription.url for feed in wired.registry.all()] == ["http://a.test/list"]
    assert len(wired.leases.leased) == 1


def test_a_list_that_names_itself_is_not_lost(wired: SimpleNamespace) -> None:
    poll(wired, "opml", b'<opml><body><outline xmlUrl="http://a.test/list"/></body></opml>')
    assert [feed.subscription.url for feed in wired.registry.all()] == ["http://a.test/list"]


def test_a_list_is_bounded_and_brings_no_refused_address(wired: SimpleNamespace) -> None:
    urls = ["http://10.0.0.1/", "http://[::1]/", "http://b.test:22/", "http://127.1.0.9/", "http://b.test/"]
    poll(wired, "text", "\n".join(urls[:3]).encode())
    assert [feed.subscription.url for feed in wired.registry.all()] == ["http://a.test/list"]
    wired.leases.give_back(next(iter(wired.leases.leased.values())), reason="again")
    ids, _ = poll(wired, "text", "\n".join(urls[2:] * 2).encode())
    assert sorted(feed.subscription.url for feed in wired.registry.all()) == ["http://127.1.0.9/", "http://b.test/"]
    assert len(ids) == 2
    assert not any(feed.subscription.unfolds for feed in wired.registry.all())  # one level deep
