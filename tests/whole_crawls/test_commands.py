"""The command line as a user has it: processes of their own against the local web."""

import contextlib
import csv
import io
import json
import os
import pty
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from documents import items, page, paragraphs, rss
from origin import Origin, Site, document, failure, html
from redis_process import running_redis
from scrapy_process import REPOSITORY, Run, clean_environment

from feedcrawl.crawl.exporters import columns

Scrapy = Callable[..., Run]
CLOSED = "redis://127.0.0.1:1/"


@pytest.fixture
def env(hosts_file: Path) -> dict[str, str]:
    return {
        "FEEDCRAWL_ALLOW_NETWORKS": "127.1.0.0/16",
        "FEEDCRAWL_HOSTS_FILE": str(hosts_file),
        "FEEDCRAWL_LINGER_SEC": "1",
        "FEEDCRAWL_HOST_DELAY_SEC": "0.05",
        "FEEDCRAWL_PARSER_PROCESSES": "1",
    }


@pytest.fixture
def scrapy(scrapy_run: Scrapy, env: dict[str, str]) -> Scrapy:
    def run(*arguments: str, **overrides: str) -> Run:
        return scrapy_run(*arguments, env=env | overrides)

    return run


@pytest.fixture
def site(origin: Origin) -> Site:
    """A feed of three entries at `/feed`, whose first article is not there."""
    site = origin.site("site-1.test")
    entries = items(3, site.url())
    site.serve("/feed", document(rss(entries), etag='"1"'))
    for entry in entries[1:]:
        site.serve(urlsplit(entry.url).path, html(page(entry.title, paragraphs(entry.url, 4))))
    site.serve(urlsplit(entries[0].url).path, failure(404))
    return site


def events(ran: Run, name: str) -> list[dict[str, Any]]:
    """The log events of a run with FEEDCRAWL_LOG_FORMAT=json; every line is one."""
    lines = [json.loads(line) for line in ran.err.splitlines()]
    return [line for line in lines if line["event"] == name]


def test_a_crawl_reports_and_exports(scrapy: Scrapy, site: Site, tmp_path: Path) -> None:
    out, table = tmp_path / "out.jsonl", tmp_path / "out.csv"
    feed = site.url("/feed")
    ran = scrapy("crawl", "feeds", "-a", f"feeds={feed}", "-O", str(out), "-O", str(table), FEEDCRAWL_LOG_FORMAT="json")
    assert ran.code == 0, ran.err
    assert [each["url"] for each in events(ran, "feed_polled")] == [feed]
    assert [each["notes"] for each in events(ran, "article_stored")] == ["readability: prose agrees"] * 2
    assert [each["code"] for each in events(ran, "article_refused")] == ["FAIL_HTTP"]
    (closing,) = events(ran, "crawl_finished")
    assert (closing["polls"], closing["entries_new"], closing["articles_stored"]) == (1, 3, 2)
    assert closing["failures"] == {"FAIL_HTTP": 1}
    assert "Enabled" not in ran.err

    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted(record["type"] for record in records) == ["article"] * 2 + ["entry"] * 3
    assert all(set(record) <= set(columns()) for record in records)
    articles = {record["uid"]: record for record in records if record["type"] == "article"}
    lines = [
        json.loads(line)
        for path in (tmp_path / "data" / "articles").iterdir()
        for line in path.read_text().splitlines()
    ]
    assert {line["uid"]: line for line in lines} == articles
    rows = list(csv.DictReader(io.StringIO(table.read_text(), newline="")))
    assert [row["type"] for row in rows] == [record["type"] for record in records]


