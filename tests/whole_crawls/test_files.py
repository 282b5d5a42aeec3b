"""Media files in whole crawls: kept once, named by what they belong to, and no trouble of theirs is an article's."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from documents import FIRST_DAY, Item, page, paragraphs
from origin import Answer, document, failure, html, redirect
from scrapy_process import run_scrapy
from world import World, article, entry, feed, world_in

ON = {"FEEDCRAWL_MEDIA_FILES": "true", "FEEDCRAWL_MEDIA_MAX_BYTES": "4000", "FEEDCRAWL_LINGER_SEC": "0.8"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(500)
MP3 = b"ID3\x04" + bytes(1000)
SVG = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path, **ON) as world:
        yield world


def file(body: bytes, kind: str | None, **how: Any) -> Answer:
    if kind is None:
        return Answer(body=body, **how)
    return document(body, content_type=kind, **how)


def pictured(name: str, image: str) -> Answer:
    head = f'<meta property="og:image" content="{image}">'
    return html(page(f"About {name}", paragraphs(name, count=4), published=FIRST_DAY, head=head))


def with_files(item: Item, *urls: str) -> Item:
    return replace(item, files=urls)


def stored(world: World) -> dict[str, bytes]:
    """What lies in files/, whole and under its digest."""
    found = {}
    for path in (world.data / "files").glob("??/*"):
        body = path.read_bytes()
        assert path.name.partition(".")[0] == hashlib.sha256(body).hexdigest()
        assert path.parent.name == path.name[:2]
        found[str(path.relative_to(world.data))] = body
    return found


def linked(world: World, url: str) -> list[dict[str, Any]]:
    """What the HASH of an article says of its files."""
    with world.client() as client:
        links: list[dict[str, Any]] = json.loads(article(client, url)["files"])
        return links


def command(world: World, *words: str) -> str:
    run = run_scrapy(*words, data_dir=world.data, env=world.env)
    assert run.code == 0, run.err
    return run.out


def requested_paths(world: World, run: str, prefix: str) -> list[str]:
    return [request.target for request in world.requests[run] if request.target.startswith(prefix)]


def test_enclosures_and_lead_images_are_kept_and_named(world: World) -> None:
    site = world.origin.site("news.test")
    image = site.serve("/a.png", file(PNG, "image/png"))
    sound = site.serve("/a.mp3", file(MP3, "audio/mpeg"))
    site.serve("/a", pictured("a", image))
    url = site.serve("/feed", feed([with_files(entry(site, "a"), sound)]))
    world.crawl("run", world.feeds_file(f"{url} news\n"))

    assert sorted(stored(world).values()) == sorted([PNG, MP3])
    (link,) = linked(world, site.url("/a"))
    assert link == {
        "url": image, "role": "image", "status": "stored", "reason": None, "sha256": hashlib.sha256(PNG).hexdigest(),
        "content_type": "image/png", "size_bytes": len(PNG), "path": link["path"], "machine": os.uname().nodename,
    }  # fmt: skip
    assert (world.data / link["path"]).read_bytes() == PNG
    lines = {line["url"]: line for line in world.lines("files")}
    assert {url: line["status"] for url, line in lines.items()} == {image: "stored", sound: "stored"}
    (item,) = world.lines("entries")
    assert [(each["url"], each["role"], each["status"]) for each in item["files"]] == [(sound, "enclosure", "pending")]


def test_exports_show_the_final_state_of_files(world: World) -> None:
    site = world.origin.site("news.test")
    sound = site.serve("/a.mp3", file(MP3, "audio/mpeg"))
    site.serve("/a", pictured("a", site.serve("/a.png", failure(404))))
    world.crawl("run", world.feeds_file(f"{site.serve('/feed', feed([with_files(entry(site, 'a'), sound)]))}\n"))
    (exported,) = [json.loads(line) for line in command(world, "export", "entries").splitlines()]
    assert [(each["status"], each["size_bytes"]) for each in exported["files"]] == [("stored", len(MP3))]
    (exported,) = [json.loads(line) for line in command(world, "export", "articles").splitlines()]
    assert [(each["status"], each["reason"]) for each in exported["files"]] == [("failed", "http_404")]


def test_off_by_default_asks_for_nothing(world: World) -> None:
    site = world.origin.site("news.test")
    sound, image = site.serve("/f/a.mp3", file(MP3, "audio/mpeg")), site.serve("/f/a.png", file(PNG, "image/png"))
    site.serve("/a", pictured("a", image))
    feeds = world.feeds_file(f"{site.serve('/feed', feed([with_files(entry(site, 'a'), sound)]))} news\n")
    world.crawl("off", feeds, FEEDCRAWL_MEDIA_FILES="false")
    assert requested_paths(world, "off", "/f/") == []
    assert not (world.data / "files").exists()
    assert linked(world, site.url("/a")) == []
    with world.wired() as wired:
        assert "pending:file" not in wired.frontier.counts()


REFUSALS: list[tuple[str, Callable[[], Answer], str]] = [
    ("long", lambda: file(PNG + bytes(5000), "image/png"), "too_large"),
    ("long-without-length", lambda: file(PNG + bytes(5000), "image/png", chunked=True), "too_large"),
    ("bomb", lambda: file(PNG + bytes(5000), "image/png", codings="gzip"), "too_large"),
    ("page", lambda: file(b"<html><body>Not found</body></html>", "text/html"), "unsupported_type"),
    ("lie", lambda: file(b"<!doctype html><title>Not found</title>", "image/png"), "type_mismatch"),
    ("text", lambda: file(b'{"error": "no such picture"}', "image/png"), "type_mismatch"),
    ("pdf", lambda: file(b"%PDF-1.7", "application/octet-stream"), "unsupported_type"),
    ("nothing", lambda: file(b"", "image/png"), "empty"),
    ("gone", lambda: failure(410), "http_410"),
]


def test_a_refused_file_has_its_reason_everywhere(world: World) -> None:
    site = world.origin.site("news.test")
    urls = {name: site.serve(f"/f/{name}", answer()) for name, answer, _ in REFUSALS}
    urls["private"] = "http://10.1.2.3/a.png"
    urls["robots"] = site.url("/closed/a.png")
    site.serve("/robots.txt", document("User-agent: *\nDisallow: /closed/", content_type="text/plain"))
    expected = {name: reason for name, _, reason in REFUSALS} | {
        "private": "address_refused", "robots": "robots_blocked",
    }  # fmt: skip
    site.serve("/a", pictured("a", urls["lie"]))
    url = site.serve("/feed", feed([with_files(entry(site, "a"), *urls.values())]))
    world.crawl("run", world.feeds_file(f"{url} news\n"))

    results = {line["url"]: (line["status"], line["reason"]) for line in world.lines("files")}
    assert results == {urls[name]: ("failed", reason) for name, reason in expected.items()}
    assert stored(world) == {}
    assert {record["url"]: record["reason"] for record in world.logged("run", "file_refused")} == {
        urls[name]: reason for name, reason in expected.items()
    }
    with world.client() as client:
        letters = [json.loads(letter) for letter in client.lrange("page_fetcher_dlq", 0, -1)]
        assert article(client, site.url("/a"))["status"] == "success"
    assert {letter["url"]: letter["reason"] for letter in letters if letter["kind"] == "file"} == {
        urls[name]: reason for name, reason in expected.items() if name != "robots"
    }
    (link,) = linked(world, site.url("/a"))
    assert (link["status"], link["reason"]) == ("failed", "type_mismatch")
    assert requested_paths(world, "run", "/closed") == []


def test_the_bytes_decide_the_type_of_a_file(world: World) -> None:
    site = world.origin.site("news.test")
    urls = [
        site.serve("/f/1", file(PNG, "image/jpeg")),
        site.serve("/f/2", file(MP3, "application/octet-stream")),
        site.serve("/f/3", file(SVG, "image/svg+xml; charset=utf-8")),
        site.serve("/f/4", file(bytes(range(256)) * 4, "audio/x-rare")),
        site.serve("/f/5", file(PNG + b"5", None)),
    ]
    site.serve("/a", pictured("a", urls[0]))
    world.crawl("run", world.feeds_file(f"{site.serve('/feed', feed([with_files(entry(site, 'a'), *urls)]))} news\n"))
    lines = {line["url"]: (line["content_type"], Path(line["path"]).suffix) for line in world.lines("files")}
    assert [lines[url] for url in urls] == [
        ("image/png", ".png"), ("audio/mpeg", ".mp3"), ("image/svg+xml", ".svg"), ("audio/x-rare", ""),
        ("image/png", ".png"),
    ]  # fmt: skip


def test_a_file_of_two_feeds_is_fetched_once_and_named_by_both(world: World) -> None:
    site_a, site_b = world.origin.site("one.test"), world.origin.site("two.test")
    media = world.origin.site("media.test")
    image, other = media.serve("/f/a.png", file(PNG, "image/png")), media.serve("/f/copy.png", file(PNG, "image/png"))
    for site in (site_a, site_b):
        site.serve("/a", pictured(site.name, image))
        site.serve("/b", pictured(f"{site.name} b", other))
    first = site_a.serve("/feed", feed([entry(site_a, "a"), entry(site_a, "b")]))
    second = site_b.serve("/feed", feed([entry(site_b, "a")]), feed([entry(site_b, "a"), entry(site_b, "b")], 2))
    world.crawl("run", world.feeds_file(f"{first} news\n{second} news\n"))
    world.crawl("later", "now=1")
    assert sorted(requested_paths(world, "run", "/f/")) == ["/f/a.png", "/f/copy.png"]
    assert requested_paths(world, "later", "/f/") == []
    assert list(stored(world).values()) == [PNG]
    for url in (site_a.url("/a"), site_a.url("/b"), site_b.url("/a"), site_b.url("/b")):
        (link,) = linked(world, url)
        assert (link["status"], link["sha256"]) == ("stored", hashlib.sha256(PNG).hexdigest())
    late = next(line for line in world.lines("articles") if line["url"] == site_b.url("/b"))
    assert late["files"] == linked(world, site_b.url("/b"))  # known when it was written


def test_a_lost_file_is_fetched_again(world: World) -> None:
    site = world.origin.site("news.test")
    image = site.serve("/f/a.png", file(PNG, "image/png"))
    site.serve("/a", pictured("a", image))
    site.serve("/b", pictured("b", image))
    url = site.serve("/feed", feed([entry(site, "a")]), feed([entry(site, "a"), entry(site, "b")], 2))
    world.crawl("run", world.feeds_file(f"{url} news\n"))
    (path,) = stored(world)
    (world.data / path).unlink()
    world.crawl("later", "now=1")
    assert requested_paths(world, "later", "/f/") == ["/f/a.png"]
    assert list(stored(world)) == [path]
    assert linked(world, site.url("/b"))[0]["status"] == "stored"


def test_redirects_lead_to_files_and_dead_letters_come_again(world: World) -> None:
    site, cdn = world.origin.site("news.test"), world.origin.site("cdn.test")
    far = cdn.serve("/x.png", file(PNG, "image/png"))
    image = site.serve("/f/hop.png", redirect(site.url("/f/hop2.png")))
    site.serve("/f/hop2.png", redirect(far))
    ill = site.serve("/f/ill.png", failure(404), file(PNG + b"2", "image/png"))
    site.serve("/a", pictured("a", image))
    site.serve("/b", pictured("b", ill))
    world.crawl("run", world.feeds_file(f"{site.serve('/feed', feed([entry(site, 'a'), entry(site, 'b')]))} news\n"))
    assert [(each["url"], each["status"]) for each in linked(world, site.url("/a"))] == [(image, "stored")]
    assert linked(world, site.url("/b"))[0]["reason"] == "http_404"
    command(world, "dlq", "replay", "--reason", "http_404")
    world.crawl("again", spider="articles")
    assert linked(world, site.url("/b"))[0]["status"] == "stored"
    assert sorted(stored(world).values()) == [PNG, PNG + b"2"]


KILLS = {
    "half written": ("disk.files", "write_whole", "before"),
    "written, not in its place": ("disk.files", "write_whole", "after"),
    "in its place": ("articles.files:FileContents", "keep", "after"),
    "the line is there": ("disk.ndjson:NdjsonFile", "append", "after"),
    "known, its task not ended": ("articles.files:Files", "save", "after"),
}
KILLER = """
import importlib, os, signal, sys
from scrapy.cmdline import execute

