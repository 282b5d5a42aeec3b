"""Feeds of every format, read from their bytes.

`parse` goes: bytes → text (`encodings`) → JSON (`jsonfeed`), or XML text → tree (`xmltree`, which mends what is
malformed: `repair`, `balance`) → channel and entries. Whatever the format, elements are read by one vocabulary
(`names`), since publishers mix them. feedparser is the reference of the tests, and reads what has a structure of its
own (`lenient`).

Notes, the codes of what was forgiven: `encoding_lied` `encoding_unknown` `encoding_detected` `bad_bytes` ·
`wrong_content_type` · `junk_before_root` `space_before_declaration` `control_characters` `windows_characters`
`html_entities` `unknown_entity` `bare_ampersand` `bad_reference` `undeclared_prefix` `unclosed_element`
`stray_end_tag` `truncated` `too_deep` `structure_unknown` · what was cut: `entries_truncated` `title_truncated`
`author_truncated` `id_truncated` `date_truncated` `generator_truncated` `category_truncated`, `url_too_long` and
`link_to_feed` (left out), and `links_` `authors_` `categories_` `enclosures_truncated`.

Codes of NotAFeed: `empty` `html` `soft_404` `login_page` `challenge_page` `sitemap` `opml` `xml` `json` `bad_json`
`text` `binary`.
"""

from __future__ import annotations

from feedcrawl.domain.feeds.formats.document import parse

__all__ = ["parse"]
