"""One article per story: what is the same is joined, what is not stays apart, and a join can be undone."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import redis
from documents import FIRST_DAY, page, paragraphs
from origin import Answer, Site, failure, html, redirect
from world import World, article, entry, events, feed, world_in

from feedcrawl.domain.articles.media import media_id
from feedcrawl.domain.urls import url_uid

SAME = paragraphs("same", count=5)
ALIKE = paragraphs("alike", count=6)
RATES = ["The bank set its rate at {} per cent on Thursday, as it had said it would do.", *paragraphs("rates", count=6)]
LETTER = "Readers write to us each week, and this is what they had to say."
NOTICE = ["This page needs a subscription, and whoever has one may read it here in full."]


def story_page(title: str, texts: list[str], *, hour: int = 0, canonical: str | None = None) -> Answer:
    published = FIRST_DAY + timedelta(hours=hour)
    return html(page(title, texts, published=published, canonical=canonical))


def serve(site: Site, other: Site, agency: Site) -> dict[str, Answer]:
    """Pages by their path, on one host, on another of its domain, and on another domain."""
    return {
        site.url("/same"): story_page("A bridge is built", SAME),
        other.url("/copy"): story_page("A bridge is built", SAME),
        site.url("/renamed"): story_page("The council builds", SAME),
        agency.url("/wire"): story_page("A bridge is built", SAME),
        site.url("/alike"): story_page("The ferry is late", ALIKE),
        other.url("/alike-too"): story_page("The ferry is late", [*ALIKE, "A correction was made to this article."]),
        site.url("/item?id=1"): story_page("The rate is set", [RATES[0].format(4), *RATES[1:]]),
        site.url("/item?id=2"): story_page("The rate is set", [RATES[0].format(5), *RATES[1:]]),
        site.url("/Path"): story_page("The path", paragraphs("upper")),
        site.url("/path"): story_page("The path", paragraphs("lower")),
        site.url("/letters/1"): story_page("Letters to the editor", [LETTER, *paragraphs("letters 1")]),
        site.url("/letters/2"): story_page("Letters to the editor", [LETTER, *paragraphs("letters 2")]),
        site.url("/live/1"): story_page("Live: the vote", paragraphs("live", count=6)),
        site.url("/live/2"): story_page("Live: the vote", [*paragraphs("more", count=4), *paragraphs("live", count=6)]),
        site.url("/short/1"): story_page("For readers", NOTICE * 2),
        site.url("/short/2"): story_page("For readers", NOTICE * 2),
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Two feeds of two categories; the second is polled once the first has been read."""
    with world_in(tmp_path_factory.mktemp("stories")) as world:
        site, other = world.origin.site("www.paper.test"), world.origin.site("local.paper.test")
        agency = world.origin.site("agency.test")
        pages = serve(site, other, agency)
        for url, answer in pages.items():
            host = next(each for each in (site, other, agency) if url.startswith(each.url("/")))
            host.serve(url.removeprefix(host.url("/")).join(["/", ""]), answer)
        late = {other.url("/copy"), site.url("/renamed"), agency.url("/wire"), other.url("/alike-too")}
        entries = {url: entry(site, f"e{number}", url, summary="") for number, url in enumerate(pages)}
        first = site.serve("/feed/first", feed([item for url, item in entries.items() if url not in late]))
        second = site.serve("/feed/second", feed([item for url, item in entries.items() if url in late]))
        world.crawl("first", world.feeds_file(f"{first} news\n"))
        world.crawl("second", world.feeds_file(f"{second} local\n"))
        yield world


@pytest.fixture
def client(world: World) -> Iterator[redis.Redis]:
    with world.client() as client:
        yield client


def url(world: World, path: str, host: str = "www.paper.test") -> str:
    return world.origin.sites[host].url(path)


def test_the_same_text_is_a_single_article_of_its_site(world: World, client: redis.Redis) -> None:
    winner = url_uid(url(world, "/same"))
    merged = {event["uid"]: event for event in events(client, "article_merged")}
    for lost in (url(world, "/copy", "local.paper.test"), url(world, "/renamed")):
        assert article(client, lost) == {}
        assert (merged[url_uid(lost)]["winner"], merged[url_uid(lost)]["why"]) == (winner, "same_text")
        assert merged[url_uid(lost)]["canonical_url"] == url(world, "/same")
        assert client.sismember("rss:canonical_attempted", url_uid(lost))
        assert lost in client.smembers(f"fc:{{0}}:sightings:{winner}")
    assert client.sismember("rss:articles_by_category:news", winner)
    assert client.sismember("rss:articles_by_category:local", winner)
    assert article(client, url(world, "/wire", "agency.test"))["status"] == "success"


