"""Archived pages read again with other rules: reported first, then written, once."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from documents import page, paragraphs
from origin import failure, html
from scrapy_process import Run, run_scrapy
from world import World, article, entry, events, feed, good_page, world_in

from feedcrawl.domain.articles.media import media_id
from feedcrawl.domain.articles.replays import CaptureFilter
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles.tasks import article_task

RULES = """
- name: Paper
  base_url: http://www.paper.test:{port}/
  selectors: {{title: ".kicker", body: "#story"}}
"""
KICKED = "<p class='kicker'>What happened in the harbour</p>"
NOT_FOUND = (
    "<html><head><title>Page not found</title></head><body><h1>Page not found</h1>"
    "<p>Sorry, the page you are looking for does not exist.</p>"
    f"<div id=story>{paragraphs('found', 1, 25)[0]}</div>{'<a href=/x>more</a> ' * 40}</body></html>"
)


@contextlib.contextmanager
def a_crawl(folder: Path) -> Iterator[World]:
    """A crawl without rules: an article that they would name otherwise, one that they do not touch, one that they
    would find where nothing was found, one that is not there.
    """
    with world_in(folder) as world:
        site = world.origin.site("www.paper.test")
        front = page("Paper: front", paragraphs("kicked", 5)).replace("<article>", f"<article>{KICKED}<div id=story>")
        site.serve("/kicked", html(front))
        site.serve("/plain", good_page("plain"))
        site.serve("/found", html(NOT_FOUND))
        site.serve("/gone", failure(404))
        names = ("kicked", "plain", "found", "gone")
        url = site.serve("/feed", feed([entry(site, name, summary="") for name in names]))
        world.crawl("first", world.feeds_file(f"{url} news\n"))
        (world.folder / "sources.yaml").write_text(RULES.format(port=site.url("/").split(":")[2].strip("/")))
        yield world


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """One for all that only look."""
    with a_crawl(tmp_path_factory.mktemp("replay")) as world:
        yield world


@pytest.fixture
def own(tmp_path: Path) -> Iterator[World]:
    with a_crawl(tmp_path) as world:
        yield world


def replay(world: World, *options: str, code: int = 0, rules: bool = True) -> Run:
    sources = {"FEEDCRAWL_SOURCES": str(world.folder / "sources.yaml")} if rules else {}
    run = run_scrapy("replay", *options, data_dir=world.data, env=world.env | sources, timeout_sec=60)
    assert run.code == code, run.err
    return run


def records_of(run: Run) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run.out.splitlines()]


def url(world: World, name: str) -> str:
    return world.origin.sites["www.paper.test"].url(f"/{name}")


def test_a_replay_without_a_change_differs_in_nothing_and_requests_nothing(crawled: World) -> None:
    before = len(crawled.origin.ledger.requests)
    *pages, counts = records_of(replay(crawled, "--json", rules=False))
    assert {each["url"]: each["outcome"] for each in pages} == {
        url(crawled, "kicked"): "same",
        url(crawled, "plain"): "same",
        url(crawled, "found"): "fails_as_before",
    }
    assert counts == {"fails_as_before": 1, "same": 2}
    assert len(crawled.origin.ledger.requests) == before


def test_an_article_of_two_feeds_is_replayed_unchanged(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("www.paper.test")
        site.serve("/told", good_page("told"))
        lists = [entry(site, "told", summary="", hour=hour) for hour in (0, 1)]
        urls = [site.serve(f"/feed{number}", feed([each])) for number, each in enumerate(lists)]
        world.crawl("first", world.feeds_file("".join(f"{url} news\n" for url in urls)))
        *pages, counts = records_of(replay(world, "--json", rules=False))
        assert counts == {"same": 1}, pages


def test_articles_of_incomplete_transfers_are_read_as_the_crawl_read_them(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site, names = world.origin.site("www.paper.test"), ("whole", "zipped", "cut")
        whole, zipped, cut = (page(f"Told {name}", paragraphs(name, 5)).encode() for name in names)
        site.serve("/whole", html(whole, chunked=True, cut_bytes=len(whole)))
        site.serve("/zipped", html(zipped, codings="gzip", cut_bytes=len(gzip.compress(zipped)) - 4))
        site.serve("/cut", html(cut, chunked=True, cut_bytes=len(cut) // 2))
        world.crawl("first", world.feeds_file(site.serve("/feed", feed([entry(site, n, summary="") for n in names]))))
        *pages, _ = records_of(replay(world, "--json", rules=False))
        assert {each["url"]: each["outcome"] for each in pages} == {
            site.url("/whole"): "same",
            site.url("/zipped"): "same",
        }
        why = run_scrapy("why", site.url("/whole"), data_dir=world.data, env=world.env, timeout_sec=60)
        assert why.code == 0, why.err


def test_rules_change_only_the_named_fields_and_replays_are_equal(crawled: World) -> None:
    first, again = replay(crawled, "--json"), replay(crawled, "--json")
    assert first.out == again.out
    *pages, counts = records_of(first)
    by_url = {each["url"]: each for each in pages}
    assert by_url[url(crawled, "kicked")]["changes"]["title"][1] == "What happened in the harbour"
    assert by_url[url(crawled, "kicked")]["changes"]["extractor"][1] == "rules"
    assert by_url[url(crawled, "found")]["outcome"] == "gained"
    assert by_url[url(crawled, "found")]["reason"] == "was FAIL_EMPTY"
    assert (counts["changed"], counts["gained"], counts["same"], counts["changed title"]) == (1, 1, 1, 1)
    assert len(crawled.lines("articles")) == 2  # nothing is written
    shown = replay(crawled).out
    assert '  title: "Paper: front" → "What happened in the harbour"' in shown
    assert url(crawled, "plain") not in shown


def test_conditions(crawled: World) -> None:
    now, everything = datetime.now(UTC), {"kicked", "plain", "found"}
    plain = url(crawled, "plain")
    rows: list[tuple[CaptureFilter, str | None, set[str]]] = [
        (CaptureFilter(host="www.paper.test"), None, everything),
        (CaptureFilter(host="www.other.test"), None, set()),
        (CaptureFilter(url=plain), None, {"plain"}),
        (CaptureFilter(uid=url_uid(plain)), None, {"plain"}),
        (CaptureFilter(since=now - timedelta(1), until=now + timedelta(1)), None, everything),
        (CaptureFilter(since=now + timedelta(1)), None, set()),
        (CaptureFilter(until=now - timedelta(1)), None, set()),
        (CaptureFilter(), "{feed}", everything),
        (CaptureFilter(uid=url_uid(plain)), "{feed}", {"plain"}),
        (CaptureFilter(), "another", set()),
    ]

    async def replayed() -> list[set[str]]:
        with crawled.wired() as wired:
            (feed_id,) = {line["feed_id"] for line in crawled.lines("entries")}
            found = []
            for wanted, feed, _ in rows:
                replay = wired.replay.run(wanted, feed_id=feed and feed.format(feed=feed_id))
                found.append({each.url async for each in replay})
            await wired.parsers.close()
            return found

    names = [{url(crawled, name) for name in expected} for _, _, expected in rows]
    assert asyncio.run(replayed()) == names


def test_a_feed_is_named_by_its_url(crawled: World) -> None:
    *pages, _ = records_of(replay(crawled, "--json", "--feed", url(crawled, "feed"), "--since", "2026-01-01"))
    assert len(pages) == 3


def test_an_unusable_condition_is_refused(crawled: World) -> None:
    assert "'soon' is neither a day" in replay(crawled, "--since", "soon", code=2).err
    assert (
        "no page in the archive of this data directory (raw/) meets the conditions"
        in replay(crawled, "--url", "http://www.paper.test/nothing", code=2).err
    )


def test_a_torn_archive_costs_its_torn_record_alone(crawled: World) -> None:
    (warc,) = (crawled.data / "raw").glob("*/*.warc.gz")
    whole = warc.read_bytes()
    index = [json.loads(line) for line in Path(f"{warc}.index.ndjson").read_text().splitlines()]
    last = max((line for line in index if line["uid"] and line["status"] == 200), key=lambda line: line["offset"])
    try:
        warc.write_bytes(whole[: last["offset"] + last["length"] // 2])
        *pages, _ = records_of(replay(crawled, "--json", rules=False))
    finally:
        warc.write_bytes(whole)
    assert [(each["url"], each["reason"]) for each in pages if each["outcome"] == "skipped"] == [
        (last["url"], "damaged")
    ]
    assert len(pages) == 3


def test_a_written_replay_is_stored_and_announced_once(own: World) -> None:
    *pages, counts = records_of(replay(own, "--write", "--json"))
    assert counts["written"] == 2
    assert {each["url"]: each["written"] for each in pages} == {
        url(own, "kicked"): True,
        url(own, "plain"): False,
        url(own, "found"): True,
    }
    lines, (kicked, found) = own.lines("articles"), (url(own, "kicked"), url(own, "found"))
    assert {line["url"] for line in lines[2:]} == {kicked, found}
    with own.client() as client:
        stored = article(client, kicked)
        old, new = (line for line in lines if line["url"] == kicked)
        assert (stored["title"], stored["extractor"]) == ("What happened in the harbour", "rules")
        for name in (
            "uid",
            "fetched_ts",
            "fetch_id",
            "feed_id",
            "entry_uid",
            "category",
            "categories",
            "canonical_url",
        ):
            assert old[name] == new[name]
        assert stored["category"] == "news"
        (event,) = events(client, "article_updated")
        assert (event["uid"], event["content_hash"]) == (stored["uid"], stored["content_hash"])
        assert [each["url"] for each in events(client, "article_ready")].count(found) == 1
        assert article(client, found)["status"] == "success"
        assert client.sismember("rss:articles_by_category:news", url_uid(found))
        media = json.loads(client.get(f"fc:{{0}}:media:{media_id(url_uid(kicked))}") or "{}")
        assert media["content_hash"] == stored["content_hash"]
        assert len(media["revisions"]) == len({old["content_hash"], new["content_hash"]})
        events_before = client.xlen("feedcrawl:events")
    *pages, counts = records_of(replay(own, "--write", "--json"))
    assert counts == {"same": 3}
    assert len(own.lines("articles")) == len(lines)
    with own.client() as client:
        assert client.xlen("feedcrawl:events") == events_before
    assert records_of(replay(own, "--json", rules=False))[-1]["lost"] == 1  # reported, not removed


def test_a_replay_without_redis_gives_the_same_results(own: World) -> None:
    known = replay(own, "--json", rules=False).out
    with own.client() as client:
        client.delete(*[key for key in client.keys("*") if "rss:" in key or ":t:" in key or ":joined:" in key])
    *pages, _ = records_of(replay(own, "--json", rules=False))
    assert {(each["url"], each["outcome"]) for each in pages} == {
        (each["url"], each["outcome"]) for each in map(json.loads, known.splitlines()[:-1])
    }


def test_superseded_and_queued_pages_are_left_unchanged(own: World) -> None:
    kicked, plain, found = (url(own, name) for name in ("kicked", "plain", "found"))
    with own.client() as client, own.wired() as wired:
        client.hset(f"rss:article_canonical:{url_uid(plain)}", "rendered", "true")
        wired.leases.enqueue([article_task(kicked, wired.sources)], again="operator")
    *pages, _ = records_of(replay(own, "--write", "--json"))
    outcomes = {each["url"]: (each["outcome"], each["reason"], each["written"]) for each in pages}
    assert outcomes == {
        kicked: ("changed", "fetched_soon", False),
        plain: ("skipped", "rendered", False),
        found: ("gained", "was FAIL_EMPTY", True),
    }
    with own.client() as client:
        client.hset(f"rss:article_canonical:{url_uid(kicked)}", "fetch_id", "another")
    assert records_of(replay(own, "--json", "--url", kicked))[0]["reason"] == "superseded"
