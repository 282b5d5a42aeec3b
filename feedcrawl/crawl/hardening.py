"""Scrapy settings that protect against hostile input, and the check that a crawler has them.

Scrapy's defaults suit crawling one trusted site: Scrapy reads file: URLs, accepts any certificate, opens consoles that
run code, and accepts bodies of 1 GiB. Scrapy 2.19, docs/topics/security.rst, names most of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.settings import BaseSettings

GUARD: Final = "feedcrawl.crawl.resolver.PublicResolver"
HANDLER: Final = "feedcrawl.crawl.download.LimitedDownloadHandler"

_REASONS: tuple[tuple[str, object, str], ...] = (
    ("TWISTED_DNS_RESOLVER", GUARD, "it keeps requests out of networks that are not public"),
    ("TWISTED_REACTOR_ENABLED", True, "without Twisted's reactor the resolver is not called"),
    (
        "DOWNLOAD_HANDLERS",
        {"data": None, "file": None, "ftp": None, "s3": None, "http": HANDLER, "https": HANDLER},
        "a URL from the web must not read files, nor reach servers without the resolver, as a separate browser would",
    ),
    (
        "DOWNLOADER_MIDDLEWARES",
        {
            "feedcrawl.middlewares.addresses.AddressMiddleware": 10,
            "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
            "feedcrawl.middlewares.decoding.DecodingMiddleware": 590,
            "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
            "feedcrawl.middlewares.redirects.RedirectMiddleware": 600,
        },
        "Scrapy's middlewares decode any number of codings and send headers to other origins",
    ),
    ("DOWNLOAD_VERIFY_CERTIFICATES", True, "without it anybody on the network path may change responses"),
    ("DOWNLOAD_MAXSIZE", 50 << 20, "one endless body must not fill the memory"),
    ("DOWNLOAD_TIMEOUT", 50, "a server that drips must not hold a task longer than its lease"),
    ("HTTPPROXY_ENABLED", False, "a proxy from the environment resolves names without the resolver"),
    ("COOKIES_ENABLED", False, "no session is kept, and Scrapy's cookie jar loads a list from the network"),
    ("REFERER_ENABLED", False, "a response header could name a policy to import"),
    ("METAREFRESH_ENABLED", False, "a page must not send the crawler elsewhere"),
    ("RETRY_ENABLED", False, "retries belong to the frontier, which keeps pace and Retry-After"),
    ("TELNETCONSOLE_ENABLED", False, "it runs code for anyone who reaches its port"),
    ("REMOTE_CONTROL_ENABLED", False, "it runs code for anyone who reads its token"),
    ("HTTPCACHE_ENABLED", False, "it reads pickles from disk and answers without our validators"),
    ("JOBDIR", None, "its queues are pickles"),
)

HARDENED: Final[tuple[tuple[str, object], ...]] = tuple((name, required) for name, required, _ in _REASONS)
"""Setting and required value: a mapping must be part of the setting's value; an integer is a maximum (0, which
removes the limit, exceeds every maximum).
"""


def check_hardened(settings: BaseSettings) -> None:
    """Raise ValueError for the first unsafe setting: its name, its value, the required value, and the reason."""
    for name, required, reason in _REASONS:
        for part, actual, needed in _differences(settings, name, required):
            raise ValueError(f"{part} is {actual!r}, it must be {needed}: {reason}")


def _differences(settings: BaseSettings, name: str, required: object) -> list[tuple[str, object, str]]:
    if isinstance(required, dict):
        return _parts(name, settings.getwithbase(name), required)
    if isinstance(required, bool):
        actual: object = settings.getbool(name)
        ok = actual is required
    elif isinstance(required, int):
        ceiling = settings.getfloat(name)
        return [] if 0 < ceiling <= required else [(name, ceiling, f"above 0 and at most {required}")]
    else:
        actual = _resolver(settings) if name == "TWISTED_DNS_RESOLVER" else settings.get(name) or None
        ok = actual == required
    return [] if ok else [(name, actual, repr(required))]


def _parts(name: str, actual: BaseSettings, required: Mapping[str, object]) -> list[tuple[str, object, str]]:
    """The setting's parts by import path, since a class may stand for its path; Scrapy merges the setting with
    its `…_BASE`.
    """
    by_path = {_path(key): value for key, value in actual.items()}
    return [
        (f"{name}[{path!r}]", by_path.get(path), repr(needed))
        for path, needed in required.items()
        if by_path.get(path) != needed
    ]


def _path(component: object) -> object:
    return f"{component.__module__}.{component.__qualname__}" if isinstance(component, type) else component


def _resolver(settings: BaseSettings) -> object:
    """The path of the resolver that Scrapy will use: DNS_RESOLVER, the setting's former name, wins at equal or
    higher priority.
    """
    former = settings.getpriority("DNS_RESOLVER") or 0
    wins = 0 < former >= (settings.getpriority("TWISTED_DNS_RESOLVER") or 0)
    return _path(settings["DNS_RESOLVER" if wins else "TWISTED_DNS_RESOLVER"])