def test_nearly_the_same_text_under_the_same_title_is_a_single_article(world: World, client: redis.Redis) -> None:
    lost = url_uid(url(world, "/alike-too", "local.paper.test"))
    (story,) = [event for event in events(client, "article_merged") if event["uid"] == lost]
    assert (story["winner"], story["why"]) == (url_uid(url(world, "/alike")), "near_text")
    assert 0.9 <= story["similarity"] < 1
    assert lost not in {line["uid"] for line in world.lines("articles")}


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("/item?id=1", "/item?id=2"),
        ("/Path", "/path"),
        ("/letters/1", "/letters/2"),
        ("/live/1", "/live/2"),
        ("/short/1", "/short/2"),
    ],
)
def test_another_story_is_an_article_of_its_own(world: World, client: redis.Redis, path: str, other: str) -> None:
    assert [article(client, url(world, each)).get("status") for each in (path, other)] == ["success"] * 2


def test_each_stored_article_has_a_media_record(world: World, client: redis.Redis) -> None:
    for line in world.lines("articles"):
        record = json.loads(client.get(f"fc:{{0}}:media:{media_id(line['uid'])}") or "{}")
        assert (record["processing_status"], record["processing_attempts"]) == ("ready_for_reading", 1)
        assert record["content_hash"] == line["content_hash"] == record["revisions"][0]["content_hash"]
        assert record["processing_started_at"] <= record["processing_completed_at"]


def test_merges_are_undone_in_both_directions_permanently(tmp_path: Path) -> None:
    with world_in(tmp_path) as world, world.client() as client:
        site = world.origin.site("paper.test")
        story = site.serve("/story", story_page("The ferry is late", ALIKE))
        copy = site.serve("/copy", story_page("The ferry is late", [*ALIKE, "A correction was made to this article."]))
        named = site.serve("/named", story_page("Named", paragraphs("named"), canonical=site.url("/section")))
        first = site.serve("/feed/first", feed([entry(site, "story"), entry(site, "named")]))
        second = site.serve("/feed/second", feed([entry(site, "copy")]))
        world.crawl("first", world.feeds_file(f"{first} news\n"))
        before = article(client, story)
        world.crawl("second", world.feeds_file(f"{second} local\n"))
        assert (article(client, copy), article(client, named)) == ({}, {})
        with world.wired() as wired:
            assert [wired.merges.undo(url, wired.now())[1] for url in (copy, named)] == ["restored", "queued"]
        check_parted(client, world, story, copy)
        assert article(client, story) == before

        client.rpush("crawler_queue", json.dumps({"url": copy, "again": True}))  # the same page once more
        world.crawl("apart")
        assert [article(client, url)["status"] for url in (story, copy, named, site.url("/section"))] == ["success"] * 4
        assert article(client, named)["canonical_url"] == named
        announced = {(event["uid"], event["winner"]) for event in events(client, "article_unmerged")}
        pairs = [(copy, story), (named, site.url("/section"))]
        assert announced == {(url_uid(loser), url_uid(winner)) for loser, winner in pairs}
        assert len(events(client, "article_merged")) == 2


def check_parted(client: redis.Redis, world: World, story: str, copy: str) -> None:
    """Both are articles of their own, and each is where it belongs."""
    restored, uid, winner = article(client, copy), url_uid(copy), url_uid(story)
    assert (restored["uid"], restored["status"], restored["title"]) == (uid, "success", "The ferry is late")
    assert "correction" in restored["clean_text"]
    assert {uid, winner} <= set(client.zrange("rss:article_canonical_index", 0, -1))
    assert client.smembers("rss:articles_by_category:local") == {uid}
    assert client.sismember("rss:articles_by_category:news", winner)
    assert copy not in client.smembers(f"fc:{{0}}:sightings:{winner}")
    line = [each for each in world.lines("articles") if each["uid"] == uid][-1]
    assert line["content_hash"] == restored["content_hash"]
    ready = [event["content_hash"] for event in events(client, "article_ready") if event["uid"] == uid]
    assert ready == [line["content_hash"]]


def test_a_page_requested_by_an_actor_becomes_readable(tmp_path: Path) -> None:
    with world_in(tmp_path) as world:
        site = world.origin.site("paper.test")
        story = site.serve("/story", story_page("The ferry is late", ALIKE))
        gone = site.serve("/gone", failure(404), story_page("The ferry is back", SAME))
        short = world.origin.site("short.test").serve("/s", redirect(story))
        with world.wired() as wired:
            ids = [wired.media.submit(url, "ada", wired.now()).media.media_id for url in (story, gone, short)]
            assert {wired.media.get(each)["processing_status"] for each in ids} == {"pending"}
        world.crawl("first", spider="articles")
        with world.wired() as wired:
            found = [wired.media.get(each) for each in ids]
            assert [each["processing_status"] for each in found] == ["ready_for_reading", "failed", "duplicate"]
            assert found[0]["fragments"][0]["canonical_text"].startswith(ALIKE[0][:40])
            assert (found[1]["failure_stage"], found[1]["last_error_message"][:18]) == ("extract", "FAIL_HTTP http_404")
            assert found[2]["duplicate_of"] == ids[0]
            assert set(wired.collections.members("ada/default")) == set(ids[:2])
            assert wired.media.retry(ids[1], wired.now()).processing_status == "pending"
        world.crawl("again", spider="articles")
        with world.wired() as wired:
            mended = wired.media.get(ids[1])
            assert (mended["processing_status"], mended["processing_attempts"]) == ("ready_for_reading", 2)
            assert mended["last_error_code"] is None
