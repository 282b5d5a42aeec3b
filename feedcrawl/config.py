"""Every setting of this project, declared once, and the settings of a run as typed values.

Each field of `Config` is the setting `FEEDCRAWL_` + its name in upper case. Scrapy's settings (`settings.py`),
the checks at start and the tables of docs/settings.md are made from these declarations.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from pathlib import Path  # noqa: TC003 - read at run time, as the type of a setting
from typing import TYPE_CHECKING, Any, Protocol

from feedcrawl.domain.articles.files import patterns
from feedcrawl.domain.errors import ConfigError, Refusal
from feedcrawl.domain.operations.settings import FIXED, PREFIX, Setting, check_names, declared, setting
from feedcrawl.folders import located

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Config", "ConfigError", "Settings", "check", "own_settings"]

DAY_SEC = 86_400
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
KAFKA_SECURITY = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
TIME_LIMITS = (
    "fetch_timeout_sec",
    "article_timeout_sec",
    "robots_timeout_sec",
    "sitemap_timeout_sec",
    "render_timeout_sec",
)
"""Limits of one request, all below the lease: a task that takes longer belongs to another worker."""


class Settings(Protocol):
    """The part of Scrapy's settings that `Config` reads."""

    def get(self, name: Any, default: Any = None) -> Any:
        """The raw value of a setting."""

    def __iter__(self) -> Iterator[Any]:
        """The names of all settings."""


