import re
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from feedcrawl import __version__
from feedcrawl.addon import Addon, user_agent
from feedcrawl.config import ConfigError


def derived(**given: Any) -> Settings:
    """The project's settings as a crawler has them, with these on the command line."""
    settings = get_project_settings()
    settings.update(given, priority="cmdline")
    Addon().update_settings(settings)
    return settings


def test_scrapy_settings_follow_from_our_settings() -> None:
    settings = derived(
        FEEDCRAWL_CONTACT="https://example.org/bot",
        FEEDCRAWL_FETCH_TIMEOUT_SEC="20",
        FEEDCRAWL_MAX_REDIRECTS="3",
        FEEDCRAWL_LOG_LEVEL="WARNING",
    )
    assert settings["USER_AGENT"] == f"feedcrawl/{__version__} (+https://example.org/bot)"
    assert settings.getfloat("DOWNLOAD_TIMEOUT") == 20
    assert settings.getint("REDIRECT_MAX_TIMES") == 3
    assert settings["LOG_LEVEL"] == "WARNING"


def test_defaults() -> None:
    settings = derived()
    assert settings["USER_AGENT"] == f"feedcrawl/{__version__}"
    assert (settings.getfloat("DOWNLOAD_TIMEOUT"), settings["LOG_LEVEL"]) == (30, "WARNING")


def test_scrapys_own_names_win_where_they_are_given() -> None:
    settings = derived(USER_AGENT="other/1", DOWNLOAD_TIMEOUT=5, LOG_LEVEL="ERROR", FEEDCRAWL_LOG_LEVEL="DEBUG")
    assert (settings["USER_AGENT"], settings["DOWNLOAD_TIMEOUT"], settings["LOG_LEVEL"]) == ("other/1", 5, "ERROR")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"FEEDCRAWL_LEASE_SEC": "soon"}, "FEEDCRAWL_LEASE_SEC"),
        ({"FEEDCRAWL_LEASE": "60"}, "FEEDCRAWL_LEASE is no setting; the nearest is FEEDCRAWL_LEASE_SEC"),
        ({"FEEDCRAWL_HOST_DELAY_SEC": -1}, "FEEDCRAWL_HOST_DELAY_SEC must be 0 or more"),
    ],
)
def test_a_setting_that_cannot_be_used_stops_the_start(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        derived(**given)


@pytest.mark.parametrize(
    ("name", "value"), [("TELNETCONSOLE_ENABLED", True), ("RETRY_ENABLED", True), ("DOWNLOAD_TIMEOUT", 180)]
)
def test_a_setting_that_opens_a_door_stops_the_start(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        derived(**{name: value})


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        (None, f"feedcrawl/{__version__}"),
        ("", f"feedcrawl/{__version__}"),
        ("bot@example.org", f"feedcrawl/{__version__} (+bot@example.org)"),
    ],
)
def test_the_name_that_publishers_see(contact: str | None, name: str) -> None:
    assert user_agent(contact) == name


OWN = {
    "BOT_NAME": "news",
    "CONCURRENT_REQUESTS": 3,
    "SPIDER_MODULES": ["news.spiders"],
    "ITEM_PIPELINES": {"news.pipelines.Headlines": 350},
    "EXTENSIONS": {"feedcrawl.extensions.progress.Progress": None},
    "TWISTED_DNS_RESOLVER": "feedcrawl.crawl.resolver.PublicResolver",
}
"""Settings of somebody's project."""


def test_a_project_keeps_its_own_settings_and_gets_the_others() -> None:
    settings = Settings()
    settings.setdict(OWN, priority="project")
    Addon.update_pre_crawler_settings(settings)
    Addon().update_settings(settings)
    assert (settings["BOT_NAME"], settings["CONCURRENT_REQUESTS"], settings["CONCURRENT_ITEMS"]) == ("news", 3, 1)
    assert settings["SPIDER_MODULES"] == ["news.spiders", "feedcrawl.spiders"]
    assert "feedcrawl.extensions.progress.Progress" not in settings["EXTENSIONS"]
    assert settings["EXTENSIONS"]["feedcrawl.extensions.settle.Settle"] == 0
    assert settings["ITEM_PIPELINES"]["news.pipelines.Headlines"] == 350
    assert settings["ITEM_PIPELINES"]["feedcrawl.pipelines.commit.CommitPipeline"] == 900
    assert settings.getpriority("CONCURRENT_ITEMS") < settings.getpriority("CONCURRENT_REQUESTS")


@pytest.mark.parametrize(
    ("name", "off"),
    [
        ("EXTENSIONS", "scrapy.extensions.remote_control.RemoteControl"),
        ("EXTENSIONS", "scrapy.extensions.telnet.TelnetConsole"),
        ("DOWNLOADER_MIDDLEWARES", "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"),
        ("SPIDER_MIDDLEWARES", "scrapy.spidermiddlewares.referer.RefererMiddleware"),
    ],
)
def test_scrapy_reads_no_name_of_a_disabled_component(name: str, off: str) -> None:
    """Scrapy imports what it reads, aiohttp among it: memory and time of every start."""
    before, after = get_project_settings(), derived()
    assert off in before[f"{name}_BASE"]
    assert off not in after[name]
    assert off not in after[f"{name}_BASE"]
    assert None not in after[name].values()
    built, as_before = (each.get_component_priority_dict_with_base(name) for each in (after, before))
    assert built.copy_to_dict() == as_before.copy_to_dict()


def test_a_second_update_changes_nothing() -> None:
    settings = Settings()
    settings.setdict(OWN, priority="project")
    Addon.update_pre_crawler_settings(settings)
    once = settings.copy_to_dict()
    Addon.update_pre_crawler_settings(settings)
    assert settings.copy_to_dict() == once


@pytest.mark.parametrize(
    ("name", "value"), [("TELNETCONSOLE_ENABLED", True), ("TWISTED_DNS_RESOLVER", "other.Resolver")]
)
def test_a_door_that_a_project_opens_stops_the_start(name: str, value: object) -> None:
    settings = Settings()
    settings.setdict(OWN | {name: value}, priority="project")
    Addon.update_pre_crawler_settings(settings)
    with pytest.raises(ValueError, match=name):
        Addon().update_settings(settings)
