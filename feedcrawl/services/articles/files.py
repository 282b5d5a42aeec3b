"""Media files of entries and articles: their records, their tasks, and the results of these tasks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, TypeVar, cast

from feedcrawl.domain.articles import files
from feedcrawl.domain.articles.file_types import patterns
from feedcrawl.domain.articles.files import WantedFile
from feedcrawl.domain.dates import rfc3339
from feedcrawl.items import Article, FeedPoll
from feedcrawl.services.articles.tasks import requested_url
from feedcrawl.store.disk.files import DiskUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from feedcrawl.config import Config
    from feedcrawl.domain.articles.files import KnownState
    from feedcrawl.domain.articles.page_records import FileRecord, FileState
    from feedcrawl.domain.entries.records import EntryRecord
    from feedcrawl.domain.frontier.tasks import Task
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.articles.files import FileContents, Files
    from feedcrawl.store.articles.records import Articles
    from feedcrawl.store.disk.ndjson import NdjsonFile

R = TypeVar("R", bound="Mapping[str, object]")
_TRIES: Final = 5


class FileService:
    """Off unless FEEDCRAWL_MEDIA_FILES turns it on; while off, nothing is read, requested or written.

    A file that is still to be fetched is `pending` in the record that names it. When the file has ended, the article's
    HASH is updated; for lines on the disk, the file's line in `files/` has the result.
    """

    def __init__(
        self,
        config: Config,
        stores: tuple[Files, Articles, NdjsonFile[FileRecord]],
        leases: Leases,
        contents: FileContents,
    ) -> None:
        self.on = config.media_files
        self.types = patterns(config.media_types)
        self._files, self._articles, self._lines = stores
        self._leases = leases
        self._contents = contents

    # --- for the pipelines ---

    def attach(self, item: FeedPoll | Article) -> None:
        """Add the known state of each file that an item names. May raise StoreUnavailable."""
        if not self.on:
            return
        by_record = [(record, _named_files(record)) for record in _records(item)]
        known = self._known(file.id for _, named in by_record for file in named)
        for record, named in by_record:
            states = [files.link(file, known.get(file.id)) for file in named]
            if isinstance(record, Article):
                record.files = states
            else:
                record["files"] = states

    def enqueue_pending(self, item: FeedPoll | Article) -> None:
        """Enqueue the pending files of an item, after the item itself is stored. May raise StoreUnavailable.

        A file that has ended meanwhile is updated at once; a file whose record is gone, though its task has ended, is
        fetched again.
        """
        pending = [each for record in _records(item) for each in _files_of(record) if each["status"] == "pending"]
        if not pending:
            return
        named = {file.id: file for each in pending for file in files.wanted_files([each["url"]], each["role"])}
        uid = item.uid if isinstance(item, Article) else None
        for file_id in named if uid else ():
            self._files.refer(file_id, str(uid))
        enqueued = self._leases.enqueue([file.task() for file in named.values()])
        ended = [file for file, result in zip(named.values(), enqueued, strict=True) if result == "known"]
        known = self._known(file.id for file in ended)
        gone = [file.task() for file in ended if file.id not in known]
        if gone:
            self._leases.enqueue(gone, again="queue_again")
        for file_id, found in known.items() if uid else ():
            self._relink(str(uid), named[file_id].url, found)

    # --- for readers ---

    def completed(self, records: Sequence[R]) -> list[R]:
        """Records of lines, with the present state of files that they call pending; raises StoreUnavailable."""
        waiting = {link["url"]: WantedFile(link["url"], link["role"]).id for each in records for link in _pending(each)}
        if not waiting:
            return list(records)
        known = self._files.load(list(waiting.values()))
        ended = {url: known[file_id] for url, file_id in waiting.items() if file_id in known}
        return [_with_files(each, ended) for each in records]

    # --- the end of a file ---

    def keep(self, body: bytes, kind: str, extension: str) -> KnownState:
        """Write a body (called in a thread); the state of the file. Raises DiskUnavailable."""
        sha256, name = self._contents.keep(body, extension)
        return {
            "status": "stored",
            "reason": None,
            "sha256": sha256,
            "content_type": kind,
            "size_bytes": len(body),
            "path": f"files/{name}",
            "machine": self._files.machine,
        }

    def end(self, task: Task, found: KnownState, at: datetime) -> None:
        """Write the result of a file to the disk, to Redis, and to the articles that wait for the file. Safe to
        repeat.
        """
        url = requested_url(task)
        self._lines.append(at.date(), {"type": "file", "url": url, **found, "ended_at": rfc3339(at)})
        self._files.save(task.id, found)
        for uid in self._files.referrers(task.id):
            self._relink(uid, url, found)

    def _known(self, ids: Iterable[str]) -> dict[str, KnownState]:
        """The known states of files; a file whose content is gone from the disk is unknown."""
        found = self._files.load(list(dict.fromkeys(ids)))
        return {file_id: known for file_id, known in found.items() if self._is_there(known)}

    def _is_there(self, known: KnownState) -> bool:
        if known["path"] is None or known["machine"] != self._files.machine:
            return True
        try:
            return self._contents.touch(known["path"].removeprefix("files/"))
        except DiskUnavailable:  # the file's own task will report it: an article does not fail because of a file
            return False

    def _relink(self, uid: str, url: str, found: KnownState) -> None:
        """Update the state of a file in an article's HASH, if the article still names the file."""
        for _ in range(_TRIES):  # another worker may be updating another file of the article
            text = self._articles.files(uid)
            links = [{**each, **found} if each["url"] == url else each for each in json.loads(text or "[]")]
            if not text or self._articles.relink(uid, text, json.dumps(links, ensure_ascii=False)):
                return


