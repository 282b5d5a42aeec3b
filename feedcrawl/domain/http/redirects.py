"""Where a redirect leads, or why it is not followed (RFC 9110 section 15.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from feedcrawl.domain import urls
from feedcrawl.domain.errors import InvalidUrl

if TYPE_CHECKING:
    from collections.abc import Sequence

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PERMANENT = frozenset({301, 308})


@dataclass(frozen=True, slots=True)
class Hop:
    """The next request of a chain. `url` is absolute, normalised (WHATWG) and without fragment.

    `same_host` compares host names alone, as pace and circuits do; `same_origin` also scheme and port (RFC 6454), as
    request headers need.
    """

    url: str
    permanent: bool
    same_host: bool
    same_origin: bool


@dataclass(frozen=True, slots=True)
class Refused:
    """A redirect that is not followed.

    `reason` is `redirect_loop`, `too_many_redirects` or `bad_redirect`; `detail` of the last is `no_location`,
    `downgrade` or a code of InvalidUrl (`url_scheme`, `url_ambiguous`, `url_userinfo` …).
    """

    reason: str
    detail: str = ""


def next_hop(url: str, status: int, location: bytes | None, chain: Sequence[str], *, limit: int = 5) -> Hop | Refused:
    """The hop that a response of `url` asks for. `chain` are the URLs asked before `url`, first one first.

    From https to http no hop is followed, for what comes over it could be anybody's: not to another host, and not to
    the same one. Within a host, though, it is seldom a wish, but a server behind a TLS proxy that does not know its own
    scheme ("add the slash"). As that server has just answered over TLS, the hop goes on over https, as a browser's
    would under HSTS (RFC 6797 section 8.3); where this leads back to where it came from, the server insists.
    """
    location_text = _text(location or b"")
    if not location_text:
        return Refused("bad_redirect", "no_location")
    try:
        target = urls.resolve(location_text, url)
        seen = {urls.resolve(earlier) for earlier in (*chain, url)}
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
    return hop if len(chain) < limit else Refused("too_many_redirects")


def _text(location: bytes) -> str:
    """Location is ASCII by RFC 9110; servers send UTF-8, and what is not that is read as Latin-1, like other fields."""
    stripped = location.strip(b" \t")
    try:
        return stripped.decode()
    except UnicodeDecodeError:
        return stripped.decode("latin-1")
