import importlib
import inspect
from collections.abc import Iterator

import pytest
from OpenSSL import SSL
from scrapy import exceptions as scrapy_errors
from service_identity import VerificationError
from twisted.internet import error as net
from twisted.internet.defer import CancelledError
from twisted.python.failure import Failure
from twisted.web import http
from twisted.web._newclient import ParseError, RequestTransmissionFailed, ResponseFailed, ResponseNeverReceived

from feedcrawl import exceptions as ours
from feedcrawl.crawl.failures import failure_name, sentence, status_sentence
from feedcrawl.domain.frontier.outcome import FAILURES
from feedcrawl.store.redis.errors import StoreUnavailable

TLS = "no secure connection: {}"
MODULES = (
    "scrapy.exceptions",
    "twisted.internet.error",
    "twisted.web.error",
    "twisted.web._newclient",
    "twisted.web.client",
    "twisted.web.http",
    "twisted.web.http_headers",
    "OpenSSL.SSL",
    "service_identity",
    "ssl",
    "feedcrawl.exceptions",
    "feedcrawl.store.redis.connection",
    "feedcrawl.store.disk.files",
    "feedcrawl.domain.errors",
)

# What has no name, and why none is needed: it does not come from a download.
UNNAMED = {
    "words of spiders, pipelines and add-ons to Scrapy": """
        CloseSpider ContractFail DontCloseSpider DropItem LeaseLost NotConfigured UsageError _InvalidOutput
    """,
    "refused by a middleware of the operator's": "IgnoreRequest",
    "named by what caused it, tested below": "DownloadFailedError",
    "stopped by an operator's handler: ours keeps the answer": "StopDownload",
    "says that nothing failed": "ResponseDone",
    "goes on at another host": "HopElsewhere",
    "the start fails": "ConfigError ServerRefused",
    "a base of others": "FeedcrawlError",
    "misuse of Twisted's reactor, timers, listeners, datagrams and processes": """
        AlreadyCalled AlreadyCancelled AlreadyListened BindError CannotListenError ConnectInProgressError
        InvalidAddressError MessageLengthError MulticastJoinError NoProtocol NotConnectingError NotListeningError
        ProcessExitedAlready ReactorAlreadyInstalledError ReactorAlreadyRunning ReactorNotRestartable ReactorNotRunning
        UnsupportedAddressFamily UnsupportedSocketType
    """,
    "of Twisted's web server, templates and old clients": """
        Error ExcessiveBufferingError FlattenerError InfiniteRedirection MissingRenderMethod MissingTemplateLoader
        PageRedirect PartialDownloadError RedirectWithNoLocation RenderError UnexposedMethodError UnfilledSlot
        UnsupportedMethod UnsupportedSpecialHeader UnsupportedType _MultiPartParseException
    """,
    "this machine's trouble, not theirs: it costs an attempt, so that it ends": "OSError",
    "a request that we made wrong": "BadHeaders ExcessWrite WrongBodyLength",
    "no exception of its own": "Failure",
    "what parsers say of documents, in a child": "Refusal NotAFeed NotASitemap NoArticle",
}


def classes() -> Iterator[type[BaseException]]:
    for name in MODULES:
        for kind in vars(importlib.import_module(name)).values():
            if inspect.isclass(kind) and issubclass(kind, BaseException) and not issubclass(kind, Warning):
                yield kind


def bare(kind: type[BaseException]) -> BaseException:
    """An instance without what its constructor asks for."""
    error = kind.__new__(kind)
    error.reasons = []
    if issubclass(kind, (ours.RedirectRefused, ours.BodyRefused)):
        error.reason = "too_large"
    if issubclass(kind, (ours.RouteFailed, ours.TunnelFailed)):
        error.reason = "route_down"
    return error


