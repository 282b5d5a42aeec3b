"""Publishes an article, from a crawl or from the archive: its identity, its record, its writes and its events.

Each function is one pipeline step; `services/archive/replay.py` runs all of them at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.extraction.reading import REFRESH
from feedcrawl.domain.secrets import without_secrets
from feedcrawl.domain.urls import canonicalize, with_part
from feedcrawl.services.articles import tasks

if TYPE_CHECKING:
    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.operations.events import Event
    from feedcrawl.items import Article
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.redis.client import Pipeline

_REASONS = {"FAIL_BAD_HTML": "bad_html", "FAIL_PARSE": "parse_failed", "FAIL_EMPTY": "empty"}
_NO_PAGE = frozenset({"unsupported_type", "too_short"})


def failure_of(code: str) -> tuple[str, str]:
    """The failure code and reason of a page that could not be read, from the code of the extraction or of the
    child process.
    """
    if code in _NO_PAGE:
        return "FAIL_BAD_HTML", code
    if code == REFRESH:
        return "FAIL_EMPTY", code
    return code if code in _REASONS else "FAIL_PARSE", _REASONS.get(code, code)


def name(article: Article) -> None:
    """Set an article's canonical URL, uid, text hash, and the categories of its task."""
    task = article.lease.task
    keep, part = tasks.keeps_slash(task), tasks.part_of(task)
    article.categories = tasks.categories_of(task)
    if article.extraction is None:
        article.uid = task.id
        article.canonical_url = with_part(canonicalize(article.url, keep_trailing_slash=keep), part)
        return
    named = article.extraction.canonical_url
    final = article.final_url or article.url
    article.canonical_url, article.uid = tasks.identify(article.url, final, named, keep_trailing_slash=keep, part=part)
    article.content_hash = tasks.content_hash(article.extraction.text)


def record(article: Article) -> ArticleFields:
    """The article's record for other programs, in the shape of docs/data-format.md."""
    payload = article.lease.task.payload
    common: ArticleFields = {
        "uid": article.uid,
        "url": article.url,
        "category": article.categories[0] if article.categories else None,
        "categories": article.categories,
        "canonical_url": article.canonical_url,
        "final_url": article.final_url,
        "fetched_ts": round(article.at.timestamp(), 3),
        "fetched_at": rfc3339(article.at),
        "status": article.status,
        "http_status": article.http_status,
        "feed_id": payload.get("feed_id"),
        "entry_uid": payload.get("entry_uid"),
        "fetch_id": article.fetch_id,
    }
    if article.outgoing is not None:
        common["outgoing"] = article.outgoing
    if article.extraction is not None:
        rendered: ArticleFields = {"rendered": True} if article.rendered else {}
        found = tasks.success_fields(article.extraction, article.at)
        return {**common, **found, **rendered, "files": article.files}
    return {
        **common,
        "raw_len": len(article.html or ""),
        "text_len": 0,
        "failure": article.code,
        "failure_reason": article.reason,
        "failure_detail": without_secrets(article.detail)[:500],
    }


def queue(pipe: Pipeline, article: Article, store: Articles, merging: Merging) -> None:
    """Queue the HASH and the indexes of an article or of its failure."""
    at = article.record["fetched_ts"]
    if article.status == "failure":
        if article.known.stored is None:  # a stored article outlives a later failure
            store.write(pipe, article.uid, tasks.hash_fields(article.record))
        store.failure(pipe, article.uid, article.code or "FAIL_PARSE", at)
    elif article.merged_into is None:
        store.write(pipe, article.uid, tasks.hash_fields(article.record))
        store.index(pipe, article.uid, article.categories, at)
    if article.status == "success":
        merging.write(pipe, article)
    store.attempted(pipe, dict.fromkeys((article.lease.id, article.uid)), at)


def events(article: Article, merging: Merging) -> list[Event]:
    """The events of an article or of its failure."""
    if article.status == "failure":
        return [tasks.failure_event(article.record)]
    found = merging.events(article)
    if article.merged_into is None:
        found += tasks.article_events(article.record, updated=article.updated)
    return found
