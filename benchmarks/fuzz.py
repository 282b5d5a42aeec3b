"""Made-up input for everything that reads a stranger's bytes, with a budget of processor time for each input.

    python benchmarks/fuzz.py [--seconds 600] [--seed 1] [--only robots,lists]

Inputs are made of the words of their format: put together at random, cut, spliced, and repeated many times, which is
what shows a cost that grows faster than the input. What runs in the event loop of a worker has 0.25 s; what runs in a
parsing process, whose limit is FEEDCRAWL_PARSER_CPU_SEC, has 5 s. Printed for each target: inputs, the slowest in
seconds of processor time with its length, and inputs beyond the budget. Those, and whatever raises anything but a
Refusal, are written to `fuzz-found/`, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import random
import sys
import time
import traceback
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import brotli

from feedcrawl.domain import discovery, feeds, robots, sitemaps
from feedcrawl.domain.dates import parse_date
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.extraction import read_article
from feedcrawl.domain.http import codings, encodings, hints
from feedcrawl.domain.http.redirects import next_hop
from feedcrawl.domain.push.protocol import topic_of
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.domain.urls import canonicalize

if TYPE_CHECKING:
    from collections.abc import Callable

LOOP_SEC, CHILD_SEC, HANG_SEC = 0.25, 5.0, 120.0
LONGEST = 512 << 10
URL = "http://site.test/a/page"
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def _words(text: str) -> list[str]:
    """The words of a text; `~` in a word stands for a space."""
    return [word.replace("~", " ") for word in text.replace("\n", " ").split(" ") if word]


MARKUP = [
    *_words("""< > </ /> <!-- --> <![CDATA[ ]]> <? ?> <!DOCTYPE <!ENTITY & &amp; &#x0; &#65; &lt; " ' = / : [ ] ( ) { }
    ; <a~href=" <p> <div> <div~class="comment"> <span> <b> <table><tr><td> <script> <style> <svg>
    <title> <meta~charset= <br> http://site.test/ javascript: data: by~ Von~ 2026-03-02 12:00 March | words~and <td>
    <img~src=/a.jpg> <input> <math> <li> <h2> <blockquote> <figure> <article> <a~href=/x>A~story</a> <time> By~Ann~Lee
    <p~class="article-body"~id="video"> <link~rel=alternate~href=/f> <meta~name=author~content=Ann>
    <script~type="application/ld+json">{"@type":"Article","author":{"@id":"#1"},"headline":"x"}</script>"""),
    " ", "\n", "\u2014", "\x00", "\x1b$", "\xff", "\xe9", "\u65e5", "\u202e",
]  # fmt: skip
FEED = [
    *_words("""<rss~version="2.0"> <feed~xmlns="http://www.w3.org/2005/Atom"> <channel> <item> <entry> </item> </entry>
    <title> <link> <link~href="/x"~rel="alternate"/> <guid> <id> <pubDate> <updated> <author> <dc:creator> <summary>
    <content:encoded> <category> <enclosure~url="/x"/> a@b.example (name) Mon,~02~Mar~2026~08:00:00~GMT utf-16 "?>
    <?xml~version="1.0"~encoding="
    {"version":"https://jsonfeed.org/version/1.1","items":[ {"id":"1","content_html":" "}, ]}"""),
    *MARKUP,
]  # fmt: skip
SITEMAP = _words("""<?xml~version="1.0"?> <urlset> <sitemapindex> <url> </url> <loc> </loc> <lastmod> <news:news>
    <news:title> <image:image> http://site.test/1 2026-03-02 & &nbsp; <![CDATA[ ]]> < ~""")
ROBOTS = [*_words("User-agent: feedcrawl Disallow: Allow: / * $ a % %41 \xc3 # Crawl-delay: 1e9 Sitemap: http://site.test/"),
          " ", "\n", "\r", "\x0b"]  # fmt: skip
LISTS = [*_words("""<opml> <body> <outline~xmlUrl="http://a.test/" "/> </outline> url,title , " # [ {"url": } ] ;"""),
         " ", "\n", "\t", "http://a.test/"]  # fmt: skip
LINKS = [
    *_words(
        """<http://a.test/> ; rel= "hub" hub , " \\ self < > = max-age= no-cache 1 0 Mon,~02~Mar~2026 08:00:00 GMT :"""
    ),
    " ",
]
URLS = [
    *_words("http:// https:// // / .. . ? & = # % %2e @ : [ ] xn-- \u00fc a com utm_source= ; \\ 1 :80"),
    " ",
    "\t",
    "\x00",
]
LABELS = ["punycode", "idna", "undefined", "utf-7", "rot13", "shift_jis", "hz", "iso-2022-jp", "gb18030", "utf-16", ""]


@dataclass(frozen=True)
class Target:
    """What is fed (`read`), with which words, and the seconds that one input may take."""

    read: Callable[[bytes, random.Random], Any]
    words: list[str]
    budget_sec: float = CHILD_SEC
    longest: int = LONGEST


