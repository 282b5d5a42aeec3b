from types import SimpleNamespace

import pytest

from feedcrawl.domain.subscriptions.records import Feed, PollRecord, Subscription
from feedcrawl.services.subscriptions.discovery import is_elsewhere, is_nowhere, may_become_a_feed, stage

PAGE = "http://a.test/"


@pytest.mark.parametrize(
    ("subscription", "polls", "expected"),
    [
        (Subscription("f", PAGE), PollRecord(), "page"),
        (Subscription("f", PAGE, page=PAGE), PollRecord(last_fetch_at="then"), "page"),
        (Subscription("f", f"{PAGE}feed", page=PAGE), PollRecord(), "guess"),
        (Subscription("f", f"{PAGE}feed", page=PAGE), PollRecord(last_success_at="then"), "none"),
        (Subscription("f", PAGE), PollRecord(last_success_at="then"), "none"),
    ],
)
def test_where_a_subscription_is(subscription: Subscription, polls: PollRecord, expected: str) -> None:
    feed = Feed(subscription, polls)
    assert stage(feed) == expected
    assert feed.is_guess is (subscription.page is not None and expected != "none")


@pytest.mark.parametrize(
    ("result", "status", "expected"),
    [
        ("html", 200, True),
        ("http_404", 404, True),
        ("http_410", 410, True),
        ("http_500", 500, True),
        ("robots_blocked", None, True),
        ("too_large", None, True),
        ("total_timeout", None, True),
        ("http_503", 503, False),
        ("http_429", 429, False),
        ("dns", None, False),
        ("circuit_open", None, False),
    ],
)
def test_results_that_show_that_a_feed_is_elsewhere(result: str, status: int | None, *, expected: bool) -> None:
    assert is_elsewhere(SimpleNamespace(result=result, status=status)) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("text", False),
        ("json", False),
        ("robots_blocked", True),
        ("http_503", True),
        ("http_429", True),
        ("http_500", True),
        ("dns", True),
        ("total_timeout", True),
        ("http_404", False),
        ("http_403", False),
        ("address_refused", False),
        ("html", False),
        ("pdf", False),
        ("http_99999", False),
    ],
)
def test_refusals_of_addresses_that_may_become_feeds(code: str, *, expected: bool) -> None:
    assert may_become_a_feed(code) is expected


@pytest.mark.parametrize(
    ("status", "result", "expected"),
    [
        (404, "http_404", True),
        (410, "http_410", True),
        (None, "address_refused", True),
        (401, "http_401", False),
        (503, "http_503", False),
        (200, "html", False),
        (None, "dns", False),
    ],
)
def test_results_after_which_a_named_address_is_not_subscribed(
    status: int | None, result: str, *, expected: bool
) -> None:
    assert is_nowhere(status, result) is expected
