"""Push subscriptions and deliveries as they are kept."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
import redis

from feedcrawl.domain.push.leases import Callback, HubSubscription
from feedcrawl.store.push.websub import DELIVERIES, LIFE_SEC, Delivery, HubState, HubSubscriptions

ID, OTHER = "0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e", "1c5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e"
PUSH = HubSubscription("https://hub.test/", "http://news.test/feed", asked=Callback("d", "s", 5.0))
BODY = b"\x00\xff\n<rss/>\r\n\xed\xa0\x80"


@pytest.fixture(params=[1, 3])
def pushes(redis_client: redis.Redis, request: pytest.FixtureRequest) -> HubSubscriptions:
    return HubSubscriptions(redis_client, shards=request.param)


def test_a_subscription_is_updated_by_a_function(pushes: HubSubscriptions) -> None:
    assert pushes.update(ID, lambda old: old) is None
    assert pushes.count() == 0
    assert pushes.update(ID, lambda old: PUSH if old is None else None) == PUSH
    assert pushes.update(ID, lambda old: PUSH if old is None else None) == PUSH
    assert pushes.find(ID) == PUSH
    assert pushes.all_of([ID, OTHER]) == {ID: PUSH}


def test_no_change_is_lost_among_many(pushes: HubSubscriptions) -> None:
    pushes.update(ID, lambda _: PUSH)

    def count(_: int) -> None:
        pushes.update(ID, lambda old: old and replace(old, pushes=old.pushes + 1))

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(count, range(40)))
    found = pushes.find(ID)
    assert found is not None
    assert found.pushes == 40


def test_deliveries_wait_in_order_and_come_back_byte_for_byte(
    pushes: HubSubscriptions, redis_client: redis.Redis
) -> None:
    assert pushes.load([ID]) == {ID: HubState(None, None, 0)}
    for number, body in enumerate((BODY, b"second")):
        assert pushes.keep(ID, Delivery("text/xml; charset=\udcff", body), str(number)) == "kept"
    assert pushes.load([ID, OTHER]) == {
        ID: HubState(None, Delivery("text/xml; charset=\udcff", BODY), 2),
        OTHER: HubState(None, None, 0),
    }
    for command in pushes.read(ID):
        redis_client.execute_command(*command)
    found = pushes.load([ID])[ID].delivery
    assert found is not None
    assert found.body == b"second"


def test_a_delivery_is_kept_once_few_at_a_time_and_not_for_ever(
    pushes: HubSubscriptions, redis_client: redis.Redis
) -> None:
    answers = [pushes.keep(ID, Delivery("", b"x"), digest) for digest in ("a", "a", "b", "c", "d", "e", "a")]
    assert answers == ["kept", "replayed", "kept", "kept", "kept", "full", "replayed"]
    assert pushes.waiting(ID) == DELIVERIES
    assert pushes.keep(OTHER, Delivery("", b"x"), "a") == "kept"  # another feed's
    for name in redis_client.keys("fc:*deliver*"):
        assert 0 < redis_client.ttl(name) <= LIFE_SEC


def test_all_are_found_page_by_page_until_they_are_forgotten(pushes: HubSubscriptions) -> None:
    ids = {f"{number:08x}-6b5a-4b0e-9f4f-0d1a2b3c4d5e" for number in range(25)}
    for each in ids:
        pushes.update(each, lambda _: PUSH)
    pages = list(pushes.pages(4))
    assert {each for _, page in pages for each in page} == ids
    assert max(len(page) for _, page in pages) <= 4
    assert pushes.count() == 25
    for each in ids:
        pushes.forget(each)
    assert (pushes.count(), pushes.find(next(iter(ids)))) == (0, None)
