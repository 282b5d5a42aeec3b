from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.http.url_gate import Gate
from feedcrawl.domain.subscriptions.lists import ListedFeed
from feedcrawl.domain.subscriptions.records import PollRecord
from feedcrawl.domain.subscriptions.specs import SubscriptionSpec
from feedcrawl.services.subscriptions import finding, listing, registering
from feedcrawl.services.subscriptions.registering import read_specs, split_names, subscribe_all
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.subscriptions.registry import Registry

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


@pytest.fixture
def stores(redis_client: redis.Redis) -> tuple[Registry, Frontier]:
    return Registry(redis_client), Shard(redis_client, FrontierPolicy(host_delay_sec=0))


def subscribe(stores: tuple[Registry, Frontier], *specs: SubscriptionSpec) -> list[str]:
    return subscribe_all(*stores, specs, NOW)[0]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        (" , ,", []),
        ("http://a.test/feed", ["http://a.test/feed"]),
        ("http://a.test/feed, b.test/rss ,feed:c.test", ["http://a.test/feed", "b.test/rss", "feed:c.test"]),
        ("http://a.test/feed?ids=1,2,3", ["http://a.test/feed?ids=1,2,3"]),
        ("http://a.test/x,y,http://b.test/", ["http://a.test/x,y", "http://b.test/"]),
        ("http://a.test/,no.opml,./no.txt", ["http://a.test/", "no.opml", "./no.txt"]),
        ("http://a.test/\nhttp://b.test/", ["http://a.test/", "http://b.test/"]),
    ],
)
def test_an_argument_names_urls_and_files(text: str, names: list[str]) -> None:
    assert split_names(text) == names


def test_a_file_may_have_commas_in_its_name(tmp_path: Path) -> None:
    odd = tmp_path / "a, b.txt"
    odd.write_text("http://a.test/")
    assert split_names(str(odd)) == [str(odd)]


@given(st.text(max_size=60))
def test_any_argument_can_be_split(text: str) -> None:
    assert all(split_names(text))


def test_specs_are_read_from_files_and_urls(tmp_path: Path) -> None:
    opml, text = tmp_path / "l.opml", tmp_path / "feeds"
    opml.write_text(
        '<opml><body><outline text="F"><outline title="A" xmlUrl="http://a.test/"/></outline></body></opml>'
    )
    text.write_text("http://b.test/ x y\n")
    names = [str(opml), str(text), "c.test/feed.xml", "http://d.test/"]
    specs, refused = read_specs(names, ("mine",), Gate("", ""), limit=10)
    assert refused == []
    assert specs == [
        SubscriptionSpec("http://a.test/", ("mine", "F"), "A"),
        SubscriptionSpec("http://b.test/", ("mine", "x", "y")),
        SubscriptionSpec("c.test/feed.xml", ("mine",), named=True),
        SubscriptionSpec("http://d.test/", ("mine",), named=True),
    ]


def test_a_file_brings_its_first_feeds_without_those_that_may_not_be_dialled(tmp_path: Path) -> None:
    text = tmp_path / "feeds.txt"
    text.write_text("http://10.0.0.1/\nhttp://[fd00::1]/\nhttp://a.test:25/\nhttp://a.test/\nhttp://b.test/\n")
    specs, refused = read_specs([str(text)], (), Gate("fd00::/8", ""), limit=4)
    assert specs == [SubscriptionSpec("http://[fd00::1]/"), SubscriptionSpec("http://a.test/")]
    assert [each.code for each in refused] == ["address_refused", "url_port", "list_too_long"]


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("no.opml", "file_not_found"),
        ("./no/such", "file_not_found"),
        ("~/no/such/file", "file_not_found"),
        ("feeds", "file_not_found"),
        ("{tmp}", "file_unreadable"),
        ("{tmp}/empty.txt", "empty_list"),
        ("{tmp}/page.html", "not_a_list"),
    ],
)
def test_an_unusable_argument_is_refused_with_its_reason_and_stops_no_other(
    name: str, code: str, tmp_path: Path
) -> None:
    (tmp_path / "empty.txt").write_text("# nothing\n")
    (tmp_path / "page.html").write_text("<html><p>no list</p></html>")
    specs, refused = read_specs([name.format(tmp=tmp_path), "http://a.test/"], (), Gate("", ""), limit=10)
    assert [each.code for each in refused] == [code]
    assert refused[0].detail
    assert specs == [SubscriptionSpec("http://a.test/", named=True)]


