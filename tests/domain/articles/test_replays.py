from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from feedcrawl.domain.articles.replays import CaptureFilter, differences, moment, outcome, outline, version
from feedcrawl.domain.errors import Refusal

NOON = datetime(2026, 11, 28, 12, tzinfo=UTC)
CAPTURE = {"fetched_at": NOON, "host": "a.test", "uid": "0" * 16, "url": "http://a.test/x"}
ARTICLE = {"title": "One", "content_hash": "c" * 64, "extractor": "prose", "text_len": 9, "authors": ["Ada"]}
FAILURE = {"failure": "FAIL_EMPTY"}


@pytest.mark.parametrize(
    ("conditions", "included"),
    [
        (CaptureFilter(), True),
        (CaptureFilter(host="a.test"), True),
        (CaptureFilter(host="b.test"), False),
        (CaptureFilter(host="a.test", uid="1" * 16), False),
        (CaptureFilter(url="http://a.test/x"), True),
        (CaptureFilter(since=NOON), True),
        (CaptureFilter(until=NOON), False),
        (CaptureFilter(since=datetime(2026, 11, 28, 12, 0, 1, tzinfo=UTC)), False),
    ],
)
def test_all_conditions_hold(conditions: CaptureFilter, included: bool) -> None:
    assert conditions.includes(**CAPTURE) is included


@pytest.mark.parametrize(
    ("text", "end", "expected"),
    [
        ("2026-11-28", False, datetime(2026, 11, 28, tzinfo=UTC)),
        ("2026-11-28", True, datetime(2026, 11, 29, tzinfo=UTC)),
        ("2026-11-28T12:00", True, NOON),
        ("2026-11-28T13:00+01:00", False, NOON),
        ("2026-11-28T12:00:00Z", False, NOON),
    ],
)
def test_a_day_or_a_moment(text: str, end: bool, expected: datetime) -> None:
    assert moment(text, end=end) == expected


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "28.11.2026"])
def test_a_text_that_is_neither_day_nor_moment_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Refusal, match="2026-11-28"):
        moment(text)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (ARTICLE, ARTICLE, "same"),
        (ARTICLE, ARTICLE | {"title": "Two"}, "changed"),
        (ARTICLE, ARTICLE | {"page_kind": "forum"}, "changed"),
        (ARTICLE, ARTICLE | {"posts": "digest of two posts"}, "changed"),
        (ARTICLE, "FAIL_EMPTY", "lost"),
        (FAILURE, ARTICLE, "gained"),
        (None, ARTICLE, "gained"),
        (FAILURE, "FAIL_EMPTY", "fails_as_before"),
        (FAILURE, "FAIL_PARSE", "fails_otherwise"),
        (None, "FAIL_PARSE", "fails_as_before"),
    ],
)
def test_outcomes(before: dict[str, Any] | None, after: dict[str, Any] | str, expected: str) -> None:
    assert outcome(before, after) == expected


def test_an_outline_leaves_out_empty_fields() -> None:
    record = {"title": "One", "authors": ["Ada", "Bo"], "image": None, "language": "", "text_len": 9, "raw_len": 20}
    assert outline(record) == {"title": "One", "authors": ["Ada", "Bo"], "text_len": 9}


def test_of_html_a_digest_is_kept_and_of_other_fields_nothing() -> None:
    assert outline({"content_html": "<p>x</p>", "clean_text": "x", "raw_len": 8}).keys() == {"content_html"}
    assert differences(outline({"content_html": "<p>x</p>"}), outline({"content_html": "<p>y</p>"})).keys() == {
        "content_html"
    }


def test_posts_are_compared_by_a_digest_that_does_not_depend_on_the_order_of_their_members() -> None:
    first = outline({"posts": [{"text": "Hello", "author": "Ada"}]})
    assert first == outline({"posts": [{"author": "Ada", "text": "Hello"}]})
    assert differences(first, outline({"posts": [{"text": "Hello", "author": "Bo"}]})).keys() == {"posts"}
    assert differences(first, outline({})).keys() == {"posts"}


def test_missing_and_empty_are_the_same_and_differences_name_both_sides() -> None:
    assert differences({"authors": []}, {}) == {}
    assert differences({"title": "One"}, {"authors": ["Ada"]}) == {"title": ("One", None), "authors": (None, ["Ada"])}


def test_a_version_is_named_by_its_fields() -> None:
    named = version("u", ARTICLE)
    assert named.startswith(f"u:{'c' * 16}:")
    assert named == version("u", dict(ARTICLE))
    assert named != version("u", ARTICLE | {"title": "Two"})
