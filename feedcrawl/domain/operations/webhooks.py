"""Webhooks: the request for an event, its signature, and the verdict on the response.

Requests follow Standard Webhooks (https://www.standardwebhooks.com/, version 1): the headers `webhook-id`,
`webhook-timestamp` and `webhook-signature`, which is `v1,` and the HMAC-SHA256 of id, time and body in base64.
"""

from __future__ import annotations

import binascii
import hmac
import json
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal

from feedcrawl.domain.errors import ConfigError
from feedcrawl.domain.operations.events import Unprocessable

if TYPE_CHECKING:
    from collections.abc import Mapping

Verdict = Literal["delivered", "refused", "failed", "busy"]
"""delivered: the receiver has the event. refused: it refuses the event permanently. failed: it could not process the
event. busy: it accepts events later.
"""
LATER: Final = frozenset({408, 425, 429, 502, 503, 504})
BASE64_PREFIX: Final = "whsec_"
MIN_SECRET_BYTES: Final = 24
"""As Standard Webhooks demands: a shorter secret can be guessed."""


def secret_of(text: str) -> bytes:
    """The bytes of a secret: base64 after `whsec_`, else the text itself; ConfigError if they are fewer than 24."""
    found = text.encode()
    if text.startswith(BASE64_PREFIX):
        try:
            found = b64decode(text.removeprefix(BASE64_PREFIX), validate=True)
        except (binascii.Error, ValueError):
            raise ConfigError("FEEDCRAWL_WEBHOOK_SECRET must be base64 after whsec_") from None
    if len(found) < MIN_SECRET_BYTES:
        raise ConfigError(f"FEEDCRAWL_WEBHOOK_SECRET must have {MIN_SECRET_BYTES} bytes or more")
    return found


def body_of(event: Mapping[str, str]) -> bytes | Unprocessable:
    """The JSON body of an event with the fields `type`, `id` and `data`: the same three, `data` as JSON."""
    if not event:
        return Unprocessable("gone", "the event was deleted from the stream before it was sent")
    if not event.get("id"):
        return Unprocessable("no_id", "the event has no id, so that receivers could not recognise a repetition")
    try:
        data = json.loads(event.get("data", ""))
    except (ValueError, RecursionError) as error:
        return Unprocessable("bad_json", str(error)[:200])
    content = {"type": event.get("type", ""), "id": event["id"], "data": data}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def headers_of(event_id: str, body: bytes, secret: bytes, now: float) -> dict[str, str]:
    """The headers by which a receiver recognises a repetition and verifies the sender.

    The id is the digest of the event's id, which may have characters that no header can.
    """
    name, at = f"msg_{sha256(event_id.encode('utf-8', 'replace')).hexdigest()[:32]}", str(int(now))
    return {"webhook-id": name, "webhook-timestamp": at, "webhook-signature": signature(name, at, body, secret)}


def signature(name: str, at: str, body: bytes, secret: bytes) -> str:
    """The signature of a request with this id, time and body."""
    signed = b".".join((name.encode(), at.encode(), body))
    return f"v1,{b64encode(hmac.new(secret, signed, sha256).digest()).decode()}"


def verdict(status: int) -> Verdict:
    """The verdict on a response with this status. A redirect is not followed: the URL is the operator's."""
    if 200 <= status < 300:
        return "delivered"
    if status in LATER:
        return "busy"
    return "failed" if status >= 500 else "refused"
