"""Private feeds: request headers (credentials, cookies, tokens) that are sent to the feed's own origin only."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.urls import origin, split_userinfo

if TYPE_CHECKING:
    from collections.abc import Iterable

MAX_HEADERS: Final = 20
MAX_HEADER_CHARS: Final = 4096

Header = tuple[str, str]

_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")  # a token of RFC 9110 section 5.6.2
_VALUE: Final = re.compile(
    rf"[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]{{0,{MAX_HEADER_CHARS}}}[\x21-\x7e\x80-\xff])?"
)
_OURS: Final = frozenset(
    {"accept-encoding", "connection", "content-length", "content-type", "expect", "host", "if-match", "if-none-match",
     "if-modified-since", "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization", "proxy-connection",
     "range", "te", "trailer", "transfer-encoding", "upgrade", "user-agent"}
)  # fmt: skip
"""Headers that the crawler sets itself, and those that frame a message."""


@dataclass(frozen=True, slots=True)
class Access:
    """The headers of a private feed's requests, for one origin (scheme, host, port). Its `repr` has no value."""

    origin: str
    headers: tuple[Header, ...]

    def __repr__(self) -> str:
        return f"Access({self.origin!r}, {', '.join(self.names)})"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the headers, in lower case: all that may be shown."""
        return tuple(name.lower() for name, _ in self.headers)

    def headers_for(self, url: str, chain: Iterable[str] = ()) -> dict[str, str]:
        """The headers of a request for `url`; none if the URL, or one of the `chain` that led to it, is of another
        origin.
        """
        try:
            return dict(self.headers) if {*map(origin, (url, *chain))} == {self.origin} else {}
        except InvalidUrl:
            return {}

    def dump(self) -> str:
        """The record as JSON, for the store."""
        return json.dumps({"origin": self.origin, "headers": self.headers})


def load(text: str) -> Access:
    """The record from JSON that `dump` wrote."""
    record = json.loads(text)
    return Access(record["origin"], tuple((name, value) for name, value in record["headers"]))


def access_for(url: str, headers: Iterable[Header]) -> Access | None:
    """The access to the feed at `url`; None without a header. Of a repeated name, the last header counts."""
    by_name = {name.lower(): (name, value) for name, value in headers}
    if len(by_name) > MAX_HEADERS:
        raise Refusal("bad_header", f"{len(by_name)} headers; a feed may have at most {MAX_HEADERS}")
    return Access(origin(url), tuple(by_name.values())) if by_name else None


def without_login(url: str) -> tuple[str, tuple[Header, ...]]:
    """A URL without its user info, and the header of HTTP Basic authentication that the user info stands for.

    `https://ann:pw@a.test/feed` becomes `https://a.test/feed` with `Authorization: Basic …`. Raises InvalidUrl.
    """
    bare, user, password = split_userinfo(url)
    if not (user or password):
        return url, ()
    return bare, (basic(unquote(user), unquote(password)),)


def basic(user: str, password: str) -> Header:
    """The header of HTTP Basic authentication, in UTF-8 (RFC 7617)."""
    return "Authorization", f"Basic {b64encode(f'{user}:{password}'.encode()).decode()}"


def header(name: str, value: str) -> Header:
    """A header of a private feed; Refusal (`bad_header`) for one that cannot be sent. The refusal quotes no value."""
    name, value = name.strip(), value.strip()
    if not _NAME.fullmatch(name):
        raise Refusal("bad_header", "the name of a header has letters, digits and hyphens only: NAME: VALUE")
    if name.lower() in _OURS:
        raise Refusal("bad_header", f"{name} is set by the crawler itself, or has a setting of its own")
    if not _VALUE.fullmatch(value):
        raise Refusal(
            "bad_header",
            f"the value of {name} must have 1 to {MAX_HEADER_CHARS} characters, no line break, Latin-1 only",
        )
    return name, value


def read_headers(text: str) -> tuple[Header, ...]:
    """The headers in a text: `NAME: VALUE` or `USER:PASSWORD` (without a blank) on each line.

    Empty lines and those that begin with `#` are ignored. Raises Refusal (`bad_header`).
    """
    lines = (line.strip() for line in text.splitlines())
    return tuple(_line(line) for line in lines if line and not line.startswith("#"))


def _line(line: str) -> Header:
    name, colon, value = line.partition(":")
    if not colon:
        raise Refusal("bad_header", "a login is USER:PASSWORD or NAME: VALUE")
    return header(name, value) if value[:1].isspace() or not _VALUE.fullmatch(value) else basic(name, value)


def login_hint(*, scheme: str | None, sent: bool, program: str, subscribed: bool = True) -> str:
    """The sentence for journal, log and command that says what to do after a response 401.

    `scheme` is the scheme of WWW-Authenticate; `sent` is True if the request had private headers; `program` is the
    command that the user runs.
    """
    asks = f"the server asks for a login{f' ({scheme})' if scheme else ''}"
    if not subscribed:
        return f"{asks}{' and refuses the given one' if sent else ''}: `{program} subscribe --login USER:PASSWORD URL`"
    if sent:
        return f"{asks} and refuses the headers stored for this feed: `{program} feeds login FEED` replaces them"
    return f"{asks}: `{program} feeds login FEED USER:PASSWORD` stores one"
