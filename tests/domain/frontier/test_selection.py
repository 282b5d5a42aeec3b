from datetime import UTC, datetime
from typing import Any

import pytest

from feedcrawl.domain.frontier.selection import TaskFilter, hash_of, status_of, task_record
from feedcrawl.domain.frontier.tasks import History, Task
from feedcrawl.domain.urls import url_hash, url_uid

URL = "https://a.example/x/?utm_source=rss"
TASK = Task(
    url_uid(URL),
    "article",
    URL,
    "a.example",
    8,
    "feed",
    parent="https://a.example/feed",
    depth=2,
    source="a",
    category="world",
)
HISTORY = History("dead", "http_404", 3, 1_000, 3_000, 2_000, 4, "http_503", etag='"1"')
AT = datetime.fromtimestamp(1, UTC)
LATER = datetime.fromtimestamp(2.5, UTC)


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ({}, True),
        ({"host": "a.example"}, True),
        ({"host": "b.example"}, False),
        ({"source": "a", "status": "dead", "kind": "article", "origin": "feed", "category": "world"}, True),
        ({"source": "b"}, False),
        ({"status": "pending"}, False),
        ({"origin": "spider"}, False),
        ({"category": "local"}, False),
        ({"parent": "https://a.example/feed", "depth": 2, "priority": 8}, True),
        ({"parent": "https://a.example/other"}, False),
        ({"depth": 0}, False),
        ({"priority": 7}, False),
        ({"text": "utm"}, True),
        ({"text": "/y"}, False),
        ({"error": "http_404"}, True),
        ({"error": "http_503"}, True),
        ({"error": "http_500"}, False),
        ({"min_retries": 3}, True),
        ({"min_retries": 4}, False),
        ({"min_fetches": 4}, True),
        ({"min_fetches": 5}, False),
        ({"url_hash": url_hash(URL)}, True),
        ({"url_hash": "0" * 64}, False),
        ({"discovered_after": AT, "discovered_before": AT}, True),
        ({"discovered_after": LATER}, False),
        ({"fetched_after": AT, "fetched_before": LATER}, True),
        ({"fetched_before": AT}, False),
    ],
)
def test_conditions(condition: dict[str, Any], met: bool) -> None:
    assert TaskFilter(**condition).matches(TASK, HISTORY) is met


@pytest.mark.parametrize(
    ("condition", "due", "met"),
    [
        ({}, None, True),
        ({"next_fetch_after": AT}, None, False),
        ({"next_fetch_before": AT}, None, False),
        ({"next_fetch_after": AT}, AT, True),
        ({"next_fetch_before": AT}, AT, True),
        ({"next_fetch_before": AT}, LATER, False),
        ({"next_fetch_after": LATER}, AT, False),
        ({"next_fetch_after": AT, "next_fetch_before": LATER}, LATER, True),
    ],
)
def test_times_of_the_next_fetch(condition: dict[str, Any], due: datetime | None, met: bool) -> None:
    wanted = TaskFilter(**condition)
    assert wanted.has_due_times == bool(condition)
    assert wanted.is_due_then(None if due is None else round(due.timestamp() * 1000)) is met


def test_a_task_that_was_never_fetched_meets_no_time_of_a_fetch() -> None:
    assert not TaskFilter(fetched_before=LATER).matches(TASK, History())
    assert not TaskFilter(fetched_after=AT).matches(TASK, History())


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (TASK, url_hash(URL)),
        (
            Task(url_uid(URL, keep_trailing_slash=True), "article", URL, "a.example"),
            url_hash(URL, keep_trailing_slash=True),
        ),
        (Task("feed:1", "feed", URL, "a.example"), url_hash(URL)),
        (
            Task(url_uid(URL), "article", "https://b.example/", "b.example", payload={"redirect_chain": [URL]}),
            url_hash(URL),
        ),
        (Task("page:1", "page", "x:y", ""), None),
    ],
)
def test_the_hash_of_the_canonical_url(task: Task, expected: str | None) -> None:
    assert hash_of(task) == expected


@pytest.mark.parametrize(
    ("history", "expected"),
    [
        (History(), "pending"),
        (History(quarantined=1), "quarantined"),
        (History("fetching", quarantined=1), "fetching"),
        (History("dead"), "dead"),
    ],
)
def test_the_status_that_people_see(history: History, expected: str) -> None:
    assert status_of(history) == expected


def test_a_record_shows_the_whole_task() -> None:
    assert task_record(TASK, HISTORY, 5_000, "c" * 64) == {
        "id": TASK.id,
        "url": URL,
        "url_hash": url_hash(URL),
        "host": "a.example",
        "kind": "article",
        "source": "a",
        "category": "world",
        "origin": "feed",
        "parent": "https://a.example/feed",
        "depth": 2,
        "priority": 8,
        "status": "dead",
        "reason": "http_404",
        "discovered_at": "1970-01-01T00:00:01.000Z",
        "next_fetch_at": "1970-01-01T00:00:05.000Z",
        "last_fetched_at": "1970-01-01T00:00:02.000Z",
        "updated_at": "1970-01-01T00:00:03.000Z",
        "fetch_count": 4,
        "retry_count": 3,
        "deaths": 0,
        "last_error": "http_503",
        "content_hash": "c" * 64,
        "etag": '"1"',
        "last_modified": None,
    }
