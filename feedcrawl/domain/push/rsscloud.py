"""The rssCloud protocol (rsscloud.co, "walkthrough"), from the subscriber's side: a feed names a server by `<cloud>`.

The subscriber registers a callback with a form. The server verifies the callback by a GET with `url` and `challenge`,
and sends a POST with `url` whenever the feed changes. A registration lasts 25 hours. Only the protocols `http-post` and
`https-post` are supported, not the older XML-RPC and SOAP.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.push.protocol import Topic
from feedcrawl.domain.urls import resolve

if TYPE_CHECKING:
    from feedcrawl.domain.models import Cloud

LEASE_SEC: Final = 25 * 3_600
"""Duration of a registration."""
_PORTS: Final = {"http": 80, "https": 443}
_SCHEMES: Final = {"http-post": "http", "https-post": "https"}
_REFUSED: Final = re.compile(rb"""success\s*=\s*["'](?:false|0)["']""", re.IGNORECASE)


def topic_of(cloud: Cloud | None, *, url: str) -> Topic | None:
    """The server that a feed at `url` names, and the feed; None if it names no server with a supported protocol."""
    scheme = _SCHEMES.get(cloud.protocol) if cloud is not None else None
    if cloud is None or scheme is None:
        return None
    path = cloud.path if cloud.path.startswith("/") else f"/{cloud.path}"
    try:
        return Topic(resolve(f"{scheme}://{cloud.domain}:{cloud.port}{path}"), url, "rsscloud")
    except InvalidUrl:
        return None


def registration(topic: str, callback: str) -> dict[str, str]:
    """The form that registers a callback for a feed. `domain` asks the server for verification by a challenge."""
    parts = urlsplit(callback)
    return {
        "notifyProcedure": "",
        "domain": parts.hostname or "",
        "port": str(parts.port or _PORTS[parts.scheme]),
        "path": parts.path,
        "protocol": f"{parts.scheme}-post",
        "url1": topic,
    }


def is_refused(body: bytes) -> bool:
    """True if a response with status 2xx reports that the registration failed (`<notifyResult success="false">`)."""
    return _REFUSED.search(body[:4096]) is not None