def _packed(body: bytes, chance: random.Random) -> Any:
    """A body under content codings, damaged at times."""
    coding = chance.choice(["gzip", "deflate", "br", "zstd"])
    packers: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": partial(brotli.compress, quality=1),
        "zstd": partial(brotli.compress, quality=1),  # a wrong declaration
    }
    packed = packers[coding](body)
    damaged = bytearray(packed * chance.choice([1, 1, 50]))
    for _ in range(chance.choice([0, 0, 3])):
        damaged[chance.randrange(len(damaged))] = chance.randrange(256)
    codings.gunzip(bytes(damaged), limit_bytes=5 << 20)
    codings.head(bytes(damaged), [coding], limit_bytes=512 << 10)
    return codings.decode(bytes(damaged), [coding], limit_bytes=5 << 20)


def _allowed(body: bytes, chance: random.Random) -> None:
    rules = robots.parse(body)
    rules.crawl_delay("feedcrawl")
    path = _made(ROBOTS, chance, 4096).decode("utf-8", "replace")
    began = time.process_time()
    rules.allowed("http://site.test/" + path, "feedcrawl")
    if (took := time.process_time() - began) > LOOP_SEC:
        raise AssertionError(f"matching took {took:.2f} s")


def _headers(body: bytes, _: random.Random) -> None:
    text = body.decode("latin-1")
    topic_of([text], (), None, url=URL)
    hints.max_age_sec({"Cache-Control": text, "Expires": text, "Date": text})
    hints.retry_after_sec(text, now=NOW)
    codings.names([body])
    encodings.names_no_text(body, text)
    parse_date(text[:300])


def _urls(body: bytes, _: random.Random) -> None:
    text = body.decode("utf-8", "replace")
    next_hop((URL,), 301, body, limit=5)
    canonicalize(text, base=URL)


TARGETS = {
    "codings": Target(_packed, MARKUP),
    "encodings": Target(
        lambda body, chance: encodings.decode_page(body, f"text/html; charset={chance.choice(LABELS)}"), MARKUP
    ),
    "robots": Target(_allowed, ROBOTS, 2.0),
    "lists": Target(lambda body, _: read_list(body), LISTS),
    "feeds": Target(lambda body, _: feeds.parse(body, url=URL, content_type="text/xml"), FEED + MARKUP),
    "sitemaps": Target(lambda body, _: sitemaps.parse(body, url=URL), SITEMAP),
    "extraction": Target(
        lambda body, _: read_article(body, "text/html", min_chars=0, url=URL), MARKUP, CHILD_SEC, 200_000
    ),
    "discovery": Target(
        lambda body, _: (discovery.find_feeds(body, url=URL), discovery.feed_like_links(body, url=URL)), MARKUP
    ),
    "headers": Target(_headers, LINKS, LOOP_SEC, 64 << 10),
    "urls": Target(_urls, URLS, LOOP_SEC, 64 << 10),
}


def _made(words: list[str], chance: random.Random, longest: int) -> bytes:
    """An input: words at random, some of them, or runs of them, repeated."""
    parts: list[bytes] = []
    for _ in range(chance.choice([1, 3, 8, 30])):
        run = "".join(chance.choice(words) for _ in range(chance.choice([1, 1, 2, 3, 6]))).encode("utf-8", "replace")
        parts.append(
            run * chance.choice([1, 1, 1, 10, 1000, max(1, longest // max(1, len(run)) // chance.choice([1, 2, 10]))])
        )
    body = b"".join(parts)[:longest]
    if chance.random() < 0.2 and body:
        at = chance.randrange(len(body))
        body = body[:at] + chance.randbytes(chance.choice([1, 4, 200])) + body[at:]
    return body


def _keep(name: str, number: int, body: bytes, why: str) -> None:
    folder = Path("fuzz-found")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}-{number}").write_bytes(body)
    print(f"{name} {number}: {len(body)} bytes: {why}", flush=True)


def fuzz(name: str, target: Target, seconds: float, seed: int) -> bool:
    """Feeds one target; False if something was found."""
    chance = random.Random(f"{name} {seed}")
    until, count, over, slowest, length = time.monotonic() + seconds, 0, 0, 0.0, 0
    while time.monotonic() < until:
        body = _made(target.words, chance, target.longest)
        faulthandler.dump_traceback_later(HANG_SEC, exit=True)
        began = time.process_time()
        try:
            target.read(body, chance)
        except Refusal:
            pass
        except Exception:  # noqa: BLE001 - what a fuzzer is for
            over += 1
            _keep(name, count, body, traceback.format_exc(limit=-2))
        took = time.process_time() - began
        if took > slowest:
            slowest, length = took, len(body)
        if took > target.budget_sec:
            over += 1
            _keep(name, count, body, f"{took:.2f} s of processor time, {target.budget_sec:g} are allowed")
        count += 1
    faulthandler.cancel_dump_traceback_later()
    print(f"{name:12} {count:7} inputs, slowest {slowest:.3f} s ({length} bytes), {over} found", flush=True)
    return not over


def main() -> int:
    """Gives each target its share of the time."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--only", default=",".join(TARGETS))
    given = options.parse_args()
    names = given.only.split(",")
    clean = [fuzz(name, TARGETS[name], given.seconds / len(names), given.seed) for name in names]
    return 0 if all(clean) else 1


if __name__ == "__main__":
    sys.exit(main())
