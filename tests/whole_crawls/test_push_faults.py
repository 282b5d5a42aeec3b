"""Kills while a push is received, read or renewed, and hubs that misbehave: none is lost or doubled."""

import contextlib
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from subprocess import Popen

import httpx
import pytest
from api import free_port, serving
from campaign import FAULTS, SETTINGS, Account, account, kill
from documents import rss
from faults import DELIVERY, RECEIPT, RENEWAL
from hub import Hub, signature
from origin import Site
from world import World, article, entry, events, feed, good_page, world_in

from feedcrawl.domain.push.leases import HubSubscription, state
from feedcrawl.domain.push.protocol import Topic
from feedcrawl.services.push.websub import MAX_BYTES, lease_task

NEWS = 3
"""Entries of a delivery, besides one that is known."""


class Newsroom:
    """Feeds that name one hub, one a host, each with an entry; all of them subscribed to, and verified."""

    def __init__(self, world: World, *names: str) -> None:
        self.world, self.urls = world, list[str]()
        self.hub = Hub(world.origin.site("hub.test"))
        self.sites = {name: world.origin.site(f"{name.replace('_', '-')}.test") for name in names}
        for site in self.sites.values():
            links = (("Link", f'<{self.hub.url}>; rel="hub", <{site.url("/feed")}>; rel="self"'),)
            site.serve("/feed", feed([entry(site, self.page(site, "known"))], headers=links))
        world.crawl(
            "subscribes", world.feeds_file("".join(f"{site.url('/feed')} kept\n" for site in self.sites.values()))
        )
        world.until(lambda: len(self.hub.verified) + len(self.hub.refused) == len(names), starts=8)
        assert self.hub.refused == []

    def page(self, site: Site, name: str) -> str:
        path = f"{name}-{site.name}"
        self.urls.append(site.serve(f"/{path}", good_page(path)))
        return path

    def news(self, name: str, number: int = 0) -> bytes:
        """A delivery of new entries, whose pages are there."""
        site = self.sites[name]
        new = [self.page(site, f"new-{number}-{each}") for each in range(NEWS)]
        return self.document(name, *new, f"known-{site.name}")

    def document(self, name: str, *pages: str) -> bytes:
        text = rss([entry(self.sites[name], page) for page in pages])
        return text.encode() if isinstance(text, str) else text

    def push(self, name: str, body: bytes) -> int:
        return self.hub.push(body, topic=self.sites[name].url("/feed"))

    def stored(self, *urls: str) -> Callable[[], bool]:
        def is_stored() -> bool:
            with self.world.client() as client:
                return all(article(client, url) for url in urls)

        return is_stored

    def store_pages(self) -> None:
        """A worker runs until all pages are stored."""
        worker = self.world.start("forever=1")
        self.world.until(self.stored(*self.urls), starts=18)
        kill(worker)

    def assert_whole(self) -> None:
        """After a death each page is stored once, each entry announced under one id, each feed requested once."""
        worker = self.world.start("forever=1")
        with self.world.wired() as wired:
            feeds = [each.id for each in wired.registry.all()]
            left = ("pending:article", "leased")

            def is_done() -> bool:
                return not any(map(wired.hub_subscriptions.waiting, feeds)) and not any(
                    map(wired.frontier.counts().get, left)
                )

            self.world.until(lambda: self.stored(*self.urls)() and is_done(), starts=18)
        kill(worker)
        assert account(self.world, self.urls) == Account(len(self.urls), lost=0, stored_twice=0, leases_left=0)
        with self.world.client() as client:
            announced = {
                (event["event"], f"new_entry:{event['feed_id']}:{event['entry_uid']}")
                for event in events(client, "new_entry")
            }
            assert all(event == name for event, name in announced)
            assert len(announced) == len(self.urls)
        requested = Counter(request.host for request in self.world.origin.ledger.requests if request.path == "/feed")
        assert set(requested.values()) == {1}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path, **SETTINGS, FEEDCRAWL_PARSER_PROCESSES="1") as world:
        port = str(free_port())
        world.settings |= {"FEEDCRAWL_PUBLIC_URL": f"http://127.0.0.1:{port}", "FEEDCRAWL_API_PORT": port}
        yield world


@contextlib.contextmanager
def api_of(world: World) -> Iterator[None]:
    """The API in this process."""
    with world.wired() as wired, serving(wired, int(world.settings["FEEDCRAWL_API_PORT"])):
        yield


def worker_at(world: World, step: str, kind: str, host: str) -> Popen[bytes]:
    return world.start("forever=1", command=(str(FAULTS), step, kind, host, "KILL"))


def assert_killed(worker: Popen[bytes], world: World, step: str) -> None:
    world.until(lambda: worker.poll() is not None, starts=8)
    assert worker.poll() == -signal.SIGKILL, f"{step}: {world.logs()[-6000:]}"


