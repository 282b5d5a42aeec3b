"""One article: its task, its record and its events."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from feedcrawl.domain.articles.canonical import canonical_url
from feedcrawl.domain.articles.query import TEXTS
from feedcrawl.domain.dates import believable, rfc3339, rfc3339_or_none
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.frontier.payloads import Payload
from feedcrawl.domain.frontier.priority import DEFAULT, priority
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.operations.events import Event, EventType, event
from feedcrawl.domain.sites.sources import Source
from feedcrawl.domain.urls import hostname, resolve, url_uid, with_part

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.page_records import PostRecord
    from feedcrawl.domain.frontier.tasks import History, Origin
    from feedcrawl.domain.models import Extraction, Post
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.items import Article

_JSON_FIELDS = frozenset({"authors", "categories", "files", "posts"})
"""Fields that are lists: JSON text in the HASH, lists in NDJSON."""
_NUMBERS: Mapping[str, type[int | float]] = {
    "fetched_ts": float,
    **dict.fromkeys(("http_status", "raw_len", "text_len"), int),
}
_FLAGS = frozenset({"rendered"})
UNSET: Final = Source("", "")
"""The settings of URLs without a source."""

EVENT_FIELDS = (
    *("uid", "url", "canonical_url", "category", "categories", "title", "published", "language", "content_hash"),
    *("text_len", "feed_id", "entry_uid", "fetch_id", "fetched_ts"),
)
"""Fields of a stored article in its events."""
FAILURE_FIELDS = ("uid", "url", "category", "failure", "failure_reason", "failure_detail", "http_status", "fetched_ts")
"""Fields of a failed URL in its event."""


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """The task of a URL as its caller describes it; the settings of the URL's source fill in what is left out.

    `source` is that of the feed or sitemap that named the URL, and holds if the URL is of no source. `priority` is the
    one of the source or caller, before the bonus of the origin.
    """

    origin: Origin = "manual"
    source: str | None = None
    categories: Sequence[str] = ()
    priority: int | None = None
    parent: str | None = None
    depth: int = 0
    payload: Payload = field(default_factory=Payload)


def article_task(url: str, sources: Sources, options: TaskOptions = TaskOptions()) -> Task:
    """The task to fetch a URL as an article, with the settings of its source: the one gate to the frontier.

    Its id is the article's provisional uid. The payload records if a trailing slash makes a different URL at the
    source, and the categories if there are several. Raises InvalidUrl if the URL cannot be an article's.
    """
    fetched = resolve(url)
    source = sources.of(fetched, options.source)
    settings = source if source is not None else UNSET
    importance = settings.priority if options.priority is None else options.priority
    categories = list(dict.fromkeys((*options.categories, *settings.categories)))
    payload = options.payload.copy()
    if len(categories) > 1:
        payload["categories"] = categories
    if settings.keep_trailing_slash:
        payload["keep_trailing_slash"] = True
    return Task(
        id=url_uid(fetched, keep_trailing_slash=settings.keep_trailing_slash, part=payload.get("part", "")),
        kind="article",
        url=fetched,
        host=hostname(fetched),
        priority=priority(importance, options.origin, options.depth),
        origin=options.origin,
        parent=options.parent,
        depth=options.depth,
        source=options.source if source is None else source.name,
        category=categories[0] if categories else None,
        payload=payload,
    )


def at_target(task: Task, url: str, sources: Sources) -> Task:
    """An article's task after a redirect to `url`: with the settings of the URL's source, if it is another source."""
    source = sources.of(url, task.source) if task.kind == "article" else None
    if source is None or source.name == task.source:
        return task
    categories = list(dict.fromkeys((*categories_of(task), *source.categories)))
    payload = task.payload.copy()
    if len(categories) > 1:
        payload["categories"] = categories
    if source.keep_trailing_slash:
        payload["keep_trailing_slash"] = True
    return replace(task, source=source.name, category=categories[0] if categories else None, payload=payload)


def explicit(priority: int) -> int | None:
    """The priority of a subscription, None if it is the default: the URL's source then decides."""
    return None if priority == DEFAULT else priority