def test_lists_from_files_and_addresses(scrapy: Scrapy, site: Site, tmp_path: Path) -> None:
    for number in range(4):
        site.serve(f"/feed-{number}", document(rss(items(0, site.url()))))
    opml = tmp_path / "l.opml"
    outline = '<outline text="News"><outline text="x & y" xmlUrl="{}"/></outline><outline xmlUrl="ftp://x/"/>'
    opml.write_text(f"<opml><head/><body>{outline.format(site.url('/feed-0'))}")
    nested = f'<outline xmlUrl="{site.url("/nested")}"/><outline xmlUrl="http://10.0.0.1/feed"/>'
    site.serve("/l.opml", document(f"<opml><head/><body>{outline.format(site.url('/feed-1'))}{nested}"))
    site.serve("/nested", document(f'<opml><body><outline xmlUrl="{site.url("/never")}"/></body></opml>'))
    site.serve(
        "/l.txt",
        document(f"# mine\n{site.url('/feed-2')} daily\n{site.url('/feed-0')}#again", content_type="text/plain"),
    )
    names = [str(opml), site.url("/l.opml"), site.url("/l.txt"), site.url("/feed-3")]
    ran = scrapy("crawl", "feeds", "-a", f"feeds={','.join(names)}", "-a", "category=mine", FEEDCRAWL_LOG_FORMAT="json")
    assert ran.code == 0, ran.err
    refused = [(each["url"], each["reason"]) for each in events(ran, "feed_refused")]
    private = ("http://10.0.0.1/feed", "address_refused")
    assert sorted(refused) == [("ftp://x/", "url_scheme")] * 2 + [private]
    assert {each["url"] for each in events(ran, "list_subscribed")} == {site.url("/l.opml"), site.url("/l.txt")}
    assert [(each["url"], each["result"]) for each in events(ran, "feed_failed")] == [
        (site.url("/nested"), "list_not_named")
    ]
    polled = [each["url"] for each in events(ran, "feed_polled")]
    assert sorted(polled) == [site.url(f"/feed-{number}") for number in range(4)]

    feeds = {feed["url"]: feed["categories"] for feed in json.loads(scrapy("feeds", "--json").out)}
    assert feeds == {
        site.url("/feed-0"): ["mine", "News"],
        site.url("/feed-1"): ["mine", "News"],
        site.url("/feed-2"): ["mine", "daily"],
        site.url("/feed-3"): ["mine"],
        site.url("/nested"): ["mine"],
    }


def test_commands_work_beside_a_crawl(scrapy: Scrapy, site: Site, env: dict[str, str], tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "scrapy", "crawl", "feeds", "-a", "forever=1"]
    full = clean_environment() | env | {"FEEDCRAWL_DATA_DIR": str(data)}
    with subprocess.Popen(command, cwd=REPOSITORY, env=full, stderr=subprocess.PIPE, text=True) as crawl:
        try:
            assert scrapy("subscribe", site.url("/feed")).code == 0
            assert crawl.stderr is not None
            for line in crawl.stderr:
                if "feed_polled" in line:
                    break
            assert "new-entries" in scrapy("why", site.url("/feed")).out
        finally:
            crawl.terminate()
            crawl.communicate(timeout=40)
    assert crawl.returncode == 0
    assert not (data / "redis" / "valkey.sock").exists()


@pytest.mark.parametrize(
    ("arguments", "settings", "message"),
    [
        (["crawl", "feeds", "-a", "fedes=x"], {}, "feeds takes no argument 'fedes'; did you mean 'feeds'?"),
        (["crawl", "feeds", "-a", "feeds=no.opml,http://a.test/"], {}, "feeds=no.opml: no such file here"),
        (["crawl", "feeds", "-s", "COOKIES_ENABLED=1"], {}, "COOKIES_ENABLED is True, it must be False"),
        (["crawl", "feeds"], {"FEEDCRAWL_FETCH_TIMEOUT_SEC": "60"}, "FEEDCRAWL_FETCH_TIMEOUT_SEC must be"),
        (["crawl", "feeds"], {"FEEDCRAWL_ALLOW_NETWORKS": "127.0.0.0/99"}, "FEEDCRAWL_ALLOW_NETWORKS"),
    ],
)
def test_an_unusable_argument_is_refused_in_a_sentence(
    scrapy: Scrapy, arguments: list[str], settings: dict[str, str], message: str
) -> None:
    ran = scrapy(*arguments, **settings)
    assert ran.code == 2, ran.err
    assert ran.err.startswith(f"scrapy crawl: {message}")
    assert ran.err.count("\n") == 1


def test_no_usable_argument(scrapy: Scrapy) -> None:
    ran = scrapy("crawl", "feeds", "-a", "feeds=ftp://x/")
    assert ran.code == 2, ran.err
    assert ran.err.count("feed_refused") == 1
    assert "reason=no_usable_argument" in ran.err


