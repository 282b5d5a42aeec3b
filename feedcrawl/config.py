"""The settings of this project as typed values, grouped by topic. Reading fails at start with the setting's name."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, get_type_hints

from feedcrawl.domain.articles.files import patterns
from feedcrawl.domain.errors import Refusal
from feedcrawl.settings import check_names, own_settings

if TYPE_CHECKING:
    from collections.abc import Iterable


LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class Settings(Protocol):
    """What is needed of Scrapy's settings."""

    def get(self, name: Any, default: Any = None) -> Any:
        """The raw value of a setting."""

    def __iter__(self) -> Any:
        """The names of all settings."""


class ConfigError(ValueError):
    """A setting that cannot be used; the text names it and says what is expected."""


MAX_SHARDS = 256
KAFKA_SECURITY = ("plaintext", "ssl", "sasl_plaintext", "sasl_ssl")
SASL_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
TIME_LIMITS = (
    "fetch_timeout_sec",
    "article_timeout_sec",
    "robots_timeout_sec",
    "sitemap_timeout_sec",
    "render_timeout_sec",
)
"""Limits of one request, all below the lease: what takes longer belongs to another worker."""


@dataclass(frozen=True, slots=True)
class Config:
    """Every `FEEDCRAWL_` setting under its name in lower case; meanings and units stand in `settings.own_settings`."""

    data_dir: Path
    raw: bool
    keep_raw_days: int | None
    keep_articles_days: int | None
    keep_entries_days: int | None
    redact_emails: bool
    redis_unsafe: bool
    redis_outage_sec: float
    shards: int
    contact: str | None
    allow_networks: str
    hosts_file: Path | None
    deny_ports: str
    host_delay_sec: float
    host_concurrency: int
    domain_delay_sec: float | None
    domain_concurrency: int | None
    max_crawl_delay_sec: float
    circuit_failures: int
    circuit_first_wait_sec: float
    circuit_max_wait_sec: float
    fetch_timeout_sec: float
    article_timeout_sec: float
    robots_timeout_sec: float
    sitemap_timeout_sec: float
    max_feed_bytes: int
    max_article_bytes: int
    max_sitemap_bytes: int
    max_redirects: int
    lease_sec: float
    max_attempts: int
    retry_base_sec: float
    remember_sec: float
    linger_sec: float
    drain_sec: float
    take_batch: int
    robots_ttl_sec: float
    robots_grace_sec: float
    robots_on_error: str
    cadence: str
    fairness: float | None
    polls_per_hour: float | None
    min_interval_sec: float
    initial_interval_sec: float
    max_interval_sec: float
    up_factor: float
    down_factor: float
    ewma_alpha: float
    blend_lambda: float
    jitter_ratio: float
    backoff_base: float
    backoff_cap_sec: float
    max_archive_pages: int
    sources: Path | None
    sitemap_interval_sec: float
    sitemap_window_sec: float
    sitemap_max_new: int
    sitemap_urls_per_day: int
    sitemap_retire_sec: float
    sitemap_probe_sec: float
    site_depth: int
    site_max_pages: int
    parser_processes: int | None
    parser_cpu_sec: float
    parser_memory_bytes: int
    render: str
    render_timeout_sec: float
    render_pages: int
    browser: Path | None
    page_cache_ttl_sec: int
    page_cache_max_bytes: int
    article_ttl_sec: int
    category_links_ttl_sec: int
    events_ttl_sec: int
    kafka_bootstrap: str | None
    kafka_webpage_topic: str
    kafka_entry_topic: str
    kafka_security: str
    kafka_ca_file: Path | None
    kafka_cert_file: Path | None
    kafka_key_file: Path | None
    kafka_sasl_mechanism: str
    kafka_username: str | None
    kafka_password: str | None = field(repr=False)
    min_html_chars: int
    image_proxy: str | None
    join_scope: str
    join_similarity: float
    join_min_chars: int
    media_ttl_sec: int
    journal_length: int
    media_files: bool
    media_max_bytes: int
    media_types: str
    api_host: str
    api_port: int
    api_rate: float
    api_write_rate: float
    api_max_body_bytes: int
    api_max_upload_bytes: int
    api_max_feeds: int
    api_open_metrics: bool
    public_url: str | None
    hub_url: str | None
    push_sha1: bool
    metrics_host: str
    metrics_port: int
    tracing: bool
    log_format: str
    log_level: str

    @classmethod
    def from_settings(cls, settings: Settings) -> Config:
        """Reads and checks all settings; ConfigError names the first that cannot be used."""
        try:
            check_names(name for name in settings if isinstance(name, str))
        except ValueError as error:
            raise ConfigError(str(error)) from None
        kinds = get_type_hints(cls)
        values = {}
        for setting in own_settings:
            name = setting.name.removeprefix("FEEDCRAWL_").lower()
            values[name] = _read(setting.name, kinds[name], settings.get(setting.name, setting.default))
        config = cls(**_within_lease(values))
        config.check()
        return config

    def check(self) -> None:
        """Raises ConfigError where values contradict each other or their range."""
        for name in TIME_LIMITS:
            _require(0 < getattr(self, name) < self.lease_sec, name, "above 0 and below FEEDCRAWL_LEASE_SEC")
        for name in ("fairness", "ewma_alpha", "blend_lambda", "jitter_ratio"):
            _require(getattr(self, name) is None or 0 <= getattr(self, name) <= 1, name, "from 0 to 1")
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                _require(0 <= value < math.inf, each.name, "0 or more")
        for name in ("host_concurrency", "max_attempts", "take_batch", "circuit_failures", "render_pages"):
            _require(getattr(self, name) >= 1, name, "1 or more")
        for name in ("keep_raw_days", "keep_articles_days", "keep_entries_days"):
            _require(getattr(self, name) is None or getattr(self, name) >= 1, name, "1 or more")
        _require(self.domain_concurrency is None or self.domain_concurrency >= 1, "domain_concurrency", "1 or more")
        _require(1 <= self.shards <= MAX_SHARDS, "shards", f"from 1 to {MAX_SHARDS}")
        _require(self.circuit_first_wait_sec > 0, "circuit_first_wait_sec", "above 0")
        _require(
            self.min_interval_sec <= self.max_interval_sec, "min_interval_sec", "at most FEEDCRAWL_MAX_INTERVAL_SEC"
        )
        _require(self.render in ("never", "auto", "always"), "render", "never, auto or always")
        proxy = self.image_proxy
        _require(proxy is None or proxy.startswith(("/", "http://", "https://")), "image_proxy", "a path or URL")
        _require(_are_types(self.media_types), "media_types", "media types such as image/* or audio/mpeg")
        _require(self.join_scope in ("site", "all", "off"), "join_scope", "site, all or off")
        _require(0 < self.join_similarity <= 1, "join_similarity", "above 0 and at most 1")
        _require(self.robots_on_error in ("allow", "disallow"), "robots_on_error", "allow or disallow")
        _require(self.cadence in ("baseline", "learned"), "cadence", "baseline or learned")
        _require(0 < self.api_port < 65_536, "api_port", "from 1 to 65535")
        _require(0 <= self.metrics_port < 65_536, "metrics_port", "from 0 to 65535")
        _require(_is_base(self.public_url), "public_url", "an http or https URL without query, as hubs reach the API")
        _require(_is_base(self.hub_url), "hub_url", "an http or https URL without query")
        _require(self.log_format in ("console", "json"), "log_format", "console or json")
        _require(self.log_level in LOG_LEVELS, "log_level", f"one of {', '.join(LOG_LEVELS)}")
        _require(self.kafka_security in KAFKA_SECURITY, "kafka_security", f"one of {', '.join(KAFKA_SECURITY)}")
        mechanisms = ", ".join(SASL_MECHANISMS)
        _require(self.kafka_sasl_mechanism in SASL_MECHANISMS, "kafka_sasl_mechanism", f"one of {mechanisms}")

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


