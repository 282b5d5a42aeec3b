"""What a document is that is no feed."""

from __future__ import annotations

import re

from feedcrawl.domain.errors import NotAFeed

_CHALLENGES = (
    (
        "challenge_page",
        "Cloudflare",
        re.compile(r"cf-chl|cf_chl|challenge-platform|Just a moment\.\.\.|cf-browser-verification"),
    ),
    ("challenge_page", "DataDome", re.compile(r"captcha-delivery\.com|datadome", re.IGNORECASE)),
    ("challenge_page", "Incapsula", re.compile(r"_Incapsula_Resource|incapsula incident", re.IGNORECASE)),
    ("challenge_page", "Akamai", re.compile(r"_abck|akamai.{0,40}bot|errors\.edgesuite\.net", re.IGNORECASE)),
    ("challenge_page", "PerimeterX", re.compile(r"px-captcha|perimeterx", re.IGNORECASE)),
    ("challenge_page", "Sucuri", re.compile(r"sucuri_cloudproxy|sucuri website firewall", re.IGNORECASE)),
    ("challenge_page", "Anubis", re.compile(r"anubis_challenge|Making sure you(?:&#39;|')re not a bot", re.IGNORECASE)),
    ("challenge_page", "a captcha", re.compile(r"g-recaptcha|h-captcha|hcaptcha\.com|cf-turnstile", re.IGNORECASE)),
)
_LOGIN = re.compile(r"<input[^<>]{0,300}\btype\s*=\s*[\"']?password", re.IGNORECASE)
_HTML = re.compile(r"<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]", re.IGNORECASE)
_ELEMENT = re.compile(r"<(?![?!])([\w:.-]+)")
_LISTS = {
    "urlset": ("sitemap", "a sitemap; subscribe to it as one"),
    "sitemapindex": ("sitemap", "an index of sitemaps; subscribe to it as one"),
    "opml": ("opml", "a list of feeds; import it instead"),
}
_MAGIC = {
    b"%PDF-": "PDF",
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x89PNG": "PNG",
    b"\xff\xd8\xff": "JPEG",
    b"GIF8": "GIF",
}
_LOOKED_AT = 100_000


def binary(body: bytes) -> NotAFeed | None:
    """The refusal of a file of another kind, which its first bytes give away."""
    kind = next((name for start, name in _MAGIC.items() if body.startswith(start)), None)
    return NotAFeed("binary", f"a {kind} file where a feed was expected") if kind else None


def refusal(text: str) -> NotAFeed:
    """The refusal that names what `text` is: a page, login or challenge, XML of another kind, plain text."""
    head = text[:_LOOKED_AT]
    first = _ELEMENT.search(head)
    name = first[1].rpartition(":")[2].lower() if first else ""
    if name in _LISTS:
        return NotAFeed(*_LISTS[name])
    if _HTML.search(head):
        return _page(head)
    if first:
        return NotAFeed("xml", f"markup whose first element is <{first[1][:80]}>, not rss, rdf:RDF, feed or channel")
    return NotAFeed("text", f"plain text that begins with {head[:60]!r}")


def _page(head: str) -> NotAFeed:
    for code, maker, pattern in _CHALLENGES:
        if pattern.search(head):
            return NotAFeed(code, f"a challenge page of {maker}")
    if _LOGIN.search(head):
        return NotAFeed("login_page", "a page that asks for a password")
    return NotAFeed("html", "a web page; its feed may be named in it")