@dataclass(frozen=True, slots=True)
class Config:
    """Every `FEEDCRAWL_` setting under its name in lower case; read by `from_settings`, never made directly."""

    data_dir: Path = setting(
        "./data",
        "path",
        "everything on disk, shared by processes that name the directory; relative to scrapy.cfg's folder",
        section="Disk and server",
    )
    raw: bool = setting("true", "true or false", "keep every request and response of feeds and articles as WARC")
    keep_raw_days: int | None = setting(
        None, "days", "`raw/` is kept, at least; unset: for ever. The last 5 of each feed stay", at_least=1
    )
    keep_raw_bytes: int | None = setting(
        None, "bytes", "`raw/` is kept, its oldest days go first; unset: any. Today and the last 5 of each feed stay"
    )
    keep_articles_days: int | None = setting(None, "days", "`articles/` is kept; unset: for ever", at_least=1)
    keep_entries_days: int | None = setting(None, "days", "`entries/` is kept; unset: for ever", at_least=1)
    min_free_bytes: int = setting(
        1 << 30, "bytes", "a crawl pauses (`disk_nearly_full`) while the disk has less free; 0 = until it is full"
    )
    redact_emails: bool = setting(
        "false", "true or false", "do not store e-mail addresses of feeds' authors; `raw/` still has them"
    )
    redis_unsafe: bool = setting("false", "true or false", "use a server without AOF or with an eviction policy")
    redis_fsync: str = setting(
        "everysec",
        "everysec or always",
        "when the embedded server syncs its writes to the disk; docs/operations.md has the cost of each",
        choices=("everysec", "always"),
    )
    redis_outage_sec: float = setting(
        600, "s", "a crawl whose server or disk fails pauses; after this long it ends with status 1"
    )
    shards: int = setting(
        1, "shards", "parts of the frontier, for a Redis Cluster; decided by the first start", at_least=1, at_most=256
    )
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
        "until the first probe of an open circuit; doubles",
        above=0,
        also=("circuit_breaker_initial_backoff_seconds",),
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
        2.0, "s", "wait before the first retry; doubles", also=("retry_backoff_base_seconds",)
    )
    remember_sec: float = setting(30 * DAY_SEC, "s", "a URL that ended is not requested again within this time")
    linger_sec: float = setting(30.0, "s", "a one-shot run ends when nothing is due within this time")
    drain_sec: float = setting(30.0, "s", "from SIGTERM to the end of a worker; requests have two thirds of it")
    stall_sec: float = setting(30.0, "s", "until a worker with a blocked event loop is ended; 0 = never", at_least=0)
    take_batch: int = setting(16, "tasks", "taken from the frontier at a time", at_least=1)
    max_feeds_per_list: int = setting(
        10_000,
        "feeds",
        "taken from one list of feeds at most; the rest is left out and counted",
        section="Subscriptions",
        at_least=1,
    )
    max_feeds: int = setting(0, "feeds", "subscribed at most, over all ways to subscribe; 0 = any number")
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
    site_depth: int = setting(10, "links", "that `crawl site` follows from the base of a source", also=("max_depth",))
    site_max_pages: int = setting(1000, "pages", "listing pages of a source that one `crawl site` follows")
    parser_processes: int | None = setting(
        None, "processes", "children in which feeds and pages are parsed; default: one per core", section="Parsing"
    )
    parser_cpu_sec: float = setting(10.0, "s", "processor time of one document")
    parser_memory_bytes: int = setting(1 << 30, "bytes", "address space of one child")
    render: str = setting(
        "auto",
        "never, auto or always",
        "`auto` renders pages that have no text without their scripts",
        section="Rendering",
        choices=("never", "auto", "always"),
    )
    render_timeout_sec: float = setting(
        30.0, "s", "until a page is there; 10 s later the browser is killed", also=("timeout_ms",)
    )
    render_pages: int = setting(2, "pages", "rendered at a time", at_least=1)
    browser: Path | None = setting(None, "path", "a Chromium; default: the first on PATH, else Playwright's own")
    page_cache_ttl_sec: int = setting(
        3600, "s", "life of `webpage:*`; 0 = no page cache", section="What consumers read", also=("cache_ttl_seconds",)
    )
    page_cache_max_bytes: int = setting(256 << 20, "bytes", "all of `webpage:*` together, oldest dropped first")
    article_ttl_sec: int = setting(
        7 * DAY_SEC, "s", "life of `rss:article_canonical:*` and `rss:articles_by_category:*`"
    )
    category_links_ttl_sec: int = setting(2 * DAY_SEC, "s", "life of `rss:category_links:*` after the last addition")
    events_ttl_sec: int = setting(7 * DAY_SEC, "s", "events older than this are trimmed, never past a consumer group")
    kafka_bootstrap: str | None = setting(
        None,
        "host:port",
        "brokers that `scrapy relay` sends events to, comma separated",
        also=("kafka_bootstrap_servers",),
    )
    kafka_webpage_topic: str = setting("webpage_log", "topic", "of `webpage_fetched`", also=("webpage_log_topic",))
    kafka_entry_topic: str = setting("new_entry", "topic", "of `new_entry`")
    kafka_security: str = setting(
        "plaintext",
        "protocol",
        "of the brokers: `plaintext`, `ssl`, `sasl_plaintext` or `sasl_ssl`",
        choices=KAFKA_SECURITY,
    )
    kafka_ca_file: Path | None = setting(
        None, "path", "CA certificates (PEM) that verify the brokers; unset: the system's"
    )
    kafka_cert_file: Path | None = setting(None, "path", "client certificate (PEM), if the brokers require one")
    kafka_key_file: Path | None = setting(None, "path", "its key (PEM), not encrypted; unset: in the same file")
    kafka_sasl_mechanism: str = setting(
        "PLAIN", "mechanism", "`PLAIN`, `SCRAM-SHA-256` or `SCRAM-SHA-512`", choices=SASL_MECHANISMS
    )
    kafka_username: str | None = setting(None, "name", "user name for SASL")
    kafka_password: str | None = setting(
        None, "secret", "password for SASL; set it in the environment, so that no process list shows it", secret=True
    )
    min_html_chars: int = setting(200, "characters", "shorter pages are FAIL_BAD_HTML")
    image_proxy: str | None = setting(None, "path or URL", "prefix of the addresses of images in `content_html`")
    join_scope: str = setting(
        "site", "site, all or off", "scope of one story; `site`: a registered domain", choices=("site", "all", "off")
    )
    join_similarity: float = setting(
        0.9, "share", "of the text that two articles of one title must share to be merged", above=0, at_most=1
    )
    join_min_chars: int = setting(500, "characters", "shorter texts are never merged; twice that if titles differ")
    media_ttl_sec: int = setting(30 * DAY_SEC, "s", "lifetime of a page record that is in no collection")
    journal_length: int = setting(50, "fetches", "kept per feed")
    media_files: bool = setting(
        "false", "true or false", "fetch enclosures of entries and lead images of articles", section="Media files"
    )
    media_max_bytes: int = setting(20 << 20, "bytes", "decoded body of a media file; some may be in memory at a time")
    media_types: str = setting("image/*,audio/*,video/*", "media types", "that are kept; `image/*` is all images")
    api_host: str = setting("127.0.0.1", "address", "on which `scrapy api` listens", section="API and push")
    api_port: int = setting(8000, "port", "on which `scrapy api` listens", at_least=1, at_most=65_535)
    api_rate: float = setting(
        12000, "requests a minute", "of one token or address, at each process of the API; 0 = any number"
    )
    api_write_rate: float = setting(600, "requests a minute", "of these that change data; 0 = any number")
    api_max_body_bytes: int = setting(1 << 20, "bytes", "of JSON that is sent to the API")
    api_max_upload_bytes: int = setting(16 << 20, "bytes", "of a list or file that is sent to the API")
    api_max_feeds: int = setting(1000000, "feeds", "subscribed over the API at most; 0 = any number")
    api_open_metrics: bool = setting("false", "true or false", "`/metrics` of the API requires no token")
    public_url: str | None = setting(
        None, "URL", "at which hubs reach the API; without it no hub is asked for deliveries"
    )
    hub_url: str | None = setting(
        None, "URL", "of a WebSub hub at which readers of collections may subscribe (`rel=hub`)"
    )
    push_sha1: bool = setting("false", "true or false", "accept deliveries signed with SHA-1, as some hubs still do")
    metrics_host: str = setting("127.0.0.1", "address", "on which a worker serves its metrics", section="Metrics")
    metrics_port: int = setting(
        0, "port", "of `/metrics` for Prometheus, one for each worker of a machine; 0 = none", at_most=65_535
    )
    tracing: bool = setting(
        "false",
        "true or false",
        "export spans by OpenTelemetry to `OTEL_EXPORTER_OTLP_ENDPOINT`",
        section="Tracing",
    )
    log_format: str = setting(
        "console", "console or json", "form of log lines", section="Logs", choices=("console", "json")
    )
    log_level: str = setting("INFO", "level", "lowest level that is logged", choices=LOG_LEVELS)

    @classmethod
    def from_settings(cls, settings: Settings) -> Config:
        """Reads and checks all settings; ConfigError names the first that cannot be used."""
        check(name for name in settings if isinstance(name, str))
        values: dict[str, Any] = {
            each.name.removeprefix(PREFIX).lower(): each.read(settings.get(each.name, each.default))
            for each in own_settings
        }
        values["data_dir"] = located(values["data_dir"])
        config = cls(**_within_lease(values))
        config.check()
        return config

    def check(self) -> None:
        """Raises ConfigError where values contradict each other or their form."""
        for name in TIME_LIMITS:
            _require(0 < getattr(self, name) < self.lease_sec, name, "above 0 and below FEEDCRAWL_LEASE_SEC")
        _require(
            self.min_interval_sec <= self.max_interval_sec, "min_interval_sec", "at most FEEDCRAWL_MAX_INTERVAL_SEC"
        )
        proxy = self.image_proxy
        _require(proxy is None or proxy.startswith(("/", "http://", "https://")), "image_proxy", "a path or URL")
        _require(_are_types(self.media_types), "media_types", "media types such as image/* or audio/mpeg")
        _require(_is_base(self.public_url), "public_url", "an http or https URL without query, as hubs reach the API")
        _require(_is_base(self.hub_url), "hub_url", "an http or https URL without query")

    @property
    def parsers(self) -> int:
        """Number of child processes."""
        return self.parser_processes or os.cpu_count() or 1

    @property
    def circuit_waits_sec(self) -> tuple[float, ...]:
        """Waits before each probe of an open circuit: doubled from the first to the longest."""
        waits = [self.circuit_first_wait_sec]
        while waits[-1] < self.circuit_max_wait_sec:
            waits.append(min(waits[-1] * 2, self.circuit_max_wait_sec))
        return tuple(waits)


own_settings: tuple[Setting, ...] = declared(Config)


def check(names: Iterator[str]) -> None:
    """Raises ConfigError for the first name that has our prefix and is no setting."""
    check_names(names, own_settings, FIXED)


def _within_lease(values: dict[str, Any]) -> dict[str, Any]:
    """The values, with time limits at their default cut to a lease that was made shorter."""
    defaults = {each.name: each.default for each in fields(Config)}
    lease_sec = values["lease_sec"]
    beyond = [name for name in TIME_LIMITS if values[name] == defaults[name] and values[name] >= lease_sec]
    return {**values, **dict.fromkeys(beyond, 0.8 * lease_sec)}


def _is_base(url: str | None) -> bool:
    """True if a path can be appended to the URL, or if there is none."""
    return url is None or re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", url) is not None


def _are_types(text: str) -> bool:
    try:
        return bool(patterns(text))
    except Refusal:
        return False


def _require(holds: bool, field: str, expected: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise ConfigError(f"{PREFIX}{field.upper()} must be {expected}")
