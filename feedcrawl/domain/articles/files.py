"""Media files of entries and articles: the files that are fetched, their content, and their state in records."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.articles.file_types import GENERIC, is_accepted, may_be
from feedcrawl.domain.articles.page_records import KeptFile
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.http.sniffing import SIGNATURES
from feedcrawl.domain.urls import hostname, resolve

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from feedcrawl.domain.articles.page_records import FileState

Role = Literal["enclosure", "image"]

HEAD_BYTES: Final = 4096
"""Bytes that are examined to find a file's type."""
MAX_FILES: Final = 20
"""Most files of one record: a feed of 1 000 entries may name a hundred in each."""
_CONTAINERS: Final = {
    "video/mp4": frozenset({"audio/mp4", "audio/x-m4a", "audio/m4a", "video/x-m4v", "video/3gpp", "audio/aac"}),
    "audio/mp4": frozenset({"audio/x-m4a", "audio/m4a", "audio/aac"}),
    "audio/ogg": frozenset({"video/ogg", "application/ogg", "audio/opus", "audio/vorbis"}),
    "video/webm": frozenset({"audio/webm", "video/x-matroska", "audio/x-matroska"}),
}
"""Types that share the signature of another type: for these the server's Content-Type is used."""
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A media file that a record names; `reason`: why its URL cannot be requested, else ""."""

    url: str
    role: Role
    reason: str = ""

    @property
    def id(self) -> str:
        """The id of the file's task and of its stored state."""
        return f"file:{hashlib.sha256(self.url.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"

    def task(self) -> Task:
        """The file's task; its priority is below that of all other tasks of a host."""
        return Task(self.id, "file", self.url, hostname(self.url), priority=1, origin="spider")


def wanted_files(urls: Iterable[str], role: Role) -> list[WantedFile]:
    """The files of these URLs, without repeats, at most MAX_FILES."""
    found: dict[str, WantedFile] = {}
    for url in urls:
        if len(found) == MAX_FILES:
            break
        try:
            file = WantedFile(resolve(url), role)
        except InvalidUrl as error:
            file = WantedFile(url, role, error.code)
        found.setdefault(file.url, file)
    return list(found.values())


class KnownState(KeptFile):
    """The state of a file, the same for all records that name it."""

    status: Literal["pending", "stored", "failed"]


def link(file: WantedFile, known: KnownState | None) -> FileState:
    """The state of a file in a record, in the shape of docs/data-format.md; `known`: the stored state, if any."""
    if file.reason:
        known = state("failed", reason=file.reason)
    return {"url": file.url, "role": file.role, **(known or state("pending"))}


def state(status: Literal["pending", "failed"], *, reason: str | None = None) -> KnownState:
    """The state of a file that is not stored."""
    return {
        "status": status,
        "reason": reason,
        "sha256": None,
        "content_type": None,
        "size_bytes": None,
        "path": None,
        "machine": None,
    }


def judge(declared: str, head: bytes, taken: Sequence[str]) -> tuple[str, str]:
    """The media type and file name extension of a file, from its declared type and its first bytes.

    Raises Refusal: `empty`; `unsupported_type`; `type_mismatch` if the bytes show a type that is not accepted, although
    the declared type is.
    """
    if not may_be(declared, taken):
        raise Refusal("unsupported_type", f"the media type {declared} is not accepted")
    if not head:
        raise Refusal("empty", "the response has no body")
    seen, extension = _sniffed(head)
    kind = declared if seen is None or _contains(seen, declared) else seen
    if declared in GENERIC and not (kind and is_accepted(kind, taken)):
        raise Refusal("unsupported_type", f"no type is declared, and the bytes show {seen or 'no known type'}")
    if not is_accepted(kind, taken):
        raise Refusal("type_mismatch", f"the declared type is {declared}, the bytes show {kind}")
    return kind, extension


def path_of(sha256: str, extension: str) -> str:
    """The path of a content below `files/`."""
    return f"{sha256[:2]}/{sha256}{extension}"


def unnamed(present: Mapping[str, float], named: Collection[str], before: float) -> list[str]:
    """The paths to delete: last used before `before`, with a sha256 that no record names.

    `present`: time of the last use by path (`path_of`).
    """
    return [name for name, used in present.items() if used < before and name[3:].partition(".")[0] not in named]


def _sniffed(head: bytes) -> tuple[str | None, str]:
    head_of_text = head.removeprefix(b"\xef\xbb\xbf")
    for signature in SIGNATURES:
        if signature.media_type is not None and signature.start.match(head_of_text):
            return signature.media_type, signature.extension
    return ("text/plain", ".txt") if _is_text(head) else (None, "")


def _is_text(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < HEAD_BYTES - 3:  # else HEAD_BYTES has cut a character
            return False
    return not _CONTROL.search(head)


def _contains(seen: str, declared: str) -> bool:
    """True if the first bytes do not contradict the declared type."""
    if declared in GENERIC:
        return False
    if seen == "text/plain":
        return declared.partition("/")[0] not in ("image", "audio", "video")
    return declared in _CONTAINERS.get(seen, ()) or (seen == "application/xml" and declared.endswith("+xml"))
