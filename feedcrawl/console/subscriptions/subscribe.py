"""The work of `scrapy subscribe`: reads names and lists, looks at the addresses, subscribes."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Final

from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import UsageError

from feedcrawl.config import Config
from feedcrawl.console.command import without_stores
from feedcrawl.console.output import DONE, UNUSABLE, say, write
from feedcrawl.console.stores import on
from feedcrawl.console.subscriptions.discover import DiscoverSpider, Examined
from feedcrawl.console.subscriptions.login import headers_of
from feedcrawl.domain.discovery.choice import choose
from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.subscriptions.access import access_for
from feedcrawl.domain.subscriptions.records import Overrides
from feedcrawl.domain.subscriptions.specs import Refused
from feedcrawl.domain.urls import resolve
from feedcrawl.services.subscriptions import finding, registering
from feedcrawl.services.subscriptions.discovery import may_become_a_feed
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Mapping, Sequence

    from scrapy.settings import Settings

    from feedcrawl.domain.discovery.choice import Candidate
    from feedcrawl.domain.subscriptions.access import Access
    from feedcrawl.domain.subscriptions.records import Feed
    from feedcrawl.domain.subscriptions.specs import SubscriptionSpec

OVERRIDES: Final = frozenset(each.name for each in fields(Overrides))
"""Names that `--set`, which takes Scrapy's settings, would ignore."""
BATCH = 100
"""Feeds that are written, and reported, at a time."""
CHOICE: Final = 3
"""Exit status if a page offers several feeds and none was picked."""


@on(Wiring, makes_data=True)
def run(wired: Wiring, args: list[str], opts: Namespace) -> int:
    """Subscribes to each; prints a line for each feed, and for each unusable argument."""
    _check(args, opts)
    categories = tuple(filter(None, (each.strip() for each in opts.category.split(","))))
    names = [name for each in args for name in registering.split_names(each)]
    limit = wired.config.max_feeds_per_list
    try:
        login = headers_of(opts.login)
    except Refusal as error:
        say("subscribe", f"--login: {error.detail} ({error.code})")
        return UNUSABLE
    specs, refused = registering.read_specs(names, categories, wired.gate, limit=limit)
    specs = [registering.with_login(spec, login) for spec in specs]
    pages = [] if opts.as_is else [spec for spec in specs if spec.named]
    named, known = len(specs) + len(refused), _known(wired, pages)
    choosing = Choosing(opts.pick, known)
    given = {spec.url for spec in specs}
    specs = choosing.settle(specs, _examine(wired, pages, known))
    _report_known(wired, [spec for spec in specs if not spec.named and spec.url not in given])
    if opts.override:
        specs = registering.with_overrides(specs, opts.override)
    if opts.backfill:
        specs = registering.with_archives(specs)
    ids = []
    for first in range(0, len(specs), BATCH):
        found, bad = registering.subscribe_all(
            wired.registry, wired.frontier, specs[first : first + BATCH], wired.now()
        )
        refused += bad
        ids += found
        feeds = wired.registry.load(found)
        if opts.backfill:
            due = registering.request_archives(wired.registry, list(feeds.values()))
            registering.poll_now(wired.frontier, due)
        for feed in feeds.values():
            write(f"{feed.id}  {feed.subscription.url}")
    refused += choosing.refused
    for each in refused:
        say("subscribe", f"{each.url}: {each.detail} ({each.code})")
    if named > 1 and refused:
        say("subscribe", f"{named - len(refused)} of {named}, refused: {', '.join(each.url for each in refused)}")
    if choosing.open:
        return CHOICE
    return DONE if ids else UNUSABLE


def _check(args: Sequence[str], opts: Namespace) -> None:
    """UsageError for arguments and options that cannot be meant so."""
    if not args:
        raise UsageError("name a feed's URL, a page, or a file with a list of them", print_help=False)
    if opts.pick not in ("", "all") and not opts.pick.isdecimal():
        raise UsageError("--pick takes a number of the list, or all", print_help=False)
    for name in (pair.partition("=")[0] for pair in opts.set):
        if name in OVERRIDES:
            raise UsageError(f"{name} is an override, not a setting: --override {name}=VALUE", print_help=False)


def _known(wired: Wiring, specs: Sequence[SubscriptionSpec]) -> dict[str, Feed]:
    """The feeds that are subscribed already, by the URL of the spec."""
    found = ((spec.url, finding.find(wired.registry, spec.url)) for spec in specs)
    return {url: feed for url, feed in found if feed is not None}


def _report_known(wired: Wiring, of_pages: Sequence[SubscriptionSpec]) -> None:
    for url in _known(wired, of_pages):
        say("subscribe", f"{url} is subscribed already")


