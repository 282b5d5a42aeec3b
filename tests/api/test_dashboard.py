"""The dashboard's pages: what they show of a fleet, who may see and do what, and that nothing of the web is markup."""

import json
import re
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
from fleet import HOSTILE, faulty_sites, migrated, seeded
from redis.connection import AbstractConnection
from redis_process import running_redis
from scrapy.settings import Settings

from feedcrawl.api.access import COOKIE
from feedcrawl.services.operations import tokens
from feedcrawl.settings import from_environment
from feedcrawl.store.redis import keys
from feedcrawl.wiring import Wiring

PATHS = ("/", "/dashboard/feeds", "/dashboard/sitemaps", "/dashboard/articles", "/dashboard/frontier", "/dashboard/dlq")


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
    with serving(wired, free_port()) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield client


def ids(wired: Wiring) -> dict[str, str]:
    return {feed.subscription.url: feed.id for feed in wired.registry.all()}


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return client.post(path, data=fields, headers={"Origin": str(client.base_url).rstrip("/")})


@pytest.mark.parametrize("path", [*PATHS, *(f"/?span={span}" for span in ("6h", "7d", "nonsense"))])
def test_a_page_of_an_empty_fleet_shows_that_it_is_empty(client: httpx.Client, path: str) -> None:
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
    for text in (
        "Feeds 12", "Failing feeds 2", "Polls 12 83 % went well", "Not modified 33 % 4 kB saved", "New entries 21",
        "Articles stored 5 1 merged into another", "Dead letters 3",
        "http_503 2 1", "dead.example 3", "Open circuits 1",
    ):  # fmt: skip
        assert text in page, text


