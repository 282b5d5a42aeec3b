"""Names download failures: maps exceptions of Scrapy, Twisted and this project to keys of `outcome.FAILURES`."""

from __future__ import annotations

import ssl
from http import HTTPStatus

from OpenSSL import SSL
from scrapy import exceptions as scrapy_errors
from service_identity import CertificateError, VerificationError
from twisted.internet import error as net
from twisted.internet.defer import CancelledError
from twisted.web import _newclient, http  # Twisted has no public names for some of these
from twisted.web.error import SchemeNotSupported
from twisted.web.http_headers import InvalidHeaderName

from feedcrawl import exceptions as ours
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import StoreUnavailable

_BY_CLASS: tuple[tuple[type[BaseException], str], ...] = (
    (ours.AddressRefused, "address_refused"),
    (ours.RobotsBlocked, "robots_blocked"),
    (ours.RobotsUnavailable, "robots_unavailable"),
    (ours.RobotsElsewhere, "robots_elsewhere"),
    (ours.CircuitOpen, "circuit_open"),
    (ours.CrawlDelayLearned, "crawl_delay"),
    (StoreUnavailable, "store_lost"),
    (DiskUnavailable, "store_lost"),
    (scrapy_errors.CannotResolveHostError, "dns"),
    (net.DNSLookupError, "dns"),
    (net.UnknownHostError, "dns"),
    (scrapy_errors.DownloadConnectionRefusedError, "refused"),
    (net.ConnectionRefusedError, "refused"),
    (scrapy_errors.ResponseDataLossError, "truncated"),
    (http.PotentialDataLoss, "truncated"),
    (http._DataLoss, "truncated"),  # noqa: SLF001
    (scrapy_errors.DownloadCancelledError, "too_large"),
    (scrapy_errors.UnsupportedURLSchemeError, "invalid_url"),
    (SchemeNotSupported, "invalid_url"),
    (InvalidUrl, "invalid_url"),
    (UnicodeError, "invalid_url"),  # a host name that IDNA cannot encode
    (scrapy_errors.NotSupported, "unsupported_type"),
    (VerificationError, "tls"),
    (CertificateError, "tls"),
    (net.CertificateError, "tls"),
    (net.VerifyError, "tls"),
    (net.SSLError, "tls"),
    (SSL.Error, "tls"),
    (ssl.SSLError, "tls"),
    (net.TimeoutError, "connect_timeout"),
    (net.TCPTimedOutError, "connect_timeout"),
    (net.ConnectingCancelledError, "connect_timeout"),
    (CancelledError, "total_timeout"),  # apart from Scrapy's size limit (below), only a time limit cancels a download
    (_newclient.ParseError, "protocol"),
    (http._MalformedChunkedDataError, "protocol"),  # noqa: SLF001
    (InvalidHeaderName, "protocol"),
    (net.ConnectionClosed, "connection_lost"),
    (_newclient.ConnectionAborted, "connection_lost"),
    (_newclient.RequestNotSent, "connection_lost"),
    (net.ConnectError, "unreachable"),
)


_SENTENCES: dict[str, str] = {
    "dns": "its host is unknown",
    "refused": "its server refuses connections",
    "unreachable": "its server cannot be reached",
    "connect_timeout": "its server does not answer",
    "total_timeout": "its server takes too long to respond",
    "connection_lost": "its server closed the connection before the response was complete",
    "truncated": "the response is incomplete",
    "protocol": "the response of its server is not valid HTTP (RFC 9112)",
    "too_large": "the response is larger than allowed",
    "unsupported_type": "the response has a type that is not supported",
    "invalid_url": "the URL cannot be requested",
}


def sentence(error: BaseException | None) -> str:
    """The failure in words, without a representation of Python objects; empty without an error."""
    if error is None:
        return ""
    name = failure_name(error)
    if name == "tls":
        return f"no secure connection: {_tls_reason(error)}"
    if name == "protocol" and (fault := _protocol_fault(error)):
        return f"{_SENTENCES[name]}: {fault}"
    if isinstance(error, ours.AddressRefused | ours.RedirectRefused):
        return error.detail
    return _SENTENCES.get(name) or str(error) or type(error).__name__


def status_sentence(status: int) -> str:
    """A response's status in words: `its server responds 404 Not Found`."""
    phrase = f" {HTTPStatus(status).phrase}" if status in set(HTTPStatus) else ""
    return f"its server responds {status}{phrase}"


def _tls_reason(error: BaseException) -> str:
    """The reason of OpenSSL (`certificate verify failed`), found in the error or in what caused it."""
    if isinstance(error, VerificationError | CertificateError):
        return "the certificate is for another host"
    if isinstance(error, SSL.Error) and error.args and isinstance(error.args[0], list) and error.args[0]:
        return str(error.args[0][-1][-1])
    found = [reason for cause in _causes(error) if (reason := _tls_reason(cause))]
    return found[0] if found else "the handshake failed"


def _protocol_fault(error: BaseException) -> str:
    """What the parser of the response did not accept, found in the error or in what caused it; "" if unknown."""
    if isinstance(error, _newclient.ParseError):
        return str(error.args[0])
    return next(filter(None, map(_protocol_fault, _causes(error))), "")


def failure_name(error: BaseException) -> str:
    """The failure's name, from its class and its causes; `download_failed` for an unknown exception."""
    reason = getattr(error, "reason", None)
    if isinstance(error, (ours.RedirectRefused, ours.BodyRefused, ours.RouteFailed, ours.TunnelFailed)):
        return str(reason)
    if isinstance(error, scrapy_errors.DownloadTimeoutError):
        return "connect_timeout" if isinstance(error.__cause__, net.TimeoutError) else "total_timeout"
    for kind, name in _BY_CLASS:
        if isinstance(error, kind):
            return name
    names = [failure_name(cause) for cause in _causes(error)]
    unnamed = "connection_lost" if isinstance(error, _newclient._WrapperException) else "download_failed"  # noqa: SLF001
    return next((name for name in names if name != "download_failed"), unnamed)


def _causes(error: BaseException) -> list[BaseException]:
    if isinstance(error, _newclient._WrapperException):  # noqa: SLF001 - ResponseFailed and its like
        return [failure.value for failure in error.reasons]
    return [error.__cause__] if error.__cause__ is not None else []