def _examine(wired: Wiring, specs: Sequence[SubscriptionSpec], subscribed: Mapping[str, Feed]) -> dict[str, Examined]:
    """The types of the documents at the addresses, by the URL of the spec; subscribed addresses are not
    requested.
    """
    urls: dict[str, str] = {}
    accesses: dict[str, Access] = {}
    for spec in specs:
        try:
            url = resolve(finding.with_scheme(spec.url))
        except InvalidUrl:  # the error is reported when subscribing
            continue
        known = subscribed.get(spec.url)
        if known is not None and not _replaces(spec, url, known):
            say("subscribe", f"{spec.url} is subscribed already{_named_otherwise(url, known.subscription.url)}")
        else:
            urls[spec.url] = url
            if (access := access_for(url, spec.login)) is not None:
                accesses[url] = access
    guessed = frozenset(url for name, url in urls.items() if not finding.has_scheme(name))
    found = examine(wired.settings, list(dict.fromkeys(urls.values())), accesses, guessed) if urls else {}
    return {name: found.get(url) or Examined(url, code="interrupted") for name, url in urls.items()}


def _replaces(spec: SubscriptionSpec, url: str, known: Feed) -> bool:
    """True if a spec names the scheme of an address that has never worked under the subscribed scheme."""
    moved = registering.with_scheme_of(known, url, named=True)
    return finding.has_scheme(spec.url) and moved != known.subscription


def _named_otherwise(url: str, known: str) -> str:
    return "" if known == url else f", as {known}"


class Choosing:
    """Turns fetched documents into specs; `open` is true if a page needs a choice, `refused` has the unusable ones."""

    def __init__(self, pick: str, known: Mapping[str, Feed]) -> None:
        self._pick = pick
        self._known = known
        self.open = False
        self.refused: list[Refused] = []

    def settle(self, specs: Sequence[SubscriptionSpec], examined: dict[str, Examined]) -> list[SubscriptionSpec]:
        """The specs, with pages replaced by their feeds; documents that are neither page nor feed are reported
        and left out.
        """
        settled: list[SubscriptionSpec] = []
        for spec in specs:
            settled += self._settle(spec, examined[spec.url]) if spec.url in examined else [spec]
        return settled

    def _settle(self, spec: SubscriptionSpec, seen: Examined) -> list[SubscriptionSpec]:
        if seen.is_list:  # a list is replaced by its feeds when it is polled
            return [replace(spec, url=seen.url)]
        if not seen.feeds:
            return self._unseen(spec, seen)
        offered = choose(seen.feeds)
        if self._pick.isdecimal() and not 1 <= int(self._pick) <= len(offered):
            offers = f"{len(offered)} feed{'s' if len(offered) > 1 else ''}"
            self.refused.append(Refused(spec.url, "no_such_feed", f"--pick {self._pick}, but it offers {offers}"))
            return []
        if seen.is_feed:
            return [replace(spec, url=seen.url)]
        chosen = self._picked(spec.url, offered)
        return [replace(spec, url=each.url, named=False) for each in chosen]

    def _unseen(self, spec: SubscriptionSpec, seen: Examined) -> list[SubscriptionSpec]:
        """The spec unchanged if its address could not be requested; no spec if the address is no feed."""
        if may_become_a_feed(seen.code):
            why = seen.detail or seen.code
            if spec.url in self._known:
                as_it_is = self._known[spec.url].subscription.url
                say("subscribe", f"{spec.url} could not be looked at, {why} ({seen.code}); {as_it_is} stays subscribed")
                return [replace(spec, url=as_it_is)]
            say("subscribe", f"{spec.url} could not be looked at, {why} ({seen.code}); it is subscribed as it is")
            return [spec]
        hint = "" if seen.code == "address_refused" else "; --as-is does it anyway"  # no poll could reach the address
        detail = f"it is not subscribed: {seen.detail or seen.code}{hint}"
        self.refused.append(Refused(spec.url, seen.code, detail))
        return []

    def _picked(self, page: str, offered: Sequence[Candidate]) -> Sequence[Candidate]:
        if len(offered) == 1 or self._pick == "all":
            return offered
        if self._pick:
            return [offered[int(self._pick) - 1]]
        self.open = True
        write(f"{page} offers several feeds; --pick takes a number or all:")
        for number, each in enumerate(offered, 1):
            write(f"{number:>3}  {each.url}  {each.title or ''} ({each.entries} entries)")
        return []


def examine(
    settings: Settings, urls: list[str], accesses: dict[str, Access], guessed: frozenset[str] = frozenset()
) -> dict[str, Examined]:
    """Fetches addresses in a crawl of its own: the project's guard, limits and pace, Scrapy's scheduler.

    `accesses`: the private headers for an address. `guessed`: addresses that are tried under http too.
    """
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
    examined: dict[str, Examined] = {}
    process = CrawlerProcess(own)
    process.crawl(DiscoverSpider, urls=urls, examined=examined, accesses=accesses, guessed=guessed)
    process.start()
    return examined
