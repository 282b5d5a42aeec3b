"""How brokers are reached; what is sent to them is in services/test_relay.py."""

import asyncio
import contextlib
import ipaddress
import logging
import re
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from socket import create_server
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from feedcrawl.config import Config
from feedcrawl.domain.operations.kafka_messages import Message
from feedcrawl.services.operations.consumer import TargetAway
from feedcrawl.services.operations.kafka import Brokers, access_of
from feedcrawl.settings import from_environment

SECRET = "hunter2-not-for-logs"


def access(**given: Any) -> dict[str, Any]:
    return access_of(config(**given))


def config(**given: Any) -> Config:
    settings = {f"FEEDCRAWL_KAFKA_{name}": str(value) for name, value in given.items()}
    return Config.from_settings(from_environment(settings))


@dataclass(frozen=True)
class Pair:
    """A certificate of 127.0.0.1 that signs itself, and its key, as PEM files."""

    cert: Path
    key: Path
    locked: Path


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "broker")])
    now = datetime.now(UTC)
    cert = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("kafka")
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    made = Pair(folder / "cert.pem", folder / "key.pem", folder / "locked.pem")
    made.cert.write_bytes(cert.public_bytes(pem))
    made.key.write_bytes(key.private_bytes(pem, form, serialization.NoEncryption()))
    made.locked.write_bytes(key.private_bytes(pem, form, serialization.BestAvailableEncryption(b"x")))
    return made


def test_connections_without_settings_are_plain_and_anonymous() -> None:
    assert access() == {"security_protocol": "PLAINTEXT"}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_login(mechanism: str) -> None:
    login = {"SASL_MECHANISM": mechanism, "USERNAME": "ada", "PASSWORD": SECRET}
    assert access(SECURITY="sasl_plaintext", **login) == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": mechanism,
        "sasl_plain_username": "ada",
        "sasl_plain_password": SECRET,
    }


def test_tls_verifies_certificate_and_name_by_the_file_that_was_given(pair: Pair) -> None:
    settings = access(SECURITY="sasl_ssl", CA_FILE=pair.cert, USERNAME="ada", PASSWORD=SECRET)
    context = settings["ssl_context"]
    assert settings["security_protocol"] == "SASL_SSL"
    assert (context.verify_mode, context.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert len(context.get_ca_certs()) == 1
    assert len(access(SECURITY="ssl")["ssl_context"].get_ca_certs()) != 1  # the system's


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"SECURITY": "tls"}, "FEEDCRAWL_KAFKA_SECURITY must be one of plaintext, ssl"),
        ({"SASL_MECHANISM": "GSSAPI"}, "FEEDCRAWL_KAFKA_SASL_MECHANISM must be PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512"),
        ({"CA_FILE": "ca.pem"}, "FEEDCRAWL_KAFKA_SECURITY is plaintext: certificates are for ssl"),
        ({"SECURITY": "sasl_plaintext", "USERNAME": "ada"}, "FEEDCRAWL_KAFKA_PASSWORD are for sasl"),
        ({"SECURITY": "sasl_ssl"}, "FEEDCRAWL_KAFKA_USERNAME and"),
        ({"USERNAME": "ada", "PASSWORD": SECRET}, "FEEDCRAWL_KAFKA_SECURITY is plaintext: "),
        ({"SECURITY": "ssl", "PASSWORD": SECRET}, "FEEDCRAWL_KAFKA_SECURITY is ssl: "),
        ({"SECURITY": "ssl", "KEY_FILE": "key.pem"}, "give that too"),
        ({"SECURITY": "ssl", "CA_FILE": "/nowhere/ca.pem"}, "FEEDCRAWL_KAFKA_CA_FILE /nowhere/ca.pem cannot be used"),
        ({"SECURITY": "ssl", "CERT_FILE": "/nowhere/c.pem"}, "FEEDCRAWL_KAFKA_CERT_FILE /nowhere/c.pem cannot be used"),
    ],
)
def test_unusable_settings_are_refused_in_a_sentence(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        access(**given)
    assert SECRET not in str(refused.value)


def test_a_key_with_a_passphrase_is_refused(pair: Pair) -> None:
    with pytest.raises(ValueError, match="without a passphrase"):
        access(SECURITY="ssl", CERT_FILE=pair.cert, KEY_FILE=pair.locked)


def test_no_file_of_certificates(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    with pytest.raises(ValueError, match="FEEDCRAWL_KAFKA_CA_FILE"):
        access(SECURITY="ssl", CA_FILE=tmp_path / "ca.pem")


def test_the_password_is_in_no_representation() -> None:
    assert SECRET not in repr(config(SECURITY="sasl_ssl", USERNAME="ada", PASSWORD=SECRET))


class Listener:
    """A server for TLS that reads the first bytes of one connection, if it comes about."""

    def __init__(self, pair: Pair, *, requires_login: bool) -> None:
        self.heard: bytes | None = None
        self.subject: Any = None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pair.cert, pair.key)
        if requires_login:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(pair.cert)
        self._context = context
        self._socket = create_server(("127.0.0.1", 0))
        self.bootstrap = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            plain, _ = self._socket.accept()
            plain.settimeout(5)
            with plain, self._context.wrap_socket(plain, server_side=True) as wrapped:
                self.heard = wrapped.recv(64)
                self.subject = wrapped.getpeercert()

    def close(self) -> None:
        self._socket.close()
        self._thread.join()


@pytest.fixture
def listening(pair: Pair, request: pytest.FixtureRequest) -> Iterator[Listener]:
    listener = Listener(pair, requires_login=getattr(request, "param", False))
    yield listener
    listener.close()


def send(listener: Listener, settings: dict[str, Any]) -> str:
    """Why the brokers are away, as they always are here."""

    async def sent() -> None:
        brokers = Brokers(listener.bootstrap, settings)
        try:
            await brokers.send([Message("topic", b"key", b"value", "id")])
        finally:
            await brokers.close()

    with pytest.raises(TargetAway) as away:
        asyncio.run(sent())
    return str(away.value)


@pytest.mark.parametrize("listening", [True], indirect=True)
def test_a_connection_speaks_tls_and_shows_our_certificate(listening: Listener, pair: Pair) -> None:
    login = {"USERNAME": "ada", "PASSWORD": SECRET}
    settings = access(SECURITY="sasl_ssl", CA_FILE=pair.cert, CERT_FILE=pair.cert, KEY_FILE=pair.key, **login)
    answer = send(listening, settings)
    assert listening.heard is not None
    assert b"feedcrawl" in listening.heard  # a request of Kafka's protocol, with our name
    assert listening.subject is not None
    assert SECRET not in answer


def test_a_broker_without_a_valid_certificate_receives_nothing(
    listening: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        send(listening, access(SECURITY="sasl_ssl", USERNAME="ada", PASSWORD=SECRET))
    assert listening.heard is None
    assert SECRET not in caplog.text
