"""Scrapy's add-on of feedcrawl: brings this project's Scrapy settings into any project, and refuses unsafe ones.

    ADDONS = {"feedcrawl.addon.Addon": 0}

in a project's settings is all that feedcrawl needs there (docs/embedding.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl import __version__
from feedcrawl import settings as own
from feedcrawl.config import Config
from feedcrawl.crawl.hardening import check_hardened

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

_THE_PROJECTS_OWN = frozenset(
    {"ADDONS", "BOT_NAME", "COMMANDS_MODULE", "LOG_LEVEL", "NEWSPIDER_MODULE", "SPIDER_MODULES"}
)
"""Settings that identify a project; the spiders of feedcrawl are added to the project's."""
_COMPONENTS = ("DOWNLOADER_MIDDLEWARES", "EXTENSIONS", "SPIDER_MIDDLEWARES")
_NOT_SETTINGS = frozenset({"TYPE_CHECKING", "PREFIX", "OTHER_PREFIX", "REDIS_ENVIRONMENT"})


class Addon:
    """Runs before any component is built; ConfigError and ValueError name the setting at fault."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Sets the settings of feedcrawl below those of the project; entries of components are merged by path.

        Done before the crawler exists, since Scrapy reads the resolver from the settings of the process.
        """
        for name, value in project_settings().items():
            if isinstance(value, dict):
                _merge(settings, name, value)
            else:
                settings.set(name, value, priority="addon")
        spiders = [each for each in own.SPIDER_MODULES if each not in settings.getlist("SPIDER_MODULES")]
        settings.set(
            "SPIDER_MODULES",
            [*settings.getlist("SPIDER_MODULES"), *spiders],
            priority=settings.getpriority("SPIDER_MODULES") or 0,
        )

    def update_settings(self, settings: BaseSettings) -> None:
        """Sets the Scrapy settings that follow from ours, at the priority of add-ons, so that `-s` overrides them."""
        config = Config.from_settings(settings)
        derived = {
            "USER_AGENT": user_agent(config.contact),
            "LOG_LEVEL": config.log_level or "INFO",  # in another project, the log is the project's
            "DOWNLOAD_TIMEOUT": config.fetch_timeout_sec,
            "REDIRECT_MAX_TIMES": config.max_redirects,
        }
        for name, value in derived.items():
            settings.set(name, value, priority="addon")
        check_hardened(settings)
        for name in _COMPONENTS:
            _forget_what_is_off(settings, name)


def project_settings() -> dict[str, object]:
    """The settings of feedcrawl that another project needs: all of `settings.py` except those that name the project."""
    apart = _THE_PROJECTS_OWN | _NOT_SETTINGS
    return {name: value for name, value in vars(own).items() if name.isupper() and name not in apart}


def user_agent(contact: str | None) -> str:
    """The User-Agent of all requests."""
    return f"feedcrawl/{__version__} (+{contact})" if contact else f"feedcrawl/{__version__}"


def _merge(settings: BaseSettings, name: str, components: dict[str, object]) -> None:
    """Adds entries to a setting that is a mapping; an entry that the project has stays as it is."""
    theirs = dict(settings.getdict(name))
    settings.set(name, {**components, **theirs}, priority=max(settings.getpriority(name) or 0, 15))


def _forget_what_is_off(settings: BaseSettings, name: str) -> None:
    """Remove the components that are set to None, from Scrapy's defaults too.

    Scrapy imports each component that a setting names, also disabled ones: aiohttp for the remote control and
    tldextract for the cookies take 13 MB.
    """
    components, base = dict(settings.getdict(name)), dict(settings.getdict(f"{name}_BASE"))
    for path in [path for path, order in components.items() if order is None]:
        del components[path]
        base.pop(path, None)
    settings.set(name, components, priority=settings.getpriority(name) or 0)
    settings.set(f"{name}_BASE", base, priority="addon")
