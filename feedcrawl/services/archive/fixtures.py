"""Pages stored as test cases: the page as received, and its expected article.

The files of a test case:

    <directory>/<uid>/page.html       the body, without content codings
    <directory>/<uid>/meta.json       url, headers, fetched_at, and under `feed` the entry's content
    <directory>/<uid>/expected.json   the article, or under `failure` the reason why there is none
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from feedcrawl.domain.dates import LATEST, moment
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.extraction import read_article
from feedcrawl.domain.frontier.payloads import EntryContent
from feedcrawl.domain.models import FeedContent
from feedcrawl.domain.urls import url_uid
from feedcrawl.hints import program
from feedcrawl.services.articles import publication
from feedcrawl.services.articles.tasks import success_fields
from feedcrawl.store.disk.files import map_disk_errors, write_anew

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from feedcrawl.domain.articles.fields import ArticleFields
    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.json_values import JsonObject
    from feedcrawl.services.archive.capture import Document

_LEFT_OUT: Final = frozenset({"content_hash", "raw_len", "text_len"})
_HEADERS: Final = ("content-type", "content-language", "last-modified")


class BadFixture(Refusal):
    """A directory that is not a test case."""


class FeedFields(EntryContent, total=False):
    """The fields of FeedContent as JSON values; times as RFC 3339."""

    categories: list[str]


@dataclass(frozen=True, slots=True)
class Page:
    """A page as received. `feed` is the content of its entry, in the shape of FeedContent with times as RFC 3339."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    fetched_at: str | None = None
    feed: FeedFields | None = None


def expected(page: Page) -> ArticleFields:
    """The article of a page, or its failure: the content of expected.json."""
    declared = next((value for name, value in page.headers.items() if name.lower() == "content-type"), None)
    found = read_article(page.body, declared, min_chars=0, url=page.url, feed=_feed(page.feed))
    if found.extraction is None:
        return {"failure": publication.failure_of(found.code)[0]}
    article = success_fields(found.extraction, moment(page.fetched_at) or LATEST)
    return cast("ArticleFields", {name: value for name, value in article.items() if name not in _LEFT_OUT})


def save(directory: Path, page: Page, article: Mapping[str, object]) -> Path:
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


def expect(folder: Path, article: Mapping[str, object]) -> None:
    """Write the expected result of a test case. Raises DiskUnavailable."""
    write_anew(folder / "expected.json", [_pretty(article)])


def load(folder: Path) -> tuple[Page, JsonObject]:
    """A test case and its expected result; raises BadFixture, whose text names the fault."""
    try:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
        expectation = json.loads((folder / "expected.json").read_text("utf-8"))
        body = (folder / "page.html").read_bytes()
        return Page(meta["url"], meta.get("headers", {}), body, meta.get("fetched_at"), meta.get("feed")), expectation
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


def differences(expectation: Mapping[str, object], found: Mapping[str, object]) -> Iterator[tuple[str, object, object]]:
    """The fields that differ, each with its expected and its found value. Fields missing from expected.json are
    not compared.
    """
    for name in expectation if "failure" not in found else {**expectation, "failure": None}:
        if expectation.get(name) != found.get(name):
            yield name, expectation.get(name), found.get(name)


def page_of(document: Document, feed: FeedFields | None) -> Page:
    """A page from the archive."""
    ref = document.ref
    return Page(ref.url, document.headers, document.body, ref.fetched_at.isoformat(timespec="seconds"), feed)


def feed_of(entry: Payload) -> FeedFields | None:
    """The content of an entry in the form of meta.json; None if the entry has none."""
    names = FeedContent.__dataclass_fields__.keys() - {"categories", "full_text"}
    kept = cast("FeedFields", {name: entry.get(name) for name in names if entry.get(name)})
    if tags := entry.get("tags"):
        kept["categories"] = tags
    return kept or None


def _feed(fields: FeedFields | None) -> FeedContent | None:
    if fields is None:
        return None
    return FeedContent(
        title=fields.get("title"),
        summary=fields.get("summary"),
        content=fields.get("content"),
        authors=tuple(fields.get("authors") or ()),
        published=moment(fields.get("published")),
        updated=moment(fields.get("updated")),
        language=fields.get("language"),
        categories=tuple(fields.get("categories") or ()),
        image=fields.get("image"),
    )


def _pretty(value: Mapping[str, object]) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "replace")
