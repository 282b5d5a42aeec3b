"""The dialects of XML feeds: one row each, from which recognition, repair and namespaces are derived.

Namespaces are without scheme, case and trailing slash or hash, since publishers get those wrong.
"""

from __future__ import annotations

from typing import Final, NamedTuple

ATOM_1: Final = "www.w3.org/2005/atom"
ATOM_03: Final = "purl.org/atom/ns"


class Dialect(NamedTuple):
    """A dialect and the conditions for its documents; a document has the first dialect whose conditions it meets.

    `root` is the local name of the root element in lower case. The namespace of the root (or, with `declared`, a
    namespace that the root declares) must be one of `spaces`, the root's `version` must match the pattern, and one of
    `marks` must be present: the name of a child element, `@` and the name of an attribute, or the root's tag as
    written. An empty condition is always met. `{version}` in `format` is replaced by the attribute.
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
    Dialect("rss", "channel", marks=("title", "link", "item", "description")),  # the root element is missing
)

ATOM_SPACES: Final = frozenset({ATOM_1, ATOM_03})
ENTRIES: Final = frozenset(dialect.entry for dialect in DIALECTS)
"""Local names of the elements of entries."""
ROOTS: Final = frozenset(dialect.root for dialect in DIALECTS) - ENTRIES
"""Local names of root elements."""
HOLDERS: Final = ROOTS | {"channel", "items"}
"""Local names of the elements that contain entries."""
ROOT_ATTRIBUTES: Final = {"rss": "version", "rdf": "xmlns", "feed": "xmlns"}
"""The attribute by which a root element after junk is recognised."""
