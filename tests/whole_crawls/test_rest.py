"""Worker and API as two processes on one data directory: the results of the crawl answer the requests."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import AF_INET6
from socketserver import TCPServer
from threading import Thread
from typing import Any

import httpx
import pytest
from api import free_port
from documents import page, paragraphs
from origin import failure, html, redirect
from spellings import LOOPBACK_HOSTS, NAMES
from world import World, entry, feed, good_page, world_in

ENDED = {"ready_for_reading", "failed", "duplicate"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path, embedded=True) as made:
        yield made


@contextmanager
def serve(world: World, **settings: str) -> Iterator[httpx.Client]:
    """The API in a process of its own, ready."""
    port = free_port()
    process = world.start(words=("api",), FEEDCRAWL_API_PORT=str(port), **settings)
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:

        def answers() -> bool:
            assert process.poll() is None, world.logs()
            try:
                return client.get("/readyz").status_code == 200
            except httpx.TransportError:
                return False

        world.until(answers)
        yield client


def ended(world: World, client: httpx.Client, media_id: str) -> dict[str, Any]:
    """A media record when nothing more comes of it."""
    found: dict[str, Any] = {}

    def is_ended() -> bool:
        found.update(client.get(f"/media/{media_id}").json()["data"])
        return found["processing_status"] in ENDED

    world.until(is_ended)
    return found


def submit(client: httpx.Client, url: str) -> dict[str, Any]:
    answer = client.post("/media/from_url", json={"url": url})
    assert answer.status_code == 202, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


def test_from_a_subscription_to_an_article_and_from_a_url_to_its_text(world: World) -> None:
    site = world.origin.site("news.test")
    for name in ("a", "b", "c"):
        site.serve(f"/{name}", good_page(name))
    moved = site.serve("/moved", redirect(site.url("/c")))
    hostile = site.serve("/x", html(page("<b>X</b>", [*paragraphs("x", count=4), "<script>alert(1)</script>"])))
    listed = site.serve("/feed", feed([entry(site, "a"), entry(site, "b")]))
    gone = site.serve("/gone", failure(404))
    with serve(world) as client:
        subscribed = client.post("/feeds", json={"url": listed, "categories": ["news"]})
        assert subscribed.status_code in (200, 201), subscribed.text
        media_ids = {url: submit(client, url)["media_id"] for url in (moved, hostile, gone)}
        world.start("forever=1")
        found, after = list[dict[str, Any]](), "0"

        def two_are_ready() -> bool:
            nonlocal after
            answer = client.get("/events", params={"after": after, "types": "article_ready"})
            after = answer.headers["x-cursor"]
            found.extend(map(json.loads, answer.text.splitlines()))
            return {site.url("/a"), site.url("/b")} <= {each["data"]["canonical_url"] for each in found}

        world.until(two_are_ready)
        event = next(each for each in found if each["data"]["canonical_url"] == site.url("/a"))
        article = client.get(f"/articles/{event['data']['uid']}").json()
        assert article["content_hash"] == event["data"]["content_hash"]
        assert article["categories"] == ["news"]
        inside = client.get("/articles", params={"category": "news", "host": "news.test"}).json()["articles"]
        assert {each["url"] for each in inside} == {site.url("/a"), site.url("/b")}

        records = {url: ended(world, client, media_id) for url, media_id in media_ids.items()}
        assert records[moved]["processing_status"] == "duplicate"
        winner = client.get(f"/media/{records[moved]['duplicate_of']}").json()["data"]
        assert (winner["canonical_url"], winner["capabilities"]["can_read"]) == (site.url("/c"), True)
        assert records[hostile]["processing_status"] == "ready_for_reading"
        assert "<script" not in records[hostile]["fragments"][0]["html_sanitized"]
        assert (records[gone]["processing_status"], records[gone]["last_error_code"]) == ("failed", "E_INGEST_FAILED")
        members = client.get("/collections/default").json()["held"]
        assert {each["media_id"] for each in members} == {
            winner["media_id"],
            records[hostile]["media_id"],
            records[gone]["media_id"],
        }
        assert submit(client, site.url("/c"))["processing_status"] == "ready_for_reading"
        site.serve("/gone", good_page("gone"))
        retried = client.post(f"/media/{media_ids[gone]}/retry")
        assert retried.json()["data"]["processing_status"] == "pending"
        assert ended(world, client, media_ids[gone])["processing_status"] == "ready_for_reading"


class Canary(ThreadingHTTPServer):
    """Stands for all that is not public, and remembers who called."""

    daemon_threads = True
    calls: list[str]

    def server_bind(self) -> None:
        TCPServer.server_bind(self)  # HTTPServer's looks its own name up
        self.server_port = self.server_address[1]


class Canary6(Canary):
    address_family = AF_INET6


class Handler(BaseHTTPRequestHandler):
    server: Canary

    def do_GET(self) -> None:
        self.server.calls.append(f"{self.command} {self.path}")
        self.send_error(404)

    do_HEAD = do_GET  # noqa: N815 - http.server's name

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def canaries() -> Iterator[tuple[int, list[str]]]:
    """The port on which this machine's own addresses answer, and who called there."""
    four = Canary(("0.0.0.0", 0), Handler)
    six = Canary6(("::1", four.server_port), Handler)
    four.calls = six.calls = []
    for each in (four, six):
        Thread(target=each.serve_forever, args=(0.05,), daemon=True).start()
    yield four.server_port, four.calls
    for each in (four, six):
        each.shutdown()
        each.server_close()


