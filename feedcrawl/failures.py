"""Names what went wrong with a download: exceptions of Scrapy, Twisted and ours, as keys of `outcome.FAILURES`."""

from __future__ import annotations

from OpenSSL import SSL
from scrapy import exceptions as scrapy_errors
from service_identity import VerificationError
from twisted.internet import error as net
from twisted.web._newclient import ParseError  # Twisted has no public name for it
from twisted.web.client import ResponseFailed

from feedcrawl import exceptions as ours

_BY_CLASS: tuple[tuple[type[BaseException], str], ...] = (
    (ours.AddressRefused, "address_refused"),
    (ours.RobotsBlocked, "robots_blocked"),
    (ours.RobotsUnavailable, "robots_unavailable"),
    (ours.CircuitOpen, "circuit_open"),
    (ours.CrawlDelayLearned, "crawl_delay"),
    (scrapy_errors.CannotResolveHostError, "dns"),
    (net.DNSLookupError, "dns"),
    (scrapy_errors.DownloadConnectionRefusedError, "refused"),
    (net.ConnectionRefusedError, "refused"),
    (scrapy_errors.ResponseDataLossError, "truncated"),
    (scrapy_errors.DownloadCancelledError, "too_large"),
    (scrapy_errors.UnsupportedURLSchemeError, "invalid_url"),
    (scrapy_errors.NotSupported, "unsupported_type"),
    (VerificationError, "tls"),
    (net.VerifyError, "tls"),
    (SSL.Error, "tls"),
    (net.TimeoutError, "connect_timeout"),
    (net.TCPTimedOutError, "connect_timeout"),
    (ParseError, "protocol"),
    (net.ConnectionDone, "connection_lost"),
    (net.ConnectionLost, "connection_lost"),
    (net.ConnectError, "unreachable"),
)


def failure_name(error: BaseException) -> str:
    """The failure's name, by its class and by what caused it; `download_failed` for what nobody foresaw."""
    reason = getattr(error, "reason", None)
    if isinstance(error, (ours.RedirectRefused, ours.BodyRefused)):
        return str(reason)
    if isinstance(error, scrapy_errors.DownloadTimeoutError):
        return "connect_timeout" if isinstance(error.__cause__, net.TimeoutError) else "total_timeout"
    for kind, name in _BY_CLASS:
        if isinstance(error, kind):
            return name
    for cause in _causes(error):
        return failure_name(cause)
    return "download_failed"


def _causes(error: BaseException) -> list[BaseException]:
    if isinstance(error, ResponseFailed):
        return [failure.value for failure in error.reasons]
    return [error.__cause__] if error.__cause__ is not None else []
