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
_SITEMAP = re.compile(r"<(?:\w+:)?(?:urlset|sitemapindex)[\s>]", re.IGNORECASE)
_OPML = re.compile(r"<opml[\s>]", re.IGNORECASE)
_ROOT = re.compile(r"<(?![?!])([\w:.-]+)")
_MAGIC = (("%PDF-", "pdf"), ("\x1f\x8b", "gzip"), ("PK\x03\x04", "zip"), ("\x89PNG", "png"), ("GIF8", "gif"))
_LOOKED_AT = 100_000


def refusal(text: str) -> NotAFeed:
    """The refusal that names what `text` is: a page, login or challenge, XML of another kind, a binary, plain text."""
    head = text[:_LOOKED_AT]
    for start, name in _MAGIC:
        if head.startswith(start):
            return NotAFeed("binary", f"a {name} file where a feed was expected")
    if _OPML.search(head):  # before pages: it has a head and a body too
        return NotAFeed("opml", "a list of feeds; import it instead")
    if _HTML.search(head):
        return _page(head)
    if _SITEMAP.search(head):
        return NotAFeed("sitemap", "a sitemap; subscribe to it as one")
    root = _ROOT.search(head)
    if root:
        return NotAFeed(
            "xml", f"XML or markup whose first element is <{root[1][:80]}>, not rss, rdf:RDF, feed or channel"
        )
    return NotAFeed("text", f"plain text that begins with {head[:60]!r}")


def _page(head: str) -> NotAFeed:
    for code, maker, pattern in _CHALLENGES:
        if pattern.search(head):
            return NotAFeed(code, f"a challenge page of {maker}")
    if _LOGIN.search(head):
        return NotAFeed("login_page", "a page that asks for a password")
    return NotAFeed("html", "a web page; its feed may be named in it")
