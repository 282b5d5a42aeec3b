"""Embedded players and posts of other sites, and the article's own video and audio: the links that replace them.

Stored articles contain no code of other sites, so an embedded player becomes a figure with a link.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qs, urlsplit

from lxml.etree import SubElement
from lxml.html import Element

from feedcrawl.domain.figures.images import UNWRITABLE
from feedcrawl.domain.text import QUOTED

if TYPE_CHECKING:
    from lxml.html import HtmlElement

EMBEDS = ("iframe", "video", "audio", "amp-youtube", "lite-youtube", "youtube-video")
MAX_TITLE_LENGTH = 300
_SOURCES = ("src", "data-src", "data-lazy-src", "data-litespeed-src", "data-cmp-src", "data-cookieblock-src")
_PROVIDERS = {
    "archive.org": "Internet Archive", "arte.tv": "ARTE", "bandcamp.com": "Bandcamp", "bilibili.com": "Bilibili",
    "brightcove.net": "Brightcove", "codepen.io": "CodePen", "dailymotion.com": "Dailymotion",
    "datawrapper.de": "Datawrapper", "dwcdn.net": "Datawrapper", "deezer.com": "Deezer", "facebook.com": "Facebook",
    "flourish.studio": "Flourish", "geo.dailymotion.com": "Dailymotion", "google.com": "Google",
    "infogram.com": "Infogram", "instagram.com": "Instagram", "issuu.com": "Issuu", "jsfiddle.net": "JSFiddle",
    "jwplatform.com": "JW Player", "kickstarter.com": "Kickstarter", "loom.com": "Loom", "mixcloud.com": "Mixcloud",
    "nicovideo.jp": "Niconico", "openstreetmap.org": "OpenStreetMap", "apple.com": "Apple", "reddit.com": "Reddit",
    "redditmedia.com": "Reddit", "rumble.com": "Rumble", "rutube.ru": "Rutube", "scribd.com": "Scribd",
    "slideshare.net": "SlideShare", "soundcloud.com": "SoundCloud", "spotify.com": "Spotify",
    "streamable.com": "Streamable", "substack.com": "Substack", "ted.com": "TED", "tiktok.com": "TikTok",
    "twitch.tv": "Twitch", "twitter.com": "Twitter", "vimeo.com": "Vimeo", "vk.com": "VK", "wistia.com": "Wistia",
    "wistia.net": "Wistia", "youku.com": "Youku", "youtube-nocookie.com": "YouTube", "youtube.com": "YouTube",
}  # fmt: skip
_ONLY_PATHS = {"google.com": "/maps", "facebook.com": "/plugins/", "twitter.com": "/"}
_NO_POST = re.compile(r"/plugins/(?:like|share|page|follow|comments|likebox)|/widgets/(?:follow|tweet_button)")
_WEB = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_YOUTUBE = re.compile(r"/(?:embed|v|shorts|live)/([\w-]{6,})")
_VIMEO = re.compile(r"^/video/(\d+)")


class Embed(NamedTuple):
    """The URL that shows or plays an embedded player, post or media file, its title, and the lines of a post."""

    url: str
    title: str
    words: tuple[str, ...] = ()


def embed_of(element: HtmlElement) -> Embed | None:
    """The link that replaces an element of EMBEDS; None for advertisements and all other frames.

    The URL may be relative for video and audio of the page's own site.
    """
    source = _source(element)
    if not source or UNWRITABLE.search(source):
        return None
    title = " ".join((element.get("title") or element.get("aria-label") or "").split())[:MAX_TITLE_LENGTH]
    if element.tag in {"video", "audio"}:
        if source.startswith("blob:"):
            return None
        return Embed(source, title or _file_name(source))
    if (words := element.get(QUOTED)) is not None:
        return Embed(source, title or _file_name(source), tuple(words.splitlines())) if _WEB.match(source) else None
    provider = _provider(source)
    return Embed(_page_of(source), title or _PROVIDERS[provider]) if provider else None


def show_embeds(tree: HtmlElement) -> None:
    """Replace each player and post of a known site by a figure with a link and its title; remove all others.

    The words of a post stay as a quotation, with the link as its caption.
    """
    for element in list(tree.iter(*EMBEDS)):
        if element.getparent() is None:
            continue
        embed = embed_of(element)
        if embed is None:
            continue
        figure = _figure(embed, is_inner=_in_figure(element))
        figure.tail = element.tail
        element.getparent().replace(element, figure)


def _figure(embed: Embed, *, is_inner: bool) -> HtmlElement:
    """What stands for an embedded thing, without a figure of its own if `is_inner`."""
    link = Element("a", href=embed.url)
    link.text = embed.title
    if is_inner and not embed.words:
        return link
    figure = Element("div" if is_inner else "figure")
    if not embed.words:
        figure.append(link)
        return figure
    quotation = SubElement(figure, "blockquote", cite=embed.url)
    for line in embed.words:
        SubElement(quotation, "p").text = line
    SubElement(figure, "p" if is_inner else "figcaption").append(link)
    return figure


def _in_figure(element: HtmlElement) -> bool:
    return next(element.iterancestors("figure"), None) is not None


def _source(element: HtmlElement) -> str:
    if element.tag not in {"iframe", "video", "audio"}:
        video = element.get("data-videoid") or element.get("videoid") or element.get("video-id") or ""
        return f"https://www.youtube.com/embed/{video}" if video else element.get("src") or ""
    named = (element.get(name) or "" for name in _SOURCES)
    inner = (source.get("src") or "" for source in _following_sources(element))
    return next((text for each in (*named, *inner) if (text := each.strip()) and text != "about:blank"), "")


def _following_sources(element: HtmlElement) -> list[HtmlElement]:
    return list(element.iter("source")) if element.tag in {"video", "audio"} else []


def _provider(source: str) -> str | None:
    """The key of the known site that a frame shows; None for an unknown site, and for follow or share buttons."""
    try:
        parts = urlsplit(source)
        host = parts.hostname or ""
    except ValueError:
        return None
    labels = host.split(".")
    known = (name for start in range(len(labels) - 1) if (name := ".".join(labels[start:])) in _PROVIDERS)
    found = next(known, None)
    if found is None or parts.scheme not in {"", "http", "https"} or _NO_POST.search(parts.path):
        return None
    return found if parts.path.startswith(_ONLY_PATHS.get(found, "/")) else None


def _page_of(source: str) -> str:
    """The page of a player's video; for other sites, the player's own URL."""
    parts = urlsplit(source if not source.startswith("//") else f"https:{source}")
    host = parts.hostname or ""
    if host.endswith(("youtube.com", "youtube-nocookie.com")):
        if match := _YOUTUBE.search(parts.path):
            return (
                f"https://www.youtube.com/watch?v={match[1]}" if match[1] != "videoseries" else _playlist(parts.query)
            )
    elif host == "player.vimeo.com" and (match := _VIMEO.search(parts.path)):
        return f"https://vimeo.com/{match[1]}"
    return parts.geturl()


def _playlist(query: str) -> str:
    return f"https://www.youtube.com/playlist?list={parse_qs(query).get('list', [''])[0]}"


def _file_name(source: str) -> str:
    return source.partition("?")[0].rstrip("/").rpartition("/")[2] or source