def test_a_feed_is_subscribed_once_however_its_url_is_spelled(stores) -> None:
    spellings = (
        "http://a.test/feed",
        "HTTP://A.TEST:80/feed/",
        "https://a.test/feed#x",
        "a.test/feed?utm_source=x",
        "feed:http://a.test/feed",
        "feed://a.test/feed",
    )
    assert len(subscribe(stores, *(SubscriptionSpec(url, (f"c{n}",)) for n, url in enumerate(spellings)))) == 1
    (feed,) = stores[0].all()
    assert feed.subscription.url == "http://a.test/feed"
    assert feed.subscription.categories == ("c0", "c1", "c2", "c3", "c4", "c5")
    assert stores[1].counts()["pending:feed"] == 1
    for url in spellings:
        assert finding.find(stores[0], url) == feed
    assert finding.find(stores[0], feed.id) == feed
    assert finding.find(stores[0], "b.test") is None


FAILED = PollRecord(last_result="tls", last_fetch_at="2026-03-02T07:00:00Z")
WORKED = replace(FAILED, last_success_at="2026-03-01T07:00:00Z")


@pytest.mark.parametrize(
    ("polls", "spec", "url"),
    [
        (FAILED, SubscriptionSpec("http://a.test/feed", named=True), "http://a.test/feed"),
        (FAILED, SubscriptionSpec("http://a.test/feed"), "http://a.test/feed"),  # of a list
        (PollRecord(), SubscriptionSpec("feed:http://a.test/feed", named=True), "http://a.test/feed"),
        (PollRecord(), SubscriptionSpec("http://a.test/feed"), "https://a.test/feed"),
        (WORKED, SubscriptionSpec("http://a.test/feed", named=True), "https://a.test/feed"),
        (FAILED, SubscriptionSpec("a.test/feed", named=True), "https://a.test/feed"),
        (FAILED, SubscriptionSpec("feed://a.test/feed", named=True), "https://a.test/feed"),
        (FAILED, SubscriptionSpec("feeds://a.test/feed", named=True), "https://a.test/feed"),
    ],
)
def test_a_given_scheme_replaces_a_guessed_scheme_that_never_worked(
    stores, polls: PollRecord, spec: SubscriptionSpec, url: str
) -> None:
    registry, frontier = stores
    (feed_id,) = subscribe(stores, SubscriptionSpec("a.test/feed", named=True))
    (lease,) = frontier.take(5).leases
    assert lease.task.url == "https://a.test/feed"
    frontier.done(lease, status="pending", delay_sec=60, commit=registry.commit(feed_id, polls, {"poll_id": feed_id}))
    assert subscribe(stores, spec) == [feed_id]
    assert registry.load([feed_id])[feed_id].subscription.url == url
    assert [lease.task.url for lease in frontier.take(5).leases] == ([url] if url.startswith("http:") else [])


def test_a_guessed_scheme_is_noted(stores) -> None:
    ids = subscribe(
        stores,
        SubscriptionSpec("a.test/feed"),
        SubscriptionSpec("http://b.test/feed"),
        SubscriptionSpec("feed://c.test/feed"),
    )
    found = stores[0].load(ids)
    assert [found[each].subscription.scheme_guessed for each in ids] == [True, False, True]


