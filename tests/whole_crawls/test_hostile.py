"""Feeds that mean ill, among feeds that do not: the good ones are read as if the others were not there."""

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path

from documents import atom
from origin import Answer, document, hanging, html
from world import World, article, entry, events, feed, good_page, world_in

from feedcrawl.store.subscriptions.registry import Registry

XML = "application/rss+xml"
MAX_BYTES = 1 << 20
LIMITS = {
    "FEEDCRAWL_FETCH_TIMEOUT_SEC": "3",
    "FEEDCRAWL_MAX_FEED_BYTES": str(MAX_BYTES),
    "FEEDCRAWL_PARSER_CPU_SEC": "2",
}
DOCTYPE = (
    '<!DOCTYPE rss [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)


def channel(inside: str, head: str = "") -> str:
    return f'<?xml version="1.0"?>{head}<rss version="2.0"><channel><title>t</title>{inside}</channel></rss>'


def item(inside: str) -> str:
    return channel(f"<item><title>i</title><guid>i</guid>{inside}</item>")


# What comes, and what the journal may call it. Documents that are merely odd may also be read.
HOSTILE: dict[str, tuple[Answer, set[str]]] = {
    "hang": (hanging(), {"total_timeout"}),
    "header": (
        Answer(raw=b"HTTP/1.1 200 OK\r\n" + b"X-Slow: 1\r\n" * 400, piece_bytes=11, drip_sec=0.05),
        {"total_timeout"},
    ),
    "slowly": (document(b" " * 5000, piece_bytes=10, drip_sec=0.05), {"total_timeout"}),
    "endless": (document(b"<rss>" + b"x" * (4 << 20), chunked=True), {"too_large"}),
    "bomb": (
        Answer(body=gzip.compress(bytes(64 << 20)), headers=(("Content-Encoding", "gzip"), ("Content-Type", XML))),
        {"too_large"},
    ),
    "thrice": (
        Answer(body=b"x" * 50, headers=(("Content-Encoding", "gzip, gzip, gzip"), ("Content-Type", XML))),
        {"bad_encoding"},
    ),
    "author": (
        document(item(f"<author>{'(' * 60_000}a@b.example{' ' * 60_000}x</author>")),
        {"fetched", "parse_timeout"},
    ),
    "deep": (document(channel("<a>" * 150_000)), {"fetched", "not_a_feed", "parse_timeout", "html"}),
    "laugh": (
        document(channel("<item><title>&c;</title></item>", DOCTYPE)),
        {"fetched", "not_a_feed", "parse_timeout"},
    ),
    "garbage": (document(bytes(range(256)) * 400), {"text", "binary"}),
    "two-ends": (
        Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n"),
        {"protocol"},
    ),
    "nothing": (document(b""), {"not_a_feed", "empty"}),
}


def hostile_world(world: World) -> list[str]:
    """The good feeds and the bad, shuffled together."""
    urls = []
    for number in range(4):
        site = world.origin.site(f"good-{number}.test")
        # One of the good servers closes each connection that it has promised to keep.
        closes = {"cut_bytes": 1 << 20} if number == 0 else {}
        site.serve("/page", replace(good_page(f"good{number}"), **closes))
        urls.append(site.serve("/feed", replace(feed([entry(site, f"good{number}", site.url("/page"))]), **closes)))
    for number, (name, (answer, _)) in enumerate(HOSTILE.items()):
        urls.insert(1 + 2 * number, world.origin.site(f"{name}.test").serve("/feed", answer))
    return urls


def recovering(world: World) -> str:
    """A feed that is an error page first, with the validator that it has when it is well again."""
    site = world.origin.site("ill.test")
    site.serve("/page", good_page("ill"))
    well = document(atom([entry(site, "ill", site.url("/page"))]), content_type="application/atom+xml", etag='"1"')
    return site.serve("/feed", document("<html>", etag='"1"', content_type="text/html"), well)


def test_hostile_feeds_harm_no_other_feed(tmp_path: Path) -> None:
    with world_in(tmp_path, **LIMITS) as world:
        ill = recovering(world)
        world.crawl("all", world.feeds_file("\n".join([ill, *hostile_world(world)])))
        world.crawl("later", f"feeds={ill}", "now=1")
        world.crawl("again", f"feeds={ill}", "now=1")
        with world.client() as client:
            registry = Registry(client)
            journals = {feed.subscription.url.split("/")[2].split(":")[0]: feed.id for feed in registry.all()}
            lines = {host: registry.journal(feed_id)[0] for host, feed_id in journals.items()}
            for number in range(4):
                assert lines[f"good-{number}.test"]["result"] == "fetched"
                assert article(client, world.origin.sites[f"good-{number}.test"].url("/page"))["status"] == "success"
            results = {name: lines[f"{name}.test"]["result"] for name in HOSTILE}
            wrong = {
                name: (result, HOSTILE[name][1]) for name, result in results.items() if result not in HOSTILE[name][1]
            }
            assert not wrong
            assert all(lines[f"{name}.test"]["next_at"] for name in HOSTILE)
            assert (
                sum(event["title"].startswith("About") for event in events(client, "new_entry") if event["title"]) == 5
            )
            requests = world.origin.ledger.of("ill.test", "/feed")
            # The page's validator is not sent when the feed is well again; the feed's own is.
            assert [request.header("If-None-Match") for request in requests] == [None, None, '"1"']
            assert article(client, world.origin.sites["ill.test"].url("/page"))["status"] == "success"


def test_a_body_that_is_no_page_is_no_article_whatever_its_content_type(tmp_path: Path) -> None:
    """By its bytes, whatever its type says; a page with a slip in it stays one."""
    noise = random.Random(1).randbytes(4000)
    bodies = {
        "pdf": b"%PDF-1.4\n" + b"% A report of many words that stand in the clear.\n" * 60,
        "zip": b"PK\x03\x04\x14\x00" + noise,
        "image": b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + noise,
        "noise": noise,
    }
    with world_in(tmp_path) as world:
        site = world.origin.site("site.test")
        for name, body in bodies.items():
            site.serve(f"/{name}", html(body))
        slip = good_page("slip")
        site.serve("/slip", replace(slip, body=slip.body.replace(b"<p>", b"<p>\x00", 1)))
        names = [*bodies, "slip"]
        world.crawl("all", "feeds=" + site.serve("/feed", feed([entry(site, name, summary="") for name in names])))
        with world.client() as client:
            found = {name: article(client, site.url(f"/{name}")) for name in names}
            assert {name: found[name]["failure"] for name in bodies} == dict.fromkeys(bodies, "FAIL_BAD_HTML")
            letters = [json.loads(text) for text in client.lrange("page_fetcher_dlq", 0, -1)]
            assert {letter["reason"] for letter in letters} == {"unsupported_type"}
            assert found["slip"]["status"] == "success"


def test_a_page_in_a_codec_that_is_no_encoding_of_text_is_read(tmp_path: Path) -> None:
    """Declared by HTTP or by the page: no traceback, exit status 0, and no codec that is quadratic in its input."""
    labels = ["punycode", "idna", "undefined", "rot13", "unicode_escape", "utf-7", "nonsense"]
    with world_in(tmp_path) as world:
        site = world.origin.site("site.test")
        for label in labels:
            for place, content_type in (("http", f"text/html; charset={label}"), ("meta", "text/html")):
                page = f"<!DOCTYPE html><meta charset={label}>".encode() + good_page(f"{place} {label}").body
                page += b"-" + b"a" * 900_000  # what follows the last hyphen is what punycode inserts, one by one
                site.serve(f"/{place}-{label}", document(page, content_type=content_type))
        names = [f"{place}-{label}" for label in labels for place in ("http", "meta")]
        world.crawl("all", "feeds=" + site.serve("/feed", feed([entry(site, name, summary="") for name in names])))
        with world.client() as client:
            found = {name: article(client, site.url(f"/{name}"))["status"] for name in names}
            assert found == dict.fromkeys(names, "success")
