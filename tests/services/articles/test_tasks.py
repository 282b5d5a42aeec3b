import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from feedcrawl.domain.articles.records import ArticleRecord
from feedcrawl.domain.articles.replays import outline
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.models import Extraction, Post
from feedcrawl.domain.schemas import schema
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.domain.sites.sources import Source
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles import tasks
from feedcrawl.services.articles.tasks import TaskOptions

AT = datetime(2026, 11, 27, 12, 0, 0, 900, tzinfo=UTC)
EXTRACTION = Extraction(
    title="Title",
    text="Text é",
    html="<p>Text é</p>",
    abstract=None,
    image=None,
    authors=("Ada",),
    published=AT,
    modified=None,
    language="en",
    site_name="Site",
    canonical_url=None,
    extractor="readability",
    raw_len=100,
    text_len=6,
)


def test_a_task_is_named_by_its_article_and_fetches_the_url_as_published() -> None:
    options = TaskOptions("feed", categories=["news"])
    task = tasks.article_task("HTTP://A.test/x?utm_source=rss#top", Sources(), options)
    assert task.id == url_uid("http://a.test/x")
    assert (task.kind, task.host, task.priority, task.category, task.origin) == ("article", "a.test", 7, "news", "feed")
    assert "utm_source=rss" in task.url
    assert tasks.requested_url(task) == task.url


@pytest.mark.parametrize("url", ["", "mailto:a@b.test", "javascript:x", "http://", "ftp://a.test/"])
def test_a_url_that_is_no_page_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrl):
        tasks.article_task(url, Sources())


NEWS = Source("news", "http://a.test/", categories=("world", "local"), priority=8, keep_trailing_slash=True)
KNOWN = Sources([NEWS, Source("plain", "http://b.test/")])


@pytest.mark.parametrize(
    ("url", "options", "expected"),
    [
        ("http://a.test/x/", TaskOptions(), ("news", "world", ["world", "local"], 8, True)),
        ("http://m.a.test/x", TaskOptions("queue"), ("news", "world", ["world", "local"], 8, True)),
        ("http://a.test/x", TaskOptions(categories=["mine"]), ("news", "mine", ["mine", "world", "local"], 8, True)),
        ("http://a.test/x", TaskOptions("feed"), ("news", "world", ["world", "local"], 10, True)),
        ("http://a.test/x", TaskOptions("spider", depth=3), ("news", "world", ["world", "local"], 5, True)),
        ("http://a.test/x", TaskOptions(priority=2), ("news", "world", ["world", "local"], 2, True)),
        ("http://a.test/x", TaskOptions(source="plain"), ("news", "world", ["world", "local"], 8, True)),
        ("http://b.test/x", TaskOptions("sitemap"), ("plain", None, None, 6, False)),
        ("http://c.test/x", TaskOptions(source="news"), ("news", "world", ["world", "local"], 8, True)),
        ("http://c.test/x", TaskOptions(source="gone"), ("gone", None, None, 5, False)),
        ("http://c.test/x", TaskOptions(categories=["one"]), (None, "one", None, 5, False)),
    ],
)
def test_the_settings_of_a_source_hold_for_its_urls(url: str, options: TaskOptions, expected: tuple[Any, ...]) -> None:
    task = tasks.article_task(url, KNOWN, options)
    payload = task.payload.get("categories")
    assert (task.source, task.category, payload, task.priority, tasks.keeps_slash(task)) == expected
    assert task.id == url_uid(url, keep_trailing_slash=expected[-1])


@pytest.mark.parametrize(
    ("requested", "url", "expected"),
    [
        ("http://c.test/s", "http://a.test/x/", ("news", "world", True)),
        ("http://c.test/s", "http://d.test/x/", (None, None, False)),
        ("http://a.test/s", "http://d.test/x/", ("news", "world", True)),
        ("http://a.test/s", "http://b.test/x", ("plain", "world", True)),
    ],
)
def test_a_redirect_to_a_source_has_its_settings(requested: str, url: str, expected: tuple[Any, ...]) -> None:
    task = tasks.at_target(tasks.article_task(requested, KNOWN), url, KNOWN)
    assert (task.source, task.category, tasks.keeps_slash(task)) == expected
    assert task.id == tasks.article_task(requested, KNOWN).id