def test_no_spelling_of_loopback_is_ever_dialled(world: World, canaries: tuple[int, list[str]]) -> None:
    """Each is refused at once, or as a name when it is dialled, and nobody learns what listens there."""
    port, calls = canaries
    (world.folder / "names").write_text(NAMES)
    world.settings |= {"FEEDCRAWL_HOSTS_FILE": str(world.folder / "names"), "FEEDCRAWL_CIRCUIT_FAILURES": "999"}
    world.settings |= {"FEEDCRAWL_API_WRITE_RATE": "0"}
    assert len(LOOPBACK_HOSTS) >= 60
    with serve(world) as client:
        refused, media, feeds = dict[str, str](), dict[str, str](), dict[str, str]()
        for number, host in enumerate(LOOPBACK_HOSTS):
            url = f"http://{host}:{port}/{number}"
            answers = [client.post(path, json={"url": url}) for path in ("/media/from_url", "/feeds")]
            at_once = {each.json()["code"] for each in answers if each.status_code == 422}
            if at_once:
                assert all(each.status_code == 422 for each in answers), (host, [each.text for each in answers])
                # A page has no login; a feed's is taken off its URL, and the address behind it is refused.
                assert len(at_once) == 1 or at_once == {"address_refused", "url_userinfo"}, (host, at_once)
                refused[host] = min(at_once)
                continue
            media[host] = answers[0].json()["data"]["media_id"]
            feeds[host] = answers[1].json()["id"]
        numbers = [
            host for host in LOOPBACK_HOSTS if not any(char.isalpha() for char in host.strip("[]")) or "0x" in host
        ]
        assert {refused.get(host) for host in numbers} <= {"address_refused", "url_userinfo"}
        assert {"localhost", "v4.test", "v6.test", "mapped.test", "mixed.test"} <= set(media)
        world.start("forever=1")
        for host, media_id in media.items():
            record = ended(world, client, media_id)
            assert record["processing_status"] == "failed", host
            assert " address_refused" in record["last_error_message"], (host, record["last_error_message"])
        for host, feed_id in feeds.items():
            world.until(lambda feed_id=feed_id: client.get(f"/feeds/{feed_id}/fetches").json())  # type: ignore[misc]
            journal = client.get(f"/feeds/{feed_id}/fetches").text
            assert "address_refused" in journal, (host, journal)
    assert calls == []
