"""Whole crawls of feeds that name a hub: subscribed, pushed, relied on, and polled as before where the hub fails."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from api import free_port, serving
from documents import rss
from hub import CloudServer, Hub
from origin import Answer, Site, document, redirect
from scrapy_process import run_scrapy
from world import World, article, entry, feed, good_page, world_in

from feedcrawl.domain.push.leases import relied_on, state

BOMB = b"""<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;"><!ENTITY d "&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;">]><r>&d;&d;&d;</r>"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A web, a Redis, and an API that hubs reach."""
    with ExitStack() as stack:
        port = free_port()
        world = stack.enter_context(world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1"))
        world.settings["FEEDCRAWL_PUBLIC_URL"] = f"http://127.0.0.1:{port}"
        wired = stack.enter_context(world.wired())
        stack.enter_context(serving(wired, port))
        yield world


def named(hub: str, names: list[str], site: Site, version: int = 1, **how: Any) -> Answer:
    """A feed with these entries, whose server names a hub."""
    links = (("Link", f'<{hub}>; rel="hub", <{site.url("/feed")}>; rel="self"'),)
    return feed([entry(site, name) for name in names], version, headers=links, **how)


def pushed(names: list[str], site: Site) -> bytes:
    text = rss([entry(site, name) for name in names])
    return text.encode() if isinstance(text, str) else text


def site_with_pages(world: World, *names: str) -> Site:
    site = world.origin.site("news.test")
    for name in names:
        site.serve(f"/{name}", good_page(name))
    return site


def test_a_delivery_is_stored_within_seconds(world: World) -> None:
    site, hub = site_with_pages(world, "a", "b", "c", "d"), Hub(world.origin.site("hub.test"))
    url = site.serve("/feed", named(hub.url, ["a"], site))
    world.start(f"feeds={url}", "forever=1")
    with world.client() as client, world.wired() as wired:
        world.until(lambda: hub.verified and article(client, site.url("/a")))
        (found,) = wired.registry.all()
        assert hub.forms[0]["hub.topic"] == url
        assert hub.forms[0]["hub.mode"] == "subscribe"

        began = time.monotonic()
        assert hub.push(pushed(["b"], site)) == 202
        world.until(lambda: article(client, site.url("/b")), timeout_sec=10)
        assert time.monotonic() - began < 8
        assert article(client, site.url("/b"))["feed_id"] == found.id

        def lines() -> list[dict[str, Any]]:
            return [line for line in wired.registry.journal(found.id) if line["reason"] == "push"]

        world.until(lambda: len(lines()) == 1)
        assert (lines()[0]["result"], lines()[0]["new"]) == ("push", 1)
        assert len(world.origin.ledger.of("news.test", "/feed")) == 1  # no request was made
        push = wired.hub_subscriptions.find(found.id)
        assert relied_on(push, now=time.time())

        for body in (pushed(["b"], site), pushed(["b", "c"], site)):  # a known entry, then a new one beside it
            assert hub.push(body) == 202
        world.until(lambda: article(client, site.url("/c")), timeout_sec=10)
        world.until(lambda: wired.hub_subscriptions.waiting(found.id) == 0)
        assert len(world.origin.ledger.of("news.test", "/feed")) == 1

        site.serve("/feed", named(hub.url, ["a", "d"], site, 2))
        assert hub.push(BOMB) == 202  # what cannot be read has the feed polled
        world.until(lambda: article(client, site.url("/d")), timeout_sec=10)
        world.until(lambda: any(line["result"] not in ("push",) for line in lines()))
        assert len(world.origin.ledger.of("news.test", "/feed")) == 2
        record = wired.registry.load([found.id])[found.id].polls
        world.until(lambda: wired.registry.load([found.id])[found.id].polls.reason == "push-backup")
        assert record.last_status == 200

        unsubscribed = run_scrapy("unsubscribe", url, data_dir=world.data, env=world.env)
        assert unsubscribed.code == 0, unsubscribed.err
        world.until(lambda: hub.left, timeout_sec=10)
        assert [form["hub.callback"] for form in hub.left] == [hub.verified[-1]["hub.callback"]]
        assert hub.push(pushed(["e"], site)) == 404


def test_a_hub_that_keeps_silent_is_relied_on_no_more(world: World) -> None:
    names = ["a", "b", "c", "d"]
    site, hub = site_with_pages(world, *names), Hub(world.origin.site("hub.test"))
    url = site.serve("/feed", *(named(hub.url, names[: n + 1], site, n, etag=None) for n in (0, 1, 2, 3)))
    with world.wired() as wired:
        world.crawl("subscribes", f"feeds={url}")
        world.until(lambda: hub.verified)
        assert hub.push(pushed(["b"], site)) == 202
        (found,) = wired.registry.all()
        reasons, states = [], []
        for number in range(3):
            world.crawl(f"backup {number}", "now=1")
            push = wired.hub_subscriptions.find(found.id)
            assert push is not None
            states.append((state(push, now=time.time()), push.misses))
            reasons.append(wired.registry.load([found.id])[found.id].polls.reason)
        assert states == [("verified", 0), ("verified", 1), ("failing", 2)]
        assert reasons[:2] == ["push-backup"] * 2
        assert reasons[2] != "push-backup"
        why = run_scrapy("why", url, data_dir=world.data, env=world.env, timeout_sec=60).out
        assert f"Hub {hub.url}: failing" in why
        assert "1 deliveries with news" in why
        assert "2 misses; not relied on" in why
        assert len(world.logged("backup 2", "push_missed")) == 1


def test_a_feed_whose_hub_may_not_be_requested_is_polled(world: World) -> None:
    site, other = site_with_pages(world, "a"), world.origin.site("hub.test")
    elsewhere = other.serve("/moved", redirect(other.url("/hub"), 307))
    hubs = {"/private": "http://10.0.0.1/hub", "/moved": elsewhere, "/gone": other.url("/none")}
    urls = {site.serve(path, named(hub, ["a"], site)): path for path, hub in hubs.items()}
    world.crawl("asks", f"feeds={','.join(urls)}")
    with world.wired() as wired:
        feeds = {urls[each.subscription.url]: each for each in wired.registry.all()}
        pushes = wired.hub_subscriptions.all_of([each.id for each in feeds.values()])
        reasons = {path: pushes[each.id].reason for path, each in feeds.items()}
        assert reasons == {"/private": "address_refused", "/moved": "hub_redirects", "/gone": "http_404"}
        assert all(state(push, now=time.time()) == "failing" for push in pushes.values())
        for each in feeds.values():
            task = wired.frontier.find(f"websub:{each.id}")
            assert task is not None
            assert task[1].status == "pending"  # requested again later
            assert each.polls.reason != "push-backup"
    assert not world.origin.ledger.of("hub.test", "/hub")  # the redirect was not followed
    assert len(world.logged("asks", "push_failed")) == 3


def test_our_own_hub_is_notified_of_news_in_published_feeds(world: World) -> None:
    site, hub = site_with_pages(world, "a"), Hub(world.origin.site("ours.test"), verifies=False)
    url = site.serve("/feed", feed([entry(site, "a")]))
    own = {"FEEDCRAWL_HUB_URL": hub.url, "FEEDCRAWL_LINGER_SEC": "4"}
    world.crawl("news", f"feeds={url}", "category=villages", **own)
    notified = sorted(form["hub.url"] for form in hub.forms if form["hub.mode"] == "publish")
    base = str(world.settings["FEEDCRAWL_PUBLIC_URL"]).rstrip("/")
    feeds = ("articles", "categories/villages")
    assert notified == [f"{base}/{each}.{form}" for each in feeds for form in ("atom", "json")]


def test_a_feed_is_polled_when_its_rsscloud_server_notifies(world: World) -> None:
    site, cloud = site_with_pages(world, "a", "b"), CloudServer(world.origin.site("cloud.test"))

    def clouded(*names: str) -> Answer:
        text = rss([entry(site, name) for name in names], head=cloud.element)
        return document(text, content_type="application/rss+xml")

    url = site.serve("/feed", clouded("a"), clouded("a", "b"))
    world.start(f"feeds={url}", "forever=1")
    with world.client() as client, world.wired() as wired:
        world.until(lambda: cloud.verified and article(client, site.url("/a")))
        (found,) = wired.registry.all()
        form = cloud.forms[0]
        assert (form["url1"], form["protocol"], form["notifyProcedure"]) == (url, "http-post", "")
        push = wired.hub_subscriptions.find(found.id)
        assert (state(push, now=time.time()), push.protocol) == ("verified", "rsscloud")
        assert 0 < push.renew_at - time.time() < 25 * 3600
        assert push.current.until - time.time() <= 25 * 3600
        assert cloud.notify(url="http://news.test/other") == 404
        assert cloud.notify() == 200
        world.until(lambda: article(client, site.url("/b")), timeout_sec=10)
        assert len(world.origin.ledger.of("news.test", "/feed")) == 2
