import pytest

from feedcrawl.domain.http.framing import ambiguous, is_complete, is_part


@pytest.mark.parametrize(
    ("lengths", "codings", "wrong"),
    [
        ([], [], False),
        ([b"5"], [], False),
        ([b"5", b"5"], [], False),
        ([b"5, 5"], [], False),
        ([b"5", b"6"], [], True),
        ([b"5, 6"], [], True),
        ([b"-5"], [], True),
        ([b"+5"], [], True),
        ([b"5a"], [], True),
        ([b""], [], True),
        (["\u0665".encode()], [], True),
        ([], [b"chunked"], False),
        ([], [b" Chunked "], False),
        ([b"5"], [b"chunked"], True),
        ([b"0"], [b"chunked"], True),
        ([b"5"], [b"identity"], True),
        ([], [b"chunked", b"chunked"], True),
        ([], [b"chunked, chunked"], True),
        ([], [b"gzip, chunked"], True),
        ([], [b"identity"], True),
        ([], [b"xchunked"], True),
        ([], [b""], True),
    ],
)
def test_where_a_body_ends(lengths: list[bytes], codings: list[bytes], wrong: bool) -> None:
    assert (ambiguous(lengths, codings) is not None) is wrong


@pytest.mark.parametrize(
    ("status", "content_range", "part"),
    [
        (200, "", False),
        (200, "bytes 0-9/100", False),
        (206, "", True),
        (206, "bytes 0-9/100", True),
        (206, "bytes 0-99/100", False),
        (206, " Bytes 0-99/100 ", False),
        (206, "bytes 1-99/100", True),
        (206, "bytes 0-99/*", True),
        (206, "bytes */100", True),
        (206, "items 0-99/100", True),
    ],
)
def test_a_206_is_a_part_unless_it_covers_the_whole(status: int, content_range: str, part: bool) -> None:
    assert is_part(status, content_range) is part


@pytest.mark.parametrize(
    ("document", "complete"),
    [
        (b"<rss><channel/></rss>", True),
        (
            b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- <x> --><!DOCTYPE rss [<!ENTITY a 'b'>]><rss><i>a</i></rss >\n\n",
            True,
        ),
        (b"<rdf:RDF><item/></rdf:RDF><!-- cached at noon -->", True),
        (b"<feed><entry/></feed><?php done ?>", True),
        (b"<!doctype html><HTML><p>text</html>\n<!-- 0.1 s --><script>x('</p>')</script>\n", True),
        (b'{"items": []}\n', True),
        (b"[1]", True),
        # Cut off
        (b"", False),
        (b"<rss>", False),
        (b"<rss><channel><item>", False),
        (b"<rss><channel></channel>", False),
        (b"<rss><channel></rss", False),
        (b"<rss><description><![CDATA[ends with </rss> and goes", False),
        (b"<rss></rss><rss>", False),
        (b"<html><script>write('</html>')", False),
        (b"<p>no root</p></html>", False),
        (b'{"items": [', False),
        (b'{"a": 1} {', False),
        (b"[" * 100_000, False),
        (b"plain text", False),
    ],
)
def test_a_document_is_complete_if_its_root_is_closed(document: bytes, complete: bool) -> None:
    assert is_complete(document) == complete
