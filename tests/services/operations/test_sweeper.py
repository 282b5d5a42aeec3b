"""Whatever happens to a feed's future, one pass and one repair give it back, once."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import pytest
import redis
from scrapy.settings import Settings

from feedcrawl.domain.push.leases import HubSubscription
from feedcrawl.domain.push.protocol import Topic
from feedcrawl.domain.sitemaps.state import Sitemap
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.operations import sweeper as module
from feedcrawl.services.push.websub import lease_task
from feedcrawl.services.sites.watching import watch
from feedcrawl.services.subscriptions.registering import subscribe_all
from feedcrawl.settings import from_environment
from feedcrawl.wiring import Wiring

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def wired_on(url: str, folder: Any, **more: Any) -> Wiring:
    given = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": str(folder), "FEEDCRAWL_HOST_DELAY_SEC": 0, **more}
    return Wiring(Settings(from_environment({}) | given))


@pytest.fixture(params=[1, 3])
def wired(redis_server: str, redis_client: redis.Redis, tmp_path: Any, request: Any) -> Iterator[Wiring]:
    wired = wired_on(redis_server, tmp_path, FEEDCRAWL_SHARDS=request.param)
    yield wired
    wired.close()


@pytest.fixture
def feeds(wired: Wiring) -> list[str]:
    """The tasks of some feeds, a sitemap and a push lease, one of them in a worker's hands, one of them polled."""
    specs = [SubscriptionSpec(f"http://h{number}.test/feed") for number in range(6)]
    ids, _ = subscribe_all(wired.registry, wired.frontier, specs, NOW)
    (sitemap,) = watch(wired.sitemaps, wired.frontier, [Sitemap(str(uuid.uuid4()), "http://map.test/sitemap.xml")])
    (lease,) = wired.frontier.take(1).leases
    wired.frontier.done(lease, status="pending", reason="fetched", delay_sec=900)
    topic = Topic("http://hub.test/", "http://h0.test/feed")
    wired.hub_subscriptions.update(ids[0], lambda _: HubSubscription(topic.hub, topic.topic))
    wired.frontier.enqueue([lease_task(ids[0], topic)])
    return [*(f"feed:{each}" for each in ids), f"sitemap:{sitemap}", f"websub:{ids[0]}"]


def key(wired: Wiring, task: str, pattern: str) -> list[str]:
    return sorted(wired.client.keys(pattern.format(task=task)))


def swept(wired: Wiring) -> list[str]:
    """One pass; answers what was found to have no future."""
    wired.client.delete("fc:{0}:sweeper")
    sweeper = wired.sweeper
    assert sweeper.begin()
    found = [each for page in sweeper.pages() for each in page]
    sweeper.repair(found)
    return found


def queued(wired: Wiring) -> list[str]:
    """The tasks that another worker is handed out."""
    other = Wiring(wired.settings)
    with closing(other):
        return sorted(lease.id for _ in range(6) for lease in other.frontier.take(20).leases)


def lose_record(wired: Wiring, task: str) -> None:
    wired.client.delete(*key(wired, task, "fc:*t:{task}"))


def lose_everything(wired: Wiring, task: str) -> None:
    wired.frontier.remove(task)


def end_task(wired: Wiring, task: str) -> None:
    lease = next(lease for _ in range(9) for lease in wired.frontier.take(20).leases if lease.id == task)
    wired.frontier.done(lease, status="dead", reason="by hand")


def lose_place(wired: Wiring, task: str) -> None:
    for name in wired.client.keys("fc:*q:poll:*"):
        wired.client.zrem(name, task)


def lose_host(wired: Wiring, task: str) -> None:
    for name in wired.client.keys("fc:*ready:poll"):
        wired.client.delete(name)


HARMS = [lose_record, lose_everything, lose_place, lose_host]


def test_a_sound_frontier_is_left_unchanged(wired: Wiring, feeds: list[str]) -> None:
    before = {name: wired.client.dump(name) for name in wired.client.keys("fc:*") if "clock" not in name}
    assert swept(wired) == []
    wired.client.delete("fc:{0}:sweeper")
    after = {name: wired.client.dump(name) for name in wired.client.keys("fc:*") if "clock" not in name}
    before.pop("fc:{0}:sweeper", None)
    assert after == before


