"""Pages kept as test cases: the page as received, and the article that is expected of it.

<directory>/<uid>/page.html the body, without content codings <directory>/<uid>/meta.json url, headers, fetched_at, and
under `feed` the entry's content <directory>/<uid>/expected.json the article, or under `failure` the reason why there is
none
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.extraction import read_article
from feedcrawl.domain.models import FeedContent
from feedcrawl.domain.urls import url_uid
from feedcrawl.hints import program
from feedcrawl.services.articles import publication
from feedcrawl.services.articles.tasks import success_fields
from feedcrawl.store.disk.files import map_disk_errors, write_anew

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from feedcrawl.services.archive.capture import Document

_LEFT_OUT: Final = frozenset({"content_hash", "raw_len", "text_len"})
_HEADERS: Final = ("content-type", "content-language", "last-modified")
_MOMENTS: Final = ("published", "updated")


class BadFixture(Refusal):
    """A directory that is not a test case."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as received. `feed` is the content of its entry, in the shape of FeedContent with times as RFC 3339."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    fetched_at: str | None = None
    feed: Mapping[str, Any] | None = None


def expected(page: Page) -> dict[str, Any]:
    """The article of a page, or its failure: the content of expected.json."""
    declared = next((value for name, value in page.headers.items() if name.lower() == "content-type"), None)
    found = read_article(page.body, declared, min_chars=0, url=page.url, feed=_feed(page.feed))
    if found.extraction is None:
        return {"failure": publication.failure_of(found.code)[0]}
    return {name: value for name, value in success_fields(found.extraction).items() if name not in _LEFT_OUT}


def save(directory: Path, page: Page, article: Mapping[str, Any]) -> Path:
    """Write a test case; its name is the page's uid, so that no received text becomes part of a path. Raises
    DiskUnavailable.
    """
    folder = directory / url_uid(page.url)
    headers = {name: page.headers[name] for name in _HEADERS if name in page.headers}
    meta = {"url": page.url, "headers": headers, "fetched_at": page.fetched_at, "feed": page.feed}
    with map_disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    write_anew(folder / "page.html", [page.body])
    write_anew(folder / "meta.json", [_pretty(meta)])
    expect(folder, article)
    return folder


def expect(folder: Path, article: Mapping[str, Any]) -> None:
    """Write the expected result of a test case. Raises DiskUnavailable."""
    write_anew(folder / "expected.json", [_pretty(article)])


def load(folder: Path) -> tuple[Page, dict[str, Any]]:
    """A test case and its expected result; raises BadFixture, whose text names the fault."""
    try:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        wanted = json.loads((folder / "expected.json").read_text("utf-8"))
        body = (folder / "page.html").read_bytes()
        return Page(meta["url"], meta.get("headers", {}), body, meta.get("fetched_at"), meta.get("feed")), wanted
    except (OSError, ValueError, KeyError, AttributeError) as error:
        detail = f"{folder}: page.html, meta.json with a url, and expected.json are needed: {error!r}"
        raise BadFixture("bad_fixture", detail) from None


def folders(directory: Path) -> list[Path]:
    """The test cases in a directory, or the directory itself if it is one; BadFixture if there is none."""
    found = (
        [directory] if (directory / "meta.json").exists() else sorted(p.parent for p in directory.glob("*/meta.json"))
    )
    if not found:
        raise BadFixture("bad_fixture", f"{directory} holds no test case: `{program()} fixture URL` makes one")
    return found


def differences(wanted: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """The fields that differ, each with its expected and its found value. Fields missing from expected.json are
    not compared.
    """
    for name in wanted if "failure" not in found else {**wanted, "failure": None}:
        if wanted.get(name) != found.get(name):
            yield name, wanted.get(name), found.get(name)


def page_of(document: Document, feed: Mapping[str, Any] | None) -> Page:
    """A page from the archive."""
    ref = document.ref
    return Page(ref.url, document.headers, document.body, ref.fetched_at.isoformat(timespec="seconds"), feed)


def feed_of(said: Mapping[str, Any]) -> dict[str, Any] | None:
    """The content of an entry in the form of meta.json; None if the entry has none."""
    kept = {name: said[name] for name in FeedContent.__dataclass_fields__ if said.get(name) and name != "categories"}
    if said.get("tags"):
        kept["categories"] = said["tags"]
    return kept or None


def _feed(said: Mapping[str, Any] | None) -> FeedContent | None:
    if said is None:
        return None
    moments = {name: datetime.fromisoformat(said[name]) for name in _MOMENTS if said.get(name)}
    lists = {name: tuple(said[name]) for name in ("authors", "categories") if said.get(name)}
    return FeedContent(**{**said, **moments, **lists})


def _pretty(value: Mapping[str, Any]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
