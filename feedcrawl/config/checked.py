"""The settings of a run as typed values, read and checked at once."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Protocol

from feedcrawl.config.disk import DiskSettings
from feedcrawl.config.feeds import FeedSettings
from feedcrawl.config.fetching import FetchSettings
from feedcrawl.config.output import OutputSettings
from feedcrawl.config.pages import PageSettings
from feedcrawl.config.search import SearchSettings
from feedcrawl.config.serving import ServingSettings
from feedcrawl.domain.articles.file_types import patterns
from feedcrawl.domain.errors import ConfigError, Refusal
from feedcrawl.domain.operations.settings import FIXED, PREFIX, Setting, check_names, declared, is_list_name
from feedcrawl.folders import located

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    def get(self, name: str, default: object = None) -> object:
        """The raw value of a setting."""

    def __iter__(self) -> Iterator[object]:
        """The names of all settings."""


@dataclass(frozen=True, repr=False, eq=False)
class Config(ServingSettings, SearchSettings, OutputSettings, PageSettings, FeedSettings, FetchSettings, DiskSettings):
    """Every `FEEDCRAWL_` setting under its name in lower case; read by `from_settings`, never made directly.

    docs/settings.md lists the fields in their order as a dataclass, which begins with the last base.
    """

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
        for name in ("queue_name", "dlq_name"):
            _require(is_list_name(getattr(self, name)), name, "a name without spaces that begins as none of our keys")
        _require(self.queue_name != self.dlq_name, "dlq_name", "another list than FEEDCRAWL_QUEUE_NAME")
        _require(_is_base(self.hub_url), "hub_url", "an http or https URL without query")
        _require(_is_base(self.search_url), "search_url", "an http or https URL without query, user name and password")
        _require(_is_index(self.search_index), "search_index", "lower-case letters, digits, _ and -, a letter first")

    @property
    def parsers(self) -> int:
        """Number of child processes."""
        return self.parser_processes or os.cpu_count() or 1

    @property
    def circuit_waits_sec(self) -> tuple[float, ...]:
        """Waits before each probe of an open circuit: growing from the first to the longest."""
        waits = [self.circuit_first_wait_sec]
        while waits[-1] < self.circuit_max_wait_sec:
            waits.append(min(waits[-1] * self.circuit_multiplier, self.circuit_max_wait_sec))
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


def _is_index(name: str) -> bool:
    return re.fullmatch(r"[a-z][a-z0-9_-]{0,99}", name) is not None


def _are_types(text: str) -> bool:
    try:
        return bool(patterns(text))
    except Refusal:
        return False


def _require(holds: bool, field: str, expected: str) -> None:  # noqa: FBT001 - reads as an assertion
    if not holds:
        raise ConfigError(f"{PREFIX}{field.upper()} must be {expected}")
