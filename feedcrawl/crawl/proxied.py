"""Scrapy's download of one request, through a proxy of the operator.

Scrapy's own proxy support resolves no names and has no SOCKS. Here every request goes through a tunnel (SOCKS, or
CONNECT for http too) to an address that the guard has allowed. A request in absolute form cannot name an address: a
proxy takes the host from its target and ignores the Host header (RFC 9112, 3.2.2), so that the target must have the
name. Such requests are sent only if the operator lets the proxy resolve names.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from scrapy.core.downloader.handlers.http11 import _ScrapyAgent
from scrapy.utils._download_handlers import wrap_twisted_exceptions
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred
from twisted.internet.endpoints import wrapClientTLS
from twisted.internet.interfaces import IStreamClientEndpoint
from twisted.web.client import Agent
from zope.interface import implementer  # type: ignore[import-untyped]

from feedcrawl.outgoing.dialling import authorization, connected, refuse_credentials, tunnel
from feedcrawl.outgoing.reactor import running_reactor

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from socket import socket

    from scrapy.http import Request, Response
    from twisted.internet.interfaces import IProtocolFactory
    from twisted.internet.protocol import Protocol
    from twisted.web.client import URI
    from twisted.web.http_headers import Headers
    from twisted.web.iweb import IBodyProducer, IResponse

    from feedcrawl.domain.sites.outgoing import Proxy


@implementer(IStreamClientEndpoint)
class _Endpoint:
    """An endpoint whose connections asyncio makes; Twisted takes them over."""

    def __init__(self, dial: Callable[[], Awaitable[socket]]) -> None:
        self._dial = dial

    def connect(self, protocolFactory: IProtocolFactory) -> Deferred[Protocol]:  # noqa: N803 - Twisted's interface
        """The connected protocol, or the failure of the dial."""
        return Deferred.fromFuture(asyncio.ensure_future(self._connected(protocolFactory)))

    async def _connected(self, factory: IProtocolFactory) -> Protocol:
        with await self._dial() as sock:
            transport: Any = running_reactor().adoptStreamConnection(sock.fileno(), sock.family, factory)
            protocol: Protocol = transport.protocol
            return protocol


class _ProxyAgent(Agent):
    """Requests through one proxy; the pool keeps its connections apart from those of other routes."""

    def __init__(self, reactor: Any, policy: Any, pool: Any, proxy: Proxy, addresses: Sequence[str] | None) -> None:
        super().__init__(reactor, policy, pool=pool)  # type: ignore[no-untyped-call]
        self._policy = policy
        self._proxy = proxy
        self._addresses = addresses

    def _is_absolute(self, uri: URI) -> bool:
        """True if the request is sent to the proxy in absolute form, with the name of the host."""
        return self._addresses is None and uri.scheme == b"http" and self._proxy.scheme == "http"

    def _getEndpoint(self, uri: URI) -> Any:  # noqa: N802 - Twisted's interface
        if self._is_absolute(uri):
            return _Endpoint(lambda: connected(self._proxy))
        targets = (uri.host.decode("ascii"),) if self._addresses is None else self._addresses
        endpoint: Any = _Endpoint(lambda: tunnel(self._proxy, targets, uri.port))
        return (
            wrapClientTLS(self._policy.creatorForNetloc(uri.host, uri.port), endpoint)
            if uri.scheme == b"https"
            else endpoint
        )

    def _requestWithEndpoint(  # noqa: N802, PLR0917 - Twisted's interface
        self,
        key: Any,
        endpoint: Any,
        method: bytes,
        parsedURI: URI,  # noqa: N803
        headers: Headers | None,
        bodyProducer: IBodyProducer | None,  # noqa: N803
        requestPath: bytes,  # noqa: N803
    ) -> Deferred[IResponse]:
        assert headers is not None
        if self._is_absolute(parsedURI):
            key = ("http-proxy",)  # one connection serves all hosts
            requestPath = parsedURI.toBytes()  # type: ignore[no-untyped-call]  # noqa: N806
            if credentials := authorization(self._proxy):
                headers.setRawHeaders(b"Proxy-Authorization", [credentials])
        key = (*key, self._proxy.name)
        return super()._requestWithEndpoint(key, endpoint, method, parsedURI, headers, bodyProducer, requestPath)


class ProxiedDownload(_ScrapyAgent):
    """Scrapy's download of a request, with its limits, through a proxy."""

    def __init__(self, proxy: Proxy, addresses: Sequence[str] | None, **how: Any) -> None:
        """`addresses`: those of the host, None if the proxy resolves its name; `how`: as Scrapy's class."""
        super().__init__(**how)
        self._proxy = proxy
        self._addresses = addresses

    def _get_agent(self, request: Request, timeout: float) -> Agent:  # noqa: ARG002 - the whole request has a limit
        return _ProxyAgent(running_reactor(), self._contextFactory, self._pool, self._proxy, self._addresses)

    async def response(self, request: Request) -> Response:
        """The response. Raises RouteFailed if the proxy is at fault, TunnelFailed if it did not reach the host."""
        with wrap_twisted_exceptions():
            response = await maybe_deferred_to_future(self.download_request(request))
        if response.status == 407:  # only a proxy sends this status
            refuse_credentials(self._proxy)
        return response