module, name, when = sys.argv.pop(1).split(",")
module, _, owner = module.partition(":")
place = importlib.import_module("feedcrawl.store." + module)
place = getattr(place, owner) if owner else place
real = getattr(place, name)

def is_file(args):
    return any(getattr(each, "get", {}.get)("type") == "file" for each in args) or name != "append"

def struck(*args, **kwargs):
    if name == "write_whole" and not args[1].startswith(b"\\x89PNG") or not is_file(args):
        return real(*args, **kwargs)
    if when == "before":
        os.write(args[0], args[1][: len(args[1]) // 2])
    else:
        real(*args, **kwargs)
    os.kill(os.getpid(), signal.SIGKILL)

setattr(place, name, struck)
execute(["scrapy", *sys.argv[1:]])
"""


@pytest.mark.parametrize("step", KILLS.values(), ids=KILLS)
def test_a_killed_worker_leaves_no_torn_file(tmp_path: Path, step: tuple[str, str, str]) -> None:
    with world_in(tmp_path, **ON, FEEDCRAWL_LEASE_SEC="2") as world:
        site = world.origin.site("news.test")
        site.serve("/a", pictured("a", site.serve("/f/a.png", file(PNG, "image/png"))))
        url = site.serve("/feed", feed([entry(site, "a")]))
        worker = world.start(world.feeds_file(f"{url} news\n"), command=("-c", KILLER, ",".join(step)))
        assert worker.wait(timeout=40) == -9, world.logs()
        assert set(stored(world).values()) <= {PNG}
        world.leases_expire()  # nobody waits for the lease of another
        world.crawl("after")
        assert list(stored(world).values()) == [PNG]
        assert linked(world, site.url("/a"))[0]["status"] == "stored"
        with world.wired() as wired:
            assert wired.frontier.counts()["leased"] == 0


def test_a_full_disk_gives_the_file_back(world: World) -> None:
    site = world.origin.site("news.test")
    site.serve("/a", pictured("a", site.serve("/f/a.png", file(PNG, "image/png"))))
    feeds = world.feeds_file(f"{site.serve('/feed', feed([entry(site, 'a')]))} news\n")
    folder = world.data / "files"
    folder.mkdir(parents=True)
    (folder / hashlib.sha256(PNG).hexdigest()[:2]).write_text("in the way of the directory")
    world.crawl("away", feeds, code=1)
    assert linked(world, site.url("/a"))[0]["status"] == "pending"
    (folder / hashlib.sha256(PNG).hexdigest()[:2]).unlink()
    world.crawl("back", FEEDCRAWL_LINGER_SEC="6")
    assert linked(world, site.url("/a"))[0]["status"] == "stored"


def test_retention_drops_files_that_no_record_names(world: World) -> None:
    site = world.origin.site("news.test")
    site.serve("/a", pictured("a", site.serve("/f/a.png", file(PNG, "image/png"))))
    site.serve("/b", pictured("b", site.serve("/f/b.png", file(PNG + b"b", "image/png"))))
    world.crawl("run", world.feeds_file(f"{site.serve('/feed', feed([entry(site, 'a'), entry(site, 'b')]))} news\n"))
    (lines,) = (world.data / "articles").glob("*.ndjson")
    first, other = sorted(lines.read_text().splitlines(keepends=True), key=lambda line: json.loads(line)["url"])
    lines.with_name("2026-01-02.ndjson").write_text(first)
    lines.write_text(other)
    for path in stored(world):
        os.utime(world.data / path, (time.time() - 90_000,) * 2)
    worker = world.start("forever=1", FEEDCRAWL_KEEP_ARTICLES_DAYS="30")
    world.until(lambda: list(stored(world).values()) == [PNG + b"b"])
    worker.terminate()
    assert worker.wait(timeout=30) == 0
