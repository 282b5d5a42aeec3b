"""Reads captures of the archive: documents without their content codings, or the bytes as received."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl import __version__
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.http.codings import decode, names
from feedcrawl.store.disk.raw import RawElsewhere, RawStore

if TYPE_CHECKING:
    from collections.abc import Iterator
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


def is_whole(ref: RawRef) -> bool:
    """True if a capture is a response with a complete document."""
    return 200 <= ref.status < 300 and not ref.truncated


def document(store: RawStore, ref: RawRef, *, limit_bytes: int) -> Document:
    """The document of a capture. Raises DiskUnavailable, RawElsewhere, Undecodable."""
    listed = {name.lower(): value for name, value in store.record(ref)["response_headers"].items()}
    codings = listed.get("content-encoding", [])
    each = [codings] if isinstance(codings, str) else codings
    body = decode(store.read(ref), names([one.encode("utf-8", "replace") for one in each]), limit_bytes=limit_bytes)
    headers = {name: value if isinstance(value, str) else value[0] for name, value in listed.items()}
    return Document(ref, headers, body)


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
