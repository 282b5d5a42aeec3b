import asyncio
import gzip
import json
import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from origin import Answer, document, redirect
from scrapy import Request, Spider, signals
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.test import get_crawler
from scrapy_process import clean_environment, run_python
from warcio.archiveiterator import ArchiveIterator

from feedcrawl.domain.archive.warc import Captured
from feedcrawl.middlewares.raw import RawCaptureMiddleware, exchange
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.disk.raw import RawStore

AT = datetime(2026, 11, 27, tzinfo=UTC)
META = {"raw": {"feed_id": "f"}, "fetch_id": str(UUID(int=1))}
FEED = b"<rss><channel><title>A feed</title></channel></rss>"

# One spider that reports what its callback or errback was given; arguments: settings and requests as JSON.
CRAWL = """
import json, os, sys
import scrapy
from scrapy.crawler import AsyncCrawlerProcess

settings, requests = json.loads(sys.argv[1])

class One(scrapy.Spider):
    name = "one"
    async def start(self):
        for url, meta in requests:
            yield scrapy.Request(url, self.parse, errback=self.failed, meta=meta, dont_filter=True)
    def parse(self, response):
        ref = response.meta.get("raw_ref")
        on_disk = bool(ref) and os.path.getsize(f"{settings['FEEDCRAWL_DATA_DIR']}/raw/{ref.file}") > ref.offset
        self.report(status=response.status, size=len(response.body), flags=response.flags, on_disk=on_disk,
                    fetch_id=response.meta.get("fetch_id"), ref=ref and ref.fetch_id)
    def failed(self, failure):
        self.report(error=type(failure.value).__name__, fetch_id=failure.request.meta.get("fetch_id"))
    def report(self, **record):
        print(json.dumps(record), flush=True)

process = AsyncCrawlerProcess({
    "DOWNLOADER_MIDDLEWARES": {"feedcrawl.middlewares.raw.RawCaptureMiddleware": 880},
    "RETRY_ENABLED": False, "TELNETCONSOLE_ENABLED": False, "REMOTE_CONTROL_ENABLED": False, "LOG_LEVEL": "ERROR",
    "ROBOTSTXT_OBEY": False, "HTTPPROXY_ENABLED": False, **settings,
})
process.crawl(One)
process.start()
"""


def utc_now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def crawl(tmp_path):
    """Run the spider with pairs of URL and meta; the records that it prints, in their order."""

    def crawl(*requests, **settings):
        argument = json.dumps([{"FEEDCRAWL_DATA_DIR": str(tmp_path)} | settings, requests])
        run = run_python("-c", CRAWL, argument, env=clean_environment())
        assert run.code == 0, run.err
        return [json.loads(line) for line in run.out.splitlines()]

    return crawl


@pytest.fixture
def store(tmp_path):
    with closing(RawStore(tmp_path / "raw", software="x")) as store:
        yield store


def record_types(directory):
    found = []
    for path in directory.rglob("*.warc.gz"):
        with path.open("rb") as file:
            found += [record.rec_type for record in ArchiveIterator(file, check_digests="raise")]
    return found


def test_a_response_is_on_disk_still_encoded_before_it_is_parsed(origin, crawl, store, tmp_path):
    url = origin.site().serve("/feed", document(FEED, etag='"1"', codings="gzip"))
    (record,) = crawl((url, {"raw": {"feed_id": "f"}}))
    assert record["on_disk"]
    assert record["size"] == len(FEED)
    assert record["ref"] == record["fetch_id"]
    ref = store.find(record["fetch_id"])
    assert (ref.feed_id, ref.uid, ref.url, ref.status) == ("f", None, url, 200)
    assert store.read(ref) == gzip.compress(FEED, mtime=0)
    assert b'\r\nEtag: "1"\r\n' in store.read(ref, "response")
    request = store.read(ref, "request")
    assert request.startswith(b"GET /feed HTTP/1.1\r\nHost: 127.1.0.1:")
    assert b"\r\nUser-Agent: Scrapy" in request
    assert record_types(tmp_path) == ["warcinfo", "response", "request"]


def test_large_bodies_are_archived(origin, crawl, store):
    body = os.urandom(300_000)
    url = origin.site().serve("/page", document(body, content_type="text/html"))
    (record,) = crawl((url, {"raw": {"uid": "0123456789abcdef"}}))
    assert record["on_disk"]
    assert store.read(store.find(record["fetch_id"])) == body


def test_requests_that_do_not_ask_are_left_alone(origin, crawl, tmp_path):
    url = origin.site().serve("/robots.txt", document(b"User-agent: *"))
    (record,) = crawl((url, {}))
    assert (record["status"], record["fetch_id"], record["ref"]) == (200, None, None)
    assert not (tmp_path / "raw").exists()


def test_each_hop_of_a_redirect_is_a_fetch(origin, crawl, store):
    site = origin.site()
    site.serve("/new", document(FEED))
    url = site.serve("/old", redirect("/new"))
    (record,) = crawl((url, {"raw": {"feed_id": "f"}}))
    refs = list(store.refs())
    assert [(ref.url.rpartition("/")[2], ref.status) for ref in refs] == [("old", 301), ("new", 200)]
    assert record["ref"] == record["fetch_id"] == refs[1].fetch_id != refs[0].fetch_id


def test_an_unchanged_body_is_written_once(store):
    middleware, previous = RawCaptureMiddleware(store, utc_now), None
    for status, body in ((200, FEED), (304, b""), (200, FEED)):
        request = Request("http://a.test/", meta={"raw": {"feed_id": "f", "previous": previous}})
        middleware.process_request(request)
        asyncio.run(middleware.process_response(request, Response("http://a.test/", status=status, body=body)))
        previous = json.loads(json.dumps(request.meta["raw_ref"].source))
    assert [bool(ref.refers_to) for ref in store.refs()] == [False, True, True]
    assert store.read(request.meta["raw_ref"]) == FEED