def test_a_figure_with_a_caption_has_no_other_role(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    figures = re.findall(r"<figure[^>]*>", client.get("/").text)
    assert len(figures) == 4
    assert not [each for each in figures if "role=" in each]  # ARIA in HTML, figure


def test_feeds_are_found_by_a_part_of_their_url_title_or_category(wired: Wiring, client: httpx.Client) -> None:
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


def test_a_feeds_page_explains_its_next_poll(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    feed_id = ids(wired)["https://site5.example/feed"]
    page = client.get(f"/dashboard/feeds/{feed_id}").text
    for text in ("the poll failed: back-off", "decided", "upstream connect error", "Failed in a row", "An entry of it"):
        assert text in page
    assert client.get("/dashboard/feeds/none").status_code == 404


def test_poll_now_makes_a_feed_due(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    feed_id = ids(wired)["https://site9.example/feed"]
    before = wired.frontier.statistics().due
    answer = post(client, f"/dashboard/feeds/{feed_id}/refetch")
    assert answer.status_code == 303
    assert "The feed is due now" in client.get(answer.headers["location"]).text
    assert wired.frontier.statistics().due == before + 1


def test_a_migration_is_undone_after_a_confirmation(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    path = f"/dashboard/feeds/{ids(wired)['https://site9.example/feed']}"
    assert "Migration" not in client.get(path).text
    migrated(wired, path.rpartition("/")[2])
    assert f'href="{path}/undo-migration"' in client.get(path).text
    assert "Undo the migration of this feed?" in client.get(f"{path}/undo-migration").text
    answer = post(client, f"{path}/undo-migration")
    assert answer.status_code == 303
    page = client.get(answer.headers["location"]).text
    assert "The entries are separated." in page
    assert f"{path}/undo-migration" not in page
    assert post(client, f"{path}/undo-migration").status_code == 409


def test_sites_with_faults_are_shown(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    assert "Sources without a feed" not in client.get("/dashboard/feeds").text
    assert "robots.txt" not in client.get("/dashboard/hosts/down.example").text
    faulty_sites(wired)
    page = client.get("/dashboard/feeds").text
    for text in ("Sources without a feed", "silent", "https://6.example/feed", "http 404", "not yet", "&lt;script&gt;"):
        assert text in page
    assert "Sources without a feed" not in client.get("/dashboard/feeds?q=site").text
    page = client.get("/dashboard/hosts/down.example").text
    for text in ("Failing robots.txt", "https://down.example", "http_503", "all pages are allowed"):
        assert text in page


def test_a_feed_is_subscribed_edited_and_unsubscribed(wired: Wiring, client: httpx.Client) -> None:
    answer = post(client, "/dashboard/feeds", url="https://news.example/feed", categories="villages\nnews")
    assert answer.status_code == 303
    page = client.get(answer.headers["location"]).text
    assert "Subscribed." in page
    assert "villages" in page
    again = post(client, "/dashboard/feeds", url="https://news.example/feed")
    assert again.headers["location"].endswith("?done=known")
    path = again.headers["location"].partition("?")[0]
    assert 'value="5"' in client.get(f"{path}/edit").text
    changed = {"title": "Village news", "categories": "hills", "fixed_interval_sec": "3600", "push_only": "1"}
    assert post(client, f"{path}/edit", **changed).headers["location"] == f"{path}?done=changed"
    (feed,) = wired.registry.all()
    subscription = feed.subscription
    assert (subscription.title, subscription.categories, subscription.priority) == ("Village news", ("hills",), 5)
    assert (subscription.fixed_interval_sec, subscription.push_only, subscription.no_discovery) == (3600, True, False)
    assert post(client, f"{path}/edit", title="", priority="9").status_code == 303
    (feed,) = wired.registry.all()
    assert (feed.subscription.title, feed.subscription.priority, feed.subscription.push_only) == (None, 9, False)
    assert "Unsubscribe from this feed?" in client.get(f"{path}/unsubscribe").text
    assert post(client, f"{path}/unsubscribe").status_code == 303
    assert wired.registry.count() == 0


@pytest.mark.parametrize(
    ("path", "fields", "words"),
    [
        ("/dashboard/feeds", {"url": "ftp://news.example/feed"}, "http"),
        ("/dashboard/feeds", {"url": ""}, "give the URL of a feed"),
        ("/dashboard/feeds", {"url": "http://127.0.0.1/feed"}, "not public"),
        ("{feed}/edit", {"min_interval_sec": "soon"}, "&#39;soon&#39; cannot be min_interval_sec"),
        ("{feed}/edit", {"priority": "11"}, "cannot be priority"),
    ],
)
def test_a_refused_form_shows_its_reason(
    wired: Wiring, client: httpx.Client, path: str, fields: dict[str, str], words: str
) -> None:
    seeded(wired)
    feed = f"/dashboard/feeds/{ids(wired)['https://site9.example/feed']}"
    before = [each.subscription for each in wired.registry.all()]
    answer = post(client, path.format(feed=feed), **fields)
    assert answer.status_code == 422
    assert re.search(f'role="alert"[^>]*>[^<]*{re.escape(words)}', answer.text), answer.text
    assert [each.subscription for each in wired.registry.all()] == before


OPML = """<opml version="2.0"><body><outline text="hills"><outline xmlUrl="https://one.example/feed"/>
<outline xmlUrl="ftp://two.example/feed"/></outline></body></opml>"""


@pytest.mark.parametrize("as_file", [True, False])
def test_a_list_is_taken_and_its_refused_feeds_are_named(wired: Wiring, client: httpx.Client, *, as_file: bool) -> None:
    origin = {"Origin": str(client.base_url).rstrip("/")}
    file = ("feeds.opml", OPML if as_file else "", "text/x-opml")
    fields = {"list": "" if as_file else OPML, "categories": "news"}
    answer = client.post("/dashboard/feeds/lists", data=fields, files={"file": file}, headers=origin)
    assert answer.status_code == 200
    assert "1 of 2 feeds are subscribed, 1 refused." in answer.text
    assert "ftp://two.example/feed" in answer.text
    (feed,) = wired.registry.all()
    assert (feed.subscription.url, feed.subscription.categories) == ("https://one.example/feed", ("news", "hills"))
    empty = client.post("/dashboard/feeds/lists", data={"list": " "}, files={"file": ("", b"")}, headers=origin)
    assert empty.status_code == 422
    assert 'role="alert"' in empty.text


def test_feeds_are_sorted_by_any_column_and_filtered_by_category(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)

    def sites(**query: str) -> list[str]:
        return re.findall(r"https://(site\d+)", client.get("/dashboard/feeds", params=query).text)

    assert sites()[:3] == ["site0", "site1", "site10"]
    assert sites(down="1")[:2] == ["site9", "site8"]
    assert sites(sort="interval")[:3] == ["site0", "site1", "site2"]
    assert sites(sort="interval", down="1")[:2] == ["site11", "site10"]
    assert sites(sort="failures", down="1")[:3] == ["site5", "site6", "site0"]
    assert sites(failing="1", sort="failures") == ["site6", "site5"]
    assert len(sites(category="<b>news</b>")) == 12
    assert sites(category="others") == []
    assert client.get("/dashboard/feeds?sort=shoes").status_code == 422


def test_an_unknown_path_is_a_page_for_browsers_and_a_problem_for_programs(client: httpx.Client) -> None:
    page = client.get("/nowhere", headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert '<nav aria-label="Pages">' in page.text
    assert client.get("/nowhere").headers["content-type"] == "application/problem+json"


def test_usual_reasons_are_not_marked_as_bad(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    page = client.get("/dashboard/dlq").text
    assert '<a class="tag" href="/dashboard/dlq?reason=http_404">' in page
    assert '<a class="tag bad" href="/dashboard/dlq?reason=%3Cb%3E">' in page
    overview = client.get("/").text
    assert re.search(r'<div class="figure"><dt><a href="/dashboard/dlq">Dead letters', overview)
    assert re.search(r'<div class="figure bad"><dt><a href="/dashboard/feeds\?failing=1">', overview)


def test_dropping_asks_first(wired: Wiring, client: httpx.Client) -> None:
    seeded(wired)
    assert ">Drop" not in client.get("/dashboard/dlq").text
    letter = client.get("/dashboard/dlq/letter", params={"name": "https://dead.example/1"}).text
    (path,) = re.findall(r'href="(/dashboard/dlq/drop[^"]*)"', letter)
    question = client.get(unescape(path)).text
    assert "Drop this dead letter?" in question
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', question))
    assert post(client, "/dashboard/dlq", **fields).status_code == 303
    assert wired.dead_letters.count() == 2
    assert client.get("/dashboard/dlq/letter", params={"name": "https://dead.example/1"}).status_code == 404
    assert client.get("/dashboard/dlq/drop").status_code == 400


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


def test_the_newest_dead_letters_come_first_page_by_page(wired: Wiring, client: httpx.Client) -> None:
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


def test_texts_of_publishers_are_escaped(wired: Wiring, client: httpx.Client) -> None:
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


def test_an_article_is_shown_in_a_sandboxed_frame(wired: Wiring, client: httpx.Client) -> None:
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
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; img-src 'self';")
        assert "unsafe" not in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["cache-control"]) == ("nosniff", "no-store")


def test_a_page_without_its_store_shows_that_the_store_is_unreachable(tmp_path: Path) -> None:
    with running_redis() as url:
        wired = wiring(url, tmp_path)
        _ = wired.connection
    with serving(wired, free_port()) as url:
        for path in PATHS:
            answer = httpx.get(url + path, timeout=60)
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
            assert "unreachable" in answer.text
    wired.close()


def test_a_server_that_lost_its_data_is_shown(wired: Wiring, client: httpx.Client) -> None:
    assert "emptied" not in client.get("/").text
    wired.client.flushall()
    assert "<strong>emptied</strong>" in client.get("/").text


@pytest.fixture
def guarded(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[tuple[Wiring, httpx.Client]]:
    """An API that asks everybody for a token."""
    made = wiring(redis_server, tmp_path, FEEDCRAWL_API_HOST="0.0.0.0")
    with serving(made, free_port()) as url, httpx.Client(base_url=url, timeout=30) as client:
        yield made, client
    made.close()


def test_a_token_opens_the_dashboard_and_a_read_token_changes_nothing(guarded: tuple[Wiring, httpx.Client]) -> None:
    wired, client = guarded
    seeded(wired)
    assert client.get("/dashboard/feeds?q=a").headers["location"] == "/login?next=%2Fdashboard%2Ffeeds%3Fq%3Da"
    assert post(client, "/dashboard/dlq", reason="http_404", action="drop").headers["location"] == "/login"
    refused = post(client, "/login", token="fc_wrong")
    assert refused.status_code == 401
    assert "The token is unknown or revoked" in refused.text
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


def test_pages_take_few_round_trips_with_a_large_store(
    wired: Wiring, client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    feeds = 3000
    seeded(wired, feeds=feeds)
    sent: list[object] = []
    send = AbstractConnection.send_packed_command

    def counted(connection: AbstractConnection, command: Any, check_health: bool = True) -> None:
        sent.append(command)
        send(connection, command, check_health)

    monkeypatch.setattr(AbstractConnection, "send_packed_command", counted)
    for path in (
        "/",
        "/dashboard/feeds",
        "/dashboard/feeds?q=site29",
        "/dashboard/frontier",
        "/dashboard/frontier/urls?text=none",
    ):
        sent.clear()
        assert client.get(path).status_code == 200
        assert 0 < len(sent) < feeds / 10, path
