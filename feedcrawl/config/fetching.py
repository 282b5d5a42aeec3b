"""Settings of how requests are made: identity, pace, limits, the frontier, robots.txt."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - read at run time, as the type of a setting

from feedcrawl.domain.operations.settings import DAY_SEC, setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class FetchSettings:
    """How requests are made: identity, pace, limits, the frontier, robots.txt."""

    contact: str | None = setting(
        None,
        "URL or address",
        "how publishers reach you; part of the user agent",
        section="Identity and permitted addresses",
        also=("user_agent",),
    )
    allow_networks: str = setting("", "CIDRs", "non-public ranges that may be dialled, comma separated")
    hosts_file: Path | None = setting(
        None, "path", "names resolved from a hosts(5) file before DNS; the guard judges the result"
    )
    bind_addresses: str = setting(
        "",
        "IP addresses",
        "local addresses from which requests leave, in turn, comma separated; a source may name its own "
        "(docs/sources.md); unset: the system chooses",
    )
    deny_ports: str = setting("", "ports", "further ports to refuse, besides the built-in list, comma separated")
    host_delay_sec: float = setting(
        1.0,
        "s",
        "between two requests to a host, unless robots.txt or a source sets another delay",
        section="Pace and circuits",
        also=("HOST_RPS", "rate_limit_per_second", "min_delay_ms"),
    )
    host_concurrency: int = setting(
        1, "requests", "open at a time on a host, across all workers", at_least=1, also=("HOST_MAX_CONCURRENCY",)
    )
    domain_delay_sec: float | None = setting(
        None, "s", "between two requests to all hosts of a registered domain; unset: a quarter of the hosts' own"
    )
    domain_concurrency: int | None = setting(
        None,
        "requests",
        "open at a time on all hosts of a registered domain; unset: four times FEEDCRAWL_HOST_CONCURRENCY",
        at_least=1,
    )
    max_crawl_delay_sec: float = setting(120.0, "s", "a longer Crawl-delay is cut to this and logged")
    circuit_failures: int = setting(
        5, "failures", "in a row open a host's circuit", at_least=1, also=("circuit_breaker_failure_threshold",)
    )
    circuit_first_wait_sec: float = setting(
        30.0,
        "s",
        "until the first probe of an open circuit; grows by FEEDCRAWL_CIRCUIT_MULTIPLIER",
        above=0,
        also=("circuit_breaker_initial_backoff_seconds",),
    )
    circuit_multiplier: float = setting(
        2.0,
        "times",
        "by which the wait grows from probe to probe",
        at_least=1.1,
        also=("circuit_breaker_backoff_multiplier",),
    )
    circuit_max_wait_sec: float = setting(
        300.0, "s", "longest wait between probes", also=("circuit_breaker_max_backoff_seconds",)
    )
    fetch_timeout_sec: float = setting(
        30.0,
        "s",
        "whole request of a feed",
        section="One request",
        also=("FETCH_TIMEOUT_MS", "request_timeout_seconds"),
    )
    article_timeout_sec: float = setting(30.0, "s", "whole request of an article")
    robots_timeout_sec: float = setting(10.0, "s", "whole request of a robots.txt")
    sitemap_timeout_sec: float = setting(50.0, "s", "whole request of a sitemap")
    max_feed_bytes: int = setting(10 << 20, "bytes", "decoded body of a feed", also=("MAX_BODY_BYTES",))
    max_article_bytes: int = setting(5 << 20, "bytes", "decoded body of an article")
    max_sitemap_bytes: int = setting(50 << 20, "bytes", "decoded body of a sitemap")
    max_redirects: int = setting(5, "hops", "a longer chain is refused", also=("max_redirects",))
    lease_sec: float = setting(
        60.0, "s", "a task whose lease is not renewed within this time goes to another worker", section="Frontier"
    )
    max_attempts: int = setting(
        4, "attempts", "1 + retries, before a URL is dead and a feed quarantined", at_least=1, also=("max_retries",)
    )
    retry_base_sec: float = setting(
        2.0, "s", "wait before the first retry; doubles, up to a day", also=("retry_backoff_base_seconds",)
    )
    remember_sec: float = setting(30 * DAY_SEC, "s", "a URL that ended is not requested again within this time")
    linger_sec: float = setting(30.0, "s", "a one-shot run ends when nothing is due within this time")
    drain_sec: float = setting(30.0, "s", "from SIGTERM to the end of a worker; requests have two thirds of it")
    stall_sec: float = setting(30.0, "s", "until a worker with a blocked event loop is ended; 0 = never", at_least=0)
    take_batch: int = setting(16, "tasks", "taken from the frontier at a time", at_least=1)
    queue_name: str = setting(
        "crawler_queue", "Redis key", "the list from which other programs' URLs are taken", also=("input_queue",)
    )
    queue_poll_sec: float = setting(
        1.0, "s", "between two reads of that list while it is empty", above=0, also=("poll_timeout_seconds",)
    )
    dlq_name: str = setting("page_fetcher_dlq", "Redis key", "the list of dead letters", also=("dlq_queue",))
    queue_ahead: int = setting(
        1000,
        "tasks",
        "most tasks of `crawler_queue` that wait in the frontier; further URLs stay in the list, and its length tells "
        "their producers",
        at_least=1,
    )
    robots_ttl_sec: float = setting(
        DAY_SEC,
        "s",
        "a robots.txt is requested again after this time",
        section="robots.txt",
        also=("robots_txt_cache_ttl_seconds", "robots_ttl_hours"),
    )
    robots_grace_sec: float = setting(
        3600.0, "s", "pages wait this long for a robots.txt that fails with 5xx or no answer"
    )
    robots_on_error: str = setting(
        "allow", "allow or disallow", "rule that applies after the grace period", choices=("allow", "disallow")
    )
