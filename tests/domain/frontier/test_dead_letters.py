import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.frontier.dead_letters import DeadLetterFilter, age_sec, payload_of, read_dead_letter, task_of
from feedcrawl.domain.frontier.tasks import Task

UID = "846820ee79c4269c"
URL = "https://a.test/old"


def letter(**fields: Any) -> dict[str, Any]:
    return {"url": URL, "uid": UID, "kind": "article", "reason": "http_404", "at": 1000.0, **fields}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (DeadLetterFilter(), True),
        (DeadLetterFilter(reason="http_404"), True),
        (DeadLetterFilter(reason="http_410"), False),
        (DeadLetterFilter(host="a.test"), True),
        (DeadLetterFilter(host="b.test"), False),
        (DeadLetterFilter(before=1000.0), False),
        (DeadLetterFilter(before=1000.1), True),
        (DeadLetterFilter(after=999.9), True),
        (DeadLetterFilter(after=1000.0), False),
        (DeadLetterFilter(names=frozenset({URL, "x"})), True),
        (DeadLetterFilter(names=frozenset({UID})), True),
        (DeadLetterFilter(names=frozenset({"x"})), False),
        (DeadLetterFilter(reason="http_404", host="b.test"), False),
    ],
)
def test_dead_letters_that_meet_a_filter(conditions: DeadLetterFilter, expected: bool) -> None:
    assert conditions.matches(read_dead_letter(json.dumps(letter()))) is expected


@pytest.mark.parametrize(
    ("text", "name", "reason", "host", "at"),
    [
        ('{"item":"javascript:1","reason":"url_scheme","detail":"x","at":3}', "javascript:1", "url_scheme", "", 3.0),
        ("no json", "no json", "", "", 0.0),
        ("[" * 100_000, "[" * 100_000, "", "", 0.0),
        ('{"url":"https://A.test/","at":"soon"}', "https://A.test/", "", "a.test", 0.0),
    ],
)
def test_a_dead_letter_is_read_with_its_fields(text: str, name: str, reason: str, host: str, at: float) -> None:
    found = read_dead_letter(text)
    assert (found.name, found.reason, found.host, found.at) == (name, reason, host, at)


@pytest.mark.parametrize(
    ("dead_letter", "task"),
    [
        (letter(), Task(UID, "article", URL, "a.test", 7, "queue")),
        (
            letter(origin="feed", parent="https://a.test/feed", depth=2, source="a", category="news"),
            Task(UID, "article", URL, "a.test", 7, "feed", "https://a.test/feed", 2, "a", "news"),
        ),
        (
            letter(
                payload='{"feed_id":"f","redirect_chain":["https://a.test/first","https://b.test/"],"temporary":true}'
            ),
            Task(UID, "article", "https://a.test/first", "a.test", 7, "queue", payload={"feed_id": "f"}),
        ),
        (letter(uid="page:x", kind="page"), Task("page:x", "page", URL, "a.test", 7, "queue")),
        (letter(uid="archive:f", kind="archive"), Task("archive:f", "archive", URL, "a.test", 7, "queue")),
        (letter(uid=f"file:{32 * 'a'}", kind="file"), Task(f"file:{32 * 'a'}", "file", URL, "a.test", 7, "queue")),
        (letter(uid="file:a", kind="file"), None),
        (
            letter(origin=["feed"], parent=3, depth=True, source="", category={}),
            Task(UID, "article", URL, "a.test", 7, "queue"),
        ),
        (letter(depth=-1), Task(UID, "article", URL, "a.test", 7, "queue")),
        (letter(uid="0"), None),
        (letter(uid=None), None),
        (letter(uid="feed:x", kind="feed"), None),
        (letter(kind=["article"]), None),
        ({"url": URL, "reason": "http_404"}, None),
    ],
)
def test_the_task_of_a_dead_letter(dead_letter: dict[str, Any], task: Task | None) -> None:
    assert task_of(dead_letter, 7) == task


def test_a_dead_letter_with_an_unusable_url_is_refused() -> None:
    with pytest.raises(InvalidUrl):
        task_of(letter(url="javascript:1"), 5)


@given(st.text() | st.none() | st.integers())
def test_a_payload_is_an_object_or_empty(text: object) -> None:
    assert isinstance(payload_of({"payload": text}), dict)


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("1.5h", 5400), ("7d", 604_800), (" 1d ", 86_400)]
)
def test_ages(text: str, seconds: float) -> None:
    assert age_sec(text) == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1w", "1e3s", "1 d"])
def test_a_malformed_age_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="bad_age"):
        age_sec(text)
