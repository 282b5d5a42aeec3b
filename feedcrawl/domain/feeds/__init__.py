"""Feeds of every format, parsed from their bytes.

Steps of `parse`: bytes → text (`encodings`) → JSON (`jsonfeed`), or XML text → tree (`xmltree`, which repairs malformed
documents with `repair` and `balance`) → channel and entries. Elements of all formats are read by one vocabulary
(`names`), since publishers mix formats. feedparser is the reference in the tests, and parses documents of unknown
structure (`lenient`).

Notes, the codes of tolerated faults: `encoding_lied` `encoding_unknown` `encoding_detected` `encoded_twice`
`bad_bytes` · `wrong_content_type` · `junk_before_root` `control_characters`
`windows_characters` `html_entities` `unknown_entity` `bare_ampersand` `bad_reference` `undeclared_prefix`
`unclosed_element` `stray_end_tag` `truncated` `too_deep` `structure_unknown` `items_object` `link_mended`
· of cuts: `entry_cut_off` (the document ends within an entry; what is cut is left out)
`entries_truncated` `title_truncated` `author_truncated`
`id_truncated` `date_truncated` `generator_truncated` `category_truncated`, `url_too_long` and `link_to_feed` (left
out), and `links_` `authors_` `categories_` `enclosures_truncated`. A poll adds `transfer_incomplete`: the connection
ended after the document, but before the body did; and `entries_dropped`: an operator's rules left entries out.

Codes of NotAFeed: `empty` `html` `soft_404` `login_page` `challenge_page` `sitemap` `opml` `xml` `json` `bad_json`
`text` `binary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.domain.feeds.formats.document import parse

__all__ = ["parse"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
