import gzip

import pytest

from feedcrawl.domain.sitemaps.gunzip import gunzip

TEXT = b"https://news.example/a\n" * 100
FILE = gzip.compress(TEXT)


@pytest.mark.parametrize(
    ("body", "content", "note"),
    [
        (b"", b"", None),
        (TEXT, TEXT, None),
        (FILE, TEXT, None),
        (gzip.compress(FILE), TEXT, None),
        (FILE + FILE, TEXT + TEXT, None),
        (FILE + b"trailing garbage", TEXT, None),
        (FILE[:-8], TEXT, "gzip truncated"),
        (b"\x1f\x8b\x08\x00" + b"\0" * 6 + b"\xff" * 20, b"", "gzip damaged"),
        (b"\x1f\x8b", b"", "gzip truncated"),
    ],
)
def test_content_and_notes(body, content, note):
    got, notes = gunzip(body, limit_bytes=1 << 20)
    assert got == content
    assert [text.startswith(note or "") for text in notes] == [True] * (note is not None)


def test_a_bomb_is_read_up_to_the_limit():
    content, notes = gunzip(gzip.compress(bytes(20 << 20)), limit_bytes=1000)
    assert (len(content), notes) == (1000, ("cut at 1000 bytes",))


def test_a_third_layer_is_left_alone():
    assert gunzip(gzip.compress(gzip.compress(FILE)), limit_bytes=1 << 20)[0] == FILE
