"""The work of `scrapy feeds`: lists feeds and sitemaps."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from feedcrawl.console.output import DONE, UNUSABLE, json_array, say
from feedcrawl.console.stores import on
from feedcrawl.console.subscriptions.listing import chosen, write_feeds, write_sitemaps
from feedcrawl.domain.sites.site_search import in_words
from feedcrawl.hints import program
from feedcrawl.services.sites import watched
from feedcrawl.services.subscriptions import finding
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator

    from feedcrawl.domain.sitemaps.state import Watched
    from feedcrawl.domain.subscriptions.published import FeedRecord
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.domain.subscriptions.sitemap_records import SitemapPublicRecord


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """The named feeds, or all by URL."""
    if opts.sitemaps and not args:
        return _show_sitemaps(wired, wired.sitemaps.all(), as_json=opts.json)
    named = [(name, finding.find(wired.registry, name)) for name in args]
    feeds = [feed for _, feed in named if feed is not None]
    maps = [(name, watched.find(wired.sitemaps, name)) for name, feed in named if feed is None]
    if not args:
        feeds = chosen(_candidates(wired, opts), opts)
    sitemaps = [each for _, each in maps if each is not None]
    if opts.json:
        bounds = {
            "min_interval_sec": wired.config.min_interval_sec,
            "max_interval_sec": wired.config.max_interval_sec,
        }
        records: list[FeedRecord | SitemapPublicRecord] = [feed.public(**bounds) for feed in feeds]
        records += (watched.public(each, wired.config) for each in sitemaps)
        if records or not args:
            sys.stdout.write(json.dumps(records[0]) + "\n" if len(args) == 1 else json_array(records))
    else:
        _show(wired, feeds, sitemaps, opts.columns, whole=not args and not (opts.failing or opts.category))
    unknown = [name for name, each in maps if each is None]
    for name in unknown:
        say("feeds", f"{name} is neither subscribed nor watched; `{program()} feeds` lists feeds and sitemaps")
    return UNUSABLE if unknown else DONE


def _candidates(wired: Stores, opts: Namespace) -> Iterator[Feed]:
    """The feeds among which the options choose; only some of all where the store has an index for the condition."""
    if opts.failing:
        return finding.each(wired.registry, wired.registry.failing())
    return wired.registry.of_category(opts.category) if opts.category else finding.each(wired.registry)


def _show(wired: Stores, feeds: list[Feed], sitemaps: list[Watched], columns: str | None, *, whole: bool) -> None:
    """The table of feeds, and that of sitemaps if there are any; of all sitemaps only the roots of their trees."""
    if feeds or not sitemaps:
        write_feeds(feeds, columns)
    for found in wired.site_searches.all() if whole else ():
        if not (found["feeds"] or found["sitemaps"]):
            say("feeds", f"source {found['source']!r}: {in_words(found)}, at {found['at']}")
    roots = [each for each in wired.sitemaps.all() if not each.sitemap.depth] if whole else sitemaps
    if roots:
        _show_sitemaps(wired, roots, as_json=False)


def _show_sitemaps(wired: Stores, sitemaps: Iterable[Watched], *, as_json: bool) -> int:
    found = sorted(sitemaps, key=lambda each: each.sitemap.url)
    shown = [watched.public(each, wired.config) for each in found]
    if as_json:
        sys.stdout.write(json_array(shown))
    else:
        write_sitemaps(shown)
    return DONE
