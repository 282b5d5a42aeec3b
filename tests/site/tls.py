"""A TLS front of an origin on loopback, with a certificate of an authority of its own.

with TlsFront(folder, "secure.test", site.address, origin_port) as front:
    … SSL_CERT_FILE=front.authority, https://secure.test:<front.port>/ …
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A self-signed certificate for a host name, and its key, as PEM files."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    cert_path, key_path = folder / f"{name}.pem", folder / f"{name}.key"
    cert_path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    key_path.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return cert_path, key_path


class TlsFront:
    """Ends TLS on a site's address and hands on to the origin there. `came_from` has the clients' addresses."""

    def __init__(self, folder: Path, name: str, address: str, origin_port: int) -> None:
        self.address, self.origin_port = address, origin_port
        self.authority, key = certificate(folder, name)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.authority, key)
        self.came_from: list[str] = []
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name="tls", daemon=True)
        self.tasks: set[asyncio.Task[Any]] = set()

    def __enter__(self) -> Self:
        self.thread.start()
        self.listener = self._run(asyncio.start_server(self._accepted, self.address, 0, ssl=self.context))
        self.port = self.listener.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(timeout=10)
        self.loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=10)

    async def _end(self) -> None:
        self.listener.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
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
