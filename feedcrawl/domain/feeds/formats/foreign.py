"""Recognises the kind of a document that is no feed."""

from __future__ import annotations

import re

from feedcrawl.domain.errors import NotAFeed
from feedcrawl.domain.feeds.formats.vocabulary import ROOTS
from feedcrawl.domain.http.sniffing import kind_of

# Patterns of pages that require proof that the client is no robot, by the maker of the page.
_CHALLENGES = {
    "Cloudflare": r"cf[-_]chl|challenge-platform|Just a moment\.\.\.|cf-browser-verification",
    "DataDome": r"captcha-delivery\.com|datadome",
    "Imperva": r"_Incapsula_Resource|incapsula incident",
    "Akamai": r"_abck|errors\.edgesuite\.net",
    "HUMAN": r"px-captcha|perimeterx",
    "AWS": r"awswaf|aws-waf-token",
    "Sucuri": r"sucuri_cloudproxy|sucuri website firewall",
    "Anubis": r"anubis_challenge|making sure you(?:&#39;|')re not a bot",
    "a captcha service": r"g-recaptcha|h-captcha|hcaptcha\.com|cf-turnstile",
}
_CHALLENGE = re.compile(
    "|".join(f"(?P<m{n}>{pattern})" for n, pattern in enumerate(_CHALLENGES.values())), re.IGNORECASE
)
_LONGEST_CHALLENGE = (
    40_000  # characters; longer pages have content of their own, and the captcha belongs to their comment form
)
_LOGIN = re.compile(r"<input[^<>]{0,300}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_HTML = re.compile(r"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
# Phrases in the title or first heading of pages that should have had status 404.
_NOT_FOUND = re.compile(
    r"<(title|h1)\b[^<>]{0,300}>[^<]{0,100}"
    r"(?:\b404\b|\bnot found\b"
    r"|(?:can ?no|can['\u2019])t be found|does ?n[o'\u2019]t exist|no longer (?:exists|available)"
    r"|nicht gefunden|introuvable|no encontrad[ao]|non trovat[ao]|não encontrad[ao]|niet gevonden|nie znaleziono)",
    re.IGNORECASE,
)
# Elements with which a page begins that leaves out <html>: pages of firewalls and of scripts often do.
_BEGINS_PAGE = re.compile(
    r"(?:meta|title|base|style|script|noscript|iframe|frameset|div|section|header|main|center|table|form|h[1-6]|p|br|hr"
    r"|font|span|pre|ul|img|a|b|i|em|strong)",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"<(?:[\w-]+:)?(?:item|entry)\b", re.IGNORECASE)
_ELEMENT = re.compile(r"<(?![?!])([\w:.-]+)")
_LISTS = {
    "urlset": ("sitemap", "a sitemap: `crawl sitemaps -a sitemaps=URL` watches it"),
    "sitemapindex": ("sitemap", "an index of sitemaps: `crawl sitemaps -a sitemaps=URL` watches it"),
    "opml": ("opml", "a list of feeds: `subscribe URL` subscribes to the feeds in it"),
}
_LOOKED_AT = 100_000


def binary(body: bytes) -> NotAFeed | None:
    """The refusal of a binary file, recognised by its first bytes; None if the body may be text."""
    kind = kind_of(body)
    return NotAFeed("binary", f"{kind}; a feed was expected") if kind else None


def refusal(text: str) -> NotAFeed:
    """The refusal with the kind of `text`: a web page, a login or challenge page, other XML, plain text."""
    head = text[:_LOOKED_AT]
    first = _ELEMENT.search(head)
    name = first[1].rpartition(":")[2].lower() if first else ""
    if name in _LISTS:
        return NotAFeed(*_LISTS[name])
    if _HTML.search(head) or (_BEGINS_PAGE.fullmatch(name) and not _ENTRY.search(head)):
        return _page(head)
    if first and name in ROOTS:
        return NotAFeed("xml", f"begins like a feed, with <{first[1]}>, but is cut off or has no content of a feed")
    if first:
        return NotAFeed("xml", f"markup whose first element is <{first[1][:80]}>, not rss, rdf:RDF, feed or channel")
    return NotAFeed("text", f"plain text that begins with {head[:60]!r}")


def _page(text: str) -> NotAFeed:
    if challenge := _CHALLENGE.search(text) if len(text) <= _LONGEST_CHALLENGE else None:
        maker = list(_CHALLENGES)[int((challenge.lastgroup or "m0")[1:])]
        return NotAFeed("challenge_page", f"a page of {maker} that requires proof that the client is no robot")
    if _LOGIN.search(text):
        return NotAFeed("login_page", "a page that asks for a password")
    if _NOT_FOUND.search(text):
        return NotAFeed("soft_404", "a page that reports a missing document, although its status is not 404")
    return NotAFeed("html", "a web page; it may link to its feed")
