"""The main job as a user runs it: `scrapy crawl feeds` in processes of its own, against sites of a web of our own.

One story is told once, run by run; each test reads one thing from what the runs left behind. What must stand alone
(hostile feeds, signals, several workers) has runs of its own.
"""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import FIRST_DAY, atom, page, paragraphs, prose
from origin import CODINGS, Origin, document, failure, hanging, html, redirect
from warcio.archiveiterator import ArchiveIterator
from world import DELAY_SEC, World, article, entry, events, feed, good_page, world_in

from feedcrawl.domain.urls import canonicalize, url_uid
from feedcrawl.store.disk.raw_index import RawIndex
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.subscriptions.registry import Registry

DAY_SEC = 86_400
CODES = ("gzip", "br", "deflate", "zstd")
ODD_ETAG = 'W/"a;\\"b\' =\xe9\xff"'
ODD_DATE = "Mon, 02 Mar 2026 08:00:00 +0000 (about)"
CACHE_BYTES = 16_000
OLD_UID = "0123456789abcdef"


def frontier(client: redis.Redis) -> Frontier:
    return Shard(client, FrontierPolicy())


def feeds_of(client: redis.Redis) -> dict[str, str]:
    """Feed ids by the path of their URL."""
    return {feed.subscription.url.partition("/feed")[2]: feed.id for feed in Registry(client).all()}


# --- the story ------------------------------------------------------------------------------------------------------


def news(origin: Origin) -> str:
    """Pages in every content coding; the first poll shows four entries, the third and later ones five, one edited."""
    site = origin.site("news.test")
    for number, coding in enumerate(CODES):
        site.serve(f"/n{number}", good_page(f"n{number}", codings=coding, etag=f'"page-{number}"'))
    edited = html(page("About n1", paragraphs("n1 edited", count=4)), etag='"page-1-edited"')
    site.serve("/n1", good_page("n1", codings="br", etag='"page-1"'), edited)
    site.serve("/n4", good_page("n4"))
    first = [entry(site, f"n{number}", hour=number) for number in range(4)]
    later = [entry(site, "n4", hour=9), *first]
    later[2:4] = [entry(site, "n1", hour=1, summary="Now longer."), entry(site, "n2", hour=2, summary="Now longer.")]
    odd = {"etag": ODD_ETAG, "modified": ODD_DATE, "codings": "gzip"}
    answers = [feed(first, **odd), feed(first, **odd), feed(later, 2)]
    return site.serve("/feed/news", *answers)


def local(origin: Origin) -> str:
    """A feed of another category that names a page of the first."""
    site = origin.site("news.test")
    site.serve("/l0", good_page("l0"))
    entries = [entry(site, "l0"), entry(site, "n0"), entry(site, "n3")]
    entries.append(entry(site, "amp", origin.site("amp.vary.test").url("/story")))  # known under another URL
    return site.serve("/feed/local", document(atom(entries), content_type="application/atom+xml", modified=ODD_DATE))


def varied(origin: Origin) -> str:
    """One story under seven URLs on four hosts, and redirects of every kind."""
    site, short = origin.site("www.vary.test"), origin.site("short.test")
    story = html(page("The story", paragraphs("story"), canonical=site.url("/story")))
    site.serve("/story", story)
    site.serve("/print", story)
    links = [site.url("/story"), site.url("/story/?utm_source=rss"), site.url("/print"), site.url("/story#top")]
    for name in ("amp", "m"):
        links.append(origin.site(f"{name}.vary.test").serve("/story", story))
    links.append(short.serve("/s", redirect(site.url("/story"), 302)))
    site.serve("/chain", redirect("/chain/2"))
    site.serve("/chain/2", redirect(site.url("/chain/3"), 307))
    site.serve("/chain/3", good_page("chain"))
    site.serve("/loop", redirect(site.url("/loop")))
    guarded = origin.site("guarded.test")
    guarded.serve("/robots.txt", document("User-agent: *\nDisallow: /private\n", content_type="text/plain"))
    guarded.serve("/private/page", good_page("private"))
    short.serve("/g", redirect(guarded.url("/private/page")))
    links += [site.url("/chain"), site.url("/loop"), short.url("/g"), guarded.url("/private/other")]
    return site.serve("/feed/varied", feed([entry(site, f"v{n}", link) for n, link in enumerate(links)]))


