"""Pages that show nothing without their scripts, and pages that would misuse a browser, in whole crawls.

What must not be reached stands on loopback too: a canary that counts whoever calls, by TCP and by UDP.
"""

import json
import os
import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest
from documents import paragraphs
from origin import Site, document, html, redirect
from world import World, article, entry, feed, good_page, world_in

from feedcrawl.domain.urls import url_uid
from feedcrawl.rendering.browser import NAMES
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.timeout(150),
    pytest.mark.skipif(not any(map(shutil.which, NAMES)), reason="there is no Chromium on PATH"),
]

SHOW = """function show(texts) {
  document.getElementById("root").innerHTML =
    "<article><h1>Shown</h1>" + texts.map(t => "<p>" + t + "</p>").join("") + "</article>";
}"""


def shell(script: str) -> str:
    return (
        "<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>A shell</title></head>"
        "<body><div id=root>Loading…</div><noscript>You need to enable JavaScript to run this app.</noscript>"
        f"<script>{SHOW}\n{script}</script></body></html>"
    )


def texts(name: str) -> str:
    return json.dumps(paragraphs(name, count=4))


@dataclass
class Canary:
    """Counts what reaches an address that is not public."""

    calls: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tcp = socket.create_server(("127.66.0.1", 0))
        self.port = self.tcp.getsockname()[1]
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.66.0.1", self.port))
        for wait in (self._tcp, self._udp):
            Thread(target=wait, daemon=True).start()

    def _tcp(self) -> None:
        while True:
            connection, _ = self.tcp.accept()
            self.calls.append("tcp")
            connection.close()

    def _udp(self) -> None:
        while True:
            self.calls.append(f"udp {self.udp.recv(2000)[:20]!r}")


def attack(canary: Canary, neighbour: Site) -> str:
    """Every way out of a page that we know of."""
    place = f"127.66.0.1:{canary.port}"
    return f"""
    const tries = [
      () => fetch("http://{place}/fetch", {{mode: "no-cors"}}),
      () => fetch("{neighbour.url("/secret")}", {{mode: "no-cors"}}),
      () => new Image().src = "http://{place}/image",
      () => new WebSocket("ws://{place}/"),
      () => new WebSocket("wss://{place}/"),
      () => new EventSource("http://{place}/"),
      () => navigator.sendBeacon("http://{place}/", "x"),
      () => window.open("http://{place}/open"),
      () => new Worker(URL.createObjectURL(new Blob(["fetch('http://{place}/worker')"]))),
      () => navigator.serviceWorker.register("/worker.js"),
      () => fetch("file:///etc/passwd"),
      () => fetch("/away", {{mode: "no-cors"}}),
      () => new WebTransport("https://{place}/"),
      () => {{
        const peer = new RTCPeerConnection({{iceServers: [
          {{urls: "stun:{place}"}},
          {{urls: ["turn:{place}?transport=tcp", "turn:{place}"], username: "a", credential: "b"}}]}});
        peer.createDataChannel("x");
        peer.createOffer().then(offer => peer.setLocalDescription(offer));
      }},
      () => {{
        for (const [tag, name] of [["iframe", "src"], ["link", "href"], ["script", "src"], ["object", "data"],
                                   ["video", "src"], ["embed", "src"]]) {{
          const made = document.createElement(tag);
          made[name] = "http://{place}/" + tag;
          if (tag === "link") made.rel = "stylesheet";
          document.body.appendChild(made);
        }}
        for (const rel of ["dns-prefetch", "preconnect", "prefetch", "prerender", "modulepreload"]) {{
          const made = document.createElement("link");
          made.rel = rel;
          made.href = "http://{place}/" + rel;
          document.head.appendChild(made);
        }}
      }},
      () => {{
        const form = document.createElement("form");
        form.action = "http://{place}/form";
        form.target = "_blank";
        document.body.appendChild(form);
        form.submit();
      }},
      () => setTimeout(() => {{ location = "http://{place}/location"; }}, 100),
    ];
    for (const each of tries) try {{ Promise.resolve(each()).catch(() => 0); }} catch (error) {{}}
    alert("stop");
    show({texts("attack")});
    """


BROWSERS = ("chrom", "node")


