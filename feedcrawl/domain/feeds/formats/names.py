"""Names of elements, independent of the prefix and the spelling of their namespace in a document."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from feedcrawl.domain.feeds.formats.vocabulary import DIALECTS

if TYPE_CHECKING:
    from lxml.etree import _Element

# Namespaces by the prefix that this package uses; "" is the vocabulary of RSS and Atom itself. URIs are compared
# without scheme, case and trailing slash or hash, since publishers get those wrong.
_SPACES = {
    "": """
        my.netscape.com/rdf/simple/0.9 channel.netscape.com/rdf/simple/0.9 my.netscape.com/publish/formats/rss-0.91.dtd
        purl.org/rss/1.0 purl.org/net/rss1.1 purl.org/rss/1.0/modules/rss091 blogs.law.harvard.edu/tech/rss
        cyber.law.harvard.edu/rss backend.userland.com/rss backend.userland.com/rss2 backend.userland.com/rss091
        backend.userland.com/rss092 backend.userland.com/blogchannelmodule/rss rssboard.org/rss-specification
        purl.org/atom/ns www.w3.org/2005/atom purl.org/pie purl.org/echo
    """,
    "admin": "webns.net/mvcb",
    "content": "purl.org/rss/1.0/modules/content",
    "dc": "purl.org/dc/elements/1.1 purl.org/dc/elements/1.0",
    "dcterms": "purl.org/dc/terms",
    "feedburner": "rssnamespace.org/feedburner/ext/1.0",
    "fh": "purl.org/syndication/history/1.0",
    "itunes": "www.itunes.com/dtds/podcast-1.0.dtd www.itunes.com/dtd/podcast-1.0.dtd example.com/dtds/podcast-1.0.dtd",
    "googleplay": "www.google.com/schemas/play-podcasts/1.0",
    "media": "search.yahoo.com/mrss search.yahoo.com/mrss/ns",
    "podcast": "podcastindex.org/namespace/1.0 github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md",
    "rdf": "www.w3.org/1999/02/22-rdf-syntax-ns",
    "slash": "purl.org/rss/1.0/modules/slash",
    "sx": "feedsync.org/2007/feedsync www.microsoft.com/schemas/rss/sse www.microsoft.com/schemas/sse",
    "sy": "purl.org/rss/1.0/modules/syndication",
    "thr": "purl.org/syndication/thread/1.0",
    "wfw": "wellformedweb.org/commentapi",
    "xhtml": "www.w3.org/1999/xhtml",
    "xml": "www.w3.org/xml/1998/namespace",
}

# The namespace of a prefix that a document uses without declaring it, or declares with an unknown URI.
WELL_KNOWN = {
    "admin": "http://webns.net/mvcb/",
    "atom": "http://www.w3.org/2005/Atom",
    "content": "http://purl.org/rss/1.0/modules/content/",
    "dc": "http://purl.org/dc/elements/1.1/",
    "dcterms": "http://purl.org/dc/terms/",
    "feedburner": "http://rssnamespace.org/feedburner/ext/1.0",
    "fh": "http://purl.org/syndication/history/1.0",
    "googleplay": "http://www.google.com/schemas/play-podcasts/1.0",
    "itunes": "http://www.itunes.com/dtds/podcast-1.0.dtd",
    "media": "http://search.yahoo.com/mrss/",
    "podcast": "https://podcastindex.org/namespace/1.0",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "slash": "http://purl.org/rss/1.0/modules/slash/",
    "sy": "http://purl.org/rss/1.0/modules/syndication/",
    "thr": "http://purl.org/syndication/thread/1.0",
    "wfw": "http://wellformedweb.org/CommentAPI/",
}

# The elements of Dublin Core 1.1, which DCMI Metadata Terms repeats in its own namespace.
_DUBLIN_CORE = frozenset(
    {"contributor", "coverage", "creator", "date", "description", "format", "identifier", "language", "publisher"}
    | {"relation", "rights", "source", "subject", "title", "type"}
)
_LONGEST = 256  # characters of a tag, namespace included
_PREFIXES = {space: prefix for prefix, spaces in _SPACES.items() for space in spaces.split()}
_PREFIXES |= dict.fromkeys((space for dialect in DIALECTS for space in dialect.spaces), "")


def uri_of(tag: str) -> str:
    """The namespace URI of a tag such as `{uri}name`; "" for none."""
    return tag[1:].rpartition("}")[0] if tag.startswith("{") else ""


def local_of(tag: str) -> str:
    """The local name of a tag, without a prefix that a repaired document may still have."""
    return tag.rpartition("}")[2].rpartition(":")[2]


def bare_space(uri: str) -> str:
    """A namespace URI without the parts that publishers vary: scheme, case, trailing slash or hash."""
    return uri.strip().lower().removeprefix("http://").removeprefix("https://").rstrip("/#")


def space_of(tag: str) -> str:
    """The bare namespace of a tag; "" if it has none."""
    return bare_space(uri_of(tag))


def name_of(tag: str) -> str:
    """The lower-case local name with our prefix (`title`, `dc:creator`, …); `?:name` for unknown namespaces."""
    return _name_of(tag) if len(tag) <= _LONGEST else "?:"  # longer tags are unknown, and must not fill the cache


def element_name(element: _Element) -> str:
    """The name of an element as in `name_of`; in an unknown namespace a well-known prefix decides.

    Publishers declare `dc`, `media` and others with URIs of their own, such as that of a page about the vocabulary.
    """
    tag = str(element.tag)
    name = name_of(tag)
    if name.startswith("?:") and (uri := WELL_KNOWN.get(element.prefix or "")):
        return name_of(f"{{{uri}}}{local_of(tag)}")
    return name


@lru_cache(maxsize=2048)
def _name_of(tag: str) -> str:
    uri, local = uri_of(tag), tag.rpartition("}")[2].lower()
    prefix = _PREFIXES.get(bare_space(uri), "?") if uri.strip() else ""
    if prefix == "dcterms" and local in _DUBLIN_CORE:
        prefix = "dc"
    return f"{prefix}:{local}" if prefix else local
