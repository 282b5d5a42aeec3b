"""The payload of a task: the data that the task's next request needs, as JSON values; and the patch of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypedDict, cast

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from feedcrawl.domain.json_values import Json, JsonObject


class SearchRecord(TypedDict):
    """The progress of a search for a lost feed (`domain.subscriptions.search`)."""

    because: str
    status: int | None
    at_page: bool
    places: list[str]


class RequestRecord(TypedDict, total=False):
    """A request of a spider; header names and values are Latin-1, `body` is Base64."""

    spider: str
    method: str
    headers: dict[str, list[str]]
    cookies: Json
    body: str
    encoding: str
    flags: list[str]
    cb_kwargs: JsonObject
    callback: str | None
    errback: str | None
    dont_filter: bool
    meta: JsonObject
    priority: int


class EntryContent(TypedDict, total=False):
    """What an entry carries of its article, as JSON values; times as RFC 3339."""

    title: str | None
    summary: str | None
    content: str | None
    authors: list[str]
    published: str | None
    updated: str | None
    language: str | None
    image: str | None


class Evidence(EntryContent, total=False):
    """The evidence about an article: the content of its entry, or its fields in a news sitemap."""

    feed_id: str
    entry_uid: str
    sitemap_id: str
    tags: list[str]


class GapRecord(TypedDict):
    """The progress of filling a feed's gap from sitemaps (`domain.sitemaps.gaps`); times are ISO 8601."""

    since: str
    until: str
    below: str
    places: list[str]
    documents: int
    found: int


class CookieRecord(TypedDict):
    """A cookie of a chain of redirects, as the task carries it to the next host; `expires` is a Unix time."""

    name: str
    value: str | None
    domain: str
    host_only: bool
    path: str
    secure: bool
    expires: int | None


OF_REDIRECTS: Final = ("redirect_chain", "temporary", "redirect_cookies")
"""Payload fields that a chain of redirects leaves; they end with the chain."""


class Payload(RequestRecord, Evidence, total=False):
    """The payload of a task. Each kind of task has some of the fields; empty fields are left out.

    `redirect_chain`: the URLs requested so far, the first one as published. `temporary`: True if a redirect among them
    was temporary. `redirect_cookies`: those that the redirects set.

    `whole`: why the document is requested without validators. `topic` and `protocol`: of a hub's
    subscription. `leaves`: the callback of a subscription that is ended, `tries`: requests for that end that failed.
    `trace`: passed to the tasks that follow from this task (`domain.frontier.traces`).

    `base`: the base of a site without settings. `max_depth`: links that are followed from the base, if not the setting.

    `visited`, `documents`, `new`, `readings` and `gap` are the progress of a walk (`domain.subscriptions.archives`).
    """

    redirect_chain: list[str]
    temporary: bool
    redirect_cookies: list[CookieRecord]
    whole: str
    search: SearchRecord
    topic: str
    protocol: Literal["websub", "rsscloud"]
    fills: GapRecord
    leaves: str
    tries: int
    feed_title: str | None
    categories: list[str]
    edited: bool
    keep_trailing_slash: bool
    part: str
    request_id: str
    trace: str
    visited: list[str]
    documents: int
    new: int
    readings: int
    gap: bool
    base: str
    max_depth: int


class Patch(TypedDict, total=False):
    """Fields of a task's record to be set; None removes a field."""

    url: str
    host: str
    payload: Payload | None
    last_error: str | None
    source: str | None
    category: str | None
    etag: str | None
    last_modified: str | None


def filled(fields: Mapping[str, object]) -> Payload:
    """The fields of a payload that are not empty."""
    return cast("Payload", {name: value for name, value in fields.items() if value})


def without(payload: Payload, names: Collection[str]) -> Payload:
    """The payload without the named fields."""
    return cast("Payload", {name: value for name, value in payload.items() if name not in names})