def browsers() -> list[str]:
    """Command names of the processes of ended crawls' browsers, dead ones included, and of their drivers.

    Others may run beside: a crawl's have the home that it gives them or the crawl's settings, and a dead one that
    nobody has waited for went to init or to us. Those of a crawl that still runs descend from its process.
    """
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            name, surroundings, parent = command_name(path), (path / "environ").read_bytes(), parent_of(path)
            starter = path
            while command_name(starter).startswith(BROWSERS):
                starter = parent_of(starter)
            running = b"\0crawl\0" in (starter / "cmdline").read_bytes()
        except OSError:
            continue
        ours = b"FEEDCRAWL_DATA_DIR=" in surroundings or b"/feedcrawl-browser-" in surroundings
        is_dead = not surroundings and parent.name in ("1", str(os.getpid()))
        if name.startswith(BROWSERS) and ((ours and not running) or is_dead):
            found.append(f"{path.name} {name}")
    return found


def command_name(process: Path) -> str:
    return (process / "comm").read_text().strip()


def parent_of(process: Path) -> Path:
    return process.parent / (process / "stat").read_text().rpartition(")")[2].split()[1]


@dataclass
class Played:
    world: World
    site: Site
    neighbour: Site
    canary: Canary
    left: set[str]

    def hash(self, name: str) -> dict[str, str]:
        with self.world.client() as client:
            return article(client, self.site.url(f"/{name}"))

    def times(self, path: str) -> int:
        return self.world.paths("auto", self.site.name).count(path)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """One crawl of all these pages with the default, `auto`."""
    canary = Canary()
    settings = {
        "FEEDCRAWL_RENDER": "auto",
        "FEEDCRAWL_RENDER_TIMEOUT_SEC": "25",  # a page needs seconds on a busy machine; "hung" takes all of them
        "FEEDCRAWL_MAX_ATTEMPTS": "1",
        "FEEDCRAWL_MAX_ARTICLE_BYTES": "300000",
        "FEEDCRAWL_ARTICLE_TIMEOUT_SEC": "25",
    }
    with world_in(tmp_path_factory.mktemp("rendering"), **settings) as world:
        site, neighbour = world.origin.site("scripts.test"), world.origin.site("neighbour.test")
        site.serve("/data.json", document(texts("fetched"), content_type="application/json"))
        site.serve("/moved.html", redirect(f"http://127.66.0.1:{canary.port}/moved"))
        pages = {
            "plain": good_page("plain"),
            "written": html(shell(f"setTimeout(() => show({texts('written')}), 50)")),
            "fetched": html(shell("fetch('/data.json').then(r => r.json()).then(show)")),
            "hung": html(shell("while (true) {}")),
            "frozen": html(shell("setTimeout(() => { while (true) {} }, 30)")),
            "big": html(shell(f"show({texts('big')}); document.body.append('x'.repeat(400000))")),
            "renamed": html(shell(f"history.replaceState(null, '', '/renamed/full'); show({texts('renamed')})")),
            "moves": html(shell("location = '/moved.html'")),
            "leaves": html(shell(f"location.replace('http://127.66.0.1:{canary.port}/left')")),
            "bare": html("<!DOCTYPE html><title>Nothing</title><body><div></div>" + " " * 300 + "</body>"),
            "closed": html(shell("0").replace("Loading…", "Just a moment... Checking your browser")),
        }
        for name, answer in pages.items():
            site.serve(f"/{name}", answer)
        url = site.serve("/feed", feed([entry(site, name, summary="") for name in pages]))
        before = set(browsers())
        world.crawl("auto", f"feeds={url}")
        left = set(browsers()) - before
        yield Played(world, site, neighbour, canary, left)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A crawl of a page that tries every way out, alone: beside pages that hang a busy machine has no time for it."""
    canary = Canary()
    settings = {"FEEDCRAWL_RENDER": "auto", "FEEDCRAWL_RETRY_BASE_SEC": "1"}
    with world_in(tmp_path_factory.mktemp("attacked"), **settings) as world:
        site, neighbour = world.origin.site("scripts.test"), world.origin.site("neighbour.test")
        neighbour.serve("/secret", html("a secret"))
        site.serve("/away", redirect(f"http://127.66.0.1:{canary.port}/redirect"))
        site.serve("/worker.js", document("fetch('/')", content_type="text/javascript"))
        site.serve("/attack", html(shell(attack(canary, neighbour))))
        before = set(browsers())
        world.crawl("auto", f"feeds={site.serve('/feed', feed([entry(site, 'attack', summary='')]))}")
        yield Played(world, site, neighbour, canary, set(browsers()) - before)


def test_the_text_of_a_page_that_attacks_is_stored(attacked: Played) -> None:
    found = attacked.hash("attack")
    assert found["status"] == "success", json.dumps({**found, "content_html": ""})
    assert (found["title"], found["rendered"]) == ("About attack", "true")
    assert found["clean_text"].splitlines()[-4:] == list(paragraphs("attack", count=4))


@pytest.mark.parametrize("name", ["written", "fetched"])
def test_text_written_by_scripts_is_stored(played: Played, name: str) -> None:
    found = played.hash(name)
    assert found["status"] == "success", json.dumps({**found, "content_html": ""})
    assert (found["title"], found["rendered"]) == (f"About {name}", "true")
    assert found["clean_text"].splitlines()[-4:] == list(paragraphs(name, count=4))
    assert played.times(f"/{name}") == 2  # as it is, then by the browser


def test_the_record_shows_that_a_page_was_rendered(played: Played) -> None:
    rendered = {line["url"].rpartition("/")[2]: line.get("rendered") for line in played.world.lines("articles")}
    assert rendered == {"plain": None, "written": True, "fetched": True, "renamed": True}
    assert "rendered" not in played.hash("plain")


def test_the_final_url_is_where_the_browser_ended(played: Played) -> None:
    found = {line["url"].rpartition("/")[2]: line for line in played.world.lines("articles")}
    assert found["renamed"]["final_url"] == played.site.url("/renamed/full")
    assert found["written"]["final_url"] == played.site.url("/written")


def test_the_plain_bytes_are_archived(played: Played) -> None:
    files = list(played.world.data.glob("raw/*/*.index.ndjson"))
    index = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    assert played.hash("written")["fetch_id"] in {each["fetch_id"] for each in index}
    assert sum(each.get("uid") == played.hash("written")["uid"] for each in index) == 1


@pytest.mark.parametrize("name", ["plain", "bare", "closed"])
def test_a_page_with_text_is_not_rendered(played: Played, name: str) -> None:
    assert played.times(f"/{name}") == 1


@pytest.mark.parametrize(
    ("name", "failure", "reason"),
    [
        ("hung", "FAIL_TIMEOUT", "render_timeout"),
        ("frozen", "FAIL_TIMEOUT", "render_timeout"),
        ("big", "FAIL_EMPTY", "render_too_large"),
        ("moves", "FAIL_EMPTY", "render_moved"),
        ("leaves", "FAIL_EMPTY", "render_moved"),
    ],
)
def test_a_page_that_cannot_be_rendered_keeps_its_failure_or_times_out(
    played: Played, name: str, failure: str, reason: str
) -> None:
    found = played.hash(name)
    assert (found["status"], found["failure"]) == ("failure", failure)
    assert reason in found["failure_detail"]
    assert (found["failure_reason"] == reason) is (failure == "FAIL_TIMEOUT")


def test_the_browser_reaches_no_forbidden_address(played: Played, attacked: Played) -> None:
    assert played.canary.calls == attacked.canary.calls == []
    assert attacked.world.paths("auto", attacked.neighbour.name) == []


def test_no_process_is_left(played: Played, attacked: Played) -> None:
    assert played.left == attacked.left == set()


def test_a_page_that_does_not_end_is_killed(played: Played) -> None:
    killed = played.world.logged("auto", "browser_killed")
    assert [each["url"] for each in killed] == [played.site.url("/frozen")]
    assert len(played.world.logged("auto", "browser_started")) <= 2  # the next page's is a new one


def test_the_browser_sends_our_user_agent(played: Played) -> None:
    agents = {dict(request.headers)["User-Agent"] for request in played.world.requests["auto"]}
    assert all(agent.startswith("feedcrawl/") for agent in agents)


def test_a_killed_crawl_takes_its_browser_along(tmp_path: Path) -> None:
    before = set(browsers())
    with world_in(tmp_path, FEEDCRAWL_RENDER="auto") as world:
        site = world.origin.site("scripts.test")
        site.serve("/a", html(shell("setInterval(() => fetch('/tick'), 50)")))
        site.serve("/tick", document("0"))
        url = site.serve("/feed", feed([entry(site, "a", summary="")]))
        process = world.start(f"feeds={url}")
        world.until(lambda: any(request.target == "/tick" for request in world.origin.ledger.requests))
        names = {each.split()[1] for each in set(browsers()) - before}
        assert {name[:4] for name in names} == {"chro", "node"}, "a look that sees nothing proves nothing"
        process.kill()
        process.wait()
        world.until(lambda: not alive(set(browsers()) - before), timeout_sec=20)


def test_a_stopped_crawl_waits_for_the_browser_no_longer_than_for_a_request(tmp_path: Path) -> None:
    before = set(browsers())
    with world_in(tmp_path, FEEDCRAWL_RENDER="auto", FEEDCRAWL_DRAIN_SEC="1") as world:
        site = world.origin.site("scripts.test")
        site.serve("/a", html(shell("fetch('/tick'); setTimeout(() => { while (true) {} }, 30)")))
        site.serve("/tick", document("0"))
        url = site.serve("/feed", feed([entry(site, "a", summary="")]))
        process = world.start(f"feeds={url}")
        world.until(lambda: any(request.target == "/tick" for request in world.origin.ledger.requests))
        process.terminate()
        assert process.wait(15) == 0, world.logs()
        assert "drain_left" not in world.logs()
        assert set(browsers()) - before == set()
        with world.client() as client:
            found = Shard(client, FrontierPolicy()).find(url_uid(site.url("/a")))
        assert found is not None
        assert (found[1].status, found[1].attempts) == ("pending", 0)


def alive(processes: set[str]) -> list[str]:
    """Those that are not merely waiting for the init of the machine to notice their end."""
    states = {each: Path("/proc", each.partition(" ")[0], "stat") for each in processes}
    return [each for each, path in states.items() if path.exists() and ") Z " not in path.read_text()]


def test_a_browser_is_not_started_without_need(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_RENDER="auto") as world:
        site = world.origin.site("plain.test")
        site.serve("/a", good_page("a"))
        url = site.serve("/feed", feed([entry(site, "a")]))
        started = time.monotonic()
        world.crawl("plain", f"feeds={url}")
        assert time.monotonic() - started < 30
        assert world.logged("plain", "browser_started") == []


def test_no_page_is_rendered_where_rendering_is_disabled(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_RENDER="never") as world:
        site = world.origin.site("scripts.test")
        site.serve("/a", html(shell(f"show({texts('a')})")))
        url = site.serve("/feed", feed([entry(site, "a", summary="")]))
        world.crawl("never", f"feeds={url}")
        assert world.paths("never", site.name).count("/a") == 1
        with world.client() as client:
            assert article(client, site.url("/a"))["failure"] == "FAIL_EMPTY"


def test_a_source_may_always_render(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("scripts.test")
        site.serve("/a", good_page("a"))
        url = site.serve("/feed", feed([entry(site, "a")]))
        sources = tmp_path / "sources.yaml"
        sources.write_text(f"[{{name: s, base_url: '{site.url('/')}', feed_url: '{url}', render: always}}]")
        world.crawl("always", FEEDCRAWL_SOURCES=str(sources))
        assert world.paths("always", site.name).count("/a") == 2
        with world.client() as client:
            assert article(client, site.url("/a"))["status"] == "success"


def test_a_missing_browser_is_logged_once_and_the_crawl_continues(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_RENDER="auto", FEEDCRAWL_BROWSER=str(tmp_path / "none")) as world:
        site = world.origin.site("scripts.test")
        for name in ("a", "b", "c"):
            site.serve(f"/{name}", html(shell(f"show({texts(name)})")))
        site.serve("/d", good_page("d"))
        url = site.serve("/feed", feed([entry(site, name, summary="") for name in "abcd"]))
        world.crawl("none", f"feeds={url}")
        assert len(world.logged("none", "no_browser")) == 1
        with world.client() as client:
            found = {name: article(client, site.url(f"/{name}")) for name in "abcd"}
        assert [each["status"] for each in found.values()] == ["failure", "failure", "failure", "success"]
        assert found["a"]["failure"] == "FAIL_EMPTY"
