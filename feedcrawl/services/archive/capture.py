"""Reads captures of the archive: documents without their content codings, or the bytes as received."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl import __version__
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.http.codings import Undecodable, decode, head, names
from feedcrawl.domain.http.framing import is_complete
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.disk.raw import RawElsewhere, RawStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from feedcrawl.store.disk.raw import FetchRecord, Part
    from feedcrawl.store.disk.raw_index import RawRef


@dataclass(frozen=True, slots=True)
class Document:
    """A decoded body and its headers, by lower-case name; of a repeated header the first value."""

    ref: RawRef
    headers: dict[str, str]
    body: bytes

    @property
    def content_type(self) -> str | None:
        """The Content-Type; None if there is none."""
        return self.headers.get("content-type")


def opened(data_dir: Path) -> RawStore:
    """The archive of a data directory, opened for reading; the caller closes it."""
    return RawStore(data_dir / "raw", software=f"feedcrawl/{__version__}")


def is_whole(store: RawStore, ref: RawRef, *, limit_bytes: int) -> bool:
    """True if a capture is a response with a complete document, even if its transfer ended early, as a crawl reads it.

    The body is read only if the transfer ended early. Raises DiskUnavailable, except for a damaged record.
    """
    if not 200 <= ref.status < 300 or ref.truncated not in (None, "disconnect"):
        return False
    if ref.truncated is None:
        return True
    try:
        document(store, ref, limit_bytes=limit_bytes)
    except (Undecodable, RawElsewhere):
        return False
    except DiskUnavailable as error:
        if error.reason != "damaged":
            raise
        return False
    return True


def newest(store: RawStore, refs: Iterable[RawRef], *, limit_bytes: int) -> RawRef | None:
    """The last of these captures with a complete document; None if there is none. Raises the errors of `is_whole`."""
    last_first = sorted(refs, key=lambda ref: ref.fetched_at, reverse=True)
    return next((ref for ref in last_first if is_whole(store, ref, limit_bytes=limit_bytes)), None)


def document(store: RawStore, ref: RawRef, *, limit_bytes: int) -> Document:
    """The document of a capture; of an incomplete transfer if the document is complete.

    Raises DiskUnavailable, RawElsewhere, Undecodable.
    """
    listed = {name.lower(): value for name, value in store.record(ref)["response_headers"].items()}
    named = listed.get("content-encoding", [])
    codings = names([one.encode("utf-8", "replace") for one in ([named] if isinstance(named, str) else named)])
    body = _decoded(store.read(ref), codings, limit_bytes, cut_off=ref.truncated is not None)
    headers = {name: value if isinstance(value, str) else value[0] for name, value in listed.items()}
    return Document(ref, headers, body)


def _decoded(body: bytes, codings: tuple[str, ...], limit_bytes: int, *, cut_off: bool) -> bytes:
    if not cut_off:
        try:
            return decode(body, codings, limit_bytes=limit_bytes)
        except Undecodable as refusal:
            if refusal.code != "dataloss":
                raise
    found = head(body, codings, limit_bytes=limit_bytes)
    if not is_complete(found):
        raise Undecodable("dataloss", "the transfer ended before the document did")
    return found


def record(data_dir: Path, fetch_id: str) -> FetchRecord:
    """The headers of a fetch and the place of its body; raises Refusal (`raw_unknown` `raw_elsewhere`),
    DiskUnavailable.
    """
    with _looked_up(data_dir, fetch_id) as (store, ref):
        return store.record(ref)


def read(data_dir: Path, fetch_id: str, part: Part) -> bytes:
    """The bytes of a part of a fetch, as received; raises the errors of `record`."""
    with _looked_up(data_dir, fetch_id) as (store, ref):
        return store.read(ref, part)


@contextmanager
def _looked_up(data_dir: Path, fetch_id: str) -> Iterator[tuple[RawStore, RawRef]]:
    with closing(opened(data_dir)) as store:
        ref = store.find(fetch_id)
        if ref is None:
            raise Refusal("raw_unknown", "this machine's archive has no fetch with this id, or has removed it")
        try:
            yield store, ref
        except RawElsewhere as error:
            raise Refusal("raw_elsewhere", str(error)) from None
