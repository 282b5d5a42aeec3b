import io
import zlib
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from feedcrawl.domain.archive.warc import Captured, Exchange, pack, payload_digest, unpack, warcinfo

ID = "5b1c8f0e-6a0e-4c38-9d3a-0d3d1f3f9a11"
EARLIER = "0f0f0f0f-6a0e-4c38-9d3a-0d3d1f3f9a11"
AT = datetime(2026, 11, 27, 23, 6, 16, 123456, tzinfo=UTC)
BEFORE = datetime(2026, 11, 26, 23, 6, 16, tzinfo=UTC)
PREVIOUS = Captured(EARLIER, "http://a.test/feed", BEFORE, payload_digest(b"<rss/>"))


def exchange(**given):
    return Exchange(**{"fetch_id": ID, "url": "http://a.test/feed", "fetched_at": AT, "status": 200, **given})


def records(data):
    """Every record as warcio reads it, digests checked: type, WARC fields, HTTP head, payload."""
    found = []
    for record in ArchiveIterator(io.BytesIO(data), check_digests="raise", verify_http=True):
        payload = record.raw_stream.read()
        found.append((record.rec_type, dict(record.rec_headers.headers), record.http_headers, payload))
    return found


def read(given):
    packed = pack(given)
    return records(packed.response + packed.request)


def test_a_pair_of_records():
    (kind, fields, http, body), (request_kind, request_fields, request_http, _) = read(
        exchange(
            body=b"<rss/>",
            reason="OK",
            ip="127.0.0.1",
            response_headers=[(b"Etag", b'"1"'), (b"Set-Cookie", b"a=1"), (b"Set-Cookie", b"b=2")],
            request_headers=[(b"User-Agent", b"feedcrawl")],
        )
    )
    assert (kind, request_kind) == ("response", "request")
    assert fields["WARC-Record-ID"] == f"<urn:uuid:{ID}>" == request_fields["WARC-Concurrent-To"]
    assert fields["WARC-Target-URI"] == request_fields["WARC-Target-URI"] == "http://a.test/feed"
    assert fields["WARC-Date"] == "2026-11-27T23:06:16.123456Z"
    assert fields["WARC-IP-Address"] == "127.0.0.1"
    assert fields["WARC-Payload-Digest"] == payload_digest(b"<rss/>")
    assert (http.protocol, http.statusline) == ("HTTP/1.1", "200 OK")
    assert http.headers == [("Etag", '"1"'), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    assert body == b"<rss/>"
    assert (request_http.protocol, request_http.statusline) == ("GET", "/feed HTTP/1.1")
    assert request_http.headers == [("Host", "a.test"), ("User-Agent", "feedcrawl")]


def test_a_record_is_a_gzip_member():
    packed = pack(exchange(body=b"x" * 10_000))
    for member in (packed.response, packed.request):
        reader = zlib.decompressobj(wbits=31)
        reader.decompress(member)
        assert reader.eof
        assert reader.unused_data == b""


@pytest.mark.parametrize(
    ("given", "profile", "fields", "payload"),
    [
        ({"status": 304}, "server-not-modified", set(), b""),
        ({"status": 304, "previous": PREVIOUS}, "server-not-modified", {"WARC-Refers-To"}, b""),
        (
            {"body": b"<rss/>", "previous": PREVIOUS},
            "identical-payload-digest",
            {"WARC-Refers-To", "WARC-Payload-Digest", "WARC-Truncated"},
            b"",
        ),
        ({"body": b"<rss>new", "previous": PREVIOUS}, None, {"WARC-Payload-Digest"}, b"<rss>new"),
        (
            {"body": b"<rss/>", "previous": PREVIOUS, "truncated": "disconnect"},
            None,
            {"WARC-Payload-Digest", "WARC-Truncated"},
            b"<rss/>",
        ),
        (
            {"body": b"", "previous": Captured(EARLIER, "u", AT, payload_digest(b""))},
            None,
            {"WARC-Payload-Digest"},
            b"",
        ),
    ],
)
def test_when_a_body_is_written_again(given, profile, fields, payload):
    kind, found, _, body = read(exchange(**given))[0]
    assert kind == ("revisit" if profile else "response")
    assert found.get("WARC-Profile") == (profile and f"http://netpreserve.org/warc/1.1/revisit/{profile}")
    assert {name for name in found if name in {"WARC-Refers-To", "WARC-Payload-Digest", "WARC-Truncated"}} == fields
    assert body == payload


def test_a_revisit_names_its_first_record():
    fields = read(exchange(status=304, previous=PREVIOUS))[0][1]
    assert fields["WARC-Refers-To"] == f"<urn:uuid:{EARLIER}>"
    assert fields["WARC-Refers-To-Target-URI"] == "http://a.test/feed"
    assert fields["WARC-Refers-To-Date"] == "2026-11-26T23:06:16Z"


@pytest.mark.parametrize(
    ("url", "line", "host"),
    [
        ("http://a.test", "/ HTTP/1.1", "a.test"),
        ("http://a.test:80/x?y=1#z", "/x?y=1 HTTP/1.1", "a.test"),
        ("https://a.test:443/x", "/x HTTP/1.1", "a.test"),
        ("http://a.test:443/x", "/x HTTP/1.1", "a.test:443"),
        ("http://a.test?q=/@b", "/?q=/@b HTTP/1.1", "a.test"),
        ("http://user:secret@a.test:8080/", "/ HTTP/1.1", "a.test:8080"),
        ("http://[::1]:8080/%C3%A9", "/%C3%A9 HTTP/1.1", "[::1]:8080"),
    ],
)
def test_the_request_line_comes_from_the_url(url, line, host):
    http = read(exchange(url=url))[1][2]
    assert http.statusline == line
    assert http.headers == [("Host", host)]


def test_a_host_header_that_was_set_stays_alone():
    assert read(exchange(request_headers=[(b"host", b"b.test")]))[1][2].headers == [("host", "b.test")]


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ((b"X-A", b"1\r\nX-Forged: 1"), ("X-A", "1  X-Forged: 1")),
        ((b"X-A", b"1\n\n<script>"), ("X-A", "1  <script>")),
        ((b"X-A\r\nX-Forged", b"1"), ("X-A__X-Forged", "1")),
        ((b"X-A: 1", b"2"), ("X-A__1", "2")),
        ((b" folded", b"2"), ("_folded", "2")),
        ((b"", b"2"), ("_", "2")),
        ((b"X-A", "café".encode()), ("X-A", "café")),
        ((b"X-A", "café".encode("latin-1")), ("X-A", "café")),
        ((b"X-A", b"%s {} \x1b[31m"), ("X-A", "%s {} \x1b[31m")),
        ((b"Transfer-Encoding", b"chunked"), ("X-Archive-Orig-Transfer-Encoding", "chunked")),
    ],
)
def test_a_header_line_stays_on_its_line(sent, stored):
    http = read(exchange(response_headers=[(b"First", b"1"), sent, (b"Last", b"1")], body=b"b"))[0][2]
    assert http.headers == [("First", "1"), stored, ("Last", "1")]


