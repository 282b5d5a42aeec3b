"""The type of a body by its first bytes (MIME Sniffing Standard, 6 and 7.2): one table of signatures for all checks."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Signature(NamedTuple):
    """The start of a format: `words` for messages if it can only be binary data, `media_type` and `extension` if the
    format is kept as a media file.
    """

    start: re.Pattern[bytes]
    words: str | None = None
    media_type: str | None = None
    extension: str = ""


_ROWS: Final[tuple[tuple[bytes, str | None, str | None, str], ...]] = (
    (rb"\xff\xd8\xff", "a JPEG image", "image/jpeg", ".jpg"),
    (rb"\x89PNG\r\n\x1a\n", "a PNG image", "image/png", ".png"),
    (rb"\x89PNG", "a PNG image", None, ""),
    (rb"GIF8[79]a", "a GIF image", "image/gif", ".gif"),
    (rb"GIF8", "a GIF image", None, ""),
    (rb"RIFF.{4}WEBP", "a RIFF container", "image/webp", ".webp"),
    (rb"RIFF.{4}WAVE", "a RIFF container", "audio/wav", ".wav"),
    (rb"RIFF.{4}AVI ", "a RIFF container", "video/x-msvideo", ".avi"),
    (rb"RIFF", "a RIFF container", None, ""),
    (rb".{4}ftypavi[fs]", "MP4 media", "image/avif", ".avif"),
    (rb".{4}ftyp(?:hei[cxms]|mif1)", "MP4 media", "image/heic", ".heic"),
    (rb".{4}ftypM4[AB] ", "MP4 media", "audio/mp4", ".m4a"),
    (rb".{4}ftypqt  ", "MP4 media", "video/quicktime", ".mov"),
    (rb".{4}ftyp[\w ]{4}", "MP4 media", "video/mp4", ".mp4"),
    (rb".{4}ftyp", None, "video/mp4", ".mp4"),
    (rb"BM.{4}\0{4}", None, "image/bmp", ".bmp"),
    (rb"II\*\0|MM\0\*", "a TIFF image", "image/tiff", ".tiff"),
    (rb"\0\0\x01\0", None, "image/vnd.microsoft.icon", ".ico"),
    (rb"ID3[\x02-\x04]", "MP3 audio", "audio/mpeg", ".mp3"),
    (rb"ID3", "MP3 audio", None, ""),
    (rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", None, "audio/mpeg", ".mp3"),
    (rb"\xff[\xf0\xf1\xf8\xf9]", None, "audio/aac", ".aac"),
    (rb"OggS", "Ogg media", "audio/ogg", ".ogg"),
    (rb"fLaC", "FLAC audio", "audio/flac", ".flac"),
    (rb"FORM.{4}AIF[FC]", None, "audio/aiff", ".aiff"),
    (rb"\x1aE\xdf\xa3", "Matroska media", "video/webm", ".webm"),
    (rb"\xff\xfe|\xfe\xff", None, "text/plain", ".txt"),
    (rb"%PDF-", "a PDF", "application/pdf", ".pdf"),
    (rb"PK\x03\x04", "a zip archive", "application/zip", ".zip"),
    (rb"(?i)\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*|<!doctype svg[^>]*>\s*)*<svg[\s>]", None, "image/svg+xml", ".svg"),
    (rb"(?i)\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body|title|script|meta)\b", None, "text/html", ".html"),
    (rb"\s*<\?xml\s", None, "application/xml", ".xml"),
    (rb"%!PS-", "PostScript", None, ""),
    (rb"\{\\rtf", "an RTF document", None, ""),
    (rb"Rar!\x1a", "a RAR archive", None, ""),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", None, ""),
    (rb"\x1f\x8b", "gzip data", None, ""),
    (rb"BZh", "bzip2 data", None, ""),
    (rb"\xfd7zXZ", "xz data", None, ""),
    (rb"\x28\xb5\x2f\xfd", "Zstandard data", None, ""),
    (rb"\x7fELF|MZ", "an executable", None, ""),
    (rb"\x00asm", "WebAssembly", None, ""),
    (rb"\xd0\xcf\x11\xe0", "an OLE document", None, ""),
    (rb"wOFF|wOF2", "a font", None, ""),
    (rb"SQLite format 3\x00", "a database", None, ""),
)
SIGNATURES: Final = tuple(
    Signature(re.compile(start, re.DOTALL), words, kind, extension) for start, words, kind, extension in _ROWS
)
"""In the order in which they are tried: of two that match, the first is the closer one."""
_ANY_BINARY: Final = re.compile(b"|".join(b"(?:%s)" % start for start, words, *_ in _ROWS if words), re.DOTALL)

_LISTS_OF_LINKS: Final = {
    "rss": "a feed",
    "feed": "a feed",
    "rdf": "a feed",
    "urlset": "a sitemap",
    "sitemapindex": "a sitemap",
    "opml": "a list of feeds (OPML)",
}
_LISTING: Final = re.compile(
    r"(?:[\s\ufeff]+|<\?.*?\?>|<!--.*?-->|<!doctype\s+(?!html)[^>\[]*>)*+"
    rf"<(?:[\w-]+:)?(?P<name>{'|'.join(_LISTS_OF_LINKS)})[\s>/]",
    re.IGNORECASE | re.DOTALL,
)

BINARY: Final = bytes({*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)})
"""Control characters that no text contains: "binary data byte" of the standard."""
_BINARY_TEXT: Final = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_LOOKED_AT: Final = 4096
_STRAY: Final = 50
"""Minimum number of characters per control character in text, where a few are slips; random bytes have one in nine."""


def kind_of(body: bytes) -> str | None:
    """The binary type that the first bytes of a body show, in words ("a PDF"); None if they show no such type.

    A signature of letters and digits may also begin a text, so that it counts only together with a binary data byte.
    """
    head = body[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    if _ANY_BINARY.match(head) is None:
        return None
    for signature in SIGNATURES:
        found = signature.start.match(head) if signature.words is not None else None
        if found is not None and (not found[0].isalnum() or head.translate(None, BINARY) != head):
            return signature.words
    return None


def document_of_links(text: str) -> str | None:
    """The kind of a document that lists pages for programs, in words ("a feed"), by its root element; None if none."""
    root = _LISTING.match(text[:_LOOKED_AT])
    return _LISTS_OF_LINKS[root["name"].lower()] if root else None


def is_no_text(text: str) -> bool:
    """True if decoded characters are not a text but binary data, by their share of control characters."""
    head = text[:_LOOKED_AT]
    return _STRAY * len(_BINARY_TEXT.findall(head)) > len(head)
