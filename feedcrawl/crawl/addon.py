"""Derives Scrapy's own settings from ours, and refuses unsafe ones, when a crawler is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl import __version__
from feedcrawl.config import Config
from feedcrawl.crawl.hardening import check_hardened

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings


class Addon:
    """Runs before any component is built; ConfigError and ValueError name the setting at fault."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Sets what follows from our settings at the priority of add-ons, so that `-s` still comes above it."""
        config = Config.from_settings(settings)
        derived = {
            "USER_AGENT": user_agent(config.contact),
            "LOG_LEVEL": config.log_level,
            "DOWNLOAD_TIMEOUT": config.fetch_timeout_sec,
            "REDIRECT_MAX_TIMES": config.max_redirects,
        }
        for name, value in derived.items():
            settings.set(name, value, priority="addon")
        check_hardened(settings)


def user_agent(contact: str | None) -> str:
    """The same honest name for everything that is asked of anyone."""
    return f"feedcrawl/{__version__} (+{contact})" if contact else f"feedcrawl/{__version__}"
