"""The commands that look at the stores and go, called as `scrapy` calls them."""

import json
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import redis
from redis_cluster import Cluster
from scrapy.exceptions import UsageError
from stories import Reader, wired_to

from feedcrawl.commands.feeds import ACTIONS
from feedcrawl.console.subscriptions import feed_actions
from feedcrawl.domain.archive.warc import Exchange
from feedcrawl.domain.sitemaps.state import Sitemap, SitemapRecord
from feedcrawl.domain.subscriptions.lists import read_list
from feedcrawl.domain.subscriptions.records import PollRecord, Subscription
from feedcrawl.domain.urls import url_uid
from feedcrawl.store.disk.raw import RawStore
from feedcrawl.store.sites.sitemaps import Sitemaps
from feedcrawl.store.subscriptions.registry import Registry

Call = Callable[..., tuple[int, str, str]]


def test_subscribe_feeds_opml_unsubscribe(call: Call, tmp_path: Path) -> None:
    (tmp_path / "l.opml").write_text(
        '<opml><body><outline text="News"><outline title="A" xmlUrl="http://a.test/"/><outline xmlUrl="ftp://no/"/>'
    )
    code, out, err = call(
        "subscribe", str(tmp_path / "l.opml"), "b.test/feed,http://A.test", "--category", "x, y", "--as-is"
    )
    assert code == 0
    assert [line.split()[1] for line in out.splitlines()] == ["http://a.test/", "https://b.test/feed"]
    assert "ftp://no/: ftp: is not http: or https: (url_scheme)" in err

    code, out, err = call("feeds", "--json")
    feeds = json.loads(out)
    assert (code, err) == (0, "")
    assert [(feed["url"], feed["categories"]) for feed in feeds] == [
        ("http://a.test/", ["x", "y", "News"]),
        ("https://b.test/feed", ["x", "y"]),
    ]
    assert {"id", "type", "validators", "schedule", "publisher_hints", "stats"} <= feeds[0].keys()
    assert json.loads(call("feeds", "--json", "https://a.test")[1]) == feeds[0]
    assert json.loads(call("feeds", "--json", feeds[1]["id"])[1]) == feeds[1]

    code, out, err = call("feeds")
    rows = [row.split() for row in out.splitlines() if "test" in row]
    assert [row[1] for row in rows] == ["http://a.test/", "https://b.test/feed"]
    assert rows[0][0] == "A"
    assert "never polled" in out
    for given, urls in (
        (("--reverse",), ["https://b.test/feed", "http://a.test/"]),
        (("--category", "News"), ["http://a.test/"]),
        (("--failing",), []),
    ):
        listed = call("feeds", "--columns", "url", *given)[1]
        assert [row.strip() for row in listed.splitlines() if "test" in row] == urls
    for option, value in (("--sort", "shoes"), ("--columns", "url,shoes")):
        with pytest.raises(UsageError, match="shoes"):
            call("feeds", option, value)

    code, out, _ = call("opml")
    assert [feed.url for feed in read_list(out.encode()).feeds] == ["https://b.test/feed", "http://a.test/"][::-1]
    assert call("opml", str(tmp_path / "out.opml"))[:2] == (0, "")
    assert (tmp_path / "out.opml").read_text() == out

    code, out, err = call("unsubscribe", "HTTPS://a.test", "http://other.test/")
    assert (code, out.split()[1]) == (0, "http://a.test/")
    assert "http://other.test/ is neither subscribed nor watched" in err
    assert [feed["url"] for feed in json.loads(call("feeds", "--json")[1])] == ["https://b.test/feed"]


def test_the_command_knows_each_action() -> None:
    assert tuple(feed_actions.ACTIONS) == ACTIONS


def test_failing_feeds_are_listed_without_reading_the_others(call: Call, redis_client: redis.Redis) -> None:
    registry = Registry(redis_client)
    for number in range(3):
        registry.save(Subscription(str(number), f"https://s{number}.test/feed"))
    bad = PollRecord(last_result="http_500", cadence='{"errors":2}')
    registry.save_polls("1", bad)
    for command in registry.failing_changed("1", PollRecord(), bad):
        redis_client.execute_command(*command)
    redis_client.set("fc:{0}:polls:2", "{broken")
    assert call("feeds", "--failing", "--columns", "url,errors")[1].split()[-2:] == ["https://s1.test/feed", "2"]