RAISING = """
class Raising:
    def process_item(self, item):
        raise RuntimeError("a pipeline that fails")
"""


@pytest.mark.parametrize("broken", ["articles", "raw", "data", "pipeline", "server"])
def test_a_fault_of_our_side_ends_with_status_1(scrapy: Scrapy, site: Site, tmp_path: Path, broken: str) -> None:
    data, options, settings = tmp_path / "data", [], {}
    if broken == "data":
        data.write_text("a file")
    elif broken == "server":
        settings["REDIS_URL"] = CLOSED
    elif broken == "pipeline":
        (tmp_path / "raising.py").write_text(RAISING)
        settings["PYTHONPATH"] = str(tmp_path)
        options = ["-s", 'ITEM_PIPELINES={"raising.Raising": 1}']
    else:
        data.mkdir()
        (data / broken).write_text("a file where a directory belongs")
    ran = scrapy("crawl", "feeds", "-a", f"feeds={site.url('/feed')}", *options, **settings)
    assert ran.code == 1, ran.err
    if broken in ("data", "server"):
        assert ran.err.startswith("scrapy crawl: ")
        assert ran.err.count("\n") == 1
    else:
        assert "task_given_back" in ran.err


def test_a_server_that_goes_away_for_good_ends_the_crawl_with_status_1(scrapy: Scrapy, site: Site) -> None:
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(running_redis())
        site.serve("/feed", lambda _: [stack.close(), document(rss(items(3, site.url())))][1])
        ran = scrapy(
            "crawl", "feeds", "-a", f"feeds={site.url('/feed')}", REDIS_URL=url, FEEDCRAWL_REDIS_OUTAGE_SEC="1"
        )
    assert ran.code == 1, ran.err
    assert "store_away" in ran.err


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["shell", "{feed}", "-c", "[entry.link for entry in entries(response)]"], "/article-0-2"),
        (["shell", "{article}", "-c", "extract(response).title"], "{title}"),
        (["shell", "{article}", "-c", "extract(response, rules={{'body': 'article'}}).extractor"], "rules"),
        (["parse", "{feed}", "--nocolour"], "'type': 'entry'"),
        (["parse", "{article}", "--nocolour", "--spider", "feeds"], "'type': 'article'"),
        (["list"], "feeds"),
    ],
)
def test_a_look_at_a_url_touches_neither_queue_nor_store(
    scrapy: Scrapy, site: Site, tmp_path: Path, arguments: list[str], shown: str
) -> None:
    entry = items(3, site.url())[1]
    known = {"feed": site.url("/feed"), "article": entry.url, "title": entry.title}
    ran = scrapy(*(each.format(**known) for each in arguments), "--nolog", REDIS_URL=CLOSED)  # who dials it, fails
    assert ran.code == 0, ran.err
    assert shown.format(**known) in ran.out
    assert not (tmp_path / "data").exists()


def test_a_look_at_a_url_is_guarded_and_polite(scrapy: Scrapy, site: Site, origin: Origin) -> None:
    site.serve("/robots.txt", document("User-agent: *\nDisallow: /private", content_type="text/plain"))
    assert scrapy("shell", site.url("/private"), "-c", "response", "--nolog").out.strip() == "None"
    assert scrapy("fetch", f"http://127.0.0.1:{site.port}/feed", "--nolog", REDIS_URL=CLOSED).out == ""
    assert [request.path for request in origin.ledger.of(robots=True)] == ["/robots.txt"]


def test_progress_on_a_terminal(site: Site, env: dict[str, str], tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    shown = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(ours, 4096):
                shown.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    full = clean_environment() | env | {"FEEDCRAWL_DATA_DIR": str(tmp_path / "data"), "TERM": "xterm", "COLUMNS": "60"}
    command = [sys.executable, "-m", "scrapy", "crawl", "feeds", "-a", f"feeds={site.url('/feed')}"]
    ran = subprocess.run(command, cwd=REPOSITORY, env=full, stderr=theirs, timeout=60, check=False)
    os.close(theirs)
    reader.join(timeout=60)
    os.close(ours)
    text = shown.decode()
    assert ran.returncode == 0, text
    assert " polls · " in text
    assert f"host={site.name} feed_id=" in text  # no line is cut into the terminal's width
    assert "crawl finished" in text
    assert "crawl_finished" not in text
