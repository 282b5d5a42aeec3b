"""The dashboard's pages: what they show of a fleet, who may see and do what, and that nothing of the web is markup."""

import json
import re
import time
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from api import free_port, serving
from fleet import HOSTILE, seeded
from redis_process import running_redis
from scrapy.settings import Settings

from feedcrawl.api.access import COOKIE
from feedcrawl.services.operations import tokens
from feedcrawl.settings import from_environment
from feedcrawl.store.redis import keys
from feedcrawl.wiring import Wiring

PATHS = ("/", "/dashboard/feeds", "/dashboard/articles", "/dashboard/frontier", "/dashboard/dlq")


def wiring(url: str, folder: Path, **settings: Any) -> Wiring:
    given = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": str(folder)} | settings
    return Wiring(Settings(from_environment({}) | given))


@pytest.fixture
def wired(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Wiring]:
    made = wiring(redis_server, tmp_path)
    yield made
    made.close()


@pytest.fixture
def client(wired: Wiring) -> Iterator[httpx.Client]:
    with serving(wired, free_port()) as url, httpx.Client(base_url=url) as client:
        yield client


def ids(wired: Wiring) -> dict[str, str]:
    return {feed.subscription.url: feed.id for feed in wired.registry.all()}


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return client.post(path, data=fields, headers={"Origin": str(client.base_url).rstrip("/")})