def failing(origin: Origin) -> str:
    """Pages that end in each of the failure codes. What fails for a time has a host of its own."""
    site = origin.site("bad.test")
    pdf = document(b"%PDF-" + b"x" * 400_000, content_type="application/pdf", piece_bytes=4096, drip_sec=0.01)
    empty = (
        f"<html><head><title>Empty</title><script>{'x=1;' * 100}</script></head><body><div id=app></div></body></html>"
    )
    answers = {
        "gone": failure(410),
        "missing": failure(404),
        "forbidden": failure(403),
        "small": html("<p>Too little.</p>"),
        "pdf": pdf,
        "heavy": html(
            "<html><body>" + "".join(f"<div><p>{prose(n % 50, 9)}<a href=/{n}>x</a></div>" for n in range(35_000))
        ),
    }
    links = [site.serve(f"/{name}", answer) for name, answer in answers.items()]
    links.append(origin.site("broken.test").serve("/broken", failure(500)))
    links.append(origin.site("slow.test").serve("/slow", hanging()))
    links.append(origin.site("cut.test").serve("/cut", good_page("cut", cut_bytes=500)))
    links.append(origin.site("cut2.test").serve("/cut", good_page("cut2", chunked=True, cut_bytes=500)))
    entries = [entry(site, f"f{n}", link) for n, link in enumerate(links)]
    silent = entry(site, "empty", site.serve("/empty", html(empty)), summary="")  # a feed's words would stand in
    return site.serve("/feed/failing", feed([*entries, silent]))


def moved(origin: Origin) -> str:
    """A feed that is elsewhere for now: its address stays what was subscribed to."""
    there = origin.site("there.test")
    there.serve("/m0", good_page("m0"))
    target = there.serve("/feed/target", feed([entry(there, "m0")]))
    return origin.site("moved.test").serve("/feed/moved", redirect(target, 302))