def test_a_redirected_task_keeps_its_requested_url() -> None:
    payload = {"redirect_chain": ["http://a.test/1", "http://b.test/2"]}
    assert tasks.requested_url(Task("t", "article", "http://c.test/3", "c.test", payload=payload)) == "http://a.test/1"


def test_a_page_is_known_by_its_canonical_url() -> None:
    known = tasks.identify("http://a.test/1?utm_source=x", "http://a.test/1", "/story")
    assert known == ("http://a.test/story", url_uid("http://a.test/story"))


@given(url=st.text(st.characters(), max_size=40))
@example("\udcff")  # what others put into a queue need not be UTF-8
@example("http://a.test/\ud800")
def test_each_url_has_a_uid_usable_or_not(url: str) -> None:
    uid = tasks.uid_of(url)
    assert len(tasks.page_key(url)) == 64
    assert uid == tasks.uid_of(url)
    assert len(uid) == 16
    assert int(uid, 16) >= 0


@given(text=st.text(max_size=40))
def test_content_hash_is_sha256_of_the_text(text: str) -> None:
    assert tasks.content_hash(text) == hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def test_text_with_lone_surrogates_has_a_hash() -> None:
    assert len(tasks.content_hash("\ud800")) == 64


def test_fields_that_an_extraction_contributes() -> None:
    fields = tasks.success_fields(EXTRACTION, datetime(2026, 11, 28, tzinfo=UTC))
    assert fields["clean_text"] == "Text é"
    assert fields["authors"] == ["Ada"]
    assert fields["published"] == "2026-11-27T12:00:00Z"
    assert fields["modified"] is None
    assert fields["content_hash"] == hashlib.sha256("Text é".encode()).hexdigest()
    assert "posts" not in fields


def test_posts_of_a_thread_are_a_list_in_the_record_and_json_in_the_hash() -> None:
    posts = (
        Post("First", "Ada", AT),
        Post("Second", None, None),
        Post("Ahead", "Bo", datetime(2027, 1, 1, tzinfo=UTC)),
    )
    forum = replace(EXTRACTION, page_kind="forum", posts=posts)
    fields = tasks.success_fields(forum, datetime(2026, 11, 28, tzinfo=UTC))
    assert fields["posts"] == [
        {"text": "First", "author": "Ada", "published": "2026-11-27T12:00:00Z"},
        {"text": "Second"},
        {"text": "Ahead", "author": "Bo"},
    ]
    Draft202012Validator(schema(ArticleRecord)["properties"]["posts"]).validate(fields["posts"])
    stored = {name: str(value) for name, value in tasks.hash_fields(fields).items()}
    assert tasks.record_of(stored)["posts"] == fields["posts"]


def test_a_day_after_the_fetch_is_no_day_of_publication() -> None:
    ahead = replace(EXTRACTION, modified=datetime(2026, 11, 30, tzinfo=UTC))
    fields = tasks.success_fields(ahead, datetime(2026, 11, 26, 11, tzinfo=UTC))
    assert (fields["published"], fields["modified"]) == (None, None)
    fields = tasks.success_fields(ahead, datetime(2026, 11, 26, 13, tzinfo=UTC))  # clocks and zones differ by a day
    assert (fields["published"], fields["modified"]) == ("2026-11-27T12:00:00Z", None)


VALUES = st.none() | st.text(max_size=10) | st.integers() | st.floats(allow_nan=False)
LISTS = st.lists(st.text(max_size=5), max_size=3)


@given(
    record=st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda n: n not in {"authors", "categories", "files", "posts"}), VALUES
    ),
    authors=LISTS,
    categories=LISTS,
)
def test_fields_of_a_hash_are_plain_and_lists_are_json(
    record: dict[str, Any], authors: list[str], categories: list[str]
) -> None:
    fields = tasks.hash_fields({**record, "authors": authors, "categories": categories})
    assert json.loads(fields.pop("authors")) == authors
    assert json.loads(fields.pop("categories")) == categories
    assert fields == {name: "" if value is None else value for name, value in record.items()}
    assert all(isinstance(value, (str, int, float)) for value in fields.values())


