from typing import Any

import pytest
from scrapy.settings import Settings

from feedcrawl.crawl.hardening import GUARD, HARDENED, check_hardened
from feedcrawl.middlewares.addresses import AddressMiddleware


def hardened(**changes: Any) -> Settings:
    settings = Settings(dict(HARDENED), priority="project")
    settings.update(changes, priority="cmdline")
    return settings


def test_the_table_of_settings_passes_the_check() -> None:
    check_hardened(hardened())


def test_scrapys_defaults_fail_the_check() -> None:
    with pytest.raises(ValueError, match="TWISTED_DNS_RESOLVER"):
        check_hardened(Settings())


WRONG: dict[str, Any] = {
    "TWISTED_DNS_RESOLVER": "scrapy.resolver.CachingHostnameResolver",
    "TWISTED_REACTOR_ENABLED": False,
    "DOWNLOAD_HANDLERS": {},
    "DOWNLOADER_MIDDLEWARES": {},
    "DOWNLOAD_VERIFY_CERTIFICATES": "0",
    "DOWNLOAD_MAXSIZE": 1 << 30,
    "DOWNLOAD_TIMEOUT": 180,
    "HTTPPROXY_ENABLED": "True",
    "COOKIES_ENABLED": True,
    "REFERER_ENABLED": True,
    "METAREFRESH_ENABLED": 1,
    "RETRY_ENABLED": True,
    "TELNETCONSOLE_ENABLED": True,
    "REMOTE_CONTROL_ENABLED": True,
    "HTTPCACHE_ENABLED": True,
    "JOBDIR": "job",
}


@pytest.mark.parametrize("name", [name for name, _ in HARDENED])
def test_each_hardened_setting_is_checked(name: str) -> None:
    with pytest.raises(ValueError, match=rf"^{name}.* is .*, it must be .*: \w+") as caught:
        check_hardened(hardened(**{name: WRONG[name]}))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOWNLOAD_MAXSIZE", 1),
        ("DOWNLOAD_TIMEOUT", "30.5"),
        ("DOWNLOAD_VERIFY_CERTIFICATES", "1"),
        ("TELNETCONSOLE_ENABLED", "0"),
        ("JOBDIR", ""),
    ],
)
def test_stricter_values_and_other_spellings_pass(name: str, value: Any) -> None:
    check_hardened(hardened(**{name: value}))


@pytest.mark.parametrize("name", ["DOWNLOAD_MAXSIZE", "DOWNLOAD_TIMEOUT"])
def test_a_disabled_limit_fails_the_check(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        check_hardened(hardened(**{name: 0}))


@pytest.mark.parametrize("scheme", ["file", "data", "ftp", "s3"])
def test_a_handler_that_was_put_back(scheme: str) -> None:
    handlers = dict.fromkeys(["file", "data", "ftp", "s3"]) | {scheme: "some.Handler"}
    with pytest.raises(ValueError, match=rf"DOWNLOAD_HANDLERS\['{scheme}'\] is 'some.Handler', it must be None"):
        check_hardened(hardened(DOWNLOAD_HANDLERS=handlers))


def test_components_may_be_classes() -> None:
    path = "feedcrawl.middlewares.addresses.AddressMiddleware"
    required: Any = dict(HARDENED)["DOWNLOADER_MIDDLEWARES"]
    middlewares = {key: order for key, order in required.items() if key != path} | {AddressMiddleware: 10}
    check_hardened(hardened(DOWNLOADER_MIDDLEWARES=middlewares))


def test_the_former_name_of_the_resolver_goes_round_nothing() -> None:
    with pytest.raises(ValueError, match="CachingThreadedResolver"):
        check_hardened(hardened(DNS_RESOLVER="scrapy.resolver.CachingThreadedResolver"))
    check_hardened(hardened(DNS_RESOLVER=GUARD))