def test_the_same_on_a_cluster(call: Call, tmp_path: Path, redis_cluster: Cluster) -> None:
    redis_cluster.flush()
    there = {"REDIS_URL": redis_cluster.url, "FEEDCRAWL_SHARDS": 3}
    urls = [f"https://site-{number}.test/feed" for number in range(9)]
    assert call("subscribe", "--as-is", *urls, **there)[0] == 0
    assert call("subscribe", "--as-is", urls[3], **there)[0] == 0
    assert [feed["url"] for feed in json.loads(call("feeds", "--json", **there)[1])] == urls
    exported = call("opml", **there)[1]
    assert sorted(feed.url for feed in read_list(exported.encode()).feeds) == urls
    assert "Never polled" in call("why", urls[7], **there)[1]
    assert call("unsubscribe", urls[7], **there)[0] == 0
    code, out, err = call("why", urls[7], **there)
    assert (code, out) == (2, "")
    assert "is neither subscribed nor watched" in err
    code, _, err = call("feeds", **there | {"FEEDCRAWL_SHARDS": 1})
    assert code == 2
    assert "set FEEDCRAWL_SHARDS=3" in err


def subscriptions_in(client: redis.Redis) -> list[Subscription]:
    found = (replace(feed.subscription, id="", added_at="") for feed in Registry(client).all())
    return sorted(found, key=lambda subscription: subscription.url)


@pytest.mark.parametrize("form", ["opml", "csv", "json"])
def test_an_export_brings_the_same_subscriptions_back(
    call: Call, redis_client: redis.Redis, tmp_path: Path, form: str
) -> None:
    path = tmp_path / f"list.{form}"
    listed = {"url": "http://a.test/", "title": "A", "categories": ["n, x", "y"], "priority": 8, "backfill": True}
    path.write_text(json.dumps([{**listed, "min_interval_sec": 600, "max_interval_sec": 7200}, "http://b.test/feed"]))
    assert call("subscribe", str(path))[0] == 0
    before = subscriptions_in(redis_client)
    assert call("opml", str(path))[:2] == (0, "")
    redis_client.flushall()
    assert call("subscribe", str(path))[0] == 0
    after = subscriptions_in(redis_client)
    assert after == before
    assert (after[0].title, after[0].categories, after[0].priority) == ("A", ("n, x", "y"), 8)
    assert (after[0].min_interval_sec, after[0].max_interval_sec, after[0].backfill) == (600.0, 7200.0, True)
    assert call("opml", "--format", "text")[1] == 'http://a.test/ "n, x" y\nhttp://b.test/feed\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["subscribe", "no.opml"], "no such file"),
        (["subscribe", "ftp://a.test/"], "ftp: is not http: or https:"),
        (["unsubscribe", "http://a.test/"], "is neither subscribed nor watched"),
        (["feeds", "http://a.test/"], "is neither subscribed nor watched"),
        (["feeds", "--json", "http://a.test/"], "is neither subscribed nor watched"),
        (["why", "http://a.test/"], "is neither subscribed nor watched"),
        (["opml", "/no/such/directory/x.opml"], "cannot be written"),
    ],
)
def test_an_argument_that_cannot_be_used_is_refused_in_a_line(call: Call, arguments: list[str], message: str) -> None:
    code, out, err = call(*arguments)
    assert code == 2
    assert message in err
    assert err.startswith(f"scrapy {arguments[0]}: ")
    assert err.count("\n") == 1
    assert "http" not in out


@pytest.mark.parametrize("arguments", [["subscribe"], ["unsubscribe"], ["why"], ["why", "a", "b"], ["opml", "a", "b"]])
def test_missing_arguments_are_refused(call: Call, arguments: list[str]) -> None:
    with pytest.raises(UsageError):
        call(*arguments)