RECORD = {
    "uid": "0123456789abcdef",
    "url": "http://a.test/1",
    "canonical_url": "http://a.test/1",
    "category": "news",
    "categories": ["news"],
    "title": "Title",
    "content_hash": "ab" * 32,
    "fetched_ts": 1.5,
    "clean_text": "not told",
}


def test_a_hash_and_a_line_have_the_same_outline() -> None:
    line = {"title": "One", "authors": ["Ada", "Bo"], "image": None, "text_len": 9, "fetched_ts": 1.5, "categories": []}
    fields = {"title": "One", "authors": '["Ada", "Bo"]', "image": "", "text_len": "9", "fetched_ts": "1.5"}
    stored = outline(tasks.record_of(fields | {"categories": "[]"}))
    assert stored == {"title": "One", "authors": ["Ada", "Bo"], "text_len": 9, "fetched_ts": 1.5, "categories": []}
    assert stored == outline(line)


@pytest.mark.parametrize(("updated", "kind"), [(False, "article_ready"), (True, "article_updated")])
def test_event_of_an_article_names_its_version(updated: bool, kind: str) -> None:
    (event,) = tasks.article_events(RECORD, updated=updated)
    assert (event.type, event.id) == (kind, f"{kind}:0123456789abcdef:{'ab' * 8}")
    data = json.loads(event.data)
    assert (data["uid"], data["categories"], data["feed_id"]) == ("0123456789abcdef", ["news"], None)
    assert "clean_text" not in data


def test_event_of_a_failure() -> None:
    event = tasks.failure_event({**RECORD, "failure": "FAIL_HTTP", "failure_reason": "http_404", "http_status": 404})
    assert (event.type, event.id) == ("article_failed", "article_failed:0123456789abcdef:FAIL_HTTP")
    assert json.loads(event.data)["http_status"] == 404


def test_event_of_a_merge_names_both_articles() -> None:
    event = tasks.merged_event("l", "w", "http://a.test/2", "http://a.test/1")
    assert event.id == "article_merged:l:w"
    assert json.loads(event.data) == {
        "uid": "l",
        "winner": "w",
        "url": "http://a.test/2",
        "canonical_url": "http://a.test/1",
        "why": "redirect",
        "similarity": None,
    }


def test_event_of_an_undone_merge() -> None:
    event = tasks.unmerged_event("l", "w", "http://a.test/2", "http://a.test/2")
    assert event.id == "article_unmerged:l:w"
    assert json.loads(event.data)["winner"] == "w"


def page(**fields: Any) -> Any:
    values = {"url": "http://a.test/é", "html": "<p>é", "http_status": 200, "content_type": "text/html", "at": AT}
    return SimpleNamespace(**values | fields)


def test_event_of_a_page_has_the_fields_of_the_webpage_log() -> None:
    event = tasks.webpage_event(page(), cached=True)
    url_sha256 = hashlib.sha256("http://a.test/é".encode()).hexdigest()
    body_sha256 = hashlib.sha256("<p>é".encode()).hexdigest()
    assert json.loads(event.data) == {
        "type": "webpage_fetched",
        "url": "http://a.test/é",
        "cache_key": f"webpage:{url_sha256}",
        "status_code": 200,
        "content_type": "text/html",
        "content_length": 5,
        "content_hash": body_sha256,
        "fetched_at": "2026-11-27T12:00:00Z",
    }
    assert tasks.webpage_event(page(), cached=True).id == event.id
    assert tasks.webpage_event(page(html="other"), cached=True).id != event.id
    assert json.loads(tasks.webpage_event(page(), cached=False).data)["cache_key"] == ""


def test_a_cached_page_that_is_requested_again_has_an_event_of_its_own() -> None:
    first = tasks.webpage_event(page(), cached=True)
    again = tasks.cached_page_event("<p>é", "http://a.test/é", AT)
    assert again.id != first.id
    assert json.loads(again.data) == json.loads(first.data) | {"content_type": None}