def _within_lease(values: dict[str, Any]) -> dict[str, Any]:
    """The values, with time limits that nobody set cut to a lease that someone made shorter."""
    defaults = {setting.name.removeprefix("FEEDCRAWL_").lower(): setting.default for setting in own_settings}
    lease_sec = values["lease_sec"]
    beyond = [name for name in TIME_LIMITS if values[name] == defaults[name] and values[name] >= lease_sec]
    return {**values, **dict.fromkeys(beyond, 0.8 * lease_sec)}


def _is_base(url: str | None) -> bool:
    """Whether a path can be put behind an address."""
    return url is None or re.fullmatch(r"https?://[^\s/?#@]+(?:/[^\s?#]*)?", url) is not None


def _are_types(text: str) -> bool:
    try:
        return bool(patterns(text))
    except Refusal:
        return False


def _require(holds: bool, field: str, expected: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise ConfigError(f"FEEDCRAWL_{field.upper()} must be {expected}")


def _read(name: str, kind: Any, value: Any) -> Any:
    """The value as its field's type; text comes from the environment and from `-s`."""
    options = _options(kind)
    if value is None or (value == "" and (str not in options or type(None) in options)):
        if type(None) in options:
            return None
        raise ConfigError(f"{name} must be given")
    if bool in options:
        return _boolean(name, value)
    if int in options or float in options:
        return _number(name, value, whole=int in options)
    return _path(name, value) if Path in options else str(value)


def _options(kind: Any) -> Iterable[Any]:
    return getattr(kind, "__args__", (kind,))


def _number(name: str, value: Any, *, whole: bool) -> float:
    try:
        number = int(value) if whole else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if math.isnan(number) or (isinstance(value, float) and number != value):
        raise ConfigError(f"{name} must be a {'whole ' if whole else ''}number, not {value!r}")
    return number


def _path(name: str, value: Any) -> Path:
    try:
        return Path(value).expanduser()
    except (TypeError, RuntimeError):  # no text; a `~name` that is nobody's
        raise ConfigError(f"{name} must be a path, not {value!r}") from None


def _boolean(name: str, value: Any) -> bool:
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    try:
        return words[str(value).lower()]
    except KeyError:
        raise ConfigError(f"{name} must be on or off, not {value!r}") from None