@pytest.mark.parametrize("kind", sorted(set(classes()), key=str), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_whatever_a_download_may_end_in_has_a_name(kind: type[BaseException]) -> None:
    name = failure_name(bare(kind))
    listed = {word for words in UNNAMED.values() for word in words.split()}
    if name == "download_failed":
        assert kind.__name__ in listed, f"{kind.__name__} needs a name in crawl/failures.py, or a reason here"
    else:
        assert kind.__name__ not in listed - {"Error"}  # OpenSSL has one of this name too
        assert name in FAILURES


def test_each_class_without_a_reason_exists() -> None:
    listed = {word for words in UNNAMED.values() for word in words.split()}
    assert listed - {kind.__name__ for kind in classes()} == set()


def because(error: BaseException, cause: BaseException) -> BaseException:
    error.__cause__ = cause
    return error


def failed(*causes: BaseException, kind: type[BaseException] = ResponseFailed) -> BaseException:
    return kind([Failure(cause) for cause in causes])


DOWNLOADS = [
    (because(scrapy_errors.DownloadFailedError(), failed(net.ConnectionLost())), "connection_lost"),
    (
        because(scrapy_errors.DownloadFailedError(), failed(net.ConnectionDone(), kind=ResponseNeverReceived)),
        "connection_lost",
    ),
    (
        because(scrapy_errors.DownloadFailedError(), failed(net.ConnectionLost(), ParseError("", b""))),
        "connection_lost",
    ),
    (because(scrapy_errors.DownloadFailedError(), failed(ValueError(), ParseError("", b""))), "protocol"),
    (because(scrapy_errors.DownloadFailedError(), failed(SSL.Error())), "tls"),
    (because(scrapy_errors.DownloadFailedError(), failed(http._DataLoss())), "truncated"),
    (because(scrapy_errors.DownloadFailedError(), failed()), "connection_lost"),
    (failed(net.ConnectionAborted(), kind=RequestTransmissionFailed), "connection_lost"),
    (because(scrapy_errors.DownloadTimeoutError(), net.TimeoutError()), "connect_timeout"),
    (net.TCPTimedOutError(), "connect_timeout"),
    (scrapy_errors.DownloadTimeoutError(), "total_timeout"),
    (scrapy_errors.DownloadCancelledError("larger than allowed"), "too_large"),
    (because(scrapy_errors.DownloadCancelledError(), CancelledError()), "too_large"),  # while it came
    (because(scrapy_errors.CannotResolveHostError(), net.DNSLookupError()), "dns"),
    (because(scrapy_errors.DownloadConnectionRefusedError(), net.ConnectionRefusedError()), "refused"),
    (net.NoRouteError(), "unreachable"),
    (UnicodeError("label too long"), "invalid_url"),
    (ours.RedirectRefused("redirect_loop", "at http://a.test/"), "redirect_loop"),
    (ours.BodyRefused("bad_encoding", "gzip"), "bad_encoding"),
    (StoreUnavailable("timeout", ""), "store_lost"),
    (ValueError("a bug"), "download_failed"),
    (because(ValueError(), because(RuntimeError(), net.ConnectionLost())), "connection_lost"),
]


UNTRUSTED = SSL.Error([("SSL routines", "", "certificate verify failed")])


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (because(scrapy_errors.CannotResolveHostError("a.test"), net.DNSLookupError()), "its host is unknown"),
        (because(scrapy_errors.DownloadFailedError(), failed(UNTRUSTED)), TLS.format("certificate verify failed")),
        (failed(UNTRUSTED, kind=ResponseNeverReceived), TLS.format("certificate verify failed")),
        (VerificationError([]), TLS.format("the certificate is for another host")),
        (failed(SSL.Error()), TLS.format("the handshake failed")),
        (failed(net.ConnectionLost()), "its server closed the connection before the response was complete"),
        (
            because(scrapy_errors.DownloadFailedError(), failed(ParseError("more than 5 bytes of headers", b"x"))),
            "the response of its server is not valid HTTP (RFC 9112): more than 5 bytes of headers",
        ),
        (failed(ParseError("", b"")), "the response of its server is not valid HTTP (RFC 9112)"),
        (ours.AddressRefused("a.test can only be an internal name"), "a.test can only be an internal name"),
        (ours.RedirectRefused("redirect_loop", "http://a.test/ redirects"), "http://a.test/ redirects"),
        (ValueError("a bug"), "a bug"),
        (ValueError(), "ValueError"),
        (None, ""),
    ],
)
def test_failures_in_words(error: BaseException | None, expected: str) -> None:
    assert sentence(error) == expected


@pytest.mark.parametrize(("status", "expected"), [(404, "404 Not Found"), (599, "599")])
def test_statuses_in_words(status: int, expected: str) -> None:
    assert status_sentence(status) == f"its server responds {expected}"


@pytest.mark.parametrize(("error", "name"), DOWNLOADS, ids=lambda value: value if isinstance(value, str) else "")
def test_failures_of_downloads_have_a_name(error: BaseException, name: str) -> None:
    assert failure_name(error) == name