@pytest.mark.parametrize(
    "url", ["ftp://a.test/", "http://", "http://u:p@a.test/", "javascript:alert(1)", "http://a b/"]
)
def test_a_bad_url_stops_no_other(stores, url: str) -> None:
    ids, refused = subscribe_all(*stores, [SubscriptionSpec(url), SubscriptionSpec("http://a.test/")], NOW)
    assert len(ids) == 1
    assert [each.url for each in refused] == [url]


def test_only_a_named_url_may_unfold_even_if_named_later(stores) -> None:
    subscribe(stores, SubscriptionSpec("http://a.test/"))
    assert [feed.subscription.unfolds for feed in stores[0].all()] == [False]
    subscribe(stores, SubscriptionSpec("http://a.test/", named=True))
    subscribe(stores, SubscriptionSpec("http://a.test/"))
    assert [feed.subscription.unfolds for feed in stores[0].all()] == [True]


def test_the_total_of_feeds_is_bounded_whoever_subscribes(redis_client: redis.Redis) -> None:
    stores = Registry(redis_client, max_feeds=2), Shard(redis_client, FrontierPolicy(host_delay_sec=0))
    ids, refused = subscribe_all(*stores, [SubscriptionSpec(f"http://{name}.test/") for name in "abac"], NOW)
    assert len(ids) == 2
    assert [(each.url, each.code) for each in refused] == [("http://c.test/", "too_many_feeds")]
    assert registering.subscribe(*stores, SubscriptionSpec("http://a.test/", ("new",)), NOW) == (ids[0], False)
    with pytest.raises(Refusal, match="FEEDCRAWL_MAX_FEEDS"):
        registering.subscribe(*stores, SubscriptionSpec("http://c.test/"), NOW)
    registering.unsubscribe(*stores, ids[0])
    assert registering.subscribe(*stores, SubscriptionSpec("http://c.test/"), NOW)[1]


def test_a_repetition_restores_the_future_that_a_kill_took(stores) -> None:
    (feed_id,) = subscribe(stores, SubscriptionSpec("http://a.test/"))
    stores[1].remove(f"feed:{feed_id}")
    assert subscribe(stores, SubscriptionSpec("http://a.test/")) == [feed_id]
    assert [lease.id for lease in stores[1].take(5).leases] == [f"feed:{feed_id}"]


def test_unsubscribing_removes_every_key_of_a_feed(stores, redis_client: redis.Redis) -> None:
    before = set(redis_client.keys())
    (feed_id,) = subscribe(stores, SubscriptionSpec("http://a.test/"))
    assert registering.unsubscribe(*stores, feed_id)
    assert not registering.unsubscribe(*stores, feed_id)
    assert list(stores[0].all()) == []
    assert not [key for key in set(redis_client.keys()) - before if feed_id in key]
    assert subscribe(stores, SubscriptionSpec("http://a.test/")) != [feed_id]


def test_a_login_is_stored_apart_from_its_feed(stores, redis_client: redis.Redis) -> None:
    registry, frontier = stores
    (feed_id,) = subscribe(stores, registering.with_login(SubscriptionSpec("http://ann:pw@a.test/feed", named=True)))
    feed = registry.load([feed_id])[feed_id]
    assert (feed.subscription.url, feed.subscription.private) == ("http://a.test/feed", ("authorization",))
    assert "YW5uOnB3" not in redis_client.get(f"fc:{{0}}:feed:{feed_id}")
    assert registry.accesses([feed])[feed_id].headers == (("Authorization", "Basic YW5uOnB3"),)
    changed = registering.log_in(registry, frontier, feed, [("X-Token", "new")])
    assert changed.private == ("x-token",)
    assert registry.accesses([replace(feed, subscription=changed)])[feed_id].headers == (("X-Token", "new"),)
    assert registering.log_in(registry, frontier, feed, ()).private == ()
    assert redis_client.exists(f"fc:{{0}}:access:{feed_id}") == 0


