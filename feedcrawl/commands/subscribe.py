"""`scrapy subscribe URL|FILE…`: subscribes to feeds; for a page, to its feed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from feedcrawl.commands import OnStores, printable, without_stores

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Sequence

    from scrapy.settings import Settings

    from feedcrawl.domain.discovery.choice import Candidate
    from feedcrawl.services.subscriptions.registering import Wish
    from feedcrawl.spiders.discover import Looked
    from feedcrawl.wiring import Wiring

BATCH = 100
"""Feeds that are written, and reported, at a time."""
CHOICE: Final = 3
"""Exit status if a page offers several feeds and none was picked."""


class Command(OnStores, ScrapyCommand):
    """Exit status 2 if no argument was usable, 3 if a page needs a choice and everything else succeeded."""

    makes_data = True

    def syntax(self) -> str:
        """How it is called."""
        return "[--category NAME[,NAME…]] [--pick N|all] [--set NAME=VALUE]… [--backfill] [--as-is] URL|FILE…"

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Subscribe to feeds: their URLs or those of pages, files or addresses with a list of them"

    def add_options(self, parser: ArgumentParser) -> None:
        """--category, --pick, --set, --backfill, --as-is."""
        super().add_options(parser)
        parser.add_argument(
            "--category", metavar="NAME[,NAME…]", default="", help="categories of the subscriptions, comma separated"
        )
        parser.add_argument("--pick", default="", metavar="N|all", help="which of the feeds that a page offers")
        parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="an override; may repeat")
        parser.add_argument("--backfill", action="store_true", help="read the archives of these feeds too, once")
        parser.add_argument("--as-is", action="store_true", help="subscribe to URLs without looking at them")

    def answer(self, wired: Wiring, args: list[str], opts: Namespace) -> int:
        """Subscribes to each; prints a line for each feed, and for each unusable argument."""
        from feedcrawl.commands.exit_status import DONE, UNUSABLE, say  # noqa: PLC0415 - see the package
        from feedcrawl.services.subscriptions import registering  # noqa: PLC0415

        if not args:
            raise UsageError("name a feed's URL, a page, or a file with a list of them", print_help=False)
        if opts.pick not in ("", "all") and not opts.pick.isdecimal():
            raise UsageError("--pick takes a number of the list, or all", print_help=False)
        categories = tuple(filter(None, (each.strip() for each in opts.category.split(","))))
        names = [name for each in args for name in registering.split_names(each)]
        limit = wired.config.max_feeds_per_list
        wishes, refused = registering.read_wishes(names, categories, wired.gate, limit=limit)
        pages = [] if opts.as_is else [wish for wish in wishes if wish.named]
        choosing = Choosing(opts.pick)
        wishes = choosing.settle(wishes, self._look(wired, pages))
        if opts.set:
            wishes = registering.with_overrides(wishes, opts.set)
        if opts.backfill:
            wishes = registering.with_archives(wishes)
        ids = []
        for first in range(0, len(wishes), BATCH):
            found, bad = registering.subscribe_all(
                wired.registry, wired.frontier, wishes[first : first + BATCH], wired.now()
            )
            refused += bad
            ids += found
            feeds = wired.registry.load(found)
            if opts.backfill:
                due = registering.want_archives(wired.registry, list(feeds.values()))
                registering.poll_now(wired.frontier, due)
            for feed in feeds.values():
                sys.stdout.write(printable(f"{feed.id}  {feed.subscription.url}") + "\n")
        for each in refused:
            say("subscribe", f"{each.url}: {each.detail} ({each.code})")
        if choosing.open:
            return CHOICE
        return DONE if ids else UNUSABLE

    def _look(self, wired: Wiring, wishes: Sequence[Wish]) -> dict[str, Looked]:
        """The types of the documents at the addresses, by the URL of the wish; subscribed addresses are not
        requested.
        """
        from feedcrawl.domain.errors import InvalidUrl  # noqa: PLC0415 - see the package
        from feedcrawl.domain.urls import resolve  # noqa: PLC0415
        from feedcrawl.services.subscriptions import finding  # noqa: PLC0415
        from feedcrawl.spiders.discover import Looked  # noqa: PLC0415

        urls: dict[str, str] = {}
        for wish in wishes:
            try:
                url = resolve(finding.with_scheme(wish.url))
            except InvalidUrl:  # the error is reported when subscribing
                continue
            if finding.find(wired.registry, url) is None:
                urls[wish.url] = url
        assert self.settings is not None
        looked = look(self.settings, list(dict.fromkeys(urls.values()))) if urls else {}
        return {name: looked.get(url) or Looked(url, code="interrupted") for name, url in urls.items()}


class Choosing:
    """Turns fetched documents into wishes; `open` is true if a page needs a choice."""

    def __init__(self, pick: str) -> None:
        self._pick = pick
        self.open = False

    def settle(self, wishes: Sequence[Wish], looked: dict[str, Looked]) -> list[Wish]:
        """The wishes, with pages replaced by their feeds; documents that are neither page nor feed are reported
        and left out.
        """
        settled: list[Wish] = []
        for wish in wishes:
            settled += self._settle(wish, looked[wish.url]) if wish.url in looked else [wish]
        return settled

    def _settle(self, wish: Wish, seen: Looked) -> list[Wish]:
        from dataclasses import replace  # noqa: PLC0415 - see the package

        from feedcrawl.commands.exit_status import say  # noqa: PLC0415
        from feedcrawl.domain.discovery.choice import choose  # noqa: PLC0415
        from feedcrawl.services.subscriptions.discovery import may_become_a_feed  # noqa: PLC0415

        if seen.is_feed or seen.is_list:  # a list is replaced by its feeds when it is polled
            return [wish]
        if not seen.feeds:
            if may_become_a_feed(seen.code):
                say("subscribe", f"{wish.url} could not be looked at ({seen.code}); it is subscribed as it is")
                return [wish]
            say("subscribe", f"{wish.url} is not subscribed: {seen.detail or seen.code}; --as-is does it anyway")
            return []
        offered = choose(seen.feeds)
        chosen = self._picked(wish.url, offered)
        return [replace(wish, url=each.url, named=False) for each in chosen]

    def _picked(self, page: str, offered: Sequence[Candidate]) -> Sequence[Candidate]:
        if len(offered) == 1 or self._pick == "all":
            return offered
        if self._pick and 1 <= int(self._pick) <= len(offered):
            return [offered[int(self._pick) - 1]]
        self.open = True
        sys.stdout.write(printable(f"{page} offers several feeds; --pick takes a number or all:") + "\n")
        for number, each in enumerate(offered, 1):
            sys.stdout.write(printable(f"{number:>3}  {each.url}  {each.title or ''} ({each.entries} entries)") + "\n")
        return []


def look(settings: Settings, urls: list[str]) -> dict[str, Looked]:
    """Fetches addresses in a crawl of its own: the project's guard, limits and pace, Scrapy's scheduler."""
    from scrapy.crawler import CrawlerProcess  # noqa: PLC0415 - see the package

    from feedcrawl.config import Config  # noqa: PLC0415
    from feedcrawl.spiders.discover import DiscoverSpider  # noqa: PLC0415

    own, config = settings.copy(), Config.from_settings(settings)
    without_stores(own)
    paced = {
        "LOG_INSTALL_ROOT_HANDLER": False,  # the command prints its own messages
        "DOWNLOAD_DELAY": config.host_delay_sec,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 1,
        "DOWNLOAD_MAXSIZE": config.max_feed_bytes,
    }
    own.setdict(paced, priority="spider")
    looked: dict[str, Looked] = {}
    process = CrawlerProcess(own)
    process.crawl(DiscoverSpider, urls=urls, looked=looked)
    process.start()
    return looked
