"""Which certificates of a server on loopback are accepted for a host."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest
from OpenSSL import SSL
from scrapy.core.downloader.contextfactory import _ScrapyClientContextFactory
from scrapy.utils.test import get_crawler
from service_identity import CertificateError, VerificationError
from tls import certificate
from twisted.python.failure import Failure

from feedcrawl.crawl.certificates import NamedCertificates
from feedcrawl.crawl.failures import sentence


class Protocol:
    """The part of a TLS protocol that the check calls."""

    factory = SimpleNamespace(wrappedFactory=object())  # negotiates no protocol
    refused: Failure | None = None

    def failVerification(self, reason: Failure) -> None:
        self.refused = reason


def handshake(server: ssl.SSLContext, host: str) -> Protocol | None:
    """The protocol after a handshake with a server on loopback that failed; None if it succeeded."""
    ours, theirs = socket.create_server(("127.0.0.1", 0)), Protocol()

    def serve() -> None:
        accepted, _ = ours.accept()
        with contextlib.suppress(OSError), server.wrap_socket(accepted, server_side=True) as wrapped:
            wrapped.recv(1)

    thread = threading.Thread(target=serve)
    thread.start()
    policy = _ScrapyClientContextFactory.from_crawler(get_crawler(settings_dict={"DOWNLOAD_VERIFY_CERTIFICATES": True}))
    connection = NamedCertificates(policy).creatorForNetloc(host.encode(), 443).clientConnectionForTLS(theirs)
    connection.set_connect_state()
    try:
        with ours, socket.create_connection(ours.getsockname()) as sock:
            return None if shaken(connection, sock) else theirs
    finally:
        thread.join()


def shaken(connection: SSL.Connection, sock: socket.socket) -> bool:
    while True:
        try:
            connection.do_handshake()
        except SSL.WantReadError:
            with contextlib.suppress(SSL.WantReadError):
                sock.sendall(connection.bio_read(1 << 16))
            connection.bio_write(sock.recv(1 << 16))
        except SSL.Error:
            return False
        else:
            return True


def serving(folder: Path, names: tuple[str, ...]) -> tuple[ssl.SSLContext, Path]:
    authority, key = certificate(folder, "a.test", names)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, key)
    return context, authority


@pytest.mark.parametrize(
    ("names", "host", "accepted"),
    [
        (("a.test",), "a.test", True),
        (("b.test", "*.a.test"), "www.a.test", True),
        (("b.test",), "a.test", False),
        (("*.test",), "b.test", False),  # a name that is too wide to be one
        (("b.test",), "127.0.0.1", False),
        ((), "a.test", False),  # its common name is a.test, which counts no longer (RFC 6125, 6.4.4)
    ],
)
def test_a_certificate_is_valid_for_the_hosts_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...], host: str, accepted: bool
) -> None:
    server, authority = serving(tmp_path, names)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority))
    failed = handshake(server, host)
    assert (failed is None) is accepted
    if failed is not None:
        assert failed.refused is not None
        assert isinstance(failed.refused.value, VerificationError | CertificateError)
        assert sentence(failed.refused.value) == "no secure connection: the certificate is for another host"


def test_a_certificate_of_an_unknown_authority_is_refused_whatever_its_names(tmp_path: Path) -> None:
    server, _ = serving(tmp_path, ("a.test",))
    failed = handshake(server, "a.test")
    assert failed is not None
    assert failed.refused is None
