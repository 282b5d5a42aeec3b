from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from polls import feed_poll

from feedcrawl.domain.cadence.state import to_json
from feedcrawl.domain.cadence.values import PollState
from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.domain.subscriptions.search import Search
from feedcrawl.items import FeedPoll
from feedcrawl.services.subscriptions import whereabouts

NOW = datetime(2026, 11, 28, tzinfo=UTC)
SUBSCRIPTION = Subscription("f", "http://a.test/feed")
FAILING = PollRecord(
    cadence=to_json(PollState(errors=2)), last_success_at="2026-11-27T00:00:00Z", site_url="http://a.test/"
)
TASK = Task("feed:f", "feed", SUBSCRIPTION.url, "a.test", payload={"x": 1})


def poll(
    result: str,
    status: int | None,
    subscription: Subscription = SUBSCRIPTION,
    polls: PollRecord = FAILING,
    **fields: Any,
) -> FeedPoll:
    return feed_poll(Lease(TASK, History(), "1"), "f@then", NOW, status, result, Feed(subscription, polls), **fields)


@pytest.mark.parametrize(
    ("failed", "begun"),
    [
        (poll("html", 200), Search("html", 200, at_page=True, places=("http://a.test/",))),
        (poll("http_404", 404, polls=replace(FAILING, site_url=None)), Search("http_404", 404, at_page=True)),
        (poll("refused", None), Search("refused", None, places=("https://a.test/feed",))),
        (poll("http_503", 503), None),
        (poll("html", 200, replace(SUBSCRIPTION, no_discovery=True)), None),
        (poll("html", 200, polls=replace(FAILING, searched_at="2026-11-27T12:00:00Z")), None),
        (
            poll("refused", None, replace(SUBSCRIPTION, page=SUBSCRIPTION.url), replace(FAILING, last_success_at=None)),
            None,
        ),
    ],
)
def test_a_search_begins(failed: FeedPoll, begun: Search | None) -> None:
    assert whereabouts.begin(failed) == begun


def test_the_task_goes_from_place_to_place() -> None:
    search = Search("html", 200, places=("http://b.test/feed", "http://c.test/feed"))
    onward = whereabouts.patch(poll("html", 200), search)
    rest = replace(search, places=("http://c.test/feed",))
    assert onward == {"url": "http://b.test/feed", "host": "b.test", "payload": {"x": 1, "search": rest.to_record()}}
    assert whereabouts.patch(poll("html", 200), replace(search, places=())) is None


def test_a_feed_that_was_not_found_elsewhere_fails_with_its_first_result() -> None:
    last = poll("html", 200, digest="other", detail="a web page; it may link to its feed")
    ended = whereabouts.ended(last, Search("http_410", 410))
    there = ended.received
    assert (there.result, there.status, there.failed, there.digest, there.parsed) == ("http_410", 410, True, None, None)
    assert there.detail == "its site was searched for the feed, which was not found"
    assert ended.found.searched
