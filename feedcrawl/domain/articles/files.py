"""Media files that entries and articles name: which are wanted, of what type one is, and what a record says of it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.urls import hostname, resolve

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

Role = Literal["enclosure", "image"]

HEAD_BYTES: Final = 4096
"""What is looked at to tell a type."""
MAX_FILES: Final = 20
"""Of one record: a feed of 1 000 entries may name a hundred each."""
PATTERN: Final = re.compile(r"[a-z]+/(?:\*|[a-z0-9][a-z0-9.+-]*)")
"""A type that is taken (`application/pdf`), or all of a kind (`image/*`)."""
_GENERIC: Final = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/force-download"})
_SIGNS: Final = tuple(
    (re.compile(sign, re.DOTALL), kind, extension)
    for sign, kind, extension in (
        (rb"\xff\xd8\xff", "image/jpeg", ".jpg"),
        (rb"\x89PNG\r\n\x1a\n", "image/png", ".png"),
        (rb"GIF8[79]a", "image/gif", ".gif"),
        (rb"RIFF.{4}WEBP", "image/webp", ".webp"),
        (rb".{4}ftypavi[fs]", "image/avif", ".avif"),
        (rb".{4}ftyp(?:hei[cxms]|mif1)", "image/heic", ".heic"),
        (rb"BM.{4}\0{4}", "image/bmp", ".bmp"),
        (rb"II\*\0|MM\0\*", "image/tiff", ".tiff"),
        (rb"\0\0\x01\0", "image/vnd.microsoft.icon", ".ico"),
        (rb".{4}ftypM4[AB] ", "audio/mp4", ".m4a"),
        (rb".{4}ftypqt  ", "video/quicktime", ".mov"),
        (rb".{4}ftyp", "video/mp4", ".mp4"),
        (rb"ID3[\x02-\x04]|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", "audio/mpeg", ".mp3"),
        (rb"\xff[\xf0\xf1\xf8\xf9]", "audio/aac", ".aac"),
        (rb"OggS", "audio/ogg", ".ogg"),
        (rb"fLaC", "audio/flac", ".flac"),
        (rb"RIFF.{4}WAVE", "audio/wav", ".wav"),
        (rb"FORM.{4}AIF[FC]", "audio/aiff", ".aiff"),
        (rb"RIFF.{4}AVI ", "video/x-msvideo", ".avi"),
        (rb"\x1aE\xdf\xa3", "video/webm", ".webm"),
        (rb"\xff\xfe|\xfe\xff", "text/plain", ".txt"),
        (rb"%PDF-", "application/pdf", ".pdf"),
        (rb"PK\x03\x04", "application/zip", ".zip"),
        (rb"(?i)\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!doctype svg[^>]*>\s*)*<svg[\s>]", "image/svg+xml", ".svg"),
        (rb"(?i)\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|title|script|meta)\b", "text/html", ".html"),
        (rb"\s*<\?xml\s", "application/xml", ".xml"),
    )
)
"""First bytes, the type that they show, and the ending of its files."""
_CONTAINERS: Final = {
    "video/mp4": frozenset({"audio/mp4", "audio/x-m4a", "audio/m4a", "video/x-m4v", "video/3gpp", "audio/aac"}),
    "audio/mp4": frozenset({"audio/x-m4a", "audio/m4a", "audio/aac"}),
    "audio/ogg": frozenset({"video/ogg", "application/ogg", "audio/opus", "audio/vorbis"}),
    "video/webm": frozenset({"audio/webm", "video/x-matroska", "audio/x-matroska"}),
}
"""What may be in a file whose first bytes show one thing: there the server's word is the better one."""
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Wish:
    """A file that a record names; `reason` says why its URL cannot be asked for."""

    url: str
    role: Role
    reason: str = ""

    @property
    def id(self) -> str:
        """Of its task, and of what is known of it."""
        return f"file:{hashlib.sha256(self.url.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"

    def task(self) -> Task:
        """Its task; files come after all else of a host."""
        return Task(self.id, "file", self.url, hostname(self.url), priority=1, origin="spider")