@pytest.mark.parametrize("harm", HARMS)
def test_a_future_that_was_lost_comes_back_once(
    wired: Wiring, feeds: list[str], harm: Callable[..., None], caplog: Any
) -> None:
    polled = [task for task in feeds if wired.frontier.find(task)[1].fetch_count]
    for task in feeds:
        if task not in polled:
            harm(wired, task)
    assert queued(wired) == []
    swept(wired)
    assert swept(wired) == []
    assert queued(wired) == sorted(set(feeds) - set(polled))
    kinds = ("feed", "sitemap", "websub")
    assert {record.getMessage() for record in caplog.records} == {f"{kind}_without_future" for kind in kinds}
    assert len(caplog.records) == len(feeds) - len(polled)


def test_a_feed_whose_task_has_ended_is_polled_again(wired: Wiring, feeds: list[str]) -> None:
    task = next(each for each in feeds if not wired.frontier.find(each)[1].fetch_count)
    end_task(wired, task)
    assert swept(wired) == [task]
    assert wired.frontier.find(task)[1].status == "pending"
    assert swept(wired) == []


def test_a_leased_task_is_left_and_a_task_held_without_a_lease_is_queued(wired: Wiring, feeds: list[str]) -> None:
    leases = [lease for _ in range(4) for lease in wired.frontier.take(20).leases]
    assert swept(wired) == []
    for name in wired.client.keys("fc:*leases"):
        wired.client.delete(name)
    assert queued(wired) == []
    swept(wired)
    assert queued(wired) == sorted(lease.id for lease in leases)


def test_a_task_in_two_places_is_polled_once(wired: Wiring, feeds: list[str]) -> None:
    task = next(each for each in feeds if wired.frontier.find(each)[1].fetch_count)
    found, _ = wired.frontier.find(task)
    (prefix,) = {name.rpartition("t:feed")[0] for name in key(wired, task, "fc:*t:{task}")}
    wired.client.zadd(f"{prefix}q:poll:{found.host}", {task: 0})
    swept(wired)
    assert task in queued(wired)
    assert wired.client.zcard(f"{prefix}delayed:poll") == 0


def test_a_feed_unsubscribed_during_a_sweep_is_not_queued(wired: Wiring, feeds: list[str]) -> None:
    gone = feeds[0]
    lose_everything(wired, gone)
    sweeper = wired.sweeper
    assert sweeper.begin()
    found = [each for page in sweeper.pages() for each in page]
    wired.registry.remove(gone.removeprefix("feed:"))
    assert found == [gone]
    assert sweeper.repair(found) == 0
    assert wired.frontier.find(gone) is None


def test_a_repair_that_was_killed_may_be_repeated(
    wired: Wiring, feeds: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for task in feeds:
        lose_everything(wired, task)
    pushed = wired.frontier.enqueue

    def dies(tasks: Any, **how: Any) -> Any:
        pushed(list(tasks)[:2], **how)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(wired.frontier, "enqueue", dies)
        with pytest.raises(KeyboardInterrupt):
            wired.sweeper.repair(feeds)
    swept(wired)
    assert queued(wired) == sorted(feeds)


def test_a_single_worker_sweeps_at_a_time(wired: Wiring, feeds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PAGE", 1)
    other = Wiring(wired.settings)
    first, second = wired.sweeper, other.sweeper
    assert first.begin()
    assert not second.begin()
    pages = first.pages()
    assert next(pages) == []
    wired.client.delete("fc:{0}:sweeper")  # as if it had slept too long
    assert second.begin()
    assert list(pages) == []
    assert wired.client.get("fc:{0}:sweeper") == other.worker
    assert len(list(second.pages())) == len(feeds) == second.count()
    other.close()


def test_a_host_whose_slots_are_held_by_no_task_is_freed(wired: Wiring, caplog: Any) -> None:
    subscribe_all(wired.registry, wired.frontier, [SubscriptionSpec(f"http://h.test/{n}") for n in range(2)], NOW)
    (lease,) = [lease for _ in range(3) for lease in wired.frontier.take(5).leases]
    for name in wired.client.keys("fc:*holders"):
        wired.client.delete(name)
    for name in wired.client.keys("fc:*leases"):
        wired.client.delete(name)
    assert queued(wired) == []
    swept(wired)
    assert "frontier_mended" in caplog.text
    assert len(queued(wired)) >= 1
    swept(wired)
    assert wired.frontier.find(lease.id)[1].status in ("pending", "fetching")
