"""The target of a redirect, or the reason for not following the redirect (RFC 9110 section 15.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from feedcrawl.domain import urls
from feedcrawl.domain.errors import InvalidUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_PERMANENT = frozenset({301, 308})
SAFE_HEADERS: Final = ("User-Agent", "Accept", "Accept-Language", "Accept-Encoding")
"""Headers of a request that go to another origin: every request of ours has them. Every other header may be a
credential or a validator of one origin (Fetch Standard 4.4 drops only Authorization; lists of headers to drop led to
CVE-2024-3574 and similar faults).
"""


@dataclass(frozen=True, slots=True)
class Hop:
    """The next request of a chain. `url` is absolute, normalised (WHATWG) and without fragment.

    `same_host` compares host names only, as pace and circuits do; `same_origin` compares scheme and port too (RFC
    6454), as request headers require.
    """

    url: str
    permanent: bool
    same_host: bool
    same_origin: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A redirect that is not followed.

    `reason` is `redirect_loop`, `too_many_redirects` or `bad_redirect`; `detail` of `bad_redirect` is `no_location`,
    `downgrade` or a code of InvalidUrl (`url_scheme`, `url_ambiguous`, `url_userinfo` …).
    """

    reason: str
    detail: str = ""


def next_hop(
    chain: Sequence[str], status: int, location: bytes | None, *, limit: int, fresh: bool = False
) -> Hop | Refused:
    """The next request after a redirect. `chain` has the URLs requested so far, the redirecting URL last.

    `fresh`: True if the redirect has set a cookie that the next request sends: a URL that was requested without the
    cookie may be requested again.

    A redirect from https to http is never followed as it is, since anyone on the path could forge a response over http.
    To another origin it is refused. Within an origin its cause is mostly a server behind a TLS proxy that does not know
    its own scheme ("add the slash"). That server has just responded over TLS, so the target is requested over https
    instead, as a browser does under HSTS (RFC 6797 section 8.3). If the https target was requested before, the server
    insists on http, and the redirect is refused.
    """
    url, location_text = chain[-1], header_url(location or b"")
    if not location_text:
        return Refused("bad_redirect", "no_location")
    try:
        target = urls.resolve(location_text, url)
        seen = set() if fresh else {urls.resolve(earlier) for earlier in chain}
        downgrade = url.startswith("https:") and target.startswith("http:")
        if downgrade:
            target = "https" + target.removeprefix("http")
        hop = Hop(
            url=target,
            permanent=status in _PERMANENT,
            same_host=urls.hostname(target) == urls.hostname(url),
            same_origin=urls.origin(target) == urls.origin(url),
        )
    except InvalidUrl as refusal:
        return Refused("bad_redirect", refusal.code)
    if downgrade and (target in seen or not hop.same_origin):
        return Refused("bad_redirect", "downgrade")
    if target in seen:
        return Refused("redirect_loop")
    return hop if len(chain) <= limit else Refused("too_many_redirects")


def in_words(refused: Refused, chain: Sequence[str], location: bytes | None) -> str:
    """The refusal of the last redirect of a chain as a sentence; the arguments are those of `next_hop`."""
    url, target = chain[-1], quote(header_url(location or b"")[:200], safe=_PRINTABLE)
    if refused.reason == "too_many_redirects":
        return f"{url} redirects to {target}, after {len(chain) - 1} redirects"
    if refused.reason == "redirect_loop":
        return f"{url} redirects to {target}, which was requested before"
    if refused.detail == "no_location":
        return f"{url} redirects without a target: its Location is missing or empty"
    if refused.detail == "downgrade":
        return f"{url} redirects from https to http: {target}"
    return f"{url} redirects to {target}, which cannot be requested ({refused.detail})"


def header_url(value: bytes) -> str:
    """The URL in a header (Location, Refresh, Link) as ASCII text; other bytes are percent-encoded.

    RFC 9110 section 10.2.2 allows ASCII only. Browsers encode the bytes as they are (`%E9` for a Latin-1 é), in
    path and query alike, whatever the encoding of the text.
    """
    stripped = value.strip(b" \t")
    return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in stripped)
