"""Follows a site's listing pages: selects the pages to request in a run, and turns their links into tasks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.services.articles.tasks import ArticleWish, article_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from feedcrawl.domain.frontier.tasks import Again, History, Task
    from feedcrawl.domain.sites.owners import Sources
    from feedcrawl.domain.sites.sources import Source
    from feedcrawl.services.frontier.leases import Leases
    from feedcrawl.store.frontier.interface import Frontier
    from feedcrawl.store.sites.site_runs import Run, SiteRuns


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
        self._run = self._begin()

    def follow(self, pages: Sequence[Task]) -> int:
        """Enqueue the pages that are new in this run, up to the run's cap; the number enqueued."""
        known = self._frontier.histories([page.id for page in pages])
        fresh = {page.id: page for page in pages if self._is_fresh(known.get(page.id))}
        if not fresh:
            return 0
        room = self._max_pages - (self._runs.count(self.source.name, len(fresh)) - len(fresh))
        wanted = list(fresh.values())[: max(room, 0)]
        self._leases.push_each((page, 0.0, "queue_again" if page.id in known else "") for page in wanted)
        return len(wanted)

    def end(self) -> None:
        """Remove all records of the run."""
        self._runs.end(self.source.name)

    def _is_fresh(self, history: History | None) -> bool:
        if history is None:
            return True
        return history.status != "pending" and (history.updated_at or 0) <= self._run.since_ms

    def _begin(self) -> Run:
        """Begin or continue a run. A run that was killed after its last page has no work left: the next crawl is
        a new run.
        """
        run = self._runs.join(self.source.name)
        if run.joined and not self._frontier.counts().get("pending:page"):
            self._runs.end(self.source.name)
            run = self._runs.join(self.source.name)
        return run


def submitted(urls: Iterable[str], sources: Sources, wish: ArticleWish) -> Iterator[tuple[Task, Again]]:
    """The tasks for the articles that a listing page names, each with the settings of its own source."""
    for url in urls:
        try:
            yield article_task(url, sources, wish), ""
        except InvalidUrl:
            continue


def wish_of(source: Source, parent: str, depth: int) -> ArticleWish:
    """What holds for a source's articles that are listed on a page `depth` links away from the base."""
    return ArticleWish("spider", source.name, source.categories, source.priority, parent=parent, depth=depth + 1)


def external(wish: ArticleWish) -> ArticleWish:
    """The same for articles on other sites: the settings of the source do not apply to them, except its priority."""
    return replace(wish, source=None, categories=())