def categories_of(task: Task) -> list[str]:
    """The categories of a task, the first of which is the article's own."""
    own = [task.category] if task.category else []
    return list(dict.fromkeys((*own, *task.payload.get("categories", ()))))


def keeps_slash(task: Task) -> bool:
    """True if URLs of this task's source that differ only in a trailing slash are different pages."""
    return bool(task.payload.get("keep_trailing_slash"))


def part_of(task: Task) -> str:
    """The fragment that names the part of the page that is this task's article; empty for the whole page."""
    return task.payload.get("part", "")


def requested_url(task: Task) -> str:
    """The URL as published and queued: a redirect to another host changes the task's URL."""
    chain: list[str] = task.payload.get("redirect_chain", [])
    return chain[0] if chain else task.url


def identify(
    requested: str, final: str, named: str | None, *, keep_trailing_slash: bool = False, part: str = ""
) -> tuple[str, str]:
    """The canonical URL of a page, or of a part of it, and its uid."""
    canonical = canonical_url(requested, final, named, keep_trailing_slash=keep_trailing_slash)
    return with_part(canonical, part), url_uid(canonical, keep_trailing_slash=keep_trailing_slash, part=part)


def uid_of(url: str, *, keep_trailing_slash: bool = False, part: str = "") -> str:
    """The uid of a URL before it is fetched, also for an unusable URL."""
    try:
        return url_uid(url, keep_trailing_slash=keep_trailing_slash, part=part)
    except InvalidUrl:
        return hashlib.sha1(url.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()[:16]


def content_hash(text: str) -> str:
    """sha256 of the clean text, 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def success_fields(extraction: Extraction, fetched_at: datetime) -> ArticleFields:
    """The fields of an article's record that come from the extraction; days after the fetch are left out.

    `posts` is absent where there are none.
    """
    fields: ArticleFields = {
        "title": extraction.title,
        "clean_text": extraction.text,
        "text_len": extraction.text_len,
        "raw_len": extraction.raw_len,
        "abstract": extraction.abstract,
        "image": extraction.image,
        "authors": list(extraction.authors),
        "published": rfc3339_or_none(believable(extraction.published, fetched_at)),
        "modified": rfc3339_or_none(believable(extraction.modified, fetched_at)),
        "language": extraction.language,
        "site_name": extraction.site_name,
        "content_html": extraction.html,
        "content_hash": content_hash(extraction.text),
        "extractor": extraction.extractor,
        "page_kind": extraction.page_kind,
    }
    if extraction.posts:
        fields["posts"] = [_post_record(post, fetched_at) for post in extraction.posts]
    return fields


def _post_record(post: Post, fetched_at: datetime) -> PostRecord:
    record: PostRecord = {"text": post.text}
    if post.author is not None:
        record["author"] = post.author
    if (published := rfc3339_or_none(believable(post.published, fetched_at))) is not None:
        record["published"] = published
    return record


def hash_fields(record: ArticleFields) -> dict[str, str | int | float]:
    """A record as the fields of a Redis HASH: no value is an empty string, lists are JSON text."""
    fields: dict[str, str | int | float] = {}
    for name, value in record.items():
        if name in _JSON_FIELDS:
            fields[name] = json.dumps(value, ensure_ascii=False)
        elif isinstance(value, bool):
            fields[name] = "true" if value else "false"
        else:
            fields[name] = value if isinstance(value, str | int | float) else ""
    return fields


def record_of(fields: Mapping[str, str]) -> ArticleFields:
    """The typed values of those `hash_fields` that are given."""
    return cast("ArticleFields", {name: _typed(name, text) for name, text in fields.items()})


def _typed(name: str, text: str) -> object:
    if name in _JSON_FIELDS:
        return json.loads(text)
    if name in _FLAGS:
        return text == "true"
    if text == "" and name not in TEXTS:
        return None
    return _NUMBERS[name](text) if name in _NUMBERS else text


def article_events(record: ArticleFields, *, updated: bool) -> list[Event]:
    """The events of a stored article; an event's id names the version, so that a repeated event is recognised."""
    data = {name: record.get(name) for name in EVENT_FIELDS}
    kind: EventType = "article_updated" if updated else "article_ready"
    return [event(kind, f"{record['uid']}:{record['content_hash'][:16]}", data)]


def failure_event(record: ArticleFields) -> Event:
    """The event for a URL that ended without an article."""
    data = {name: record.get(name) for name in FAILURE_FIELDS}
    return event("article_failed", f"{record['uid']}:{record['failure']}", data)


def merged_event(
    merged: str, target: str, url: str, canonical: str, *, why: str = "redirect", similarity: float | None = None
) -> Event:
    """The event that reports where the article of a merged uid is; `canonical` is that article's URL."""
    data = {"uid": merged, "winner": target, "url": url, "canonical_url": canonical, "why": why}
    return event("article_merged", f"{merged}:{target}", {**data, "similarity": similarity})


def unmerged_event(uid: str, target: str, url: str, canonical: str) -> Event:
    """The event that reports that a uid has an article of its own again."""
    data = {"uid": uid, "winner": target, "url": url, "canonical_url": canonical}
    return event("article_unmerged", f"{uid}:{target}", data)


def known_event(
    queued: tuple[str, str, str | None], history: History | None, article_uid: str | None, at: datetime
) -> Event:
    """The event for a URL (its uid, the URL, a category) that was queued again and is not fetched."""
    uid, url, category = queued
    fetched = history.last_fetched_at if history is not None else None
    data = {
        "uid": uid,
        "url": url,
        "category": category,
        "status": history.status if history is not None else None,
        "reason": history.reason if history is not None else None,
        "fetched_at": rfc3339(datetime.fromtimestamp(fetched / 1000, UTC)) if fetched else None,
        "article_uid": article_uid,
        "queued_at": rfc3339(at),
    }
    return event("url_known", f"{uid}:{at.timestamp():.0f}", data)


def webpage_event(page: Article, *, cached: bool) -> Event:
    """The event for a page that was fetched, with the key under which its HTML is cached."""
    body = (page.html or "").encode("utf-8", "replace")
    sha256 = hashlib.sha256(body).hexdigest()
    digest = page_key(page.url)
    data = {
        "type": "webpage_fetched",
        "url": page.url,
        "cache_key": f"webpage:{digest}" if cached else "",
        "status_code": page.http_status,
        "content_type": page.content_type,
        "content_length": len(body),
        "content_hash": sha256,
        "fetched_at": rfc3339(page.at, "seconds"),
    }
    return event("webpage_fetched", f"{digest[:16]}:{sha256[:16]}", data)


def cached_page_event(html: str, url: str, at: datetime) -> Event:
    """The event for a page that is still cached and was requested again: sent anew, with an id of its own."""
    body = html.encode("utf-8", "replace")
    sha256, digest = hashlib.sha256(body).hexdigest(), page_key(url)
    data = {
        "type": "webpage_fetched",
        "url": url,
        "cache_key": f"webpage:{digest}",
        "status_code": 200,
        "content_type": None,
        "content_length": len(body),
        "content_hash": sha256,
        "fetched_at": rfc3339(at, "seconds"),
    }
    return event("webpage_fetched", f"{digest[:16]}:{sha256[:16]}:{at.timestamp():.0f}", data)


def page_key(url: str) -> str:
    """sha256 of a queued URL, 64 hex digits: the key of its cached page."""
    return hashlib.sha256(url.encode("utf-8", "surrogatepass")).hexdigest()
