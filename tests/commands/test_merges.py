"""`scrapy merges`, called as `scrapy` calls it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import paragraphs
from scrapy.exceptions import UsageError
from stories import Reader, wired_to

from feedcrawl.domain.urls import url_uid

A, B, C = (f"http://{name}.paper.test/1" for name in "abc")
TEXT = "\n".join(paragraphs("story", count=5))
Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def merges(call: Call, redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Call:
    """The command after two articles have joined a first."""
    with wired_to(redis_server, tmp_path) as wired:
        reader = Reader(wired)
        for url, text, title in ((A, TEXT, "Ferry"), (B, TEXT, "Ferry\x1b[2J"), (C, f"{TEXT}\nMore.", "Ferry")):
            reader.read(url, text, title=title)
    return lambda *arguments: call("merges", *arguments)


def test_merges_are_listed_newest_first(merges: Call) -> None:
    code, out, err = merges("list")
    assert (code, err) == (0, "")
    first, second = out.splitlines()
    assert f"{url_uid(C)} → {url_uid(A)}  near_text 1.000  {C}  Ferry" in first
    assert f"{url_uid(B)} → {url_uid(A)}  same_text 1.000  {B}  Ferry [2J" in second  # nothing steers the terminal
    assert merges()[1] == out
    assert merges("list", "--limit", "1")[1].splitlines() == [first]


def test_merges_are_listed_as_json(merges: Call) -> None:
    found: list[dict[str, Any]] = json.loads(merges("list", "--json")[1])
    assert [join["uid"] for join in found] == [url_uid(C), url_uid(B)]
    assert json.loads(merges("show", C, "--json")[1]) == found[0]
    assert json.loads(merges("show", url_uid(B), "--json")[1]) == found[1]
    assert f'        winner  "{url_uid(A)}"' in merges("show", C)[1]


def test_merges_are_undone_in_order(merges: Call, redis_client: redis.Redis) -> None:
    code, out, _ = merges("undo", url_uid(B), C)
    assert code == 0
    assert [line.split(":")[0] for line in out.splitlines()] == [f"{url_uid(B)} restored", f"{url_uid(C)} restored"]
    assert redis_client.hget(f"rss:article_canonical:{url_uid(C)}", "status") == "success"
    assert merges("list") == (0, "", "scrapy merges: no articles have been merged\n")
    assert merges("list", "--json")[1] == "[]\n"


@pytest.mark.parametrize("action", ["show", "undo"])
def test_an_article_that_was_not_merged_is_named(merges: Call, action: str) -> None:
    code, out, err = merges(action, A)
    assert (code, out) == (2, "")
    assert err == f"scrapy merges: {A} was not merged into another article within the last 30 days (no_merge)\n"


@pytest.mark.parametrize("arguments", [("undo",), ("show",), ("show", A, B), ("drop", A)])
def test_an_unknown_action_is_refused(merges: Call, arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="say list, show UID or undo UID"):
        merges(*arguments)
