import re
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.project import get_project_settings

from feedcrawl import __version__
from feedcrawl.config import ConfigError
from feedcrawl.crawl.addon import Addon, user_agent


def derived(**given: Any) -> Settings:
    """The project's settings as a crawler has them, with these on the command line."""
    settings = get_project_settings()
    settings.update(given, priority="cmdline")
    Addon().update_settings(settings)
    return settings


def test_what_follows_from_our_settings() -> None:
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
    assert (settings.getfloat("DOWNLOAD_TIMEOUT"), settings["LOG_LEVEL"]) == (30, "INFO")


def test_scrapys_own_names_win_where_they_are_given() -> None:
    settings = derived(USER_AGENT="other/1", DOWNLOAD_TIMEOUT=5, LOG_LEVEL="ERROR", FEEDCRAWL_LOG_LEVEL="DEBUG")
    assert (settings["USER_AGENT"], settings["DOWNLOAD_TIMEOUT"], settings["LOG_LEVEL"]) == ("other/1", 5, "ERROR")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"FEEDCRAWL_LEASE_SEC": "soon"}, "FEEDCRAWL_LEASE_SEC"),
        ({"FEEDCRAWL_LEASE": "60"}, "FEEDCRAWL_LEASE is no setting; the nearest is FEEDCRAWL_LEASE_SEC"),
        ({"FEEDCRAWL_HOST_DELAY_SEC": -1}, "FEEDCRAWL_HOST_DELAY_SEC must be 0 or more"),
    ],
)
def test_a_setting_that_cannot_be_used_stops_the_start(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(told)):
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
