"""Kafka by aiokafka: an idempotent producer, so that a message that it repeats by itself is stored once and in
order.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import TYPE_CHECKING, Any, Final

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, MessageSizeTooLargeError, RecordListTooLargeError, RecordTooLargeError

from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.services.operations.consumer import TargetAway
from feedcrawl.services.operations.relay import AWAY, SEND_SEC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from feedcrawl.config import Config
    from feedcrawl.domain.operations.kafka_messages import Message

REQUEST_MS: Final = 20_000
"""Less than `SEND_SEC`: a message that is not confirmed by then is not sent any more."""
END_SEC: Final = 10.0
_TOO_LARGE: Final = (MessageSizeTooLargeError, RecordListTooLargeError, RecordTooLargeError)


class Brokers:
    """A producer that is started when it is first needed, and restarted after each failure."""

    def __init__(self, bootstrap: str, access: Mapping[str, object] | None = None) -> None:
        """`access` is the result of `access_of`; without it connections have neither encryption nor a login."""
        self._bootstrap = bootstrap
        self._access = access or {}
        self._producer: Any = None

    async def send(self, messages: Sequence[Message]) -> list[Unprocessable | None]:
        """Send messages in order; for each message None, or the reason why it can never be sent.

        Raises TargetAway; some messages may then have been sent, and the rest will not be.
        """
        try:
            async with asyncio.timeout(SEND_SEC):
                return await send_all(await self._started(), messages)
        except (KafkaError, OSError) as error:  # TimeoutError is an OSError
            await self.close()
            raise TargetAway(AWAY, f"{self._bootstrap}: {str(error) or type(error).__name__}") from error

    async def close(self) -> None:
        """End the producer, in any state."""
        if self._producer is None:
            return
        producer, self._producer = self._producer, None
        with contextlib.suppress(KafkaError, OSError):
            try:
                async with asyncio.timeout(END_SEC):
                    await producer.stop()
            finally:
                await producer.client.close()

    async def _started(self) -> Any:
        if self._producer is None:
            self._producer = AIOKafkaProducer(
                bootstrap_servers=self._bootstrap,
                client_id="feedcrawl",
                enable_idempotence=True,
                request_timeout_ms=REQUEST_MS,
                compression_type="gzip",
                linger_ms=0,
                **self._access,
            )
            await self._producer.start()
        return self._producer


def access_of(config: Config) -> dict[str, object]:
    """The connection settings of the brokers, as aiokafka takes them.

    Raises ValueError if settings contradict each other, so that no connection is less safe than configured, and if a
    certificate file cannot be used.
    """
    security = config.kafka_security
    files = (config.kafka_ca_file, config.kafka_cert_file, config.kafka_key_file)
    login = (config.kafka_username, config.kafka_password)
    tls, sasl = security.endswith("ssl"), security.startswith("sasl")
    if not tls and any(files):
        raise ValueError(f"FEEDCRAWL_KAFKA_SECURITY is {security}: certificates are for ssl and sasl_ssl")
    if sasl != all(login) or sasl != any(login):
        what = "FEEDCRAWL_KAFKA_USERNAME and FEEDCRAWL_KAFKA_PASSWORD"
        raise ValueError(f"FEEDCRAWL_KAFKA_SECURITY is {security}: {what} are for sasl_plaintext and sasl_ssl, both")
    fields: dict[str, object] = {"security_protocol": security.upper()}
    if tls:
        fields["ssl_context"] = _context(*files)
    if sasl:  # aiokafka names these settings after PLAIN, also for SCRAM
        fields["sasl_mechanism"] = config.kafka_sasl_mechanism
        fields |= dict(zip(("sasl_plain_username", "sasl_plain_password"), login, strict=True))
    return fields


def _context(ca: Path | None, cert: Path | None, key: Path | None) -> ssl.SSLContext:
    """A TLS context that verifies the brokers' certificates and their host names."""
    if key is not None and cert is None:
        raise ValueError("FEEDCRAWL_KAFKA_KEY_FILE is the key of FEEDCRAWL_KAFKA_CERT_FILE: give that too")
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # ssl.SSLError is an OSError
        raise ValueError(f"FEEDCRAWL_KAFKA_CA_FILE {ca} cannot be used: {error}") from error
    if cert is not None:
        try:
            context.load_cert_chain(cert, key, password=_no_password)
        except (OSError, ValueError) as error:
            raise ValueError(f"FEEDCRAWL_KAFKA_CERT_FILE {cert} cannot be used with its key: {error}") from error
    return context


def _no_password() -> str:
    """Replaces OpenSSL's password prompt on the terminal."""
    raise ValueError("the key is encrypted: store it without a passphrase, readable only by this user")


async def send_all(producer: Any, messages: Sequence[Message]) -> list[Unprocessable | None]:
    """Send one batch by aiokafka's producer. If the brokers reject it as too large, send the messages again, one
    at a time.
    """
    sent = [await _queue(producer, message) for message in messages]
    came = await asyncio.gather(*sent, return_exceptions=True)
    if any(isinstance(each, _TOO_LARGE) for each in came) and len(messages) > 1:
        return [end for message in messages for end in await send_all(producer, [message])]
    return [_end(each) for each in came]


async def _queue(producer: Any, message: Message) -> asyncio.Future[object]:
    headers = [("id", message.id.encode("utf-8", "surrogateescape"))]
    if message.traceparent:
        headers.append(("traceparent", message.traceparent.encode("utf-8", "surrogateescape")))
    queued: asyncio.Future[object]
    try:
        queued = await producer.send(message.topic, value=message.value, key=message.key, headers=headers)
    except _TOO_LARGE as error:
        queued = asyncio.get_running_loop().create_future()
        queued.set_exception(error)
    return queued


def _end(came: object) -> Unprocessable | None:
    if isinstance(came, _TOO_LARGE):
        return Unprocessable("too_large", str(came)[:200])
    if isinstance(came, BaseException):
        raise came
    return None