def resolved(records: Iterable[R], lines: NdjsonFile[FileRecord]) -> Iterator[R]:
    """Records of lines, with pending files as in the lines of `files/`; takes about 500 bytes of memory per
    pending file.
    """
    ended = (each for day in lines.days() for each in lines.read(day))
    known = {each["url"]: _state_of(each) for each in ended}
    for record in records:
        yield _with_files(record, known)


def _state_of(record: FileRecord) -> KnownState:
    return {
        "status": record["status"],
        "reason": record["reason"],
        "sha256": record["sha256"],
        "content_type": record["content_type"],
        "size_bytes": record["size_bytes"],
        "path": record["path"],
        "machine": record["machine"],
    }


def _pending(record: Mapping[str, object]) -> list[FileState]:
    return [link for link in _links(record) if link["status"] == "pending"]


def _links(record: Mapping[str, object]) -> list[FileState]:
    return cast("list[FileState]", record.get("files") or [])


def _with_files(record: R, known: Mapping[str, KnownState]) -> R:
    """The record, with its pending files replaced by their results (given by URL)."""
    if not _pending(record):
        return record
    links = [_present(link, known.get(link["url"])) for link in _links(record)]
    return cast("R", {**record, "files": links})


def _present(link: FileState, known: KnownState | None) -> FileState:
    return {**link, **known} if known is not None and link["status"] == "pending" else link


def _records(item: FeedPoll | Article) -> list[EntryRecord] | list[Article]:
    if isinstance(item, FeedPoll):
        return list(item.found.entries.written)
    return [item] if item.status == "success" and item.merged_into is None else []


def _files_of(record: EntryRecord | Article) -> list[FileState]:
    return record.files if isinstance(record, Article) else record["files"]


def _named_files(record: EntryRecord | Article) -> list[WantedFile]:
    if not isinstance(record, Article):
        return files.wanted_files((each["url"] for each in record["enclosures"]), "enclosure")
    image = record.extraction.image if record.extraction is not None else None
    return files.wanted_files([image] if image else [], "image")
