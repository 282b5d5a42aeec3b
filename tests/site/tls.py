"""A TLS front of an origin on loopback, with a certificate of an authority of its own.

with TlsFront(folder, "secure.test", site.address, origin_port) as front:
    … SSL_CERT_FILE=front.authority, https://secure.test:<front.port>/ …
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from loops import LoopThread


def certificate(folder: Path, name: str, valid_for: tuple[str, ...] | None = None) -> tuple[Path, Path]:
    """A self-signed certificate for a host name, and its key, as PEM files; `valid_for` has other names."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    )
    if names := (name,) if valid_for is None else valid_for:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(each) for each in names])
        builder = builder.add_extension(alternatives, critical=False)
    made = builder.sign(key, hashes.SHA256())
    cert_path, key_path = folder / f"{name}.pem", folder / f"{name}.key"
    cert_path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    key_path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return cert_path, key_path


class TlsFront(LoopThread):
    """Ends TLS on a site's address and hands on to the origin there. `came_from` has the clients' addresses."""

    def __init__(self, folder: Path, name: str, address: str, origin_port: int) -> None:
        super().__init__("tls")
        self.address, self.origin_port = address, origin_port
        self.authority, key = certificate(folder, name)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.authority, key)
        self.came_from: list[str] = []

    async def listen(self) -> asyncio.Server:
        return await asyncio.start_server(self._accepted, self.address, 0, ssl=self.context)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = self._current()
        self.came_from.append(writer.get_extra_info("peername")[0])
        origin = await asyncio.open_connection(self.address, self.origin_port)
        try:
            await asyncio.gather(relay(reader, origin[1]), relay(origin[0], writer))
        except asyncio.CancelledError:
            pass  # by `_end`
        finally:
            self.tasks.discard(task)
            origin[1].close()
            writer.close()


async def relay(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while chunk := await source.read(65_536):
            sink.write(chunk)
            await sink.drain()
    sink.close()
