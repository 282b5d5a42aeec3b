"""Marks stored articles whose publisher has withdrawn them: the entry was deleted, or the page is gone (410).

An article stays stored. It is marked with the time and the reason, and the event `article_deleted` tells consumers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.operations.events import Event, event

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from feedcrawl.domain.articles.fields import DeletedWhy
    from feedcrawl.domain.entries.lineage import KnownEntry
    from feedcrawl.items import Article
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.redis.client import Pipeline

FIELDS = ("status", "canonical_url", "feed_id", "entry_uid")
GONE = 410


def of_entries(pipe: Pipeline, store: Articles, feed_id: str, deleted: Sequence[KnownEntry]) -> list[Event]:
    """Queue the marks of the articles that these entries brought; the events. An article that another feed brought is
    left alone.
    """
    linked = [(each, each.article) for each in deleted if each.article is not None]
    targets = store.targets([uid for _, uid in linked])
    uids = [targets.get(uid, uid) for _, uid in linked]
    found = store.outlines(uids, FIELDS) if uids else []
    events = []
    for (entry, _), uid, fields in zip(linked, uids, found, strict=True):
        is_its_own = (fields.get("feed_id"), fields.get("entry_uid")) == (feed_id, entry.uid)
        if is_its_own and fields.get("status") == "success" and entry.deleted is not None:
            events.append(_mark(pipe, store, (uid, fields["canonical_url"]), "entry_deleted", entry.deleted))
    return events


def of_page(pipe: Pipeline, store: Articles, article: Article) -> list[Event]:
    """Queue the mark of a stored article whose page has answered 410 (RFC 9110 section 15.5.11); the event."""
    if article.http_status != GONE or article.known.stored is None:
        return []
    return [_mark(pipe, store, (article.uid, article.canonical_url), "http_410", article.at)]


def _mark(pipe: Pipeline, store: Articles, named: tuple[str, str], why: DeletedWhy, at: datetime) -> Event:
    uid, url = named
    moment = rfc3339(at)
    store.mark_deleted(pipe, uid, moment, why)
    return event("article_deleted", f"{uid}:{moment}", {"uid": uid, "canonical_url": url, "why": why, "at": moment})
