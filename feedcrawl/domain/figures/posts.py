"""Posts of other services within an article: each becomes a frame with the address, the signature and the words.

A service's script would draw the post in place of a `blockquote`, a `div` or the script itself. `figures.embeds` makes
a quotation with a link of the frame.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from lxml.html import Element

from feedcrawl.domain.text import QUOTED, canonical_text, fold, text_of

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from feedcrawl.domain.markup import Elements

MAX_SIGNATURE_LENGTH = 300


class _Service(NamedTuple):
    """The name of a service, the attribute with the address of a post, and which of its links has the address else."""

    name: str
    attribute: str = "cite"
    link: int = -1


_SERVICES = {
    "bluesky-embed": _Service("Bluesky"), "fb-post": _Service("Facebook", "data-href"),
    "fb-video": _Service("Facebook", "data-href"), "imgur-embed-pub": _Service("Imgur", link=0),
    "instagram-media": _Service("Instagram", "data-instgrm-permalink", 0),
    "mastodon-embed": _Service("Mastodon", "data-embed-url", 0), "reddit-card": _Service("Reddit", link=0),
    "reddit-embed-bq": _Service("Reddit", link=0),
    "text-post-media": _Service("Threads", "data-text-post-permalink", 0), "tiktok-embed": _Service("TikTok", link=0),
    "twitter-tweet": _Service("Twitter"), "twitter-video": _Service("Twitter"),
}  # fmt: skip
_IN_AMP = {
    "amp-facebook": ("data-href", "{}", "Facebook"), "amp-gist": ("data-gistid", "https://gist.github.com/{}", "Gist"),
    "amp-instagram": ("data-shortcode", "https://www.instagram.com/p/{}/", "Instagram"),
    "amp-twitter": ("data-tweetid", "https://twitter.com/i/status/{}", "Twitter"),
    "amp-vimeo": ("data-videoid", "https://vimeo.com/{}", "Vimeo"),
}  # fmt: skip
_NAMES = frozenset(_SERVICES)
_GIST = re.compile(r"(?:https:)?(//gist\.github\.com/[\w-]+/\w+)\.js(?:$|[?#])")
_TELEGRAM = re.compile(r"\w+/\d+")
_DASHES = "-–—― "  # before a signature
_LONGEST_INVITATION = 60  # letters of "View this post on Instagram", in any language


def settle_posts(elements: Elements) -> None:
    """Replace each post of a known service by a frame with its address; a post without an address stays as it is."""
    named = (element for element in elements.of("blockquote", "div", "iframe") if _is_named(element))
    is_changed = False
    for element in [*named, *elements.of("script", *_IN_AMP)]:
        frame = _frame_of(element)
        if frame is not None and element.getparent() is not None:
            frame.tail = element.tail
            element.getparent().replace(element, frame)
            is_changed = True
    if is_changed:
        elements.read()


def _is_named(element: HtmlElement) -> bool:
    """True if the class of an element has the name of a service."""
    named = element.get("class")
    return bool(named) and not _NAMES.isdisjoint(named.split())


def _frame_of(element: HtmlElement) -> HtmlElement | None:
    if element.tag == "script":
        return _by_script(element)
    if element.tag in _IN_AMP:
        attribute, address, name = _IN_AMP[element.tag]
        return _frame(address.format(element.get(attribute)), name) if element.get(attribute) else None
    return _by_markup(element, next(_SERVICES[word] for word in element.get("class").split() if word in _SERVICES))


def _by_script(script: HtmlElement) -> HtmlElement | None:
    if _TELEGRAM.fullmatch(post := script.get("data-telegram-post") or ""):
        return _frame(f"https://t.me/{post}", "Telegram")
    gist = _GIST.match(script.get("src") or "")
    return _frame(f"https:{gist[1]}", "Gist") if gist else None


def _by_markup(element: HtmlElement, service: _Service) -> HtmlElement | None:
    links = [href for link in element.iter("a") if (href := (link.get("href") or "").strip())]
    url = element.get(service.attribute) or element.get("src") or (links[service.link] if links else "")
    url = url.strip().removesuffix("/embed")
    if not url:
        return None
    signature, words = _read(element, service.name)
    return _frame(url, signature or service.name, "\n".join(words))


def _frame(url: str, title: str, words: str = "") -> HtmlElement:
    return Element("iframe", {"src": url, "title": title[:MAX_SIGNATURE_LENGTH], QUOTED: words})


def _read(element: HtmlElement, service: str) -> tuple[str, list[str]]:
    """The signature of a post and the lines of its words, either of which may be missing."""
    lines = [line for line in canonical_text(element).splitlines() if not line.startswith("♬")]  # TikTok's music
    links = [text for link in element.iter("a") if (text := text_of(link))]
    if len(lines) > 1 and (invitation := next((line for line in lines if _invites(line, service, links)), None)):
        lines.remove(invitation)
    if service == "TikTok" and lines[:1] and lines[0].startswith("@"):
        return lines[0], lines[1:]
    is_signed = lines and any(lines[-1] in link or (len(lines) > 1 and link in lines[-1]) for link in links)
    return (fold(lines[-1].strip(_DASHES)), lines[:-1]) if is_signed else ("", lines)


def _invites(line: str, service: str, links: list[str]) -> bool:
    """True for a link that says where the post is seen, in any language."""
    return service in line and len(line) < _LONGEST_INVITATION and any(line in link for link in links)