@pytest.mark.parametrize("chunked", [True, False])
def test_the_received_part_of_a_broken_body_is_kept_and_marked(origin, crawl, store, chunked):
    url = origin.site().serve("/feed", document(b"x" * 5000, cut_bytes=2000, chunked=chunked))
    (record,) = crawl((url, {"raw": {"feed_id": "f"}}), DOWNLOAD_FAIL_ON_DATALOSS=False)
    assert record["flags"] == ["dataloss"]
    ref = store.find(record["fetch_id"])
    assert ref.truncated == "disconnect"
    assert store.read(ref) == b"x" * 2000


def test_a_broken_body_fails_where_scrapy_is_configured_so(origin, crawl, tmp_path):
    url = origin.site().serve("/feed", document(b"x" * 5000, cut_bytes=2000))
    assert [record["error"] for record in crawl((url, {"raw": {"feed_id": "f"}}))] == ["ResponseDataLossError"]
    assert record_types(tmp_path) == []


def test_a_body_that_ends_with_its_connection_is_whole(origin, crawl, store):
    url = origin.site().serve("/feed", Answer(raw=b"HTTP/1.0 200 OK\r\nContent-Type: text/xml\r\n\r\n<rss/>"))
    (record,) = crawl((url, {"raw": {"feed_id": "f"}}))
    assert store.find(record["fetch_id"]).truncated is None


def test_no_response_is_parsed_if_the_disk_fails(origin, crawl, tmp_path):
    (tmp_path / "raw").write_text("no directory")
    url = origin.site().serve("/feed", document(FEED))
    assert [record["error"] for record in crawl((url, {"raw": {"feed_id": "f"}}))] == ["DiskUnavailable"]


def test_the_raw_archive_can_be_disabled(origin, crawl, tmp_path):
    url = origin.site().serve("/feed", document(FEED))
    (record,) = crawl((url, {"raw": {"feed_id": "f"}}), FEEDCRAWL_RAW=False)
    assert (record["status"], record["ref"]) == (200, None)
    assert not (tmp_path / "raw").exists()


def test_a_disabled_archive_is_not_configured():
    with pytest.raises(NotConfigured):
        RawCaptureMiddleware.from_crawler(get_crawler(Spider, {"FEEDCRAWL_RAW": "0"}))


def test_the_store_is_closed_after_all_else(tmp_path):
    crawler = get_crawler(Spider, {"FEEDCRAWL_DATA_DIR": str(tmp_path), "EXTENSIONS_BASE": {}})
    middleware = RawCaptureMiddleware.from_crawler(crawler)
    store = middleware.store
    store.append(exchange(Request("http://a.test/", meta=META), Response("http://a.test/"), AT))
    crawler.signals.send_catch_log(signals.spider_closed, reason="finished")
    assert store._file is not None
    crawler.signals.send_catch_log(signals.engine_stopped)
    assert store._file is None


def test_a_new_hop_has_a_new_id_and_no_reference():
    middleware = RawCaptureMiddleware(None, utc_now)
    request = Request("http://a.test/", meta={"raw": {"feed_id": "f"}, "fetch_id": "old", "raw_ref": "old"})
    middleware.process_request(request)
    assert UUID(request.meta["fetch_id"]).version == 4
    assert "raw_ref" not in request.meta


@pytest.mark.parametrize("size", [10, 100_000])
def test_the_reference_is_in_the_meta(store, size):
    middleware = RawCaptureMiddleware(store, utc_now)
    request = Request("http://a.test/", meta={"raw": {"feed_id": "f"}})
    middleware.process_request(request)
    response = Response("http://a.test/", body=b"x" * size)
    assert asyncio.run(middleware.process_response(request, response)) is response
    assert store.read(request.meta["raw_ref"]) == response.body


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_disk_that_fails_fails_the_request(size):
    middleware = RawCaptureMiddleware(RawStore(Path("/proc/none"), software="x"), utc_now)
    request = Request("http://a.test/", meta=META)
    with closing(middleware.store), pytest.raises(DiskUnavailable):
        asyncio.run(middleware.process_response(request, Response("http://a.test/", body=b"x" * size)))
    assert "raw_ref" not in request.meta


def test_an_exchange_is_made_of_request_and_response():
    previous = Captured(str(UUID(int=2)), "http://a.test/", AT, "sha256:0")
    meta = {"raw": {"uid": "u", "previous": previous.as_json()}, "fetch_id": str(UUID(int=1))}
    meta["private"] = frozenset({b"x-token"})
    secret = {"Authorization": "Basic eDp5", "Cookie": "session=1", "X-Plain": "yes", "X-Token": "t0p"}
    request = Request("http://a.test/", headers=secret, meta=meta, method="HEAD")
    response = Response(request.url, status=404, headers={"Set-Cookie": ["a=1", "b=2"]}, flags=["download_stopped"])
    found = exchange(request, response, AT)
    assert (found.fetch_id, found.uid, found.feed_id, found.previous) == (str(UUID(int=1)), "u", None, previous)
    assert (found.method, found.status, found.truncated, found.ip, found.fetched_at) == (
        "HEAD",
        404,
        "unspecified",
        None,
        AT,
    )
    assert found.response_headers == [(b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2")]
    assert dict(found.request_headers) == {
        b"Authorization": b"(left out)",
        b"Cookie": b"(left out)",
        b"X-Plain": b"yes",
        b"X-Token": b"(left out)",
    }
