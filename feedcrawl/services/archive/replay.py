"""Extracts articles again from the archive, with today's extraction and rules, without any request.

Of each article, the newest complete capture is read, if the stored article comes from that capture. The stored article
is read from Redis, or from `articles/` if Redis no longer has it; the content of its entry from `entries/`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from feedcrawl.domain.articles.replays import CaptureFilter, Replayed, differences, outcome, outline, version
from feedcrawl.domain.dates import moment, rfc3339
from feedcrawl.domain.extraction import PageReading, read_article
from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.http.codings import Undecodable
from feedcrawl.domain.urls import hostname, resolve, url_uid, with_part
from feedcrawl.items import Article
from feedcrawl.parsing import Done
from feedcrawl.services.archive import capture as archive
from feedcrawl.services.articles import publication
from feedcrawl.services.articles.evidence import evidence, feed_content
from feedcrawl.services.articles.tasks import article_events, part_of, record_of
from feedcrawl.services.sites.sources import selectors_of
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.disk.raw import RawElsewhere
from feedcrawl.store.redis.connection import in_order

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from datetime import date, datetime

    from feedcrawl.config import Config
    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.articles.replays import Outcome
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.operations.events import Event
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.parsing import Failed, ParserPool
    from feedcrawl.services.archive.capture import Document
    from feedcrawl.services.articles.files import FileService
    from feedcrawl.services.articles.media import MediaService
    from feedcrawl.services.articles.merging import Merging
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.disk.ndjson import NdjsonFile
    from feedcrawl.store.disk.raw import RawStore
    from feedcrawl.store.disk.raw_index import RawRef
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.operations.streams import Events
    from feedcrawl.store.redis.client import Client

WALL_SEC: Final = 20.0
_AHEAD: Final = 2
"""Pages in progress per child process."""


@dataclass(frozen=True, slots=True)
class ReplayStores:
    """The stores that a replay uses."""

    config: Config
    client: Client
    frontier: Frontier
    sources: Sources
    articles: Articles
    merging: Merging
    media: MediaService
    files: FileService
    events: Events
    entry_lines: NdjsonFile[EntryRecord]
    article_lines: NdjsonFile[ArticleFields]
    parsers: ParserPool
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class _Capture:
    """A capture to be read, with the outline of the stored article, the content of its entry, and its task in the
    frontier.
    """

    ref: RawRef
    before: ArticleFields | None
    entry: Payload
    task: Task | None
    waits: bool
    """True if its URL is about to be fetched again."""


class Replay:
    """One replay.

    Raises StoreUnavailable, and DiskUnavailable except for a damaged record.
    """

    def __init__(self, stores: ReplayStores) -> None:
        self._stores = stores

    async def run(
        self, conditions: CaptureFilter, *, feed_id: str | None = None, write: bool = False
    ) -> AsyncIterator[Replayed]:
        """The result of each capture, oldest first; with `write`, changed articles are stored and their events
        added.
        """
        store = archive.opened(self._stores.config.data_dir)
        pending: deque[asyncio.Task[Replayed]] = deque()
        try:
            for capture in self._captures(store, conditions, feed_id):
                pending.append(asyncio.ensure_future(self._one(capture, store, write=write)))
                if len(pending) >= _AHEAD * self._stores.config.parsers:
                    yield await pending.popleft()
            while pending:
                yield await pending.popleft()
        finally:
            for task in pending:
                task.cancel()
            await asyncio.gather(*pending, return_exceptions=True)
            store.close()

    # --- the captures ---

    def _captures(
        self, store: RawStore, conditions: CaptureFilter, feed_id: str | None
    ) -> Iterator[_Capture | Replayed]:
        days = [None] if conditions.since is None else _days(conditions.since.date(), self._stores.now().date())
        limit = self._stores.config.max_article_bytes
        of_articles = (ref for day in days for ref in store.refs(day) if ref.uid)
        found = _newest((ref for ref in of_articles if archive.is_whole(store, ref, limit_bytes=limit)), conditions)
        lines, current = self._lines(found)
        for day in sorted({ref.fetched_at.date() for ref in found}):
            of_day = [ref for ref in found if ref.fetched_at.date() == day]
            entries = entries_of(self._stores.entry_lines, day, {ref.uid for ref in of_day if ref.uid})
            for ref in of_day:
                named_by, line = entries.get(ref.uid or "", []), lines.get(ref.fetch_id)
                capture = self._capture(ref, line, named_by)
                feeds = {entry["feed_id"] for entry in named_by} | {(line or {}).get("feed_id")}
                if feed_id is not None and feed_id not in feeds:
                    continue
                if line is not None and current[line["uid"]] != ref.fetch_id:
                    capture = _skipped(ref, "superseded")
                yield capture

    def _lines(self, refs: Sequence[RawRef]) -> tuple[dict[str, ArticleFields], dict[str, str]]:
        """The newest line of each capture (by fetch id), and the capture that each article's newest line comes
        from (by uid).
        """
        lines: dict[str, ArticleFields] = {}
        current: dict[str, str] = {}
        ids = {ref.fetch_id for ref in refs}
        for day in _days(refs[0].fetched_at.date(), self._stores.now().date()) if refs else ():
            for line in self._stores.article_lines.read(day):
                fetch_id, uid = str(line.get("fetch_id")), str(line.get("uid"))
                if fetch_id in ids:
                    lines[fetch_id] = outline(line)
                if fetch_id in ids or uid in current:
                    current[uid] = fetch_id
        return lines, current

    def _capture(self, ref: RawRef, line: ArticleFields | None, entries: Sequence[EntryRecord]) -> _Capture | Replayed:
        assert ref.uid is not None
        uid = line["uid"] if line else self._stores.articles.target_of(ref.uid) or ref.uid
        stored = self._stores.articles.record(uid)
        known = self._stores.frontier.find(ref.uid)
        before = outline(record_of(stored)) if stored else line
        if before is not None and "failure" not in before and before["fetch_id"] != ref.fetch_id:
            return _skipped(ref, "superseded")
        if before is not None and before.get("rendered"):
            return _skipped(ref, "rendered")
        task, history = known or (None, History(status=""))
        return _Capture(
            ref, before, entry_content(entries, before, ref.fetched_at), task, history.status in ("pending", "fetching")
        )

    # --- one capture ---

    async def _one(self, capture: _Capture | Replayed, store: RawStore, *, write: bool) -> Replayed:
        if isinstance(capture, Replayed):
            return capture
        try:
            document = archive.document(store, capture.ref, limit_bytes=self._stores.config.max_article_bytes)
        except RawElsewhere:
            return _skipped(capture.ref, "elsewhere")
        except Undecodable as refusal:
            return _skipped(capture.ref, refusal.code)
        except DiskUnavailable as error:
            if error.reason != "damaged":
                raise
            return _skipped(capture.ref, "damaged")
        article = self._article(capture, document)
        await self._extract(article, document)
        return self._settled(capture, article, write=write)

    def _article(self, capture: _Capture, document: Document) -> Article:
        """The item that a crawl would make of the capture."""
        ref, before, known = capture.ref, capture.before or {}, capture.task
        assert ref.uid is not None
        url = before.get("url") or (known.url if known else ref.url)
        payload: Payload = {**capture.entry, "categories": before.get("categories", [])}
        if feed_id := before.get("feed_id"):
            payload["feed_id"] = feed_id
        if entry_uid := before.get("entry_uid"):
            payload["entry_uid"] = entry_uid
        if part := (before.get("canonical_url") or "").partition("#")[2]:
            payload["part"] = part
        category = before.get("category") or (known.category if known else None)
        keep = url_uid(url) != ref.uid == url_uid(url, keep_trailing_slash=True)
        source = self._stores.sources.of(ref.url, known.source if known else None)
        task = Task(
            id=ref.uid,
            kind="article",
            url=resolve(url),
            host=hostname(url),
            source=source.name if source else None,
            category=category,
            payload=payload | ({"keep_trailing_slash": True} if keep else {}),
        )
        lease = Lease(task, History(), "")
        article = Article(lease, url, ref.fetched_at, "success", fetch_id=ref.fetch_id)
        article.final_url, article.http_status, article.content_type = ref.url, ref.status, document.content_type
        return article

    async def _extract(self, article: Article, document: Document) -> None:
        task = article.lease.task
        source = self._stores.sources.get(task.source or "")
        answer: Done[PageReading] | Failed = await self._stores.parsers.run(
            read_article,
            document.body,
            document.content_type,
            min_chars=self._stores.config.min_html_chars,
            url=with_part(document.ref.url, part_of(task)),
            rules=selectors_of(source),
            feed=feed_content(task.payload, source),
            image_proxy=self._stores.config.image_proxy,
            wall_sec=WALL_SEC,
        )
        page = answer.value if isinstance(answer, Done) else PageReading(None, code=answer.code, detail=answer.detail)
        article.html, article.extraction = page.html, page.extraction
        if page.extraction is None:
            article.status, article.detail = "failure", page.detail
            article.code, article.reason = publication.failure_of(page.code)

    def _settled(self, capture: _Capture, article: Article, *, write: bool) -> Replayed:
        before = capture.before
        publication.name(article)
        if before is not None and "failure" not in before:  # a stored article keeps its identity
            article.uid, article.canonical_url = before["uid"], before["canonical_url"]
        after = outline(publication.record(article)) if article.extraction is not None else (article.code or "")
        found = outcome(before, after)
        replayed = _replayed(capture.ref, article.uid, found, reason=_why(before, article, found))
        if found == "changed" and not isinstance(after, str):
            replayed = replace(replayed, changes=differences(before or {}, after))
        if not write or found not in ("changed", "gained", "fails_otherwise"):
            return replayed
        if capture.waits:
            return replace(replayed, reason="fetched_soon")
        return replace(replayed, written=self._write(article, after, before if found == "changed" else None))

    def _write(self, article: Article, after: ArticleFields | str, known: ArticleFields | None) -> bool:
        """Store an article and add its events, in the order of the pipelines. False if a `known` article now
        belongs to another task.
        """
        stores = self._stores
        article.started_at = stores.now()
        stores.merging.settle(article)
        if known and article.merged_into is not None:
            return False
        times: ArticleFields = {"fetched_ts": known["fetched_ts"], "fetched_at": known["fetched_at"]} if known else {}
        stores.files.attach(article)
        article.record = {**publication.record(article), **times}
        if article.extraction is not None and article.merged_into is None:
            stores.article_lines.append(article.started_at.date(), {"type": "article", **article.record})
        article.writes = stores.client.pipeline(transaction=False)
        publication.queue(article.writes, article, stores.articles, stores.merging)
        in_order(article.writes)
        stores.events.add(article.writes, self._events_of(article, after, known=bool(known)))
        in_order(article.writes)
        stores.media.finish(article.writes, article, article.started_at)
        article.writes.execute()
        stores.files.enqueue_pending(article)
        return True

    def _events_of(self, article: Article, after: ArticleFields | str, *, known: bool) -> list[Event]:
        """The events of an article; the id of an update covers all fields, since the text need not be the part
        that differs.
        """
        if not known or isinstance(after, str):
            return publication.events(article, self._stores.merging)
        updates = article_events(article.record, updated=True)
        return [replace(each, id=f"{each.type}:{version(article.uid, after)}") for each in updates]


def _why(before: ArticleFields | None, article: Article, found: Outcome) -> str:
    if article.extraction is None:
        return f"{article.code}: {article.detail}"
    return f"was {before['failure']}" if found == "gained" and before is not None else ""


def entries_of(entries: NdjsonFile[EntryRecord], day: date, uids: set[str]) -> dict[str, list[EntryRecord]]:
    """The entries that name these articles, by uid, in the order of the lines of the day before and of the day."""
    found: dict[str, list[EntryRecord]] = {}
    for line in (line for each in (day - timedelta(1), day) for line in entries.read(each)):
        if (uid := line.get("article_uid")) and uid in uids:
            found.setdefault(uid, []).append(line)
    return found


def entry_content(entries: Sequence[EntryRecord], before: ArticleFields | None, fetched_at: datetime) -> Payload:
    """The evidence that a crawl had for an article, if several feeds name its URL: that of its own entry.

    `before`: the stored article, which names its feed and entry; None or without a feed: the last entry counts.
    Of several versions of the entry, the last that was seen before the page was fetched counts.
    """
    feed_id, entry_uid = (before or {}).get("feed_id"), (before or {}).get("entry_uid")
    own = [e for e in entries if feed_id is None or (e["feed_id"], e["entry_uid"]) == (feed_id, entry_uid)]
    seen = [entry for entry in own if (at := moment(entry["last_seen"])) and at <= fetched_at]
    chosen = seen[-1:] or own[:1]
    return evidence(chosen[0]) if chosen else {}


def _newest(complete: Iterator[RawRef], conditions: CaptureFilter) -> list[RawRef]:
    """The newest of the complete captures of each article, if it meets the conditions; oldest first."""
    newest: dict[str | None, RawRef] = {}
    for ref in complete:
        other = newest.get(ref.uid)
        if other is None or (ref.fetched_at, ref.fetch_id) > (other.fetched_at, other.fetch_id):
            newest[ref.uid] = ref
    chosen = (
        ref
        for ref in newest.values()
        if conditions.includes(fetched_at=ref.fetched_at, host=ref.host, uid=ref.uid, url=ref.url)
    )
    return sorted(chosen, key=lambda ref: (ref.fetched_at, ref.fetch_id))


def _days(first: date, last: date) -> Iterator[date]:
    for number in range((last - first).days + 1):
        yield first + timedelta(number)


def _replayed(ref: RawRef, uid: str, found: Outcome, *, reason: str) -> Replayed:
    return Replayed(ref.fetch_id, uid, ref.url, rfc3339(ref.fetched_at), found, reason)


def _skipped(ref: RawRef, reason: str) -> Replayed:
    return _replayed(ref, ref.uid or "", "skipped", reason=reason)
