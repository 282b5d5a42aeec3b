import contextlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.articles import files
from feedcrawl.domain.articles.files import HEAD_BYTES, MAX_FILES, WantedFile
from feedcrawl.domain.errors import Refusal

MEDIA = ("image/*", "audio/*", "video/*")
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
HTML = b"<!DOCTYPE html>\n<title>404</title>"
SVG = b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- made by hand -->\n<!DOCTYPE svg PUBLIC "x">\n<svg xmlns="x"/>'

SEEN = [
    (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg", ".jpg"),
    (PNG, "image/png", ".png"),
    (b"GIF89a\1\0\1\0", "image/gif", ".gif"),
    (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp", ".webp"),
    (b"\0\0\0\x20ftypavif\0\0\0\0", "image/avif", ".avif"),
    (b"\0\0\0\x18ftypheic\0\0\0\0", "image/heic", ".heic"),
    (b"BM\x8a\0\0\0\0\0\0\0", "image/bmp", ".bmp"),
    (b"II*\0\x08\0\0\0", "image/tiff", ".tiff"),
    (b"MM\0*\0\0\0\x08", "image/tiff", ".tiff"),
    (b"\0\0\1\0\1\0", "image/vnd.microsoft.icon", ".ico"),
    (b"\0\0\0\x1cftypM4A \0\0\0\0", "audio/mp4", ".m4a"),
    (b"\0\0\0\x14ftypqt  \0\0\0\0", "video/quicktime", ".mov"),
    (b"\0\0\0\x18ftypmp42\0\0\0\0", "video/mp4", ".mp4"),
    (b"ID3\x03\0\0", "audio/mpeg", ".mp3"),
    (b"\xff\xfb\x90\x64", "audio/mpeg", ".mp3"),
    (b"\xff\xf1\x50\x80", "audio/aac", ".aac"),
    (b"OggS\0\2", "audio/ogg", ".ogg"),
    (b"fLaC\0\0\0\x22", "audio/flac", ".flac"),
    (b"RIFF\x24\0\0\0WAVEfmt ", "audio/wav", ".wav"),
    (b"FORM\0\0\0\x10AIFF", "audio/aiff", ".aiff"),
    (b"RIFF\x24\0\0\0AVI LIST", "video/x-msvideo", ".avi"),
    (b"\x1aE\xdf\xa3\x01\0", "video/webm", ".webm"),
    (b"%PDF-1.7\n", "application/pdf", ".pdf"),
    (b"PK\x03\x04\x14\0", "application/zip", ".zip"),
    (SVG, "image/svg+xml", ".svg"),
    (b"<SVG width='1'>", "image/svg+xml", ".svg"),
    (b"\n<!-- x --><html>", "text/html", ".html"),
    (HTML, "text/html", ".html"),
    (b"<?xml version='1.0'?><rss/>", "application/xml", ".xml"),
    (b'{"error": "none"}', "text/plain", ".txt"),
    ("Ärger".encode(), "text/plain", ".txt"),
    (("x" * (HEAD_BYTES - 1) + "Ä").encode()[:HEAD_BYTES], "text/plain", ".txt"),  # cut within a character
]


@pytest.mark.parametrize(("head", "kind", "extension"), SEEN, ids=lambda each: repr(each)[:24])
def test_the_first_bytes_tell_the_type(head: bytes, kind: str, extension: str) -> None:
    assert files.judge("application/octet-stream", head, ("*/*", kind)) == (kind, extension)


JUDGED: list[tuple[str, bytes, tuple[str, str] | str]] = [
    ("image/png", PNG, ("image/png", ".png")),
    ("image/jpeg", PNG, ("image/png", ".png")),  # both are taken: the bytes are right
    ("", PNG, ("image/png", ".png")),
    ("application/octet-stream", PNG, ("image/png", ".png")),
    ("application/octet-stream", b"%PDF-1.7", "unsupported_type"),
    ("", b"\x01\x02\x03", "unsupported_type"),
    ("text/html", PNG, "unsupported_type"),
    ("application/pdf", b"%PDF-1.7", "unsupported_type"),
    ("image/png", HTML, "type_mismatch"),
    ("image/png", b"Not found", "type_mismatch"),
    ("audio/mpeg", b"PK\x03\x04", "type_mismatch"),
    ("image/svg+xml", HTML, "type_mismatch"),
    ("image/svg+xml", SVG, ("image/svg+xml", ".svg")),
    ("image/svg+xml", b'<?xml version="1.0"?><!-- ' + b"x" * 90 + b" -->", ("image/svg+xml", ".xml")),
    ("image/png", b"", "empty"),
    ("audio/x-rare", b"\x01\x02\x03", ("audio/x-rare", "")),  # nobody knows better
    ("audio/x-m4a", b"\0\0\0\x18ftypmp42", ("audio/x-m4a", ".mp4")),
    ("video/ogg", b"OggS\0\2", ("video/ogg", ".ogg")),
    ("audio/webm", b"\x1aE\xdf\xa3\x01\0", ("audio/webm", ".webm")),
    ("video/mp4", b"OggS\0\2", ("audio/ogg", ".ogg")),
    ("image/png", b"\xff\xfe<\0h\0", "type_mismatch"),  # text in UTF-16
]


@pytest.mark.parametrize(("declared", "head", "expected"), JUDGED, ids=lambda each: repr(each)[:24])
def test_the_server_and_the_bytes_must_agree_to_be_taken(
    declared: str, head: bytes, expected: tuple[str, str] | str
) -> None:
    if isinstance(expected, tuple):
        assert files.judge(declared, head, MEDIA) == expected
        return
    with pytest.raises(Refusal) as refused:
        files.judge(declared, head, MEDIA)
    assert refused.value.code == expected


def test_text_files_are_accepted_where_configured() -> None:
    assert files.judge("text/vtt", b"WEBVTT\n", ("text/vtt",)) == ("text/vtt", ".txt")


@given(st.binary(max_size=300), st.sampled_from(["", "image/png", "image/svg+xml", "audio/mpeg", "text/html"]))
def test_an_accepted_file_has_an_accepted_type(head: bytes, declared: str) -> None:
    with contextlib.suppress(Refusal):
        kind, extension = files.judge(declared, head, MEDIA)
        assert kind.startswith(("image/", "audio/", "video/"))
        assert extension in ("", ".xml") or any(extension == each[2] for each in SEEN)


def test_wanted_files_are_limited_and_each_url_counts_once() -> None:
    many = [f"http://a.test/{number}.png" for number in range(2 * MAX_FILES)]
    assert [file.url for file in files.wanted_files(many, "enclosure")] == many[:MAX_FILES]
    same = files.wanted_files(["http://A.test/x.png#a", "http://a.test/x.png#b", "HTTP://a.test:80/x.png"], "image")
    assert same == [WantedFile("http://a.test/x.png", "image")]


def test_a_wish_has_a_task_of_its_own_kind() -> None:
    file = WantedFile("http://a.test/x.png", "image")
    task = file.task()
    assert (task.id, task.kind, task.host, task.priority) == (file.id, "file", "a.test", 1)
    assert re.fullmatch("file:[0-9a-f]{32}", file.id)
    assert file.id == WantedFile("http://a.test/x.png", "enclosure").id != WantedFile("http://a.test/X.png", "image").id


def test_links() -> None:
    (unusable,) = files.wanted_files(["ftp://a.test/x"], "enclosure")
    empty = {"sha256": None, "content_type": None, "size_bytes": None, "path": None, "machine": None}
    assert files.link(unusable, None) == {
        "url": "ftp://a.test/x", "role": "enclosure", "status": "failed", "reason": unusable.reason, **empty,
    }  # fmt: skip
    assert unusable.reason.startswith("url_")
    file = WantedFile("http://a.test/x", "image")
    assert files.link(file, None) == {"url": file.url, "role": "image", "status": "pending", "reason": None, **empty}
    known = files.state("pending") | {
        "status": "stored",
        "sha256": "ab",
        "content_type": "image/png",
        "size_bytes": 3,
        "path": "files/ab/ab",
        "machine": "m",
    }
    assert files.link(file, known) == {"url": file.url, "role": "image", **known}


def test_old_files_that_no_record_names_may_be_removed() -> None:
    present = {files.path_of("aa1", ".png"): 10.0, files.path_of("aa2", ""): 10.0, files.path_of("aa3", ".mp3"): 99.0}
    assert list(present) == ["aa/aa1.png", "aa/aa2", "aa/aa3.mp3"]
    assert files.unnamed(present, {"aa1"}, 50.0) == ["aa/aa2"]
    assert files.unnamed(present, set(), 100.0) == list(present)
    assert files.unnamed(present, set(), 10.0) == []
