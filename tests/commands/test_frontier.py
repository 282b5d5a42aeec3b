import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
import redis
from scrapy.exceptions import UsageError

from feedcrawl.domain.frontier.statistics import WHY
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.store.frontier.hosts import Hosts, RobotsRecord
from feedcrawl.store.frontier.interface import Frontier
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def frontier(redis_client: redis.Redis) -> Frontier:
    frontier = Shard(redis_client, FrontierPolicy())
    frontier.enqueue(
        Task(f"a{n}", "article", f"http://www.a.test/{n}", "www.a.test", origin="feed", source="s") for n in range(5)
    )
    frontier.enqueue([Task("feed:b", "feed", "http://b.test/feed\x1b[2J", "b.test")], delay_sec=600)
    (lease,) = frontier.take(1).leases
    frontier.release(lease, "throttled", wait_sec=90)
    frontier.done(lease, status="dead", reason="http_404")
    return frontier


def test_figures(call: Call, frontier: Frontier) -> None:
    code, out, _ = call("frontier")
    assert code == 0
    lines = [line.split() for line in out.splitlines()]
    for row in (["dead", "article", "1"], ["pending", "article", "4"], ["pending", "s", "4"], ["poll", "delayed", "1"]):
        assert row in lines
    statistics = json.loads(call("frontier", "--json")[1])
    row = {"status": "pending", "kind": "article", "origin": "feed", "source": "s", "tasks": 4}
    assert row in statistics["tasks"]
    lateness = statistics["lateness"]["page"]
    ((bound, count),) = lateness["buckets"]
    assert (count, lateness["count"]) == (1, 1)
    assert ["page", "1", f"{lateness['total_sec']:.1f}", f"{bound:g}", f"{bound:g}"] in lines


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], ["a0", "a1", "a2", "a3", "a4", "feed:b"]),
        (["--host", "b.test"], ["feed:b"]),
        (["--source", "s", "--status", "pending"], ["a1", "a2", "a3", "a4"]),
        (["--status", "dead"], ["a0"]),
        (["--kind", "feed"], ["feed:b"]),
        (["--host", "nobody.test"], []),
        (["--next-fetch-after", "2000-01-01"], ["a1", "a2", "a3", "a4", "feed:b"]),
        (["--next-fetch-before", "2000-01-01T00:00:00Z"], []),
    ],
)
def test_urls(call: Call, frontier: Frontier, conditions: list[str], expected: list[str]) -> None:
    code, out, _ = call("frontier", "urls", "--json", *conditions)
    page = json.loads(out)
    assert (code, page["cursor"], sorted(each["id"] for each in page["urls"])) == (0, 0, expected)
    text = call("frontier", "urls", *conditions)[1]
    assert "\x1b" not in text
    assert text.count("http://") == len(expected)


@pytest.mark.usefixtures("frontier")
def test_a_time_that_cannot_be_read_is_an_error(call: Call) -> None:
    with pytest.raises(UsageError, match="--next-fetch-before 'soon' is no time"):
        call("frontier", "urls", "--next-fetch-before", "soon")


@pytest.mark.parametrize(
    "condition",
    [["--priority", "11"], ["--depth", "-1"], ["--min-retries", "many"], ["--url-hash", "ab"], ["--status", "done"]],
)
def test_a_value_that_no_task_can_have_is_an_error(
    call: Call, capfd: pytest.CaptureFixture[str], condition: list[str]
) -> None:
    with pytest.raises(SystemExit):
        call("frontier", "urls", *condition)
    assert f"error: argument {condition[0]}: " in capfd.readouterr().err


def test_urls_go_on_where_they_ended(call: Call, frontier: Frontier) -> None:
    frontier.enqueue(Task(f"x{n}", "article", f"http://x{n}.test/", f"x{n}.test") for n in range(3000))
    found, cursor, calls = set[str](), 0, 0
    while cursor or not calls:
        page = json.loads(call("frontier", "urls", "--json", "--limit", "10", "--cursor", str(cursor))[1])
        found |= {each["id"] for each in page["urls"]}
        cursor, calls = page["cursor"], calls + 1
    assert len(found) == 3006
    assert calls > 1
    assert "more: --cursor " in call("frontier", "urls", "--limit", "10")[1]


def test_why_a_host_waits(call: Call, frontier: Frontier) -> None:
    code, out, _ = call("frontier", "host", "WWW.a.test")
    assert (code, out.splitlines()[-1]) == (0, f"www.a.test: {WHY['pace']}")
    (host,) = json.loads(call("frontier", "host", "www.a.test", "--json")[1])
    assert (host["tasks"], host["delay_sec"], host["doublings"], host["waits_for"]) == (4, 2.0, 1, "pace")
    assert (host["domain"]["name"], host["domain"]["delay_sec"]) == ("a.test", 0.25)
    assert 80 < host["wait_sec"] <= 90
    assert call("frontier", "host", "nobody.test")[0] == 2


def test_a_robots_txt_that_fails_is_shown(call: Call, frontier: Frontier, redis_client: redis.Redis) -> None:
    since = datetime(2026, 11, 28, 12, tzinfo=UTC)
    hosts = Hosts(redis_client, robots_ttl_sec=86_400)
    hosts.save_robots("http://www.a.test", RobotsRecord("", 503, since.timestamp(), since.timestamp()), "http_503")
    line = call("frontier", "host", "www.a.test")[1].splitlines()[-1]
    assert line == (
        "http://www.a.test/robots.txt fails since 2026-11-28T12:00:00.000Z (http_503): "
        "its pages wait until 2026-11-28T13:00:00.000Z, then robots.txt counts as: allow all"
    )
    ((record,),) = [json.loads(call("frontier", "host", "www.a.test", "--json")[1])[0]["robots"]]
    assert (record["reason"], record["wait_until"], record["then"]) == ("http_503", "2026-11-28T13:00:00.000Z", "allow")


def test_hosts(call: Call, frontier: Frontier) -> None:
    assert json.loads(call("frontier", "hosts", "--json")[1]) == [
        {"host": "www.a.test", "tasks": 4},
        {"host": "b.test", "tasks": 1},
    ]
    assert ["www.a.test", "4"] in [line.split() for line in call("frontier", "hosts", "--limit", "1")[1].splitlines()]


def test_a_limit_without_conditions_is_kept_to_about(call: Call, frontier: Frontier) -> None:
    frontier.enqueue(Task(f"c{n}", "article", f"http://c.test/{n}", "c.test") for n in range(900))
    page = json.loads(call("frontier", "urls", "--json", "--limit", "5")[1])
    assert 5 <= len(page["urls"]) < 60
    assert page["cursor"]


@pytest.mark.parametrize("arguments", [["host"], ["figures", "x"], ["nothing"]])
def test_unknown_actions_and_hosts_are_refused(call: Call, arguments: list[str]) -> None:
    with pytest.raises(UsageError, match="say `figures`"):
        call("frontier", *arguments)


def test_each_reason_has_its_words() -> None:
    own = {"pace", "answer_awaited", "circuit_open"}
    assert set(WHY) == {None, *own, *(f"domain_{reason}" for reason in own)}
