"""Values that parsers and extractors return.

Frozen, picklable, without behaviour; a missing value is None or ().
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # noqa: TC003 - what a child answers is decoded by these annotations

from feedcrawl.domain.publisher_hints import PublisherHints


@dataclass(frozen=True, slots=True)
class Link:
    """A link of an entry (`atom:link` or similar); `href` is absolute."""

    href: str
    rel: str | None = None
    type: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """An author as the publisher names them."""

    name: str | None = None
    email: str | None = None
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A media file of an entry; `length` in bytes as declared."""

    url: str
    type: str | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True)
class Paging:
    """Relations to other documents of the same feed (RFC 5005; JSON Feed `next_url`)."""

    next: str | None = None
    prev_archive: str | None = None
    complete: bool = False
    archive: bool = False


@dataclass(frozen=True, slots=True)
class ParsedEntry:
    """One entry as published. `raw` is the entry's part of the document, if it can be cut out."""

    native_id: str | None = None
    link: str | None = None
    links: tuple[Link, ...] = ()
    title: str | None = None
    summary: str | None = None
    content: str | None = None
    authors: tuple[Person, ...] = ()
    categories: tuple[str, ...] = ()
    enclosures: tuple[Enclosure, ...] = ()
    published: datetime | None = None
    updated: datetime | None = None
    published_raw: str | None = None
    image: str | None = None
    comments_url: str | None = None
    language: str | None = None
    raw: bytes | None = None


@dataclass(frozen=True, slots=True)
class Cloud:
    """The rssCloud server of a feed: RSS 2.0 `<cloud domain port path protocol>`."""

    domain: str
    port: int
    path: str
    protocol: str


@dataclass(frozen=True, slots=True)
class ParsedFeed:
    """One feed document.

    `format` is "rss2.0", "rss1.0", "rss0.91", "atom1.0", "json1.1", "cdf" …; `notes` are the codes of tolerated faults.
    """

    format: str
    title: str | None = None
    link: str | None = None
    description: str | None = None
    language: str | None = None
    updated: datetime | None = None
    image: str | None = None
    authors: tuple[Person, ...] = ()
    categories: tuple[str, ...] = ()
    generator: str | None = None
    self_url: str | None = None
    hubs: tuple[str, ...] = ()
    cloud: Cloud | None = None
    encoding: str | None = None
    entries: tuple[ParsedEntry, ...] = ()
    notes: tuple[str, ...] = ()
    hints: PublisherHints = field(default_factory=PublisherHints)
    paging: Paging = field(default_factory=Paging)

    @property
    def is_truncated(self) -> bool:
        """True if the document ended before its root element did: entries may be missing."""
        return "truncated" in self.notes


@dataclass(frozen=True, slots=True)
class SitemapRef:
    """A sitemap that a sitemap index lists."""

    loc: str
    lastmod: datetime | None = None


@dataclass(frozen=True, slots=True)
class News:
    """The news extension of one URL."""

    publication: str | None = None
    language: str | None = None
    published: datetime | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SitemapUrl:
    """One URL of a sitemap."""

    loc: str
    lastmod: datetime | None = None
    changefreq: str | None = None
    priority: float | None = None
    news: News | None = None
    images: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ParsedSitemap:
    """One sitemap document; `kind` is "index", "urlset" or "text"."""

    kind: str
    sitemaps: tuple[SitemapRef, ...] = ()
    urls: tuple[SitemapUrl, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedLink:
    """A feed that a page links to."""

    url: str
    type: str | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class SourceRules:
    """A source's selectors (CSS, or XPath where they begin with `/` or `./`), each tried in order."""

    body: tuple[str, ...] = ()
    title: tuple[str, ...] = ()
    published: tuple[str, ...] = ()
    author: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedContent:
    """The feed's data on an article: the last rung of the ladder, and evidence for the other rungs.

    `full_text`: the operator trusts the feed to have whole articles, in the summary too.
    """

    title: str | None = None
    summary: str | None = None
    content: str | None = None
    authors: tuple[str, ...] = ()
    published: datetime | None = None
    updated: datetime | None = None
    language: str | None = None
    categories: tuple[str, ...] = ()
    image: str | None = None
    full_text: bool = False


@dataclass(frozen=True, slots=True)
class Post:
    """One post of a thread; None for an author or an instant that the page does not show."""

    text: str
    author: str | None = None
    published: datetime | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """One article as extracted from a page.

    `extractor` is the rung that won, `page_kind` what the page is, as `extraction.kinds` names it; `posts` are those of
    a thread, the first post first; lengths in characters.
    """

    title: str | None
    text: str
    html: str
    abstract: str | None
    image: str | None
    authors: tuple[str, ...]
    published: datetime | None
    modified: datetime | None
    language: str | None
    site_name: str | None
    canonical_url: str | None
    extractor: str
    raw_len: int
    text_len: int
    tags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    page_kind: str = "article"
    posts: tuple[Post, ...] = ()
