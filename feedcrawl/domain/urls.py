"""URLs: the form to fetch, and the form that identifies a page.

Two results of one parser (ada, WHATWG URL Standard): `resolve` returns the URL as published, absolute, to be fetched
and to be checked; `canonicalize` returns the identity. Nothing here makes a DNS lookup.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from hashlib import sha1, sha256
from typing import Final, NamedTuple

import ada_url
from publicsuffixlist import PublicSuffixList

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.tracking import SESSION_PARAMETER, is_tracking

MAX_URL_LENGTH: Final = 2083  # longer URLs fail in caches, proxies and clients of every kind

# Spellings that WHATWG parsers accept silently and other parsers read differently: control characters anywhere, other
# than two slashes before the host, and a backslash beside it (`http://a\@b` has host a for some parsers and host b for
# others).
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_AMBIGUOUS = re.compile(r"https?:(?!//[^/\\])|(?:https?:)?//[^/?#]*\\|///|/?\\", re.IGNORECASE)

_ESCAPED_AMPERSAND = re.compile(r"&(?:(?:amp|#0{0,6}38|#x0{0,6}26);)+", re.IGNORECASE)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})?")
# A serialized http(s) URL, in which a user, a password, a host and a path have no delimiters of their own any more.
_HREF = re.compile(
    r"(https?:)//(?:([^:@/?#]*)(?::([^@/?#]*))?@)?(\[[^\]]*\]|[^:/?#]*)(?::(\d+))?([^?#]*)(?:\?([^#]*))?(?:#.*)?"
)
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")


def canonicalize(url: str, *, base: str | None = None, keep_trailing_slash: bool = False) -> str:
    """The identity of a URL, resolved against `base`; InvalidUrl if the result is no http(s) URL.

    Scheme and host in lower case, IDNA, no default port, no userinfo, no fragment, dot segments resolved (WHATWG);
    escapes normalised (RFC 3986 section 6.2.2); query sorted by name, equal names in their order; tracking parameters,
    session ids and empty pairs removed; trailing slashes removed except the root's, unless configured to stay.
    Idempotent.
    """
    return _canonical(url.strip(), base, keep_trailing_slash)


# An entry's link is canonicalized four times within one poll. Longer texts are refused, and so not kept.
@lru_cache(maxsize=1024)
def _canonical(url: str, base: str | None, keep_trailing_slash: bool) -> str:  # noqa: FBT001 - a key of the cache
    parsed = _parse(url, base)
    path = SESSION_PARAMETER.sub("", _normal_escapes(parsed.path))
    if not keep_trailing_slash:
        path = path.rstrip("/") or "/"
    query = _canonical_query(parsed.query, parsed.host)
    return _capped(f"{parsed.protocol}//{_bare_host(parsed)}{path}{'?' if query else ''}{query}")


def resolve(url: str, base: str | None = None) -> str:
    """The absolute http(s) URL to fetch: as published, parsed as browsers do, without fragment.

    InvalidUrl if `canonicalize` refuses the URL, and for spellings that two parsers could send to different hosts:
    control characters, slashes other than two before the host, backslashes beside the host, userinfo, port 0.
    """
    text = url.strip()
    if _CONTROL.search(text) or _AMBIGUOUS.match(text):
        raise InvalidUrl("url_ambiguous", f"{text[:80]!r} is read as different hosts by different parsers")
    parsed = _parse(text, base)
    if parsed.user or parsed.password:
        raise InvalidUrl("url_userinfo", "credentials do not belong into a URL")
    if parsed.port == "0":
        raise InvalidUrl("url_port", "port 0 cannot be dialled")
    return _capped(parsed.href)


def once_escaped(url: str) -> str:
    """A URL with `&` for each reference to it: a document that escaped its URLs twice has `?a=1&amp;b=2`."""
    return _ESCAPED_AMPERSAND.sub("&", url) if "&" in url else url


def split_userinfo(url: str) -> tuple[str, str, str]:
    """A URL without its user info, and the user and the password, percent-encoded; both empty if there is none."""
    parsed = _parse(url.strip(), None)
    bare = ada_url.URL(_scalar_values(url.strip()))
    bare.username = bare.password = ""
    return bare.href, parsed.user, parsed.password


def url_uid(url: str, *, keep_trailing_slash: bool = False, part: str = "") -> str:
    """First 16 hex digits of the SHA-1 of the canonical URL: the public id of an article.

    `part`: the fragment, if the article is only that part of the page.
    """
    canonical = with_part(canonicalize(url, keep_trailing_slash=keep_trailing_slash), part)
    return sha1(canonical.encode(), usedforsecurity=False).hexdigest()[:16]


def with_part(canonical: str, part: str) -> str:
    """The canonical URL of a part of a page."""
    return f"{canonical}#{part}" if part else canonical


def url_hash(url: str, *, keep_trailing_slash: bool = False) -> str:
    """SHA-256 of the canonical URL, 64 hex digits."""
    return sha256(canonicalize(url, keep_trailing_slash=keep_trailing_slash).encode()).hexdigest()


def hostname(url: str) -> str:
    """Lower-case host of a URL, in ASCII, without port and final dot; IPv6 literals without brackets."""
    return _without_root_dot(_parse(url.strip(), None).host).strip("[]")


def host_of(url: str) -> str | None:
    """The host of a URL as `hostname` returns it; None for a text that is no URL."""
    try:
        return hostname(url)
    except InvalidUrl:
        return None


def origin(url: str) -> str:
    """`scheme://host[:port]`, the unit to which robots.txt and connections belong (RFC 6454, RFC 9309 section 2.3)."""
    parsed = _parse(url.strip(), None)
    return f"{parsed.protocol}//{_bare_host(parsed)}"


@lru_cache(maxsize=4096)
def registered_domain(host: str) -> str:
    """The public suffix of a host plus one label; the host itself if it is an address or a public suffix.

    Uses the list of the package `publicsuffixlist`, private section included: two blogs on github.io are two sites. A
    top-level domain that is not in the list is a suffix (publicsuffix.org, "If no rules match, the prevailing rule is
    `*`").
    """
    return site_of(host) or host


@lru_cache(maxsize=100_000)
def site_of(host: str) -> str | None:
    """The registered domain of a host; None if the host is an address, a single label or a public suffix."""
    return None if _is_address(host) else _suffixes().privatesuffix(host)


def _is_address(host: str) -> bool:
    """True if a host is an IPv6 address or ends in a number, as only IPv4 addresses do (WHATWG URL, host parsing)."""
    return ":" in host or host.rpartition(".")[2].isdecimal()


@cache
def _suffixes() -> PublicSuffixList:
    """The public suffix list, parsed at first use (40 ms of processor time)."""
    return PublicSuffixList()


def same_site(left: str, right: str) -> bool:
    """True if two URLs have the same registered domain."""
    return registered_domain(hostname(left)) == registered_domain(hostname(right))


class _Parsed(NamedTuple):
    """The parts of a serialized URL; `href` is the whole without its fragment, `query` is without question mark."""

    href: str
    protocol: str
    user: str
    password: str
    host: str
    port: str
    path: str
    query: str


# Each function of this module parses an entry's link once within one poll. Longer texts are refused, and so not kept.
# `base` has no default: to the cache a URL with None and the same URL alone are two.
@lru_cache(maxsize=1024)
def _parse(url: str, base: str | None) -> _Parsed:
    """The parts of a URL without white space around it; InvalidUrl unless it is http(s) with a host."""
    text = _scalar_values(_capped(url.strip()))
    try:
        href = ada_url.join_url(base, text) if base else ada_url.normalize_url(text)
    except ValueError as error:
        raise InvalidUrl("url_malformed", f"{text[:80]!r} is no absolute URL") from error
    found = _HREF.fullmatch(href)
    if found is None:
        raise InvalidUrl("url_scheme", f"{href.partition(':')[0]}: is not http: or https:")
    parsed = _Parsed(href.partition("#")[0], *found.groups(""))
    if "xn--" in parsed.host and not all(map(_is_label, parsed.host.split("."))):
        raise InvalidUrl("url_host", f"{parsed.host[:80]!r} has an invalid international label")
    return parsed


def _is_label(label: str) -> bool:
    """True if the A-form of a label is the encoding of its U-form (UTS 46 section 4.1, validity criteria)."""
    if not label.startswith("xn--"):
        return True
    try:
        return bool(ada_url.idna_to_ascii(label[4:].encode("ascii").decode("punycode")).decode() == label)
    except ValueError:
        return False


def _capped(url: str) -> str:
    if len(url) > MAX_URL_LENGTH:
        raise InvalidUrl("url_too_long", f"{len(url)} characters; the maximum is {MAX_URL_LENGTH}")
    return url


def _scalar_values(text: str) -> str:
    """The text with surrogate pairs joined, lone surrogates replaced (WHATWG: a URL is parsed from scalar values)."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _bare_host(parsed: _Parsed) -> str:
    port = f":{parsed.port}" if parsed.port else ""
    return f"{_without_root_dot(parsed.host)}{port}"


def _without_root_dot(host: str) -> str:
    """The host without a trailing dot (`example.com.`); unchanged if another dot or nothing is before the dot."""
    bare = host.removesuffix(".")
    return bare if bare and not bare.endswith(".") else host


def _canonical_query(query: str, host: str) -> str:
    pairs = [(pair.partition("=")[0], pair) for pair in _normal_escapes(query).split("&") if pair]
    kept = [(name, pair) for name, pair in pairs if not is_tracking(name, host)]
    return "&".join(pair for _, pair in sorted(kept, key=lambda named: named[0]))


def _normal_escapes(text: str) -> str:
    """The text with unreserved characters decoded, hex digits in upper case, `%` that begins no escape as `%25`."""
    return _ESCAPE.sub(_normal_escape, text) if "%" in text else text


def _normal_escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return "%25"
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else f"%{match[1].upper()}"