@pytest.mark.parametrize("path", [*PATHS, *(f"/?span={span}" for span in ("6h", "7d", "nonsense"))])
def test_an_empty_fleet_says_that_it_is_empty(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert 'class="empty"' in answer.text
    assert "<script" not in answer.text


def test_every_link_leads_to_a_page(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    wanted, seen = {"/"}, set[str]()
    while todo := wanted - seen:
        path = min(todo)
        seen.add(path)
        answer = client.get(path, follow_redirects=True)
        assert answer.status_code == 200, path
        if answer.headers["content-type"].startswith("text/html"):
            found = re.findall(r'\b(?:href|src|action)="([^"]*)"', answer.text)
            wanted |= {unescape(each) for each in found if each.startswith("/") and "refetch" not in each}
    assert {re.sub(r"/[0-9a-f-]{16,}", "/*", path.partition("?")[0]) for path in seen} >= {
        *PATHS, "/dashboard/feeds/*", "/dashboard/articles/*", "/dashboard/articles/*/content",
        "/dashboard/frontier/urls",
    }  # fmt: skip
    assert any(path.startswith("/dashboard/hosts/") for path in seen)


def test_the_first_page_has_the_figures_of_the_fleet(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    page = " ".join(re.sub(r"<[^>]*>", " ", client.get("/?span=24h").text).split())
    for said in (
        "Feeds 12", "Failing feeds 2", "Polls 12 83 % went well", "Not modified 33 % 4 kB saved", "New entries 21",
        "Articles stored 5 1 joined another", "Dead letters 3", "http_503 2 1", "dead.example 3", "Open circuits 1",
    ):  # fmt: skip
        assert said in page, said


def test_feeds_are_found_by_a_part_of_what_is_said_of_them(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    assert client.get("/dashboard/feeds").text.count("<tr>") == 13
    for text, rows in (
        ("SITE3.", 1),
        ("fleet 1", 2),
        ("nowhere", 0),
        ("%", 0),
        ('"url"', 0),
        ('"><IMG', 1),
        ("<b>news", 12),
    ):
        found = client.get("/dashboard/feeds", params={"q": text}).text
        assert found.count("<tr>") == (rows + 1 if rows else 0), text
    failing = client.get("/dashboard/feeds?failing=1").text
    assert failing.count("<tr>") == 3
    assert failing.index("site5.") < failing.index("site6.")


def test_a_feeds_page_says_why_it_is_polled_then(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    feed_id = ids(wired)["https://site5.example/feed"]
    page = client.get(f"/dashboard/feeds/{feed_id}").text
    for said in ("the poll failed: back-off", "decided", "upstream connect error", "Failed in a row", "An entry of it"):
        assert said in page
    assert client.get("/dashboard/feeds/none").status_code == 404


def test_poll_now_makes_a_feed_due(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    feed_id = ids(wired)["https://site9.example/feed"]
    before = wired.frontier.figures().due
    answer = post(client, f"/dashboard/feeds/{feed_id}/refetch")
    assert answer.status_code == 303
    assert "It is due now" in client.get(answer.headers["location"]).text
    assert wired.frontier.figures().due == before + 1


def test_dead_letters_are_replayed_and_dropped(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    page = client.get("/dashboard/dlq?reason=http_404").text
    assert page.count('name="name"') == 2
    answer = post(client, "/dashboard/dlq", name="https://dead.example/1", action="replay")
    assert answer.status_code == 303
    assert "1 tried again" in client.get(answer.headers["location"]).text
    assert wired.frontier.find("0" * 15 + "1") is not None
    assert post(client, "/dashboard/dlq", reason="http_404", action="drop").status_code == 303
    assert wired.dead_letters.count() == 1
    for fields in ({"action": "drop"}, {"action": "shred", "host": "dead.example"}):
        assert post(client, "/dashboard/dlq", **fields).status_code == 400
    assert wired.dead_letters.count() == 1


def test_the_newest_letters_come_first_page_by_page(wired: Wiring, client: httpx.Client) -> None:
    for number in range(450):
        letter = {"url": f"https://a.example/{number}", "reason": "http_404" if number % 9 else "dns", "at": number}
        wired.client.rpush(keys.DEAD_LETTERS, json.dumps(letter))
    for query, expected in (("", range(449, -1, -1)), ("?reason=dns", range(441, -1, -9))):
        found, path = list[int](), f"/dashboard/dlq{query}"
        while path:
            page = client.get(path).text
            found += map(int, re.findall(r'name="name" value="https://a.example/(\d+)"', page))
            later = re.search(r'href="([^"]*)" rel="next"', page)
            path = unescape(later[1]) if later else ""
        assert found == list(expected)


def test_what_comes_from_the_web_is_text(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    for path in (
        *PATHS,
        f"/dashboard/feeds/{ids(wired)['https://site0.example/feed']}",
        "/dashboard/dlq?reason=%3Cb%3E%22",
    ):
        page = client.get(path).text
        assert "<script" not in page
        assert not re.search(r"<(?:img src=x|svg onload|b>)", page)
        assert not re.search(r'(?:href|src)="\s*(?:javascript|data):', page)
    assert "&lt;script&gt;" in client.get("/dashboard/feeds").text
    assert HOSTILE


def test_an_article_is_shown_in_a_frame_in_which_nothing_can_run(wired: Wiring, client: httpx.Client) -> None:
    uids = seeded(wired)
    page = client.get(f"/dashboard/articles/{uids[0]}").text
    frame = re.search(r"<iframe[^>]*>", page)
    assert frame is not None
    assert ' sandbox="" ' in frame[0]
    assert f'src="/dashboard/articles/{uids[0]}/content"' in frame[0]
    assert "a version before" in page
    content = client.get(f"/dashboard/articles/{uids[0]}/content")
    policy = content.headers["content-security-policy"]
    (sheet,) = re.findall("<style>(.*?)</style>", content.text, re.DOTALL)
    source = b64encode(sha256(sheet.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{source}'; base-uri 'none';")
    assert "<link" not in content.text  # a sandboxed frame has no origin: the API refuses its requests as cross-site
    assert policy.endswith("; sandbox")
    assert "[The hall]" in content.text
    assert "<img" not in content.text
    assert client.get("/dashboard/articles/" + "0" * 16).status_code == 404


def test_every_page_carries_a_strict_policy(wired: Wiring, client: httpx.Client) -> None:
    for path in (*PATHS, "/login", "/dashboard/feeds/none", "/dashboard/frontier/urls?kind=none"):
        said = client.get(path).headers
        assert said["content-security-policy"].startswith("default-src 'none'; style-src 'self'; img-src 'self';")
        assert "unsafe" not in said["content-security-policy"]
        assert "frame-ancestors 'none'" in said["content-security-policy"]
        assert (said["x-content-type-options"], said["cache-control"]) == ("nosniff", "no-store")


def test_a_page_whose_store_is_away_says_so(tmp_path: Path) -> None:
    with running_redis() as url:
        wired = wiring(url, tmp_path)
        _ = wired.connection
    with serving(wired, free_port()) as url:
        for path in PATHS:
            answer = httpx.get(url + path)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
            assert "unreachable" in answer.text
    wired.close()


def test_a_server_that_lost_its_data_is_spoken_of(wired: Wiring, client: httpx.Client) -> None:
    assert "emptied" not in client.get("/").text
    wired.client.flushall()
    assert "<strong>emptied</strong>" in client.get("/").text


@pytest.fixture
def guarded(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[tuple[Wiring, httpx.Client]]:
    """An API that asks everybody for a token."""
    made = wiring(redis_server, tmp_path, FEEDCRAWL_API_HOST="0.0.0.0")
    with serving(made, free_port()) as url, httpx.Client(base_url=url) as client:
        yield made, client
    made.close()


def test_a_token_opens_the_dashboard_and_a_lesser_one_changes_nothing(guarded: tuple[Wiring, httpx.Client]) -> None:
    wired, client = guarded
    seeded(wired)
    assert client.get("/dashboard/feeds?q=a").headers["location"] == "/login?next=%2Fdashboard%2Ffeeds%3Fq%3Da"
    assert post(client, "/dashboard/dlq", reason="http_404", action="drop").headers["location"] == "/login"
    refused = post(client, "/login", token="fc_wrong")
    assert refused.status_code == 401
    assert "There is no such token" in refused.text
    read, _ = tokens.create(wired.tokens, "ann", "read", wired.now())
    answer = post(client, "/login", token=f" {read} ", next="/dashboard/feeds?q=a")
    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard/feeds?q=a")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    page = client.get("/dashboard/dlq").text
    assert "Log out" in page
    assert "Replay" not in page.replace("Replay tries", "")
    answer = post(client, "/dashboard/dlq", reason="http_404", action="drop")
    assert (answer.status_code, "scope_missing" in answer.text) == (403, True)
    assert wired.dead_letters.count() == 3
    assert post(client, "/logout").headers["location"] == "/login"
    assert COOKIE not in client.cookies
    assert client.get("/").status_code == 303


def test_a_token_that_was_revoked_is_forgotten(guarded: tuple[Wiring, httpx.Client]) -> None:
    wired, client = guarded
    text, token = tokens.create(wired.tokens, "ann", "read", wired.now())
    assert post(client, "/login", token=text).status_code == 303
    assert client.get("/").status_code == 200
    wired.tokens.drop(token.id)
    assert client.get("/").headers["location"] == "/login"
    assert COOKIE not in client.cookies


def test_forms_of_other_sites_are_refused(guarded: tuple[Wiring, httpx.Client]) -> None:
    wired, client = guarded
    seeded(wired)
    write, _ = tokens.create(wired.tokens, "ann", "write", wired.now())
    for origin in ("https://evil.example", "null"):
        answer = client.post("/login", data={"token": write}, headers={"Origin": origin})
        assert (answer.status_code, "cross_site" in answer.text) == (403, True)
    assert post(client, "/login", token=write).status_code == 303
    fields = {"reason": "http_404", "action": "drop"}
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {}):
        for path in ("/dashboard/dlq", "/logout"):
            assert client.post(path, data=fields, headers=headers).status_code == 403
    assert wired.dead_letters.count() == 3
    assert post(client, "/dashboard/dlq", **fields).status_code == 303
    assert wired.dead_letters.count() == 1


def test_pages_stay_quick_while_a_store_holds_much(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired, feeds=3000)
    for path in (
        "/",
        "/dashboard/feeds",
        "/dashboard/feeds?q=site29",
        "/dashboard/frontier",
        "/dashboard/frontier/urls?text=none",
    ):
        client.get(path)
        took = []
        for _ in range(3):
            start = time.perf_counter()
            assert client.get(path).status_code == 200
            took.append(time.perf_counter() - start)
        assert min(took) < 1.0, path  # some tens of milliseconds on a machine that is idle