def test_a_feed_without_a_login_asks_for_none(stores) -> None:
    subscribe(stores, SubscriptionSpec("http://a.test/"))
    assert stores[0].accesses(stores[0].all()) == {}


def test_a_resumed_feed_is_due_and_a_paused_feed_is_not(stores) -> None:
    registry, frontier = stores
    (feed_id,) = subscribe(stores, SubscriptionSpec("http://a.test/", fields={"paused": True}))
    (lease,) = frontier.take(5).leases
    frontier.done(lease, status="pending", reason="paused", delay_sec=86_400)
    feed = registry.load([feed_id])[feed_id]
    registering.change(registry, frontier, feed, {"priority": 7})
    assert frontier.take(5).leases == ()
    registering.change(registry, frontier, feed, {"paused": False})
    assert [lease.id for lease in frontier.take(5).leases] == [f"feed:{feed_id}"]


def test_a_paused_feed_asks_for_no_polls(stores) -> None:
    registry, frontier = stores
    (feed_id,) = subscribe(stores, SubscriptionSpec("http://a.test/"))
    (lease,) = frontier.take(5).leases
    commands = registry.commit(feed_id, PollRecord(demand=0.25), {"poll_id": feed_id})
    commands += registry.demand_changed(feed_id, 0.25)
    frontier.done(lease, status="pending", delay_sec=3600, commit=commands)
    assert registry.demand() == 0.25
    for _ in range(2):
        registering.change(registry, frontier, registry.load([feed_id])[feed_id], {"paused": True})
        assert (registry.demand(), registry.load([feed_id])[feed_id].polls.demand) == (0, 0)


def test_new_rules_read_the_same_document_again(stores) -> None:
    registry, frontier = stores
    (feed_id,) = subscribe(stores, SubscriptionSpec("http://a.test/"))
    (lease,) = frontier.take(5).leases
    polled = PollRecord(etag='"1"', body_hash="x", digest="y", last_fetch_at="2026-11-27T10:00:00Z", shown=3)
    commands = registry.commit(feed_id, polled, {"poll_id": feed_id})
    frontier.done(lease, status="pending", delay_sec=3600, commit=commands)
    feed = registry.load([feed_id])[feed_id]
    registering.override(registry, frontier, feed, ["user_agent=Reader/1.0"])
    assert registry.load([feed_id])[feed_id].polls == polled
    registering.override(registry, frontier, feed, ["keep_rules=title=ferry"])
    assert registry.load([feed_id])[feed_id].polls == replace(polled, etag=None, body_hash=None, digest=None)


def test_polling_now_and_batches(stores) -> None:
    ids = subscribe(stores, *(SubscriptionSpec(f"http://s{n}.test/") for n in range(5)))
    assert [len(batch) for batch in finding.batches(finding.each(stores[0]), 2)] == [2, 2, 1]
    assert [feed.id for feed in finding.each(stores[0], [*ids[:3], "unknown"])] == ids[:3]
    assert list(finding.each(stores[0], [])) == []
    polled = PollRecord(last_fetch_at="2026-11-27T10:00:00Z")
    for lease in stores[1].take(10).leases:
        feed_id = lease.id.removeprefix("feed:")
        record = polled if feed_id != ids[1] else PollRecord()  # a feed that was never polled is due by itself
        commands = stores[0].commit(feed_id, record, {"poll_id": feed_id})
        stores[1].done(lease, status="pending", delay_sec=3600, commit=commands)
    assert stores[1].take(10).leases == ()
    for batch in finding.batches(finding.each(stores[0], ids[:2]), 10):
        registering.poll_now(stores[1], batch)
    assert [lease.id for lease in stores[1].take(10).leases] == [f"feed:{ids[0]}"]


def test_a_listed_feed_has_url_categories_and_title(stores) -> None:
    subscribe(stores, SubscriptionSpec("http://a.test/", ("x",), "A"))
    assert [listing.listed(feed) for feed in stores[0].all()] == [ListedFeed("http://a.test/", ("x",), "A")]