@pytest.mark.timeout(1200)  # against a hang alone: all that is waited for is bounded by starts of a worker
def test_a_delivery_outlives_the_worker_that_reads_it(world: World) -> None:
    with api_of(world):
        room = Newsroom(world, *DELIVERY)
        for step in DELIVERY:
            assert room.push(step, room.news(step)) == 202
            worker = worker_at(world, step, "poll", room.sites[step].name)
            if step == "child_parsing":  # the worker lives on
                world.until(room.stored(*room.urls[-NEWS:]), starts=8)
                kill(worker)
            assert_killed(worker, world, step)
        room.assert_whole()
        with world.wired() as wired:
            feeds = {each.subscription.url: each for each in wired.registry.all()}
            for step, site in room.sites.items():
                lines = wired.registry.journal(feeds[site.url("/feed")].id)
                assert [line["reason"] for line in lines].count("push") == 1, step


@pytest.mark.timeout(120)
def test_a_subscription_is_renewed_though_its_workers_die(world: World) -> None:
    with api_of(world), world.wired() as wired:
        room = Newsroom(world, "news")
        topic = Topic(room.hub.url, room.sites["news"].url("/feed"))
        (found,) = wired.registry.all()
        for number, step in enumerate(RENEWAL):
            before = wired.hub_subscriptions.update(found.id, _near_its_end)
            assert before is not None
            wired.frontier.enqueue([lease_task(found.id, topic)], again="push")
            assert_killed(worker_at(world, step, "websub", "hub.test"), world, step)
            worker = world.start("forever=1")
            world.until(lambda old=before: _current(wired.hub_subscriptions.find(found.id)) != _current(old))
            assert room.push("news", room.news("news", number)) == 202
            world.until(room.stored(*room.urls[-NEWS:]))
            kill(worker)
        push = wired.hub_subscriptions.find(found.id)
        assert push is not None
        assert (state(push, now=time.time()), push.failures) == ("verified", 0)
        assert min(push.renew_at, push.current.until if push.current else 0.0) > time.time() + 86_400
        room.assert_whole()


def _near_its_end(push: HubSubscription | None) -> HubSubscription | None:
    assert push is not None
    assert push.current is not None
    return replace(push, renew_at=time.time(), current=replace(push.current, until=time.time() + 60))


def _current(push: HubSubscription | None) -> str | None:
    return push.current.digest if push is not None and push.current is not None else None


def api_process(world: World, *fault: str) -> Popen[bytes]:
    """The API in a process of its own that answers."""
    process = world.start(command=(str(FAULTS), *fault) if fault else ("-m", "scrapy"), words=("api",))
    world.until(lambda: _answers(f"{world.settings['FEEDCRAWL_PUBLIC_URL']}/healthz"))
    return process


def _answers(url: str) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(url).status_code == 200
    return False


@pytest.mark.timeout(120)
def test_a_delivery_repeated_without_a_response_is_stored_once(world: World) -> None:
    with api_of(world):
        room = Newsroom(world, *RECEIPT)
    for step in RECEIPT:
        body = room.news(step)
        api = api_process(world, step, "push", room.sites[step].name, "KILL")
        with pytest.raises(httpx.TransportError):
            room.push(step, body)
        assert_killed(api, world, step)
        api = api_process(world)
        assert [room.push(step, body) for _ in range(2)] == [202, 202]
        kill(api)
    room.assert_whole()


@pytest.mark.timeout(120)
def test_repeated_disordered_forged_and_large_deliveries_do_no_harm(world: World) -> None:
    with api_of(world), world.wired() as wired:
        room = Newsroom(world, "news")
        site = room.sites["news"]
        first, second, third = (room.page(site, name) for name in ("first", "second", "third"))
        forged, known = "forged", f"known-{site.name}"
        worker = world.start("forever=1")
        for pages in ((third, second), (second, first), (third, second), (first, known), (third, second)):
            assert room.push("news", room.document("news", *pages)) == 202
        assert room.push("news", b"x" * (MAX_BYTES + 1)) == 413
        body = room.document("news", forged)
        headers = {"Content-Type": "application/rss+xml", "X-Hub-Signature": signature("a guess", body)}
        assert (
            httpx.post(room.hub.verified[-1]["hub.callback"], content=body, headers=headers, timeout=60).status_code
            == 202
        )
        world.until(room.stored(*room.urls))
        kill(worker)
        room.assert_whole()  # the forged entry is none of its pages
        assert site.url(f"/{forged}") not in {line["link"] for line in world.lines("entries")}
        (found,) = wired.registry.all()
        new_counts = [line.get("new", 0) for line in wired.registry.journal(found.id) if line["reason"] == "push"]
        assert sorted(new_counts) == [0, 1, 2]  # of five pushes two were the same again