def fading(origin: Origin) -> str:
    """An article that expires, and is named again under another URL."""
    site = origin.site("fade.test")
    site.serve("/copy", html(page("Kept", paragraphs("kept"), canonical=site.url("/kept"))))
    site.serve("/kept", html(page("Kept", paragraphs("kept longer"))))
    first = [entry(site, "copy")]
    again = feed([entry(site, "kept"), *first], 2)
    return site.serve("/feed/fading", feed(first), feed(first), again)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Four runs: everything is new; nothing has changed; entries are new and edited; nothing is due."""
    limits = {"FEEDCRAWL_PAGE_CACHE_MAX_BYTES": str(CACHE_BYTES), "FEEDCRAWL_PARSER_CPU_SEC": "1"}
    limits["FEEDCRAWL_ARTICLE_TIMEOUT_SEC"] = "3"  # the heavy page arrives within this on a busy machine, too
    with world_in(tmp_path_factory.mktemp("story"), **limits) as world:
        with world.client() as client:
            client.sadd("rss:canonical_attempted", OLD_UID)
            client.zadd("rss:canonical_attempted:at", {OLD_UID: time.time() - 31 * DAY_SEC})
        feeds = [
            news(world.origin),
            local(world.origin),
            varied(world.origin),
            failing(world.origin),
            moved(world.origin),
            fading(world.origin),
        ]
        labels = ("world", "local", "varied", "bad", "moved", "fading")
        lines = "".join(f"{url} {label}\n" for url, label in zip(feeds, labels, strict=True))
        world.crawl("first", world.feeds_file(lines))
        world.crawl("second", "now=1")
        with world.client() as client:
            client.delete(f"rss:article_canonical:{url_uid(world.origin.sites['fade.test'].url('/kept'))}")
        world.crawl("third", "now=1")
        world.crawl("idle")
        yield world


@pytest.fixture
def client(story: World) -> Iterator[redis.Redis]:
    with story.client() as client:
        yield client


def test_the_first_poll_stores_entries_and_articles(story: World, client: redis.Redis) -> None:
    site = story.origin.sites["news.test"]
    for number in range(4):
        url = site.url(f"/n{number}")
        stored = article(client, url)
        assert (stored["status"], stored["url"], stored["canonical_url"]) == ("success", url, url)
        assert stored["title"] == f"About n{number}"
        assert hashlib.sha256(stored["clean_text"].encode()).hexdigest() == stored["content_hash"]
        assert len(stored["clean_text"]) == int(stored["text_len"]) > 500
        assert json.loads(stored["authors"]) == ["Ada Writer"]
        assert stored["entry_uid"] == f"id-n{number}"
        assert client.zscore("rss:article_canonical_index", url_uid(url)) == float(stored["fetched_ts"])
        assert client.sismember("rss:canonical_attempted", url_uid(url))
    by_uid = {line["entry_uid"]: line for line in story.lines("entries")}
    assert {f"id-n{number}" for number in range(5)} <= set(by_uid)
    assert by_uid["id-n0"]["article_uid"] == url_uid(site.url("/n0"))
    assert by_uid["id-n0"]["feed_url"] in {site.url("/feed/news"), site.url("/feed/local")}


def test_keys_live_as_long_as_promised(story: World, client: redis.Redis) -> None:
    uid = url_uid(story.origin.sites["news.test"].url("/n0"))
    promised = {
        f"rss:article_canonical:{uid}": 7 * DAY_SEC,
        "rss:articles_by_category:world": 7 * DAY_SEC,
        "rss:category_links:world": 2 * DAY_SEC,
        "rss:canonical_attempted": 30 * DAY_SEC,
        f"robots:news.test:{story.origin.server.port}": DAY_SEC,
    }
    for key, life in promised.items():
        assert life - 120 < client.ttl(key) <= life, key
    lasting = ("rss:article_canonical_index", "rss:canonical_failures", "page_fetcher_dlq")
    assert [client.ttl(key) for key in lasting] == [-1] * 3
    others = [key for key in client.scan_iter() if not re.match(r"rss:|fc:\{0\}:|webpage:|robots:", key)]
    assert set(others) == {"page_fetcher_dlq", "feedcrawl:events", "feedcrawl:events:counts"}


def test_a_page_of_two_feeds_is_in_both_categories(story: World, client: redis.Redis) -> None:
    site = story.origin.sites["news.test"]
    shared = {url_uid(site.url("/n0")), url_uid(site.url("/n3"))}
    assert shared <= client.smembers("rss:articles_by_category:world")
    story_uid = url_uid(story.origin.sites["www.vary.test"].url("/story"))
    assert client.smembers("rss:articles_by_category:local") == shared | {url_uid(site.url("/l0")), story_uid}
    named = {site.url(path) for path in ("/l0", "/n0", "/n3")} | {story.origin.sites["amp.vary.test"].url("/story")}
    assert client.smembers("rss:category_links:local") == named
    assert [story.paths("first", site.name).count(f"/n{number}") for number in range(4)] == [1] * 4


def test_events_tell_each_thing_once(story: World, client: redis.Redis) -> None:
    ids = [fields["id"] for _, fields in client.xrange("feedcrawl:events")]
    assert [name for name, times in Counter(ids).items() if times > 1] == []
    assert all(fields["id"].startswith(f"{fields['type']}:") for _, fields in client.xrange("feedcrawl:events"))
    known = Counter(event["entry_uid"] for event in events(client, "new_entry"))
    assert (known["id-n0"], known["id-n4"], known["id-v0"]) == (2, 1, 1)  # n0 is in two feeds
    ready = {event["uid"]: event for event in events(client, "article_ready")}
    for line in story.lines("articles"):
        assert line["uid"] in ready
    uid = url_uid(story.origin.sites["news.test"].url("/n3"))
    assert ready[uid]["title"] == "About n3"
    assert ready[uid]["text_len"] > 500


def test_lines_equal_hashes(story: World, client: redis.Redis) -> None:
    last = {line["uid"]: line for line in story.lines("articles")}
    stored = {key.rpartition(":")[2] for key in client.scan_iter("rss:article_canonical:*")}
    assert set(last) == {uid for uid in stored if client.hget(f"rss:article_canonical:{uid}", "status") == "success"}
    for uid, line in last.items():
        values = {**line, "authors": json.dumps(line["authors"]), "categories": json.dumps(line["categories"])}
        values = {name: "" if value is None else str(value) for name, value in values.items() if name != "type"}
        stored_fields = client.hgetall(f"rss:article_canonical:{uid}")
        assert stored_fields == values


def test_every_exchange_is_archived_as_received(story: World) -> None:
    index = {ref.fetch_id: ref for ref in RawIndex(story.data / "raw").refs()}
    records = list(warc_records(story.data / "raw"))
    responses = {record["id"]: record for record in records if record["type"] in ("response", "revisit")}
    assert set(responses) == set(index)
    assert sum(record["type"] == "request" for record in records) == len(responses)
    site = story.origin.sites["news.test"]
    for number, coding in enumerate(CODES):
        bodies = [r for r in responses.values() if r["url"] == site.url(f"/n{number}") and r["type"] == "response"]
        plain = page(f"About n{number}", paragraphs(f"n{number}", count=4), published=FIRST_DAY).encode()
        assert bodies[0]["body"] == CODINGS[coding](plain)
        assert bodies[0]["digest"] == f"sha256:{hashlib.sha256(bodies[0]['body']).hexdigest()}"
    assert {ref.host for ref in index.values()} >= {"news.test", "www.vary.test", "short.test", "bad.test"}
    requests = [
        request for request in story.origin.ledger.of() if request.status is not None and request.method == "GET"
    ]
    assert len(requests) == len(index)  # those that brought an answer; robots.txt is in `robots:*`


def warc_records(directory: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(directory.glob("*/*.warc.gz")):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                headers = record.rec_headers
                yield {
                    "type": record.rec_type,
                    "id": (headers.get_header("WARC-Record-ID") or "")[10:-1],
                    "url": headers.get_header("WARC-Target-URI"),
                    "digest": headers.get_header("WARC-Payload-Digest"),
                    "truncated": headers.get_header("WARC-Truncated"),
                    "body": record.raw_stream.read(),
                }


def test_an_unchanged_feed_costs_a_single_conditional_request(story: World) -> None:
    requests = [request for request in story.requests["second"] if request.status != 302]
    names = ["fading", "failing", "local", "news", "target", "varied"]
    assert sorted(request.path for request in requests) == [f"/feed/{name}" for name in names]
    assert {request.status for request in requests} == {304}
    sent = {request.path: request for request in requests}
    assert sent["/feed/news"].header("If-None-Match") == ODD_ETAG
    assert sent["/feed/news"].header("If-Modified-Since") == ODD_DATE
    assert sent["/feed/local"].header("If-None-Match") is None
    assert sent["/feed/local"].header("If-Modified-Since") == ODD_DATE
    assert len(story.logged("second", "feed_polled")) == 6


def test_only_new_and_edited_articles_are_fetched(story: World, client: redis.Redis) -> None:
    site = story.origin.sites["news.test"]
    requests = {request.path: request for request in story.requests["third"] if request.host == site.name}
    assert set(requests) - {"/robots.txt"} == {"/feed/news", "/feed/local", "/n4", "/n1", "/n2"}
    assert requests["/n4"].header("If-None-Match") is None
    assert (requests["/n1"].header("If-None-Match"), requests["/n1"].status) == ('"page-1"', 200)
    assert (requests["/n2"].header("If-None-Match"), requests["/n2"].status) == ('"page-2"', 304)
    assert [event["uid"] for event in events(client, "article_updated")] == [url_uid(site.url("/n1"))]
    assert sorted(event["entry_uid"] for event in events(client, "entry_updated")) == ["id-n1", "id-n2"]
    assert prose("n1 edited/0", 60)[:40] in article(client, site.url("/n1"))["clean_text"]
    revisions = {line["entry_uid"]: line["revision"] for line in story.lines("entries") if "/news" in line["feed_url"]}
    assert (revisions["id-n1"], revisions["id-n0"], revisions["id-n4"]) == (2, 1, 1)


def test_a_run_without_due_tasks_ends_at_once(story: World) -> None:
    assert story.requests["idle"] == []
    assert "Spider closed (finished)" in story.runs["idle"].err


def test_variants_of_a_url_are_a_single_article(story: World, client: redis.Redis) -> None:
    site = story.origin.sites["www.vary.test"]
    uid = url_uid(site.url("/story"))
    members = client.smembers("rss:articles_by_category:varied")
    assert members == {uid, url_uid(site.url("/chain/3"))}
    stored = article(client, site.url("/story"))
    assert (stored["status"], stored["canonical_url"], stored["title"]) == ("success", site.url("/story"), "The story")
    assert sum(line["uid"] == uid for line in story.lines("articles")) == 1
    sightings = client.smembers(f"fc:{{0}}:sightings:{uid}") | {stored["url"]}
    elsewhere = [story.origin.sites[f"{name}.vary.test"].url("/story") for name in ("amp", "m")]
    others = {site.url("/print"), *elsewhere, story.origin.sites["short.test"].url("/s")}
    assert others <= sightings
    merged = {event["uid"]: event["winner"] for event in events(client, "article_merged")}
    assert {url_uid(url): uid for url in others}.items() <= merged.items()
    assert all(client.sismember("rss:canonical_attempted", url_uid(url)) for url in others)
    assert len(story.origin.ledger.of(site.name, "/story")) <= 3


def test_an_article_that_has_expired_is_written_anew(story: World, client: redis.Redis) -> None:
    site = story.origin.sites["fade.test"]
    uid = url_uid(site.url("/kept"))
    assert [line["url"] for line in story.lines("articles") if line["uid"] == uid] == [
        site.url("/copy"),
        site.url("/kept"),
    ]
    assert article(client, site.url("/kept"))["url"] == site.url("/kept")
    assert client.get(f"fc:{{0}}:claim:{uid}") == uid


def test_redirects_are_followed_and_judged_by_their_target(story: World, client: redis.Redis) -> None:
    site, short = story.origin.sites["www.vary.test"], story.origin.sites["short.test"]
    stored = article(client, site.url("/chain/3"))
    assert (stored["url"], stored["final_url"]) == (site.url("/chain"), site.url("/chain/3"))
    assert [story.paths("first", site.name).count(path) for path in ("/chain", "/chain/2", "/chain/3")] == [1] * 3
    assert failure_of(client, site.url("/loop")) == ("FAIL_HTTP", "redirect_loop")
    blocked = failure_of(client, short.url("/g"))
    assert blocked == ("FAIL_HTTP", "robots_blocked")
    assert article(client, short.url("/g"))["url"] == short.url("/g")
    assert failure_of(client, story.origin.sites["guarded.test"].url("/private/other")) == blocked
    assert story.paths("first", "guarded.test") == ["/robots.txt"]


def test_a_feed_with_a_temporary_redirect_keeps_its_url(story: World, client: redis.Redis) -> None:
    for run in ("first", "second", "third"):
        assert story.paths(run, "moved.test") == ["/feed/moved"]
        assert [path for path in story.paths(run, "there.test") if "feed" in path] == ["/feed/target"]
    task = frontier(client).find(f"feed:{feeds_of(client)['/moved']}")
    assert task is not None
    assert (task[0].url, task[0].host) == (story.origin.sites["moved.test"].url("/feed/moved"), "moved.test")
    assert task[0].payload.get("redirect_chain") is None


def failure_of(client: redis.Redis, url: str) -> tuple[str, str]:
    found = article(client, url)
    assert found["status"] == "failure"
    assert client.zscore("rss:canonical_failures", f"{url_uid(url)}:{found['failure']}") is not None
    assert not client.zscore("rss:article_canonical_index", url_uid(url))
    return found["failure"], found["failure_reason"]


def test_each_host_gets_a_single_request_at_a_time_in_its_pace(story: World) -> None:
    ledger = story.origin.ledger
    for host in ledger.hosts() - {"slow.test"}:  # which does not notice that nobody waits any more
        assert ledger.max_open(host) == 1, host
        early = [gap for gap in ledger.gaps(host) if gap < DELAY_SEC * 0.8]
        assert not early, (host, early)


@pytest.mark.parametrize(
    ("url", "code", "reason", "attempts", "letter"),
    [
        ("bad.test/missing", "FAIL_HTTP", "http_404", 1, True),
        ("bad.test/gone", "FAIL_HTTP", "http_410", 1, True),
        ("bad.test/forbidden", "FAIL_HTTP", "http_403", 1, True),
        ("broken.test/broken", "FAIL_HTTP", "http_500", 4, True),
        ("slow.test/slow", "FAIL_TIMEOUT", "total_timeout", 4, True),
        ("cut.test/cut", "FAIL_HTTP", "truncated", 4, True),
        ("cut2.test/cut", "FAIL_HTTP", "truncated", 4, True),
        ("bad.test/small", "FAIL_BAD_HTML", "too_short", 1, True),
        ("bad.test/pdf", "FAIL_BAD_HTML", "unsupported_type", 1, True),
        ("bad.test/heavy", "FAIL_PARSE", "parse_failed|parse_timeout", 1, True),
        ("bad.test/empty", "FAIL_EMPTY", "empty", 1, True),
        ("guarded.test/private/other", "FAIL_HTTP", "robots_blocked", 0, False),
    ],
)
def test_failures_have_a_code_and_a_reason(
    story: World, client: redis.Redis, url: str, code: str, reason: str, attempts: int, letter: bool
) -> None:
    host, _, path = url.partition("/")
    url = story.origin.sites[host].url(f"/{path}")
    found = failure_of(client, url)
    assert found[0] == code
    assert re.fullmatch(reason, found[1])  # a page too heavy fails by whichever limit it meets first
    reason = found[1]
    assert len(story.origin.ledger.of(host, f"/{path}")) == attempts
    letters = [each for each in map(json.loads, client.lrange("page_fetcher_dlq", 0, -1)) if each["url"] == url]
    assert [(each["uid"], each["reason"]) for each in letters] == ([(url_uid(url), reason)] if letter else [])
    announced = [each for each in events(client, "article_failed") if each["uid"] == url_uid(url)]
    assert [(each["failure"], each["failure_reason"]) for each in announced] == [(code, reason)]
    assert client.sismember("rss:canonical_attempted", url_uid(url))
    task = frontier(client).find(url_uid(url))
    assert task is not None
    assert (task[1].status, task[1].reason) == ("dead", reason)


def test_a_body_that_is_no_page_is_not_downloaded_whole(story: World) -> None:
    url = story.origin.sites["bad.test"].url("/pdf")
    found = [each for each in warc_records(story.data / "raw") if (each["url"], each["type"]) == (url, "response")]
    assert [each["truncated"] for each in found] == ["unspecified"]
    assert len(found[0]["body"]) < 100_000


def test_a_truncated_body_is_archived_as_such_and_not_stored(story: World) -> None:
    for host in ("cut.test", "cut2.test"):
        url = story.origin.sites[host].url("/cut")
        records = [record for record in warc_records(story.data / "raw") if record["url"] == url]
        responses = [record for record in records if record["type"] == "response"]
        assert [record["truncated"] for record in responses] == ["disconnect"] * 4
        assert "clean_text" not in (article_of(story, url) or {})


def article_of(story: World, url: str) -> dict[str, Any] | None:
    return next((line for line in story.lines("articles") if line["uid"] == url_uid(url)), None)


def test_cached_pages_keep_within_their_limit(story: World, client: redis.Redis) -> None:
    cached = {
        key: client.get(key) for key in client.scan_iter("webpage:*") if re.fullmatch("webpage:[0-9a-f]{64}", key)
    }
    sizes = {key: len((text or "").encode()) for key, text in cached.items()}
    assert 0 < sum(sizes.values()) <= CACHE_BYTES
    assert int(client.get("webpage:bytes") or 0) == sum(sizes.values())
    fetched = {event["cache_key"]: event for event in events(client, "webpage_fetched")}
    assert set(cached) <= set(fetched)
    for key, text in cached.items():
        assert 0 < client.ttl(key) <= 3600
        assert key == f"webpage:{hashlib.sha256(fetched[key]['url'].encode()).hexdigest()}"
        assert fetched[key]["content_hash"] == hashlib.sha256((text or "").encode()).hexdigest()


def test_old_attempts_are_forgotten(client: redis.Redis) -> None:
    assert not client.sismember("rss:canonical_attempted", OLD_UID)
    assert client.zscore("rss:canonical_attempted:at", OLD_UID) is None
    assert client.scard("rss:canonical_attempted") == client.zcard("rss:canonical_attempted:at")


def test_the_journal_tells_every_poll(story: World, client: redis.Redis) -> None:
    registry = Registry(client)
    journal = registry.journal(feeds_of(client)["/news"])
    assert [line["result"] for line in journal] == ["fetched", "not_modified", "fetched"]
    assert [line.get("new", 0) for line in journal] == [1, 0, 4]
    assert journal[0]["changed"] == 2
    assert all(line["next_at"] > line["at"] for line in journal)
    assert frontier(client).counts()["leased"] == 0


def test_every_article_belongs_to_its_canonical_url(story: World, client: redis.Redis) -> None:
    for line in story.lines("articles"):
        assert line["uid"] == hashlib.sha1(line["canonical_url"].encode()).hexdigest()[:16]
        assert canonicalize(line["canonical_url"]) == line["canonical_url"]
