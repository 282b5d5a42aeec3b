"""Links to other sites and within the page, which belong to a text; links within the site lead to other articles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from feedcrawl.domain.urls import site_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_NETWORKS = re.compile(
    r"(?:^|\.)(?:facebook|twitter|x|instagram|linkedin|pinterest|youtube|tiktok|reddit|threads|bsky|whatsapp|wa|t"
    r"|telegram|tumblr|flipboard|getpocket|xing|snapchat|vk|addtoany|news\.google)\.\w+$"
)


def names_of_sites(*urls: str | None) -> frozenset[str]:
    """The names of the sites of some URLs: their registered domains without the suffix; None among the URLs is skipped.

    Sites with the same name under several suffixes (a.test, a.co.test) have one name.
    """
    return frozenset(_name(host) for url in urls if url and (host := _host(url)))


def leads_elsewhere(element: HtmlElement, own: frozenset[str]) -> bool:
    """True if no link of an element leads to a site among `own`, and at least one leads to no social network."""
    hosts = [host for link in element.iter("a") if (host := _host(link.get("href") or "")) is not None]
    if not own or not hosts or not all(hosts) or all(map(_NETWORKS.search, hosts)):
        return False
    return own.isdisjoint(map(_name, hosts))


def leads_to_article(element: HtmlElement, own: frozenset[str]) -> bool:
    """True unless all links of an element stay within the page, or lead to sites that are not among `own`."""
    targets = [link.get("href", "").strip() for link in element.iter("a")]
    stays = bool(targets) and all(len(target) > 1 and target.startswith("#") for target in targets)
    return not stays and not leads_elsewhere(element, own)


def _name(host: str) -> str:
    return (site_of(host) or host).partition(".")[0]


def _host(href: str) -> str | None:
    """The host of an absolute URL, empty for a link within the site; None for an anchor without target."""
    if not href:
        return None
    try:
        return (urlsplit(href.strip()).hostname or "").lower()
    except ValueError:
        return ""
