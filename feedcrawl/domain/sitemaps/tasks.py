"""The task that polls a watched sitemap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.domain.frontier.priority import priority
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.domain.urls import hostname

if TYPE_CHECKING:
    from feedcrawl.domain.sitemaps.state import Sitemap


def sitemap_task(sitemap: Sitemap) -> Task:
    """The one task that polls a sitemap."""
    return Task(
        id=task_id(sitemap.id),
        kind="sitemap",
        url=sitemap.url,
        host=hostname(sitemap.url),
        priority=priority(sitemap.priority, origin="sitemap"),
        origin="sitemap",
        parent=sitemap.root_url,
        depth=sitemap.depth,
        source=sitemap.source,
        category=sitemap.categories[0] if sitemap.categories else None,
    )


def task_id(sitemap_id: str) -> str:
    """The id of the task that polls a sitemap."""
    return f"sitemap:{sitemap_id}"
