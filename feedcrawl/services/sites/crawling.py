"""Follows a site's listing pages: selects the pages to request in a run, and turns their links into tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.frontier.priority import priority
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.sites.sources import Source
from feedcrawl.domain.urls import hostname, resolve, url_uid
from feedcrawl.services.articles.tasks import TaskOptions, article_task
from feedcrawl.store.sites.site_runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from feedcrawl.domain.frontier.payloads import Payload
    from feedcrawl.domain.frontier.tasks import Again, History
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.sites.site_runs import SiteRuns


class SiteRun:
    """One crawl of a source. Each listing page is requested once per run, however many pages link it and workers
    find it.
    """

    def __init__(self, source: Source, runs: SiteRuns, frontier: Frontier, leases: Leases, *, max_pages: int) -> None:
        self.source = source
        self._runs = runs
        self._frontier = frontier
        self._leases = leases
        self._max_pages = max_pages
        self._run = Run(0, joined=False)

    def begin(self, *, is_base: bool) -> None:
        """Begin a run at the base of the source, or continue the run that other pages belong to.

        At the base, a run with pages left continues: it was interrupted. Without any it is over.
        """
        self._run = self._runs.join(self.source.name)
        if is_base and self._run.joined and not pages_left(self._frontier, self.source.name):
            self._runs.end(self.source.name)
            self._run = self._runs.join(self.source.name)
        if is_base and not self._run.joined:
            self._runs.count(self.source.name, 1)

    def follow(self, pages: Sequence[Task]) -> int:
        """Enqueue the pages that are new in this run, up to the run's cap; returns the number enqueued."""
        known = self._frontier.histories([page.id for page in pages])
        fresh = {page.id: page for page in pages if self._is_fresh(known.get(page.id))}
        if not fresh:
            return 0
        room = self._max_pages - (self._runs.count(self.source.name, len(fresh)) - len(fresh))
        pages = list(fresh.values())[: max(room, 0)]
        self._leases.enqueue_each((page, 0.0, "queue_again" if page.id in known else "") for page in pages)
        return len(pages)

    def _is_fresh(self, history: History | None) -> bool:
        if history is None:
            return True
        return history.status != "pending" and (history.updated_at or 0) <= self._run.since_ms


def pages_left(frontier: Frontier, source: str) -> int:
    """The number of listing pages of a source that are still to be requested."""
    return frontier.statistics().by("status", "kind", "source").get(f"pending:listing:{source}", 0)


def site_task(source: Source, *, is_known: bool = True, max_depth: int | None = None) -> Task:
    """The one task that begins a run at the base of a source. With `is_known` False the source is none of the
    operator's, and the task carries its base.
    """
    payload: Payload = {}
    if not is_known:
        payload["base"] = source.base_url
    if max_depth is not None:
        payload["max_depth"] = max_depth
    return Task(
        id=f"site:{source.name}",
        kind="site",
        url=source.base_url,
        host=hostname(source.base_url),
        priority=priority(source.priority, "spider"),
        origin="spider",
        source=source.name,
        payload=payload,
    )


def schedule(source: Source, frontier: Frontier) -> None:
    """Enqueue the first run of a source that is crawled; later runs follow from it."""
    task = site_task(source)
    if frontier.enqueue([task]) == ["known"]:  # it has ended while the source was not crawled
        frontier.enqueue([task], again="operator")


def source_of(task: Task, sources: Sources) -> Source | None:
    """The source whose listing page a task requests; None if the source is crawled no more."""
    source = sources.get(task.source or "")
    if source is not None:
        return source if source.crawls else None
    base = task.payload.get("base")
    return Source(task.source or "", base, ingestion_mode="spider") if base else None


def listing_tasks(urls: Iterable[str], page: Task, source: Source) -> list[Task]:
    """The tasks of the listing pages that a page names, one link further from the base; without the base itself."""
    kept: Payload = {}
    if "base" in page.payload:
        kept["base"] = page.payload["base"]
    if "max_depth" in page.payload:
        kept["max_depth"] = page.payload["max_depth"]
    keep = source.keep_trailing_slash
    found: dict[str, Task] = {}
    for url in (source.base_url, *urls):
        try:
            uid = url_uid(url, keep_trailing_slash=keep)
            rank = priority(source.priority, "spider", page.depth + 1)
            task = Task(
                id=f"listing:{uid}",
                kind="listing",
                url=resolve(url),
                host=hostname(url),
                priority=rank,
                origin="spider",
                parent=page.url,
                depth=page.depth + 1,
                source=source.name,
                payload=kept,
            )
        except InvalidUrl:
            continue
        found.setdefault(task.id, task)
    return list(found.values())[1:]


def submitted(urls: Iterable[str], sources: Sources, options: TaskOptions) -> Iterator[tuple[Task, Again]]:
    """The tasks for the articles that a listing page names, each with the settings of its own source."""
    for url in urls:
        try:
            yield article_task(url, sources, options), ""
        except InvalidUrl:
            continue


def options_of(source: Source, parent: str, depth: int) -> TaskOptions:
    """The options of the tasks of a source's articles that are listed on a page `depth` links away from the base."""
    return TaskOptions("spider", source.name, source.categories, source.priority, parent=parent, depth=depth + 1)


def external(options: TaskOptions) -> TaskOptions:
    """The options for articles on other sites: of the settings of the source, only the priority applies to them."""
    return replace(options, source=None, categories=())
