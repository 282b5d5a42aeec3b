"""The work of `scrapy why ARTICLE-URL`: prints what each extractor and each source of a field found on its page, or how
the task of a page ended that is not in the archive.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from feedcrawl.console.output import DONE, FAILED, say, write
from feedcrawl.domain.dates import rfc3339
from feedcrawl.domain.errors import FeedcrawlError, InvalidUrl
from feedcrawl.domain.extraction.explanation import table
from feedcrawl.domain.urls import url_uid
from feedcrawl.hints import program
from feedcrawl.services.archive.explaining import explained
from feedcrawl.services.sites.sources import SourceBook
from feedcrawl.store.disk.raw import RawElsewhere

if TYPE_CHECKING:
    from feedcrawl.wiring.stores import Stores


def of_article(wired: Stores, name: str) -> int | None:
    """Print the explanation; the exit status, or None if the archive has no capture of such an article."""
    sources = SourceBook(wired.config.sources, wired.stored_sources).current()
    try:
        found = explained(name, wired.config, wired.articles, wired.entry_lines, sources)
    except (FeedcrawlError, RawElsewhere) as refused:
        say("why", f"{name}: {refused}")
        return FAILED
    if found is None:
        return None
    write(f"article  {found.ref.url}  fetched at {rfc3339(found.ref.fetched_at)}  {found.ref.fetch_id}")
    for line in table(found.rows).splitlines():
        write(line)
    return DONE


def of_task(wired: Stores, name: str) -> int | None:
    """Print the state of the task of a page; the exit status, or None if the frontier has no task of this URL."""
    try:
        found = wired.frontier.find(url_uid(name))
    except InvalidUrl:
        return None
    if found is None:
        return None
    task, history = found
    why = history.reason or history.last_error
    last = history.last_fetched_at
    write(
        f"{task.kind}  {task.url}  {history.status}"
        + (f" ({why})" if why else "")
        + (f", last requested at {rfc3339(datetime.fromtimestamp(last / 1000, UTC))}" if last else "")
    )
    if history.status == "dead" and why != "robots_blocked":  # which leaves no dead letter
        write(f"`{program()} dlq replay {task.url}` tries it again")
    return DONE
