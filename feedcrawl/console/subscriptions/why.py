"""The work of `scrapy why`: prints the stored decision, the hub and the journal of a feed, or what was found on the
page of an article.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console import archive, articles
from feedcrawl.console.output import DONE, UNUSABLE, say, write
from feedcrawl.console.stores import on
from feedcrawl.domain.cadence.reasons import duration
from feedcrawl.domain.sites.site_search import in_words
from feedcrawl.hints import program
from feedcrawl.services.sites import searched, watched
from feedcrawl.services.subscriptions import finding
from feedcrawl.services.subscriptions.explanations import explained
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Mapping

    from feedcrawl.domain.sites.site_search import SourceSearchedRecord
    from feedcrawl.domain.subscriptions.published import JournalLineRecord, WhyHub, WhyRecord
    from feedcrawl.domain.subscriptions.sitemap_records import SitemapWhyRecord

COUNTS = ("new", "changed", "known", "deleted", "over_limit", "documents", "urls", "old", "refused", "waiting")
"""The numbers of a journal line that are shown; a sitemap has the last four."""
MARKS = ("migrated", "possibly_missed")
"""The marks of a journal line that are shown."""


@on(Stores)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """The stored decision and the journal."""
    if len(args) != 1:
        raise UsageError(f"name a feed or sitemap by URL or id: `{program()} feeds` lists them", print_help=False)
    feed = finding.find(wired.registry, args[0])
    if feed is None:
        return _of_sitemap(wired, args[0], opts.lines)
    if opts.diff:
        return _show(archive.differences(wired, feed))
    journal = wired.registry.journal(feed.id)[: opts.lines]
    record = explained(feed, wired.hub_subscriptions.find(feed.id), wired.now())
    return _show((*decision(record), *hub(record["hub"]), *map(journal_line, journal)))


def _of_sitemap(wired: Stores, name: str, lines: int) -> int:
    found = watched.find(wired.sitemaps, name)
    result = searched.find(wired.site_searches, name) if found is None else None
    if result is not None:
        return _show(search(result, _results(wired, result)))
    if found is None:
        for answer in (articles.of_article, articles.of_task):
            if (status := answer(wired, name)) is not None:
                return status
        say(
            "why",
            f"{name} is neither subscribed nor watched, nor a page in the archive of this machine or in the frontier;"
            f" `{program()} feeds` lists feeds and sitemaps",
        )
        return UNUSABLE
    journal = wired.sitemaps.journal(found.id)[:lines]
    return _show((*sitemap_decision(watched.explained(found)), *map(journal_line, journal)))


def _results(wired: Stores, found: SourceSearchedRecord) -> dict[str, str]:
    """The result of the last poll of each feed and sitemap that a search has found."""
    results = dict.fromkeys((*found["feeds"], *found["sitemaps"]), "unsubscribed")
    for url in found["feeds"]:
        if (feed := finding.find(wired.registry, url)) is not None:
            results[url] = feed.polls.last_result or "not polled yet"
    for url in found["sitemaps"]:
        if (sitemap := watched.find(wired.sitemaps, url)) is not None:
            results[url] = sitemap.record.last_result or "not polled yet"
    return results


def search(found: SourceSearchedRecord, results: Mapping[str, str]) -> Iterator[str]:
    """The search of a source's site: the result, what was found with the result of its last poll, and each address
    that was requested.
    """
    yield f"source {found['source']}  {found['url']}: {in_words(found).partition(';')[0]}, on {found['at']}"
    yield from (f"  now {each:<16} {url}" for url, each in results.items())
    yield from (f"  {each['result']:<20} {each['url']}" for each in found["tried"])


def sitemap_decision(record: SitemapWhyRecord) -> Iterator[str]:
    """The sitemap, its next poll, and each rule with the wait that it proposed."""
    yield f"sitemap  {record['url']}  {record['id']}"
    if record["last_fetch_at"] is None:
        yield "Never polled yet: due since it is watched."
        return
    yield from next_poll(record)
    yield last_poll(
        record, ("URL", "URLs"), f", {record['waiting']} of them left for the next poll" if record["waiting"] else ""
    )


def _show(lines: Iterable[str]) -> int:
    for line in lines:
        write(line)
    return DONE


def decision(record: WhyRecord) -> Iterator[str]:
    """The feed, its next poll, and each rule with the wait that it proposed."""
    yield f"{record['title'] or 'feed'}  {record['url']}  {record['id']}"
    if record["reason"] == "paused":
        yield f"Paused: no poll until `{program()} feeds resume {record['url']}`"
    if record["last_fetch_at"] is None:
        yield "Never polled yet." if record["reason"] == "paused" else "Never polled yet: due since it was subscribed."
        return
    if record["reason"] != "paused":
        yield from next_poll(record)
    per_day, late = record["new_entries_per_day"], record["mean_delay_sec"]
    if late is not None:
        yield f"Expected: {per_day:.1f} new entries per day, found {duration(late)} late in the mean"
    for mark in record["not_sent"]:
        yield f"Validator that is not sent, since its server uses it wrongly: {mark}"
    if record["quiet_since"]:
        yield f"Quiet against its own last weeks: found so at {record['quiet_since']}, and no news since"
    if record["possibly_missed"]:
        yield f"Entries may have come and gone between two polls, {record['possibly_missed']} times so far"
    yield last_poll(record, ("entry", "entries"))


def next_poll(record: WhyRecord | SitemapWhyRecord) -> Iterator[str]:
    """The time of the next poll, and each rule with the wait that it proposed."""
    waited = f", {duration(record['interval_sec'])} after the last poll" if record["interval_sec"] is not None else ""
    yield f"Next poll at {record['next_at']}{waited}, because: {record['because']} ({record['reason']})"
    for each in record["candidates"]:
        yield f"{'→' if each['won'] else ' '} {duration(each['wait_sec']):>12}  {each['because']} ({each['rule']})"


def last_poll(record: WhyRecord | SitemapWhyRecord, items: tuple[str, str], more: str = "") -> str:
    """The result of the last poll, the number of `items` (one, many) in the last document, and the failures since."""
    errors, count = record["consecutive_failures"], record["last_item_count"]
    times = "once" if errors == 1 else f"{errors} times in a row"
    failing = f"; failed {times}, last good poll {record['last_success_at'] or 'never'}" if errors else ""
    came = f"{record['last_result']} (HTTP {record['last_status'] or 'none'})"
    had = f"; its last document had {count} {items[count > 1]}{more}" if count else ""
    return f"Last polled at {record['last_fetch_at']}: {came}{had}{failing}"


def hub(record: WhyHub | None) -> Iterator[str]:
    """The state of a feed's subscription at its hub, if one was requested."""
    if record is None:
        return
    because = f" ({record['reason']})" if record["reason"] else ""
    lease = f", its lease ends at {record['lease_until']}" if record["lease_until"] else ""
    yield f"Hub {record['url']}: {record['state']}{because}{lease}"
    last = f", the last at {record['last_push_at']}" if record["last_push_at"] else ""
    relied = "relied on" if record["relied_on"] else "not relied on: the feed is polled as without a hub"
    yield f"  {record['pushes']} deliveries with news{last}; {record['misses']} misses; {relied}"


def journal_line(line: JournalLineRecord) -> str:
    """A line of the journal."""
    named = ((name, line.get(name)) for name in COUNTS)
    shown = [f"{name}={number}" for name, number in named if number]
    shown += [name for name in MARKS if line.get(name)]
    shown += [f"moved_to={line['moved_to']}"] if line.get("moved_to") else []
    shown += [f"reason={line.get('reason')}"] if line.get("result") == "skipped" else []
    detail = f" — {line['detail']}" if line.get("detail") else ""
    status = line.get("http_status", "-")
    begin = f"  {line.get('at')}  {status!s:>3}  {line.get('result')}"
    return f"{begin}  {' '.join(shown)}  next {line.get('next_at')}{detail}"
