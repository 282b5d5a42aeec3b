"""How a push subscription stands, what a hub is believed, and when a feed is polled as a safety net only."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from feedcrawl.domain.push.leases import (
    BACKUP_SEC,
    DENIED_SEC,
    Callback,
    HubSubscription,
    backup_sec,
    callback_of,
    delivered,
    denied,
    failed,
    missed,
    ping_due,
    refusal,
    relied_on,
    requested,
    state,
    subscription_from,
    unsubscribe_task,
    verified,
    wait_sec,
)
from feedcrawl.domain.push.protocol import Intent, Topic

NOW = 1_800_000_000.0
HUB, TOPIC = "https://hub.test/", "http://news.test/feed"
DAY = 86_400.0


def key(name: str, until: float) -> Callback:
    return Callback(name, f"secret of {name}", until)


REQUESTED = HubSubscription(HUB, TOPIC, asked=key("new", NOW + 600))
VERIFIED = HubSubscription(
    HUB, TOPIC, current=key("old", NOW + DAY), verified_at=NOW - DAY, renew_at=NOW + 0.8 * DAY, pushes=1
)
RENEWING = replace(VERIFIED, asked=key("new", NOW + 600), former=key("older", NOW + 100))
GOOD = Intent("subscribe", TOPIC, "challenge", "86400")


def test_a_subscription_is_kept_and_read_again() -> None:
    for push in (REQUESTED, VERIFIED, RENEWING, failed(REQUESTED, "http_404")):
        assert subscription_from(push.to_record()) == push
    assert subscription_from({**VERIFIED.to_record(), "of_another_version": 1}) == VERIFIED


@pytest.mark.parametrize(
    ("push", "digest", "intent", "expected"),
    [
        (REQUESTED, "new", GOOD, ""),
        (RENEWING, "new", GOOD, ""),
        (REQUESTED, "new", replace(GOOD, lease=None), ""),
        (None, "new", GOOD, "unknown_callback"),
        (REQUESTED, "other", GOOD, "unknown_callback"),
        (replace(REQUESTED, asked=key("new", NOW)), "new", GOOD, "unknown_callback"),  # 10 minutes have passed
        (RENEWING, "older", GOOD, "unknown_callback"),
        (VERIFIED, "old", GOOD, "not_asked"),  # verified before: a replay
        (REQUESTED, "new", replace(GOOD, topic="http://other.test/"), "wrong_topic"),
        (REQUESTED, "new", replace(GOOD, topic=None), "wrong_topic"),
        (REQUESTED, "new", replace(GOOD, mode="unsubscribe"), "not_asked"),
        (VERIFIED, "old", replace(GOOD, mode="unsubscribe"), "not_asked"),
        (REQUESTED, "new", replace(GOOD, mode=None), "not_asked"),
        (REQUESTED, "new", replace(GOOD, challenge=None), "bad_challenge"),
        (REQUESTED, "new", replace(GOOD, challenge="<b>"), "bad_challenge"),
        (REQUESTED, "new", replace(GOOD, lease="1000000000000"), "bad_lease"),
        (REQUESTED, "new", Intent("denied", TOPIC), ""),
        (VERIFIED, "old", Intent("denied", TOPIC), ""),
        (VERIFIED, "other", Intent("denied", TOPIC), "unknown_callback"),
        (VERIFIED, "old", Intent("denied", "http://other.test/"), "wrong_topic"),
    ],
)
def test_intents_of_a_hub_that_are_believed(
    push: HubSubscription | None, digest: str, intent: Intent, expected: str
) -> None:
    assert refusal(push, digest, intent, now=NOW) == expected


def test_a_renewal_keeps_the_current_callback_until_it_is_verified() -> None:
    asking = requested(VERIFIED, Topic(HUB, TOPIC), Callback("new", "s", 0.0), now=NOW)
    assert (asking.current, asking.asked) == (VERIFIED.current, Callback("new", "s", NOW + 600))
    assert callback_of(asking, "new", now=NOW) is None
    assert callback_of(asking, "old", now=NOW) == VERIFIED.current
    assert relied_on(asking, now=NOW)


def test_another_hub_or_topic_begins_anew() -> None:
    for topic in (Topic("https://other.test/", TOPIC), Topic(HUB, "http://other.test/")):
        begun = requested(replace(VERIFIED, poll_due_at=7.0), topic, Callback("new", "s", 0.0), now=NOW)
        assert begun == HubSubscription(topic.hub, topic.topic, asked=Callback("new", "s", NOW + 600), poll_due_at=7.0)


def test_a_verified_renewal_keeps_the_previous_callback_for_five_minutes() -> None:
    after = verified(failed(RENEWING, "x") and RENEWING, 7 * DAY, now=NOW, jitter=0.0)
    assert after.current == replace(key("new", 0), until=NOW + 7 * DAY)
    assert after.asked is None
    assert after.verified_at == VERIFIED.verified_at  # the subscription was never broken
    assert callback_of(after, "old", now=NOW + 299) is not None
    assert callback_of(after, "old", now=NOW + 300) is None
    assert callback_of(after, "older", now=NOW) is None


def test_a_callback_that_ran_out_does_not_live_longer_by_a_renewal() -> None:
    late = replace(RENEWING, current=key("old", NOW - 5))
    after = verified(late, DAY, now=NOW, jitter=0.0)
    assert callback_of(after, "old", now=NOW) is None
    assert after.verified_at == NOW


@pytest.mark.parametrize(("jitter", "share"), [(-1.0, 0.75), (0.0, 0.8), (1.0, 0.85)])
def test_a_lease_is_renewed_before_its_end(jitter: float, share: float) -> None:
    after = verified(REQUESTED, 7 * DAY, now=NOW, jitter=jitter)
    assert after.renew_at == NOW + 7 * DAY * share
    assert (after.failures, after.reason) == (0, "")


@pytest.mark.parametrize(
    ("push", "expected", "relied"),
    [
        (REQUESTED, "requested", False),
        (verified(REQUESTED, DAY, now=NOW, jitter=0.0), "verified", False),  # it has not pushed yet
        (VERIFIED, "verified", True),
        (RENEWING, "verified", True),
        (replace(VERIFIED, misses=1), "verified", True),
        (replace(VERIFIED, misses=2), "failing", False),
        (failed(VERIFIED, "http_503"), "failing", False),
        (failed(REQUESTED, "unverified"), "failing", False),
        (denied(VERIFIED, now=NOW), "denied", False),
        (denied(REQUESTED, now=NOW), "denied", False),
        (replace(VERIFIED, current=key("old", NOW)), "expired", False),
    ],
)
def test_states(push: HubSubscription, expected: str, relied: bool) -> None:
    assert state(push, now=NOW) == expected
    assert relied_on(push, now=NOW) is relied


def test_a_feed_without_a_hub_relies_on_none() -> None:
    assert not relied_on(None, now=NOW)
    assert callback_of(None, "old", now=NOW) is None


@pytest.mark.parametrize(
    ("left", "wait"), [(10 * DAY, BACKUP_SEC), (DAY, DAY), (3600.0, 3600.0), (0.0, 0.0), (-5.0, 0.0)]
)
def test_backup_polls_are_daily_and_not_later_than_the_lease(left: float, wait: float) -> None:
    assert backup_sec(replace(VERIFIED, current=key("old", NOW + left)), now=NOW) == wait


def at(seconds_ago: float) -> datetime:
    return datetime.fromtimestamp(NOW - seconds_ago, UTC)


@pytest.mark.parametrize(
    ("push", "published", "last_poll_ago", "expected"),
    [
        (VERIFIED, [], 3600, False),
        (VERIFIED, [at(3000)], 3600, True),
        (VERIFIED, [None], 3600, True),
        (VERIFIED, [at(30 * DAY)], 3600, True),  # dated long ago, and yet not there at the last poll
        (VERIFIED, [at(10)], 3600, False),  # may be under way
        (VERIFIED, [at(10), at(3000)], 3600, True),
        (VERIFIED, [at(-DAY)], 3600, False),
        (VERIFIED, [at(3 * DAY), None], 2 * DAY, False),  # of before the subscription, for all we know
        (VERIFIED, [at(3000)], 2 * DAY, True),
        (REQUESTED, [at(3000)], 3600, False),
    ],
)
def test_misses(push: HubSubscription, published: list[datetime | None], last_poll_ago: float, expected: bool) -> None:
    assert missed(push, published, last_poll=NOW - last_poll_ago, now=NOW) is expected


@pytest.mark.parametrize(("misses", "new", "left", "pushes"), [(2, 3, 1, 2), (0, 1, 0, 2), (2, 0, 2, 1)])
def test_a_delivery_with_news_removes_a_miss(misses: int, new: int, left: int, pushes: int) -> None:
    after = delivered(replace(VERIFIED, misses=misses), new)
    assert (after.misses, after.pushes) == (left, pushes)


@pytest.mark.parametrize(("before", "due"), [(0.0, NOW), (NOW - 60, NOW), (NOW - 10, NOW + 50), (NOW + 50, NOW + 50)])
def test_pings_cause_at_most_a_poll_a_minute(before: float, due: float) -> None:
    assert ping_due(replace(VERIFIED, poll_due_at=before), now=NOW) == due


@pytest.mark.parametrize(
    ("push", "wait"),
    [
        (REQUESTED, 600.0),
        (VERIFIED, 0.8 * DAY),
        (replace(VERIFIED, renew_at=NOW - 1), 0.0),
        (failed(REQUESTED, "x"), 600.0),
        (replace(failed(REQUESTED, "x"), failures=2), 1200.0),
        (replace(failed(REQUESTED, "x"), failures=60), DAY),
        (replace(failed(REQUESTED, "x"), failures=2000), DAY),
        (denied(REQUESTED, now=NOW), DENIED_SEC),
        (denied(VERIFIED, now=NOW - 600), DENIED_SEC - 600),
        (failed(denied(REQUESTED, now=NOW), "x"), 1200.0),
    ],
)
def test_the_wait_before_the_next_request_to_a_hub(push: HubSubscription, wait: float) -> None:
    assert wait_sec(push, now=NOW) == wait


def test_a_hub_is_left_with_its_verified_callback() -> None:
    assert unsubscribe_task(None) is None
    assert unsubscribe_task(HubSubscription(HUB, TOPIC, asked=Callback("d", "s", NOW))) is None
    assert (
        unsubscribe_task(HubSubscription(HUB, TOPIC, current=Callback("d", "s", NOW))) is None
    )  # of a version that did not keep it
    task = unsubscribe_task(
        HubSubscription(HUB, TOPIC, current=Callback("d" * 64, "s", NOW, "https://push.test/websub/t"))
    )
    assert task is not None
    assert (task.id, task.kind, task.url) == (f"websub-left:{'d' * 16}", "websub", HUB)
    assert task.payload == {"topic": TOPIC, "leaves": "https://push.test/websub/t"}
