"""Stored records of tasks: their form, the form of earlier versions, and that Python and Lua agree on both."""

import json
from dataclasses import replace

import pytest
from any_tasks import TASKS, TEXTS
from hypothesis import HealthCheck, example, given, settings

from feedcrawl.domain.frontier.tasks import Task, task_from_record
from feedcrawl.store.frontier.packed import packed, unpacked
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy

AT = 1_764_286_185_123
ARTICLE = Task("a", "article", "https://one.example/a", "one.example", 7, "feed", "feed:f", 1, "s", "news", {"t": "é"})


def stored(*parts):
    return "\x1f".join(parts)


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (ARTICLE, stored("ca7", "//one.example/a", "", "feed:f", "1", "s", "news", "@", "", "", '{"t":"é"}')),
        (
            Task("a", "feed", "http://one.example:80/", "one.example"),
            stored("ad5", "http://one.example:80/", "one.example", "", "", "", "", "@", "", "", ""),
        ),
        (
            Task("a", "file", "//x\x1f", "h", source="", parent="a\nb"),
            stored(
                "gd5",
                "",
                "h",
                "",
                "",
                "",
                "",
                "@",
                "",
                r'{"lane":"file","url":"//x\u001f","parent":"a\nb","source":""}',
                "",
            ),
        ),
    ],
    ids=["a record of a feed", "a host that is not exactly that of the URL", "texts that need escaping"],
)
def test_a_new_record(task, expected):
    assert "@".join(packed(task)) == expected
    assert task_from_record(unpacked("a", expected.replace("@", str(AT))))[0] == task


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        ("", {}),
        ("3 5 = f ", {"fetch_count": 3, "last_fetched_at": 5, "updated_at": 5, "status": "fetched", "reason": ""}),
        ("0 - 6 d http_404", {"updated_at": 6, "status": "dead", "reason": "http_404"}),
        ("1 5 6 - two words", {"fetch_count": 1, "last_fetched_at": 5, "updated_at": 6, "reason": "two words"}),
        ("1 5 6 m", {"fetch_count": 1, "last_fetched_at": 5, "updated_at": 6, "status": "moved"}),
    ],
)
def test_a_history(history, expected):
    text = stored("ca7", "//h/", "", "", "", "", "", "", history, "", "")
    known = {"id": "a", "kind": "article", "origin": "feed", "priority": 7, "url": "https://h/", "host": "h"}
    assert unpacked("a", text) == known | expected


@given(TASKS)
def test_a_packed_record_and_back(task):
    assert task_from_record(unpacked(task.id, str(AT).join(packed(task))))[0] == task


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None)
@example(Task("a", "feed", "\x7f", "one.example"), "\x7f")
@given(TASKS.map(lambda task: replace(task, id="a")), TEXTS)
def test_the_scripts_read_and_write_the_same(redis_client, task, reason):
    redis_client.flushall()
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0), clock=lambda: AT)
    frontier.enqueue([task])
    first = redis_client.get("fc:{0}:t:a")
    lanes = ("poll", "page", "file", "listing", *redis_client.smembers("fc:{0}:lanes"))
    (lease,) = frontier.take(1, lanes=lanes).leases
    assert lease.task == task
    assert frontier.give_back(lease, reason=reason, patch={"etag": reason}) == "pending"
    again, history = frontier.find("a")
    assert (again, history.last_error, history.etag, history.discovered_at) == (task, reason, reason, AT)
    (lease,) = frontier.take(1, lanes=lanes).leases
    frontier.done(lease, status="dead", reason=reason)
    ended, history = frontier.find("a")
    assert (ended, history.status, history.reason) == (replace(task, payload={}), "dead", reason)
    assert (history.fetch_count, history.updated_at, history.last_fetched_at) == (1, AT, AT)
    frontier.enqueue([task], again="operator")
    assert frontier.find("a")[0] == task
    assert len(redis_client.get("fc:{0}:t:a")) >= len(first) - len("@")


def earlier(task, **fields):
    """The record of an earlier version: a JSON object."""
    return json.dumps(
        {**task.to_record(), "discovered_at": AT - 5, **fields}, ensure_ascii=False, separators=(",", ":")
    )


def test_records_of_an_earlier_version_go_on(redis_client):
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0), clock=lambda: AT)
    frontier.enqueue([ARTICLE])
    redis_client.set("fc:{0}:t:a", earlier(ARTICLE, attempts=1, etag='"x"'))
    task, history = frontier.find("a")
    assert (task, history.attempts, history.etag, history.discovered_at) == (ARTICLE, 1, '"x"', AT - 5)
    assert frontier.urls()[1] == [(task, history)]
    (lease,) = frontier.take(1).leases
    assert (lease.task, lease.history) == (ARTICLE, history)
    assert frontier.give_back(lease, reason="timeout", counted=True) == "pending"
    assert not redis_client.get("fc:{0}:t:a").startswith("{")
    task, history = frontier.find("a")
    assert (task, history.attempts, history.etag, history.last_error) == (ARTICLE, 2, '"x"', "timeout")


def test_ended_urls_of_an_earlier_version_are_still_known(redis_client):
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0), clock=lambda: AT)
    ended = replace(ARTICLE, payload={})
    redis_client.set(
        "fc:{0}:t:a", earlier(ended, status="fetched", reason="", fetch_count=2, last_fetched_at=AT, etag="e")
    )
    assert frontier.enqueue([ARTICLE]) == ["known"]
    assert frontier.enqueue([ARTICLE], again="operator") == ["again"]
    task, history = frontier.find("a")
    assert (task, history.status, history.fetch_count, history.etag) == (ARTICLE, "pending", 2, "e")
    assert frontier.take(1).leases[0].task == ARTICLE


def test_a_suspect_of_an_earlier_version_is_recognised(redis_client):
    """A worker holds one task at a time at which two workers died (take.lua, may_hold)."""
    frontier = Shard(redis_client, FrontierPolicy(host_delay_sec=0), clock=lambda: AT)
    others = [replace(ARTICLE, id=name, host=f"{name}.example", url=f"https://{name}.example/") for name in "xy"]
    frontier.enqueue(others)
    for task in others:
        redis_client.set(f"fc:{{0}}:t:{task.id}", earlier(task, deaths=2))
    assert len(frontier.take(5).leases) == 1