@pytest.mark.parametrize(
    ("field", "start"),
    [("url", "http://a.test/"), ("reason", "OK"), ("method", "GET"), ("truncated", "time"), ("ip", "::1")],
)
def test_no_value_forges_a_line(field, start):
    found = read(exchange(**{field: start + "\r\nWARC-Type: warcinfo\r\n\r\nx\ud800"}, body=b"body"))
    assert [kind for kind, *_ in found] == ["response", "request"]
    assert found[0][3] == b"body"


def test_a_target_uri_is_escaped_only_where_a_url_must_be():
    url = "http://a.test/é?q=a|b^c`{d}\\\"'[e]%20<f> g"
    assert read(exchange(url=url))[0][1]["WARC-Target-URI"] == "http://a.test/%C3%A9?q=a|b^c`{d}\\\"'[e]%20%3Cf%3E%20g"


def test_warcinfo_opens_a_file():
    info = warcinfo([("software", "feedcrawl/1\r\nformat: x"), ("hostname", "m")], filename="a.warc.gz", at=AT)
    (kind, fields, _, body), *others = records(info + pack(exchange()).response)
    assert kind == "warcinfo"
    assert fields["WARC-Filename"] == "a.warc.gz"
    assert body == b"software: feedcrawl/1  format: x\r\nhostname: m\r\n"
    assert [kind for kind, *_ in others] == ["response"]


@pytest.mark.parametrize(
    "damage", [lambda m: m[:-1], lambda m: m[:40], lambda m: m[:20] + b"\0" + m[21:], lambda m: b""]
)
def test_a_damaged_member_is_no_record(damage):
    with pytest.raises((zlib.error, ValueError, KeyError)):
        unpack(damage(pack(exchange(body=b"body")).response))


PAIRS = st.lists(st.tuples(st.binary(max_size=12), st.binary(max_size=24)), max_size=4)


@given(body=st.binary(max_size=400), headers=PAIRS, status=st.integers(100, 599), reason=st.text(max_size=12))
@example(body=b"\r\n\r\nWARC/1.1\r\n", headers=[(b"A", b"\r\n\r\n")], status=200, reason="\r\n")
def test_whatever_comes_is_read_back(body, headers, status, reason):
    given = exchange(body=body, response_headers=headers, request_headers=headers, status=status, reason=reason)
    packed = pack(given)
    fetch_id, message = unpack(packed.response)
    assert fetch_id == ID
    head, _, payload = message.partition(b"\r\n\r\n")
    assert head.count(b"\r\n") == len(headers)
    assert payload == (b"" if status == 304 else body)
    assert [kind for kind, *_ in records(packed.response + packed.request)][1] == "request"