@pytest.mark.parametrize(
    ("overrides", "code", "message"),
    [
        ({"REDIS_URL": "redis://127.0.0.1:1/"}, 1, "does not answer"),
        ({"FEEDCRAWL_FETCH_TIMEOUT_SEC": "60"}, 2, "FEEDCRAWL_FETCH_TIMEOUT_SEC must be"),
        ({"FEEDCRAWL_LEASESEC": "1"}, 2, "the nearest is FEEDCRAWL_LEASE_SEC"),
        ({"FEEDCRAWL_DATA_DIR": "/dev/null/x", "REDIS_URL": None}, 2, "FEEDCRAWL_DATA_DIR"),
    ],
)
def test_trouble_ends_in_a_sentence(call: Call, overrides: dict[str, str], code: int, message: str) -> None:
    status, out, err = call("feeds", **overrides)
    assert (status, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1


def test_the_extraction_of_an_article_is_explained(call: Call, tmp_path: Path) -> None:
    url = "http://a.test/story"
    story = "".join(f"<p>Sentence number {n} of the story is long enough to be taken for prose.</p>" for n in range(40))
    page = f"<title>Best ports</title><article><h1>Ten best ports</h1>{story}</article><nav><p>Sections</p></nav>"
    exchange = Exchange(
        str(uuid.uuid4()), url, datetime(2026, 3, 2, 8, tzinfo=UTC), 200, body=page.encode(), uid=url_uid(url)
    )
    with closing(RawStore(tmp_path / "data" / "raw", software="feedcrawl/test")) as store:
        store.append(exchange)
    code, out, err = call("why", url)
    first, head, kind, *rows = out.splitlines()
    assert (code, err) == (0, "")
    assert first == f"article  {url}  fetched at 2026-03-02T08:00:00.000Z  {exchange.fetch_id}"
    assert head.split() == ["field", "source", "weight", "value"]
    assert kind.split() == ["page", "kind", "article"]
    assert any(row.split()[:3] == ["furniture", "<nav>", "8"] for row in rows)
    assert any(row.split() == ["title", "chosen", "0.6", "Best", "ports"] for row in rows)
    assert call("why", exchange.fetch_id)[1] == out


def test_why_a_paused_feed_is_not_polled(call: Call, redis_client: redis.Redis) -> None:
    feed_id = call("subscribe", "http://a.test/", "--as-is")[1].split()[0]
    polled = PollRecord(
        interval_sec=2400.0,
        next_at="2026-03-02T08:40:00.000Z",
        reason="rate",
        candidates=(("rate", 2400.0),),
        last_fetch_at="2026-03-02T08:00:00.000Z",
        last_status=200,
        last_result="fetched",
    )
    call("feeds", "pause", feed_id)
    assert call("why", feed_id)[1].splitlines()[1:] == [
        "Paused: no poll until `scrapy feeds resume http://a.test/`",
        "Never polled yet.",
    ]
    for command in Registry(redis_client).commit(feed_id, polled, {"poll_id": "1", "at": "t1", "result": "fetched"}):
        redis_client.execute_command(*command)
    assert "Next poll" not in (shown := call("why", feed_id)[1])
    assert "Last polled at 2026-03-02T08:00:00.000Z" in shown
    call("feeds", "resume", feed_id)
    assert "Next poll at 2026-03-02T08:40:00.000Z" in call("why", feed_id)[1]


def test_why(call: Call, redis_client: redis.Redis) -> None:
    call("subscribe", "http://a.test/", "--as-is")
    (feed_id,) = (feed.id for feed in Registry(redis_client).all())
    assert "Never polled yet" in call("why", feed_id)[1]
    record = PollRecord(
        interval_sec=2400.0,
        next_at="2026-03-02T08:40:00.000Z",
        reason="no-new-entries+ttl",
        candidates=(("interval", 900.0), ("ttl", 2400.0), ("odd\x1b[2J", 5.0)),
        last_fetch_at="2026-03-02T08:00:00.000Z",
        last_status=200,
        last_result="fetched",
    )
    fetches = [{"poll_id": str(n), "at": f"t{n}", "result": "fetched", "new": n, "http_status": 200} for n in range(4)]
    for fetch in fetches:
        for command in Registry(redis_client).commit(feed_id, record, fetch):
            redis_client.execute_command(*command)
    code, out, err = call("why", "http://a.test/", "--lines", "2")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[1].startswith("Next poll at 2026-03-02T08:40:00.000Z, 40 min after the last poll, because: no new")
    assert "then requested by the feed (ttl) (no-new-entries+ttl)" in lines[1]
    assert lines[2].split(maxsplit=2) == ["15", "min", "the interval so far (interval)"]
    assert "\x1b" not in out
    assert lines[5].startswith("Last polled at")
    assert [line.split()[0] for line in lines[6:]] == ["t3", "t2"]
    Registry(redis_client).save_polls(feed_id, replace(record, quiet_since="2026-03-01T08:00:00.000Z"))
    assert "Quiet against its own last weeks: found so at 2026-03-01T08:00:00.000Z" in call("why", feed_id)[1]


def test_sitemaps_are_listed_explained_and_dropped(call: Call, redis_client: redis.Redis) -> None:
    store, own = Sitemaps(redis_client), "00000000-0000-4000-8000-000000000001"
    index = Sitemap(own, "https://a.test/sitemap.xml", ("world",), "A")
    part = replace(index, id=own[:-1] + "2", url="https://a.test/1.xml", root=own, root_url=index.url, depth=1)
    for each in (index, part):
        store.add([(each, each.url.partition("://")[2])])
    polled = SitemapRecord(
        kind="index",
        urls=1,
        interval_sec=21_600.0,
        next_at="2026-11-28T18:00:00Z",
        reason="floor",
        candidates=(("ewma", 60.0), ("floor", 21_600.0)),
        last_fetch_at="2026-11-28T12:00:00Z",
        last_status=200,
        last_result="fetched",
    )
    line = {"poll_id": "p", "at": "2026-11-28T12:00:00Z", "result": "fetched", "urls": 1, "next_at": polled.next_at}
    for command in store.commit(own, polled, line):
        redis_client.execute_command(*command)

    out = call("feeds")[1]
    assert [row.split()[:3] for row in out.splitlines() if "a.test" in row] == [[index.url, "index", "A"]]
    assert [each["url"] for each in json.loads(call("feeds", "--sitemaps", "--json")[1])] == [part.url, index.url]
    assert json.loads(call("feeds", "--json", "a.test/sitemap.xml")[1])["stats"]["last_item_count"] == 1
    assert call("feeds", part.id)[1].count("never polled") == 1

    code, out, _ = call("why", index.url)
    lines = out.splitlines()
    assert (code, lines[0]) == (0, f"sitemap  {index.url}  {own}")
    assert lines[1].startswith("Next poll at 2026-11-28T18:00:00Z, 6 h after the last poll, because: ")
    assert [row[0] for row in lines[2:4]] == [" ", "→"]
    assert lines[4] == "Last polled at 2026-11-28T12:00:00Z: fetched (HTTP 200); its last document had 1 URL"
    assert "urls=1" in lines[5]
    assert "Never polled yet" in call("why", part.id)[1]

    assert call("unsubscribe", index.url) == (0, f"{own}  {index.url}\n", "")
    assert store.count() == 0
    code, _, err = call("why", index.url)
    assert (code, "neither subscribed nor watched" in err) == (2, True)


def test_why_a_page_is_not_in_the_archive(call: Call, redis_server: str, tmp_path: Path) -> None:
    with wired_to(redis_server, tmp_path) as wired:
        made = Reader(wired)
        for name, status, reason in (("gone", "dead", "http_404"), ("barred", "dead", "robots_blocked")):
            wired.leases.done(made.lease(f"http://{name}.test/1"), status=status, reason=reason)
        made.lease("http://busy.test/1")
    code, out, err = call("why", "http://GONE.test/1?utm_source=rss")
    first, second = out.splitlines()
    assert (code, err) == (0, "")
    assert first.startswith("article  http://gone.test/1  dead (http_404), last requested at 20")
    assert second == "`scrapy dlq replay http://gone.test/1` tries it again"
    code, out, _ = call("why", "http://barred.test/1")
    assert (code, out.count("\n"), "dead (robots_blocked)" in out) == (0, 1, True)
    assert call("why", "http://busy.test/1")[:2] == (0, "article  http://busy.test/1  fetching\n")


def test_an_unknown_action_is_refused_with_those_that_exist(call: Call) -> None:
    with pytest.raises(UsageError, match="'refetch' is no action; there are: move, undo-move"):
        call("feeds", "refetch", "http://a.test/")


def test_an_override_is_no_setting(call: Call) -> None:
    with pytest.raises(UsageError, match="--override min_interval_sec=VALUE"):
        call("subscribe", "http://a.test/feed", "--as-is", "--set", "min_interval_sec=600")


def test_overrides_of_a_feed_are_set_and_undone(call: Call, redis_client: redis.Redis) -> None:
    code, out, _ = call(
        "subscribe", "http://a.test/feed", "--as-is", "--override", "push_only=1", "--override", "priority=8"
    )
    assert code == 0
    assert call("feeds", "set", out.split()[0], "fixed_interval_sec=600", "push-only=", "priority=")[0] == 0
    (subscription,) = subscriptions_in(redis_client)
    assert (subscription.fixed_interval_sec, subscription.push_only, subscription.priority) == (600.0, False, 5)
    code, _, err = call("feeds", "set", "http://a.test/feed", "colour=blue")
    assert (code, "unknown_override" in err) == (2, True)
    assert call("feeds", "set", "http://b.test/feed", "priority=1")[0] == 2
    assert call("feeds", "undo-move", "http://a.test/feed")[::2] == (
        2, "scrapy feeds: http://a.test/feed: http://a.test/feed has not moved since it was subscribed (never_moved)\n",
    )  # fmt: skip
    with pytest.raises(UsageError):
        call("feeds", "move", "http://a.test/feed")


def test_the_budget_of_polls_is_shown_with_demand_and_tempo(call: Call, redis_client: redis.Redis) -> None:
    redis_client.set("fc:{0}:demand", "0.5")
    code, out, _ = call("feeds", "--budget", FEEDCRAWL_POLLS_PER_HOUR=600)
    assert code == 0
    assert out.splitlines()[0] == "Budget: 600 polls per hour. Demand: 1800.0 polls per hour; tempo 3.000."
    assert "none (FEEDCRAWL_POLLS_PER_HOUR)" in call("feeds", "--budget")[1]


def test_the_budget_of_a_large_fleet_is_estimated_from_some_of_its_feeds(
    call: Call, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("subscribe", "--as-is", *(f"http://a.test/{number}" for number in range(20)))
    registry = Registry(redis_client)
    for feed in list(registry.all()):
        registry.save_polls(feed.id, PollRecord(interval_sec=1800.0))
    assert "Scheduled: 40.0 polls per hour" in (whole := call("feeds", "--budget")[1])
    assert "Estimated" not in whole
    monkeypatch.setattr(feed_actions, "_SAMPLE", 5)
    lines = call("feeds", "--budget")[1].splitlines()
    assert lines[1] == "Scheduled: 40.0 polls per hour for 0.0 new entries per day."
    assert lines[-1] == "Estimated from 5 random feeds of 20."


def test_the_difference_of_two_archived_versions_is_shown(call: Call, tmp_path: Path) -> None:
    feed_id = call("subscribe", "http://a.test/feed", "--as-is")[1].split()[0]
    assert "holds no two versions" in call("why", "--diff", feed_id)[1]
    store = RawStore(tmp_path / "data" / "raw", software="test")
    documents = (("feed", "Old"), ("feed", "Old"), ("feed", "New"), ("archive/1", "Ancient"), ("elsewhere", "Other"))
    for number, (path, title) in enumerate(documents):
        body = f"<rss><channel><title>{number}</title><item><guid>1</guid><title>{title}</title></item></channel></rss>"
        store.append(
            Exchange(
                fetch_id=str(uuid.UUID(int=number)),
                feed_id=feed_id,
                url=f"http://a.test/{path}",
                fetched_at=datetime(2026, 11, 27, number, tzinfo=UTC),
                status=200,
                response_headers=((b"Content-Type", b"application/rss+xml"),),
                body=body.encode(),
            )
        )
    store.close()
    assert call("why", "--diff", feed_id)[1].splitlines() == [
        "http://a.test/feed: 2026-11-27 02:00:00Z against 2026-11-27 01:00:00Z",
        "changed (silently): New", "  title", "    - Old", "    + New",
    ]  # fmt: skip
