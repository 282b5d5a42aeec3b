"""The dialects of XML feeds: one row each, from which recognition, repair and namespaces are derived.

Namespaces are written without scheme, case and trailing slash or hash, since publishers get those wrong.
"""

from __future__ import annotations

from typing import Final, NamedTuple

ATOM_1: Final = "www.w3.org/2005/atom"
ATOM_03: Final = "purl.org/atom/ns"


class Dialect(NamedTuple):
    """A dialect and the signs of a document in it; a document is in the first dialect whose signs it shows.

    `root` is the local name of the root element in lower case. A document must have one of `spaces` as the namespace of
    its root (or, with `declared`, among the namespaces that the root declares), a `version` attribute that the pattern
    matches, and one of `marks`: names of child elements, `@` and names of attributes, or the root's tag as written.
    Empty conditions hold. `{version}` in `format` stands for the attribute.
    """

    format: str
    root: str
    spaces: tuple[str, ...] = ()
    version: str = ""
    marks: tuple[str, ...] = ()
    declared: bool = False
    entry: str = "item"


DIALECTS: Final = (
    Dialect("rss2.0", "rss", version="2.*"),
    Dialect("rss{version}", "rss", version=r"0\.9[0-4]"),
    Dialect("rss", "rss"),
    Dialect("rss0.90", "rdf", spaces=("netscape.com/rdf/simple/0.9",), declared=True),
    Dialect("rss1.0", "rdf", spaces=("purl.org/rss/1.0",), declared=True),
    Dialect("rss1.0", "rdf", marks=("item", "channel", "items")),
    Dialect("atom1.0", "feed", spaces=(ATOM_1,), entry="entry"),
    Dialect("atom0.3", "feed", spaces=(ATOM_03,), entry="entry"),
    Dialect("atom{version}", "feed", version="[0-9.]{1,5}", entry="entry"),
    Dialect("atom", "feed", entry="entry"),
    Dialect("atom1.0", "entry", spaces=(ATOM_1, ATOM_03), entry="entry"),  # Entry Documents (RFC 4287 section 2)
    Dialect("rss1.1", "channel", spaces=("purl.org/net/rss1.1",)),
    Dialect("cdf", "channel", marks=("abstract", "@href", "CHANNEL")),
    Dialect("rss", "channel", marks=("title", "link", "item", "description")),  # the root element was lost
)

ATOM_SPACES: Final = frozenset({ATOM_1, ATOM_03})
ENTRIES: Final = frozenset(dialect.entry for dialect in DIALECTS)
"""Local names of elements that are an entry."""
ROOTS: Final = frozenset(dialect.root for dialect in DIALECTS) - ENTRIES
"""Local names of root elements."""
HOLDERS: Final = ROOTS | {"channel", "items"}
"""Local names of elements that hold entries."""
ROOT_ATTRIBUTES: Final = {"rss": "version", "rdf": "xmlns", "feed": "xmlns"}
"""Attribute by which a root element is known for one behind junk."""
