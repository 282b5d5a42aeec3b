"""HTML that is safe to show: an allow-list of harmless markup with absolute links.

Two passes, in this order. lxml parses the markup with limits on depth and size, and makes links absolute; nh3, which
builds the same tree as browsers, then removes everything that is not allowed. (nh3 alone takes quadratic time in depth:
a minute and a half for 100,000 nested elements.)
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin, urlsplit

import nh3
from lxml import etree

from feedcrawl.domain import urls
from feedcrawl.domain.addresses import is_literal, is_public
from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.figures.embeds import show_embeds
from feedcrawl.domain.figures.formulas import MATH_ATTRIBUTES, settle_formulas
from feedcrawl.domain.figures.images import UNWRITABLE, drop_repeated_images, image_source, is_pixel, show_images
from feedcrawl.domain.figures.posts import settle_posts
from feedcrawl.domain.markup import MATH_TAGS, Elements, drop_all, parse_html
from feedcrawl.domain.text import BLOCKS, is_unknown

if TYPE_CHECKING:
    from collections.abc import Callable

    from lxml.html import HtmlElement

MAX_DEPTH = 200
MAX_URL_LENGTH = 4096

_TAGS = {
    "a", "abbr", "b", "bdi", "blockquote", "br", "caption", "cite", "code", "col", "colgroup", "dd", "del",
    "dfn", "div", "dl", "dt", "em", "figcaption", "figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i",
    "img", "ins", "kbd", "li", "mark", "ol", "p", "pre", "q", "rp", "rt", "ruby", "s", "samp", "small", "span",
    "strong", "sub", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr", "u", "ul", "var",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title", "hreflang", "target", "rel", "referrerpolicy"},
    "img": {"src", "alt", "title", "width", "height"},
    "blockquote": {"cite"},
    "q": {"cite"},
    "ol": {"start", "reversed"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan", "scope"},
    "time": {"datetime"},
    "*": {"lang", "dir"},
    **MATH_ATTRIBUTES,
}
_DROPPED_WITH_CONTENT = {
    "applet", "audio", "button", "canvas", "datalist", "embed", "frame", "frameset", "iframe", "input",
    "noembed", "noframes", "noscript", "object", "option", "plaintext", "script", "select", "style", "svg",
    "template", "textarea", "title", "video", "xmp",
}  # fmt: skip
_STAYING = _TAGS | MATH_TAGS
_DRAWN_BLOCKS = BLOCKS - _TAGS  # they end a line, and would run together with the next where only their text stays
_LINK_ATTRIBUTES = {"rel": "noopener noreferrer", "target": "_blank", "referrerpolicy": "no-referrer"}
_NO_TAG = "article"  # not allowed: of an element with this tag the content stays
_WITH_URL = {"a": "href", "img": "src", "blockquote": "cite", "q": "cite"}
_RELATIVE = re.compile(r' (?:href|src|cite)="(?!https?:|mailto:)')  # also in some texts
_OVERRIDES = ("\u202d", "\u202e")  # these make text look like another text; no language needs them (UAX 9, 2.2)
_URL_NOISE = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028\u2029\ufeff]+")


def clean_html(html: str, *, base_url: str) -> str:
    """The harmless part of an HTML fragment, with absolute links and images.

    Only elements and attributes of a short list remain: no scripts, style, class, id or handlers. Links open in a new
    window and send no referrer; tracking pixels and bidirectional overrides are removed. The function is idempotent.
    """
    tree = _parse_fragment(html)
    if tree is not None:
        elements = Elements(tree)
        show_images(elements)
        settle_formulas(elements)
        settle_posts(elements)
    return clean_tree(tree, base_url=base_url) if tree is not None else ""


def clean_tree(tree: HtmlElement, *, base_url: str, image_proxy: str | None = None) -> str:
    """The harmless content of a parsed fragment, as `clean_html`, without the element itself; changes the tree.

    `image_proxy` is a path or URL ("/media/image?url=") to which the address of every image is appended,
    percent-encoded. Its pictures, formulas and posts must have been settled (`domain.figures`).
    """
    _limit_depth(tree)
    show_embeds(tree)
    elements = Elements(tree)
    drop_all(tree, elements.of(*_DROPPED_WITH_CONTENT))
    elements.read()
    _keep_apart(elements)
    _drop_images(elements, is_pixel)
    _resolve(elements, base_url, image_proxy)
    _drop_images(elements, lambda image: not image.get("src"))
    _unwrap_images(elements)
    drop_repeated_images(elements)
    tree.tag = _NO_TAG
    safe = _allow(etree.tostring(tree, encoding="unicode", method="html", with_tail=False), image_proxy)
    for override in _OVERRIDES:
        safe = safe.replace(override, "")
    return safe.strip()


def safe_url(url: str, base_url: str) -> str | None:
    """The absolute http(s) or mailto URL of an attribute; None if it may not be followed.

    An address that is not public is refused unless the page itself is on that host: a reader's browser would request it
    from inside the reader's network.
    """
    if len(url) > MAX_URL_LENGTH or not url or _URL_NOISE.fullmatch(url) or UNWRITABLE.search(url):
        return None
    try:
        absolute = urljoin(base_url, url.strip())
        parts = urlsplit(absolute)
    except ValueError:
        return None
    if parts.scheme == "mailto":
        return absolute
    is_usual = parts.netloc and len(absolute) <= urls.MAX_URL_LENGTH
    host = _host_of(f"{parts.scheme}://{parts.netloc}/" if is_usual else absolute)
    is_safe = host is not None and (not _is_inside(host) or host == _host_of(base_url))
    return absolute if is_safe else None


@lru_cache(maxsize=1024)
def _is_inside(host: str) -> bool:
    """True for an address that is not public; remembered, since a page has few hosts and many links."""
    return is_literal(host) and not is_public(host)


@lru_cache(maxsize=1024)
def _host_of(url: str) -> str | None:
    """The host of a URL; None for a URL without a host and for schemes that are not of the web."""
    try:
        return urls.hostname(url)
    except InvalidUrl:
        return None


def _parse_fragment(html: str) -> HtmlElement | None:
    document = parse_html(f"<body><div>{html}</div>") if html.strip() else None
    body = document.find("body") if document is not None else None
    if body is not None and len(body):
        body[0].drop_tag()
    return body


def _limit_depth(tree: HtmlElement) -> None:
    """Remove elements nested deeper than MAX_DEPTH, which no real page needs."""
    depth, too_deep = 0, []
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        depth += 1 if event == "start" else -1
        if depth > MAX_DEPTH and event == "start":
            too_deep.append(element)
            walk.skip_subtree()
    drop_all(tree, too_deep)


def _keep_apart(elements: Elements) -> None:
    """Make a `div` of blocks that are not allowed, and part unknown elements that stand side by side."""
    for element in elements.all[1:]:
        if element.tag in _DRAWN_BLOCKS:
            element.tag = "div"
        elif is_unknown(element) and not element.tail:
            element.tail = " "


def _drop_images(elements: Elements, is_useless: Callable[[HtmlElement], bool]) -> None:
    if useless := [image for image in elements.of("img") if is_useless(image)]:
        drop_all(elements.tree, useless, apart=False)
        elements.read()


def _unwrap_images(elements: Elements) -> None:
    """Remove other tags around images where images may be repeated, so that copies of an image become neighbours."""
    if len(elements.of("img")) > 1:
        unwrapped = {element.tag for element in elements.all[1:] if isinstance(element.tag, str)} - _STAYING
        etree.strip_tags(elements.tree, *unwrapped)
        elements.read()


def _resolve(elements: Elements, base_url: str, image_proxy: str | None) -> None:
    for image in elements.of("img"):
        _set_or_drop(image, "src", image_source(image))
    safe = cache(partial(safe_url, base_url=base_url))  # a picture and a headline often lead to the same page
    for element in elements.of(*_WITH_URL):
        name = _WITH_URL[element.tag]
        url = element.get(name)
        if url is not None and not _is_proxied(element.tag, name, url, image_proxy):
            _set_or_drop(element, name, safe(url))
    for link in elements.of("a"):
        # nh3 sets these too, but in an order that differs from process to process.
        for name in _LINK_ATTRIBUTES.keys() & link.keys():
            del link.attrib[name]
        link.attrib.update(_LINK_ATTRIBUTES)
    if image_proxy:
        for image in elements.of("img"):
            _set_or_drop(image, "src", _proxied(image.get("src"), image_proxy))


def _set_or_drop(element: HtmlElement, name: str, value: str | None) -> None:
    if value is not None:
        element.set(name, value)
    elif name in element.attrib:
        del element.attrib[name]


def _proxied(source: str | None, image_proxy: str) -> str | None:
    if not source or source.startswith(image_proxy):
        return source
    return image_proxy + quote(source, safe="")


def _is_proxied(tag: str, name: str, value: str, image_proxy: str | None) -> bool:
    """True if the address of an image already goes through the proxy, which may be a relative path."""
    return image_proxy is not None and (tag, name) == ("img", "src") and value.startswith(image_proxy)


def _allow(html: str, image_proxy: str | None) -> str:
    safe = _allow_list(None).clean(html)  # a filter is called for each attribute, which is half of the cost
    return _allow_list(partial(_only_absolute, image_proxy)).clean(html) if _RELATIVE.search(safe) else safe


@lru_cache(maxsize=2)
def _allow_list(attribute_filter: Callable[[str, str, str], str | None] | None) -> nh3.Cleaner:
    return nh3.Cleaner(
        tags=_STAYING,
        clean_content_tags=_DROPPED_WITH_CONTENT,
        attributes=_ATTRIBUTES,
        attribute_filter=attribute_filter,
        url_schemes={"http", "https", "mailto"},
        link_rel=None,
        set_tag_attribute_values={"a": _LINK_ATTRIBUTES},
    )


def _only_absolute(image_proxy: str | None, tag: str, name: str, value: str) -> str | None:
    """The value of an attribute; None for a URL still relative, because nh3 found an element where lxml saw text."""
    absolute = value.startswith(("http:", "https:", "mailto:")) or _is_proxied(tag, name, value, image_proxy)
    return value if name != _WITH_URL.get(tag) or absolute else None
