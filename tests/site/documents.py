"""Feeds, sitemaps and pages for the test origin: small, valid, the same for the same arguments."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html import escape

FIRST_DAY = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
WORD_LIST = """
harbour council vote bridge winter budget museum river teacher garden engine летний café window paper market signal
doctor forest railway harvest letter morning station village orchestra border island kitchen weather
"""
WORDS = WORD_LIST.split()


@dataclass(frozen=True, slots=True)
class Item:
    """An entry to be rendered; `guid` stands for its link where it is not given. `files` are URLs of enclosures."""

    title: str
    url: str
    published: datetime = FIRST_DAY
    guid: str | None = None
    summary: str = ""
    content: str = ""
    categories: tuple[str, ...] = ()
    author: str = ""
    files: tuple[str, ...] = ()


def prose(seed: int | str, words: int = 40) -> str:
    """A paragraph of that many words."""
    chance = random.Random(f"prose {seed}")
    sentences, left = [], words
    while left > 0:
        size = min(left, chance.randint(7, 14))
        sentences.append(" ".join(chance.choice(WORDS) for _ in range(size)).capitalize() + ".")
        left -= size
    return " ".join(sentences)


def paragraphs(seed: int | str, count: int = 8, words: int = 60) -> list[str]:
    return [prose(f"{seed}/{number}", words) for number in range(count)]


def items(count: int, base_url: str, seed: int = 0) -> list[Item]:
    """Entries an hour apart, the newest first, with links `base_url` + "/article-<seed>-<n>"."""
    return [
        Item(
            title=prose(f"title {seed}/{number}", 7).rstrip("."),
            url=f"{base_url.rstrip('/')}/article-{seed}-{number}",
            published=FIRST_DAY + timedelta(hours=number),
            summary=prose(f"summary {seed}/{number}", 20),
            categories=("news", f"topic-{number % 3}"),
            author="Ada Writer",
        )
        for number in reversed(range(count))
    ]


def _tag(name: str, value: str) -> str:
    return f"<{name}>{escape(value)}</{name}>" if value else ""


def _enclosure(url: str) -> str:
    return f'<enclosure url="{escape(url)}" type="audio/mpeg" length="1"/>'


def _rss_item(entry: Item) -> str:
    permanent = "false" if entry.guid else "true"
    return (
        f"<item>{_tag('title', entry.title)}{_tag('link', entry.url)}"
        f'<guid isPermaLink="{permanent}">{escape(entry.guid or entry.url)}</guid>'
        f"{_tag('pubDate', format_datetime(entry.published, usegmt=True))}{_tag('description', entry.summary)}"
        f"{_tag('content:encoded', entry.content)}{_tag('dc:creator', entry.author)}"
        f"{''.join(_tag('category', category) for category in entry.categories)}"
        f"{''.join(map(_enclosure, entry.files))}</item>\n"
    )


def rss(entries: Sequence[Item], *, title: str = "A feed", link: str = "http://site-1.test/", head: str = "") -> str:
    """RSS 2.0; `head` is markup for the channel's head (ttl, atom:link …)."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">\n'
        f"<channel>{_tag('title', title)}{_tag('link', link)}<description>{escape(title)}</description>{head}\n"
        f"{''.join(map(_rss_item, entries))}</channel></rss>\n"
    )


def _atom_entry(entry: Item) -> str:
    date = entry.published.isoformat()
    author = f"<author>{_tag('name', entry.author)}</author>" if entry.author else ""
    content = f'<content type="html">{escape(entry.content)}</content>' if entry.content else ""
    categories = "".join(f'<category term="{escape(category)}"/>' for category in entry.categories)
    return (
        f'<entry>{_tag("title", entry.title)}<link href="{escape(entry.url)}"/>{_tag("id", entry.guid or entry.url)}'
        f"<updated>{date}</updated><published>{date}</published>"
        f"{author}{_tag('summary', entry.summary)}{content}{categories}</entry>\n"
    )


def atom(entries: Sequence[Item], *, title: str = "A feed", link: str = "http://site-1.test/", head: str = "") -> str:
    """Atom 1.0; `head` is markup for the feed's head (links of paging, hubs …)."""
    newest = max((entry.published for entry in entries), default=FIRST_DAY).isoformat()
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">'
        f'{_tag("title", title)}{_tag("id", link)}<link href="{escape(link)}"/><updated>{newest}</updated>{head}\n'
        f"{''.join(map(_atom_entry, entries))}</feed>\n"
    )


def sitemap(urls: Sequence[str], *, modified: datetime = FIRST_DAY) -> str:
    rows = "".join(f"<url>{_tag('loc', url)}<lastmod>{modified.isoformat()}</lastmod></url>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</urlset>\n'
    )


def sitemap_index(urls: Sequence[str]) -> str:
    rows = "".join(f"<sitemap>{_tag('loc', url)}</sitemap>\n" for url in urls)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{rows}</sitemapindex>\n'
    )


def page(
    title: str, texts: Sequence[str], *, canonical: str | None = None, published: datetime | None = None, head: str = ""
) -> str:
    """An article as sites have it: navigation, the text, a footer. `head` is markup for the page's head."""
    if canonical:
        head += f'<link rel="canonical" href="{escape(canonical)}">'
    if published:
        head += f'<meta property="article:published_time" content="{published.isoformat()}">'
    body = "\n".join(f"<p>{escape(text)}</p>" for text in texts)
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">{_tag("title", title)}{head}</head>\n'
        '<body><nav><a href="/">Home</a> <a href="/about">About</a></nav>\n'
        f"<article>{_tag('h1', title)}\n{body}\n</article>\n<footer>All rights reserved</footer></body></html>\n"
    )
