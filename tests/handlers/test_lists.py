import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.tasks import LANES
from feedcrawl.handlers import lists
from feedcrawl.parsing import Done, Failed
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.subscriptions import registering
from feedcrawl.services.subscriptions.registering import Wish
from feedcrawl.store.frontier.queue import Frontier, FrontierPolicy
from feedcrawl.store.subscriptions.registry import Registry

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
OPML = b'<opml><body><outline text="F"><outline xmlUrl="http://b.test/"/></outline><outline xmlUrl="ftp://no/"/></body></opml>'


class Here:
    """Parses in this process."""

    async def run(self, function: Callable[..., Any], *args: Any, wall_sec: float) -> Done[Any] | Failed:
        try:
            return Done(function(*args))
        except Refusal as refused:
            return Failed(refused.code, refused.detail)


@pytest.fixture
def wired(redis_client: redis.Redis) -> SimpleNamespace:
    frontier = Frontier(redis_client, FrontierPolicy(host_delay_sec=0))
    return SimpleNamespace(
        registry=Registry(redis_client), frontier=frontier, leases=Leases(frontier), parsers=Here(), now=lambda: NOW
    )


def poll(wired: SimpleNamespace, result: str, body: bytes, *, was_a_feed: bool = False) -> list[str]:
    """The ids that come of polling a subscribed address that answers with `body`."""
    registering.subscribe(wired.registry, wired.frontier, Wish("http://a.test/list", ("mine",)), NOW)
    (feed,) = wired.registry.all()
    (lease,) = wired.leases.take(5, LANES).leases
    polls = SimpleNamespace(last_success_at="2026-03-01T00:00:00Z" if was_a_feed else None)
    said = SimpleNamespace(id=feed.id, subscription=feed.subscription, polls=polls)
    item = SimpleNamespace(result=result, feed=said, lease=lease)
    return asyncio.run(lists.unfold(wired, item, SimpleNamespace(body=body)))


@pytest.mark.parametrize(("result", "body"), [("opml", OPML), ("text", b"# mine\nhttp://b.test/ F\n")])
def test_an_address_of_a_list_gives_way_to_its_feeds(wired: SimpleNamespace, result: str, body: bytes) -> None:
    ids = poll(wired, result, body)
    (feed,) = wired.registry.all()
    assert [feed.id] == ids
    assert (feed.subscription.url, feed.subscription.categories) == ("http://b.test/", ("mine", "F"))
    assert wired.leases.held == {}
    assert [lease.task.url for lease in wired.leases.take(5, LANES).leases] == ["http://b.test/"]


@pytest.mark.parametrize(
    ("result", "body", "was_a_feed"),
    [
        ("opml", OPML, True),  # a feed that fails: its subscription stays
        ("html", b"<html>http://b.test/</html>", False),
        ("text", b"Sorry, see http://b.test/\nhttp://b.test/\n", False),
        ("text", b"b.test\n", False),
        ("opml", b"<opml><body/></opml>", False),
        ("opml", b'<opml><body><outline xmlUrl="ftp://no/"/></body></opml>', False),
        ("http_404", OPML, False),
    ],
)
def test_what_is_no_list_is_a_failed_poll(wired: SimpleNamespace, result: str, body: bytes, was_a_feed: bool) -> None:
    assert poll(wired, result, body, was_a_feed=was_a_feed) == []
    assert [feed.subscription.url for feed in wired.registry.all()] == ["http://a.test/list"]
    assert len(wired.leases.held) == 1


def test_a_list_that_names_itself_is_not_lost(wired: SimpleNamespace) -> None:
    poll(wired, "opml", b'<opml><body><outline xmlUrl="http://a.test/list"/></body></opml>')
    assert [feed.subscription.url for feed in wired.registry.all()] == ["http://a.test/list"]
