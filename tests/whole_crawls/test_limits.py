"""Bodies over a limit: what came until then is archived, and the record says that it is not whole."""

import json
from collections.abc import Iterator

import pytest
from origin import Answer, document, html
from warcio.archiveiterator import ArchiveIterator
from world import World, article, entry, feed, good_page, world_in

from feedcrawl.domain.urls import url_uid

LIMIT = 20_000
BIG = b"<rss>" + b"x" * (10 * LIMIT)
SETTINGS = {"FEEDCRAWL_MAX_FEED_BYTES": str(LIMIT), "FEEDCRAWL_MAX_ARTICLE_BYTES": str(LIMIT)}


def error_page() -> Answer:
    return Answer(status=404, body=b"<h1>no</h1>" + b"x" * (10 * LIMIT), headers=(("Content-Type", "text/html"),))


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("limits"), **SETTINGS) as world:
        site = world.origin.site("big.test")
        site.serve("/page", html("<p>words and more words</p>" * LIMIT, chunked=True, piece_bytes=5000))
        site.serve("/gone", error_page())
        site.serve("/good", good_page("good"))
        announced = site.serve("/announced", document(BIG, headers=(("X-Mine", "kept"),)))
        endless = site.serve("/endless", document(BIG, chunked=True, piece_bytes=3000))
        bomb = site.serve("/bomb", document(BIG, codings="gzip"))
        good = site.serve("/feed", feed([entry(site, name) for name in ("page", "gone", "good")]))
        world.crawl("first", world.feeds_file("\n".join((announced, endless, bomb, good))))
        yield world


def journal(world: World, path: str) -> dict[str, object]:
    url = world.origin.site("big.test").url(path)
    with world.client() as client:
        lines = [json.loads(line) for key in client.scan_iter("fc:*journal:*") for line in client.lrange(key, 0, -1)]
    with world.wired() as wired:
        ids = {each.id: each.subscription.url for each in wired.registry.all()}
    (line,) = [line for line in lines if ids[str(line["poll_id"]).partition("@")[0]] == url]
    return line


def archived(world: World, url: str) -> tuple[dict[str, object], str | None, dict[str, str], bytes]:
    """The line of the index, WARC-Truncated, the headers and the body of an exchange."""
    lines = [json.loads(line) for path in world.data.glob("raw/*/*.ndjson") for line in path.read_text().splitlines()]
    (ref,) = [line for line in lines if line["url"] == url]
    for path in world.data.glob("raw/*/*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file):
                if record.rec_headers.get_header("WARC-Record-ID") == f"<urn:uuid:{ref['fetch_id']}>":
                    headers = {name.lower(): value for name, value in record.http_headers.headers}
                    return ref, record.rec_headers.get_header("WARC-Truncated"), headers, record.raw_stream.read()
    raise AssertionError(f"no record of {url}")


@pytest.mark.parametrize(("path", "least", "most"), [("/announced", 0, 0), ("/endless", LIMIT, 4 * LIMIT)])
def test_a_feed_over_the_limit_leaves_its_record(story: World, path: str, least: int, most: int) -> None:
    line = journal(story, path)
    assert (line["result"], line["http_status"]) == ("too_large", 200)
    ref, truncated, headers, body = archived(story, story.origin.site("big.test").url(path))
    assert (ref["fetch_id"], ref["truncated"], ref["status"]) == (line["fetch_id"], "length", 200)
    assert truncated == "length"
    assert least <= len(body) <= most
    assert BIG.startswith(body)
    if path == "/announced":
        assert (headers["x-mine"], headers["content-length"]) == ("kept", str(len(BIG)))


def test_a_body_too_large_once_decoded_is_archived_whole(story: World) -> None:
    line = journal(story, "/bomb")
    assert (line["result"], line["http_status"]) == ("too_large", 200)
    ref, truncated, _, _ = archived(story, story.origin.site("big.test").url("/bomb"))
    assert (ref["truncated"], truncated) == (None, None)


def test_a_page_over_the_limit_fails_with_its_status_and_record(story: World) -> None:
    site = story.origin.site("big.test")
    with story.client() as client:
        failed = article(client, site.url("/page"))
    assert (failed["failure"], failed["failure_reason"]) == ("FAIL_BAD_HTML", "too_large")
    assert failed["http_status"] == "200"
    ref, truncated, _, body = archived(story, site.url("/page"))
    assert (ref["uid"], truncated, len(body) >= LIMIT) == (url_uid(site.url("/page")), "length", True)


def test_the_status_of_an_error_counts_not_the_size_of_its_page(story: World) -> None:
    site = story.origin.site("big.test")
    with story.client() as client:
        assert article(client, site.url("/gone"))["failure_reason"] == "http_404"
        assert article(client, site.url("/good"))["status"] == "success"
    assert archived(story, site.url("/gone"))[1] == "length"
