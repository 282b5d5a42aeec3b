"""The check that a server's certificate is for the requested host (RFC 6125), on all connections of a handler.

Twisted accepts a certificate without names, or with a name that it cannot read (`*.test`), for any host if an authority
has signed it. Scrapy's policy makes the connections, and so decides about authorities, versions and ciphers; the check
of the name replaces that of Twisted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from OpenSSL import SSL
from service_identity import CertificateError, VerificationError
from service_identity.hazmat import DNS_ID, IPAddress_ID, verify_service_identity
from service_identity.pyopenssl import extract_patterns
from twisted.internet.abstract import isIPAddress, isIPv6Address
from twisted.internet.interfaces import IOpenSSLClientConnectionCreator
from twisted.python.failure import Failure
from twisted.web.iweb import IPolicyForHTTPS
from zope.interface import implementer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from OpenSSL.crypto import X509
    from twisted.protocols.tls import TLSMemoryBIOProtocol

    class Creator(Protocol):
        """Twisted's IOpenSSLClientConnectionCreator for mypy."""

        def clientConnectionForTLS(self, protocol: TLSMemoryBIOProtocol, /) -> SSL.Connection: ...  # noqa: D102, N802

    class Policy(Protocol):
        """Twisted's IPolicyForHTTPS for mypy."""

        def creatorForNetloc(self, hostname: bytes, port: int, /) -> Creator: ...  # noqa: D102, N802


@implementer(IPolicyForHTTPS)
class NamedCertificates:
    """Another policy, whose connections refuse certificates that do not name their host."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy

    def creatorForNetloc(self, hostname: bytes, port: int) -> _Creator:  # noqa: N802 - Twisted's interface
        """The maker of connections to a host."""
        creator = self._policy.creatorForNetloc(hostname, port)
        return _Creator(creator, hostname.decode("ascii"))


@implementer(IOpenSSLClientConnectionCreator)
class _Creator:
    def __init__(self, creator: Creator, host: str) -> None:
        is_address = isIPAddress(host) or isIPv6Address(host)
        self._creator, self._identity = creator, IPAddress_ID(host) if is_address else DNS_ID(host)

    def clientConnectionForTLS(self, protocol: TLSMemoryBIOProtocol) -> SSL.Connection:  # noqa: N802 - Twisted's
        """A connection; a certificate for another host ends the protocol with the error of `check_names`."""

        def verified(_: SSL.Connection, certificate: X509, _error: int, depth: int, ok: int) -> bool:
            if depth > 0:  # an authority's
                return bool(ok)
            try:
                check_names(certificate, self._identity)
            except (VerificationError, CertificateError):
                protocol.failVerification(Failure())  # type: ignore[no-untyped-call]
                return False
            return bool(ok)

        connection: SSL.Connection = self._creator.clientConnectionForTLS(protocol)
        connection.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, verified)
        return connection


def check_names(certificate: X509, identity: DNS_ID | IPAddress_ID) -> None:
    """Raises VerificationError if no name of the certificate is that of the host, CertificateError for a bad name."""
    names = extract_patterns(certificate)
    if not names:
        raise VerificationError([])
    verify_service_identity(names, [identity], [])
