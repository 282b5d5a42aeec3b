"""The real type of a body that was declared as text, by its bytes (MIME Sniffing Standard, 6 and 7.2)."""

from __future__ import annotations

import re
from typing import Final

_SIGNATURES: Final = {
    b"%PDF-": "a PDF",
    b"%!PS-": "PostScript",
    b"{\\rtf": "an RTF document",
    b"PK\x03\x04": "a zip archive",
    b"Rar!\x1a": "a RAR archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x1f\x8b": "gzip data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
    b"\x7fELF": "an executable",
    b"MZ": "an executable",
    b"\x00asm": "WebAssembly",
    b"\xff\xd8\xff": "a JPEG image",
    b"\x89PNG": "a PNG image",
    b"GIF8": "a GIF image",
    b"II*\x00": "a TIFF image",
    b"MM\x00*": "a TIFF image",
    b"RIFF": "a RIFF container",
    b"OggS": "Ogg media",
    b"ID3": "MP3 audio",
    b"fLaC": "FLAC audio",
    b"\x1aE\xdf\xa3": "Matroska media",
    b"\xd0\xcf\x11\xe0": "an OLE document",
    b"wOFF": "a font",
    b"wOF2": "a font",
    b"SQLite format 3\x00": "a database",
}
_BINARY: Final = bytes({*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)})
"""Control characters that no text contains: "binary data byte" of the standard."""
_BINARY_TEXT: Final = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_LOOKED_AT: Final = 4096
_STRAY: Final = 50
"""Minimum number of characters per control character in text, where a few are slips; random bytes have one in nine."""
_ISO_MEDIA: Final = re.compile(rb".{4}ftyp[\w ]{4}", re.DOTALL)


def kind_of(body: bytes) -> str | None:
    """The binary type that the first bytes of a body show, in words ("a PDF"); None if they show no such type.

    A signature of letters and digits may also begin a text, so that it counts only together with a binary data byte.
    """
    head = body[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    if _ISO_MEDIA.match(head):
        return "MP4 media"
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature) and (not signature.isalnum() or head.translate(None, _BINARY) != head):
            return kind
    return None


def is_no_text(text: str) -> bool:
    """True if decoded characters are not a text but binary data, by their share of control characters."""
    head = text[:_LOOKED_AT]
    return _STRAY * len(_BINARY_TEXT.findall(head)) > len(head)
