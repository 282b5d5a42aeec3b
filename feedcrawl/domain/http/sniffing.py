"""What a body is that was said to be text, by its bytes and not by its name (MIME Sniffing Standard, 6 and 7.2)."""

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
"""Control characters that no text has: "binary data byte" of the standard."""
_BINARY_TEXT: Final = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_LOOKED_AT: Final = 4096
_STRAY: Final = 50
"""One control character in so many is a slip of a page's maker; bytes of no kind have one in nine."""
_ISO_MEDIA: Final = re.compile(rb".{4}ftyp[\w ]{4}", re.DOTALL)


def kind_of(body: bytes) -> str | None:
    """What a body's first bytes give it away as, in words ("a PDF"); None where they give away nothing.

    A signature that is a word may begin a text as well: there it takes a byte that no text has.
    """
    head = body[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    if _ISO_MEDIA.match(head):
        return "MP4 media"
    for signature, kind in _SIGNATURES.items():
        if head.startswith(signature) and (not signature.isalnum() or head.translate(None, _BINARY) != head):
            return kind
    return None


def is_no_text(text: str) -> bool:
    """Whether characters, decoded from bytes by whatever encoding, are none that anyone wrote."""
    head = text[:_LOOKED_AT]
    return _STRAY * len(_BINARY_TEXT.findall(head)) > len(head)
