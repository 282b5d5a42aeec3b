"""CDXJ, the index with which replay programs (pywb, OpenWayback) find a page in WARC files: a sorted line per capture.

    test,news)/bridge 20261127230616 {"url":"http://news.test/bridge","mime":"text/html","status":"200",…}

A replay program finds a line by a key that it computes from the requested URL, so the keys here must be
identical: the Sort-friendly URI Reordering Transform (SURT) of the Internet Archive's URL canonicalisation.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

if TYPE_CHECKING:
    from datetime import datetime

REVISIT: Final = "warc/revisit"
"""The media type of a capture whose body equals that of an earlier capture."""
_URL: Final = re.compile(r"(?P<scheme>[^:/?#]+):(?://)?(?P<place>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?")
_PLACE: Final = re.compile(r"(?:.*@)?(?P<host>\[[^\]]*\]|[^:]*)(?::(?P<port>\d*))?")
_WWW: Final = re.compile(r"^www\d*\.")
_PORTS: Final = {"http": "80", "https": "443"}
_SAFE: Final = "!\"$&'()*+,-./:;<=>?@[\\]^_`{|}~"
_PATH_SESSIONS: Final = (
    re.compile(rb"(.*/)\((?:[a-z]\([0-9a-z]{24}\))+\)/([^?]+\.aspx.*)", re.IGNORECASE | re.DOTALL),
    re.compile(rb"(.*/)\([0-9a-z]{24}\)/([^?]+\.aspx.*)", re.IGNORECASE | re.DOTALL),
)
_QUERY_SESSIONS: Final = tuple(
    re.compile(rf"(.*){name}(?:&(.*))?", re.IGNORECASE | re.DOTALL)
    for name in (
        "jsessionid=[0-9a-z]{32}", "phpsessid=[0-9a-z]{32}", "sid=[0-9a-z]{32}", "aspsessionid[a-z]{8}=[a-z]{24}",
        "cfid=[^&]+&cftoken=[^&]+",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Capture:
    """One capture of a URL, `at` in UTC, and the place of its record; `digest` as in its `WARC-Payload-Digest`."""

    url: str
    at: datetime
    mime: str
    status: int
    digest: str
    filename: str
    offset: int
    length: int


def surt(url: str) -> str:
    """The SURT key of an http or https URL: `http://www.News.test/A/?b=2&a=1` has the key `test,news)/a?a=1&b=2`.

    Raises ValueError for a URL without host.
    """
    parts = _URL.match(url)
    place = _PLACE.fullmatch(parts["place"]) if parts else None
    if parts is None or place is None or not place["host"]:
        raise ValueError(f"{url[:100]!r} has no host")
    host = _WWW.sub("", place["host"].lower().strip("[]."))
    port = place["port"] if place["port"] != _PORTS.get(parts["scheme"].lower()) else ""
    key = ",".join(reversed(host.split("."))) + (f":{port}" if port else "") + ")" + _path(parts["path"])
    query = _query(parts["query"] or "")
    return f"{key}?{query}" if query else key


def line(capture: Capture) -> str:
    """One line of the index, without newline."""
    fields = {"url": capture.url, "mime": capture.mime, "status": str(capture.status), "digest": capture.digest}
    fields |= {"length": str(capture.length), "offset": str(capture.offset), "filename": capture.filename}
    return f"{surt(capture.url)} {capture.at:%Y%m%d%H%M%S} {json.dumps(fields)}"


def mime_of(content_type: str | None) -> str:
    """The media type of a Content-Type, without parameters; `unk` if it is missing or malformed."""
    bare = (content_type or "").partition(";")[0].strip().lower()
    return bare if re.fullmatch(r"[\w.+-]+/[\w.+-]+", bare, re.ASCII) else "unk"


def _path(text: str) -> str:
    path = _escaped_once(_without_dots(_unescaped(text))).lower()
    for session in _PATH_SESSIONS:
        path = session.sub(rb"\1\2", path) if session.fullmatch(path) else path
    return (path[:-1] if path.endswith(b"/") and len(path) > 1 else path).decode("ascii")


def _without_dots(path: bytes) -> bytes:
    """The path without `.`, `..` and empty segments; a slash at the end stays."""
    kept: list[bytes] = []
    for part in path.split(b"/")[1:]:
        if part == b".." and kept:
            kept.pop()
        elif part != b".":
            kept.append(part)
    return b"/" + b"/".join([part for part in kept[:-1] if part] + kept[-1:])


def _query(text: str) -> str:
    query = _escaped_once(_unescaped(text)).decode("ascii")
    for session in _QUERY_SESSIONS:
        found = session.fullmatch(query)
        query = found[1] + (found[2] or "") if found else query
    if len(query) < 2:
        return query.lower()
    pairs = sorted(tuple(pair.split("=", 1)) for pair in query.lower().split("&"))
    return "&".join("=".join(pair) for pair in pairs)


def _unescaped(text: str) -> bytes:
    """The text without percent-encoding, including escapes that were escaped again."""
    plain, again = text.encode("utf-8", "surrogatepass"), b""
    while plain != again:
        plain, again = unquote_to_bytes(plain), plain
    return plain


def _escaped_once(text: bytes) -> bytes:
    return quote_from_bytes(text, safe=_SAFE).encode("ascii")