def wishes(urls: Iterable[str], role: Role) -> list[Wish]:
    """The files behind these URLs, each once, at most `MAX_FILES`."""
    found: dict[str, Wish] = {}
    for url in urls:
        if len(found) == MAX_FILES:
            break
        try:
            wish = Wish(resolve(url), role)
        except InvalidUrl as error:
            wish = Wish(url, role, error.code)
        found.setdefault(wish.url, wish)
    return list(found.values())


def link(wish: Wish, known: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a record says of a file, in the shape of docs/data-format.md; `known` is what its task has come to."""
    if wish.reason:
        known = state("failed", reason=wish.reason)
    return {"url": wish.url, "role": wish.role, **(known or state("pending"))}


def state(status: Literal["pending", "stored", "failed"], **said: str | int | None) -> dict[str, Any]:
    """What is known of a file, whoever names it."""
    names = ("reason", "sha256", "content_type", "size_bytes", "path", "machine")
    return {"status": status, **{name: said.get(name) for name in names}}


def patterns(text: str) -> tuple[str, ...]:
    """The types of a comma separated list; Refusal (`bad_type`) names what is none."""
    found = tuple(part for each in text.lower().split(",") if (part := each.strip()))
    for each in found:
        if not PATTERN.fullmatch(each):
            raise Refusal("bad_type", f"{each!r} is no media type: write image/* or application/pdf")
    return found


def media_type(header: str | None) -> str:
    """A Content-Type without its parameters, in lower case; empty where it says nothing."""
    return (header or "").partition(";")[0].strip().lower()


def may_be(declared: str, taken: Sequence[str]) -> bool:
    """Whether a file that is declared so may be one that is taken; a generic type says nothing."""
    return declared in _GENERIC or _is_taken(declared, taken)


def judge(declared: str, head: bytes, taken: Sequence[str]) -> tuple[str, str]:
    """The type of a file and the ending of its name, by what its server says and its first bytes show.

    Refusal: `empty`, `unsupported_type`, or `type_mismatch` where the bytes are of a type that is not taken, whatever
    is said of them.
    """
    if not may_be(declared, taken):
        raise Refusal("unsupported_type", f"the type is {declared}")
    if not head:
        raise Refusal("empty", "there is no body")
    seen, extension = _sniffed(head)
    kind = declared if seen is None or _contains(seen, declared) else seen
    if declared in _GENERIC and not (kind and _is_taken(kind, taken)):
        raise Refusal("unsupported_type", f"no type is declared, and it looks like {seen or 'none that is known'}")
    if not _is_taken(kind, taken):
        raise Refusal("type_mismatch", f"it is declared as {declared}, and looks like {kind}")
    return kind, extension


def path_of(sha256: str, extension: str) -> str:
    """Where content lies under `files/`."""
    return f"{sha256[:2]}/{sha256}{extension}"


def unnamed(present: Mapping[str, float], named: Collection[str], before: float) -> list[str]:
    """Of the files that are there (`path_of` to the time of its last use), the older ones whose sha256 nobody names."""
    return [name for name, used in present.items() if used < before and name[3:].partition(".")[0] not in named]


def _is_taken(kind: str, taken: Sequence[str]) -> bool:
    return any(kind == each or (each.endswith("/*") and kind.startswith(each[:-1])) for each in taken)


def _sniffed(head: bytes) -> tuple[str | None, str]:
    for sign, kind, extension in _SIGNS:
        if sign.match(head.removeprefix(b"\xef\xbb\xbf")):
            return kind, extension
    return ("text/plain", ".txt") if _is_text(head) else (None, "")


def _is_text(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        if error.start < HEAD_BYTES - 3:  # else a character is cut
            return False
    return not _CONTROL.search(head)


def _contains(seen: str, declared: str) -> bool:
    """Whether the first bytes leave the declared type open."""
    if declared in _GENERIC:
        return False
    if seen == "text/plain":
        return declared.partition("/")[0] not in ("image", "audio", "video")
    return declared in _CONTAINERS.get(seen, ()) or (seen == "application/xml" and declared.endswith("+xml"))
