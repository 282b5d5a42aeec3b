"""Settings of feeds, sitemaps and sites: subscriptions, cadence, archives."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - read at run time, as the type of a setting

from feedcrawl.domain.operations.settings import DAY_SEC, setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FeedSettings:
    """Feeds, sitemaps and sites: subscriptions, cadence, archives."""

    max_feeds_per_list: int = setting(
        10_000,
        "feeds",
        "taken from one list of feeds at most; the rest is left out and counted",
        section="Subscriptions",
        at_least=1,
    )
    max_feeds: int = setting(0, "feeds", "subscribed at most, over all ways to subscribe; 0 = any number")
    cadence: str = setting(
        "learned", "policy", "`baseline` or `learned`", section="Cadence", choices=("baseline", "learned")
    )
    fairness: float | None = setting(
        None, "0 … 1", "0 = entries are found as soon as possible, 1 = all feeds are polled alike", at_most=1
    )
    polls_per_hour: float | None = setting(
        None, "polls per hour", "of all feeds together; all waits are scaled by one factor to keep this budget"
    )
    min_interval_sec: float = setting(
        300.0, "s", "shortest time between polls of a feed", also=("SCHED_MIN_INTERVAL_SEC",)
    )
    initial_interval_sec: float = setting(
        900.0, "s", "first interval of a new feed", also=("feed_poll_interval_minutes",)
    )
    max_interval_sec: float = setting(
        float(DAY_SEC), "s", "longest time between polls of a feed", also=("SCHED_MAX_INTERVAL_SEC",)
    )
    up_factor: float = setting(1.25, "×", "interval after a poll without news", also=("b_up",))
    down_factor: float = setting(0.75, "×", "interval after a poll with news", also=("b_down",))
    ewma_alpha: float = setting(
        0.3, "0 … 1", "weight of the newest gap between entries", at_most=1, also=("ewma_alpha",)
    )
    blend_lambda: float = setting(
        0.5, "0 … 1", "weight of the observed gap against the interval", at_most=1, also=("blend_lambda",)
    )
    jitter_ratio: float = setting(
        0.15, "0 … 1", "spread of an interval", at_most=1, also=("SCHED_JITTER_RATIO", "jitter_ratio")
    )
    backoff_base: float = setting(2.0, "×", "interval after 429 or 503 without Retry-After", also=("backoff_base",))
    backoff_cap_sec: float = setting(3600.0, "s", "longest such interval", also=("backoff_cap_sec",))
    max_archive_pages: int = setting(
        100, "documents", "of a feed's archives or pages that one backfill reads", section="Archives of feeds"
    )
    sources: Path | None = setting(
        None,
        "path",
        "a YAML file of sources: sites with their settings (docs/sources.md)",
        section="Sitemaps and sites",
    )
    sitemap_interval_sec: float = setting(21600.0, "s", "first and shortest time between polls of a sitemap")
    sitemap_window_sec: float = setting(2.0 * DAY_SEC, "s", "URLs with an older date in the sitemap are not requested")
    sitemap_max_new: int = setting(10000, "URLs", "taken from one poll of a sitemap; the rest waits for the next")
    sitemap_urls_per_day: int = setting(100000, "URLs", "taken from the sitemaps of one site on one day (UTC)")
    sitemap_retire_sec: float = setting(180.0 * DAY_SEC, "s", "a sitemap without change for this long is only probed")
    sitemap_probe_sec: float = setting(7.0 * DAY_SEC, "s", "time between these probes")
    source_search_again_sec: float = setting(
        7.0 * DAY_SEC, "s", "time until the site of a source is searched again where neither feed nor sitemap was found"
    )
    site_depth: int = setting(10, "links", "that `crawl site` follows from the base of a source", also=("max_depth",))
    site_interval_sec: float = setting(
        DAY_SEC, "s", "time between two crawls of the listings of a source, unless the source has one of its own"
    )
    site_max_pages: int = setting(1000, "pages", "listing pages of a source that one `crawl site` follows")
