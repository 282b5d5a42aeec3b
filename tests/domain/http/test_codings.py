import gzip
import tracemalloc
import zlib
from collections.abc import Callable
from random import Random

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.http.codings import Undecodable, decode, gunzip, head, is_plain, names
from feedcrawl.domain.http.compression import MAX_IDLE, MAX_MEMBERS

TEXT = "<rss>Zürich</rss>".encode() + b"<item/>" * 3000
LIMIT = 1 << 20


def raw_deflate(body: bytes) -> bytes:
    stream = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return stream.compress(body) + stream.flush()


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda body: brotli.compress(body, quality=5),
    "zstd": zstandard.compress,
}
CODINGS = list(ENCODERS)
MEMBERS = {
    "gzip members": ("gzip", gzip.compress(b"a") + gzip.compress(b"") + gzip.compress(b"b")),
    "gzip padded": ("gzip", gzip.compress(b"ab") + b"\0" * 512),
    "gzip and garbage": ("gzip", gzip.compress(b"ab") + b"garbage"),
    "zstd frames": ("zstd", zstandard.compress(b"a") + zstandard.compress(b"b")),
    "zstd and garbage": ("zstd", zstandard.compress(b"ab") + b"garbage"),
    "bare deflate": ("deflate", raw_deflate(b"ab")),
    "deflate and garbage": ("deflate", zlib.compress(b"ab") + b"garbage"),
    "named otherwise": ("br", gzip.compress(b"ab")),
    "zstd named gzip": ("gzip", zstandard.compress(b"ab")),
    "not named": ("", gzip.compress(b"ab")),
    "unknown but gzip": ("application/gzip", gzip.compress(b"ab")),
    "unknown but text": ("utf-8", b"ab"),
    "none": ("none", b"ab"),
}


def refusal(body: bytes, *codings: str, limit_bytes: int = LIMIT) -> str:
    with pytest.raises(Undecodable) as caught:
        decode(body, codings, limit_bytes=limit_bytes)
    assert caught.value.detail
    return caught.value.code


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ()),
        ([b"gzip"], ("gzip",)),
        ([b"GZip, Br"], ("gzip", "br")),
        ([b"gzip", b"br"], ("gzip", "br")),
        ([b" gzip ,, identity"], ("gzip",)),
        ([b"identity"], ()),
        ([b""], ()),
        ([b"\xff"], ("ÿ",)),
    ],
)
def test_coding_names_are_recognised(values: list[bytes], expected: tuple[str, ...]) -> None:
    assert names(values) == expected


@pytest.mark.parametrize("coding", CODINGS)
@given(body=st.binary(max_size=2000).filter(lambda body: not body.startswith(b"\x1f\x8b\x08")))
def test_codings_are_removed(coding: str, body: bytes) -> None:
    assert decode(ENCODERS[coding](body), [coding], limit_bytes=LIMIT) == body


@pytest.mark.parametrize("first", CODINGS)
@pytest.mark.parametrize("second", CODINGS)
def test_two_layers(first: str, second: str) -> None:
    body = ENCODERS[second](ENCODERS[first](TEXT))
    assert decode(body, [first, second], limit_bytes=LIMIT) == TEXT


@pytest.mark.parametrize("case", MEMBERS)
def test_mislabelled_and_trailing_bytes_are_tolerated(case: str) -> None:
    coding, body = MEMBERS[case]
    assert decode(body, [coding] if coding else [], limit_bytes=LIMIT) == b"ab"


@pytest.mark.parametrize("coding", [*CODINGS, "compress", "utf-8"])
@pytest.mark.parametrize("body", [TEXT, b"{}", TEXT.decode().encode("utf-16"), "é".encode("latin-1"), b""])
def test_text_named_otherwise_is_text(coding: str, body: bytes) -> None:
    assert decode(body, [coding], limit_bytes=LIMIT) == body


def test_a_file_within_a_coding() -> None:
    assert decode(brotli.compress(gzip.compress(TEXT)), ["br"], limit_bytes=LIMIT) == TEXT


def test_no_third_layer() -> None:
    three = gzip.compress(gzip.compress(gzip.compress(TEXT)))
    assert gzip.decompress(decode(three, ["gzip", "gzip"], limit_bytes=LIMIT)) == TEXT
    assert gzip.decompress(decode(three, ["gzip"], limit_bytes=LIMIT)) == TEXT
    assert refusal(three, "gzip", "gzip", "gzip") == "bad_encoding"
    assert refusal(TEXT, *["gzip"] * 200) == "bad_encoding"


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_truncated(coding: str, share: float) -> None:
    encoded = ENCODERS[coding](bytes(range(256)) * 40 + TEXT)
    assert refusal(encoded[: int(len(encoded) * share)], coding) == "dataloss"


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", b"\x1f\x8b\x08\x00" + b"\xff" * 50),
        ("gzip", gzip.compress(TEXT)[:-8] + bytes(8)),
        ("gzip", b"\x89PNG\r\n\x1a\n" + bytes(50)),
        ("deflate", b"\x78\x9c" + b"\xff\0" * 50),
        ("br", b"\xff" * 50 + b"\0"),
        ("zstd", b"\x28\xb5\x2f\xfd" + b"\xff" * 50),
        ("exi", b"\0\1\2"),
        ("aes128gcm", bytes(40)),
    ],
)
def test_damaged_or_unknown(coding: str, body: bytes) -> None:
    assert refusal(body, coding) == "bad_encoding"


@pytest.mark.parametrize("coding", CODINGS)
def test_the_limit_is_exact(coding: str) -> None:
    encoded = ENCODERS[coding](TEXT)
    assert decode(encoded, [coding], limit_bytes=len(TEXT)) == TEXT
    assert refusal(encoded, coding, limit_bytes=len(TEXT) - 1) == "too_large"
    assert decode(encoded, [coding], limit_bytes=0) == TEXT


@pytest.mark.parametrize("coding", CODINGS)
def test_a_bomb_is_not_unpacked(coding: str) -> None:
    encoded = ENCODERS[coding](bytes(48 << 20))
    tracemalloc.start()
    try:
        assert refusal(encoded, coding) == "too_large"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


def test_a_bomb_within_is_not_unpacked() -> None:
    assert refusal(gzip.compress(gzip.compress(bytes(48 << 20))), "gzip") == "too_large"


def test_a_window_that_takes_128_mib_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27)
    encoded = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    body = encoded.compress(TEXT) + encoded.flush()
    assert refusal(body, "zstd") == "bad_encoding"


@given(st.binary(max_size=300), st.lists(st.sampled_from([*CODINGS, "x"]), max_size=3))
def test_whatever_comes_is_decoded_or_refused(body: bytes, codings: list[str]) -> None:
    try:
        decoded = decode(body, codings, limit_bytes=1000)
    except Undecodable as refused:
        code = refused.code
    else:
        code = "decoded" if len(decoded) <= 1000 else "too much"
    assert code in {"decoded", "bad_encoding", "dataloss", "too_large"}


@pytest.mark.parametrize("body", [gzip.compress(TEXT)[:-9], b"\x1f\x8b\x08\0\0"])
def test_a_body_that_only_begins_like_gzip_is_left_unchanged(body: bytes) -> None:
    assert decode(body, [], limit_bytes=LIMIT) == body


EMPTY = {"gzip": gzip.compress(b""), "zstd": zstandard.compress(b"")}
CODED = {"gzip": gzip.compress(b"x"), "zstd": zstandard.compress(b"x")}
# A megabyte and more of input that says nothing, in streams that are whole.
SILENT = {
    "blocks of deflate": ("deflate", b"\x78\x9c" + b"\x00\x00\x00\xff\xff" * (4 << 18) + zlib.compress(b"x")[2:]),
    "blocks of zstd": ("zstd", b"\x28\xb5\x2f\xfd\x00\x58" + bytes(3 << 20) + b"\x01\x00\x00"),
    "blocks of brotli": ("br", b"\x0c" + b"\x06" * (4 << 20) + b"\x03"),
    "a name of gzip": (
        "gzip",
        b"\x1f\x8b\x08\x08" + bytes(6) + b"n" * (4 << 20) + b"\0" + raw_deflate(b"x") + bytes(8),
    ),
}


@pytest.mark.parametrize("coding", EMPTY)
def test_members_are_limited(coding: str) -> None:
    assert decode(CODED[coding] * MAX_MEMBERS, [coding], limit_bytes=LIMIT) == b"x" * MAX_MEMBERS
    assert refusal(CODED[coding] * (MAX_MEMBERS + 1), coding) == "too_large"
    assert refusal((CODED[coding] + b"\0") * (MAX_MEMBERS + 1), coding) == "too_large"
    assert decode(EMPTY[coding] * (MAX_IDLE // 2) + CODED[coding], [coding], limit_bytes=LIMIT) == b"x"
    assert refusal(EMPTY[coding] * 50_000, coding) == "too_large"
    assert refusal(EMPTY[coding] * 50_000, coding, limit_bytes=0) == "too_large"


@pytest.mark.parametrize("kind", SILENT)
def test_a_body_that_decodes_to_nothing_for_long_is_refused_like_a_bomb(kind: str) -> None:
    coding, body = SILENT[kind]
    assert refusal(body, coding) == "too_large"


@pytest.mark.parametrize("coding", CODINGS)
def test_pieces_are_joined_wherever_they_end(coding: str) -> None:
    noise = Random(1).randbytes(300_000) + bytes(300_000)
    garbage = b"" if coding == "br" else b"garbage"
    assert decode(ENCODERS[coding](noise) + garbage, [coding], limit_bytes=LIMIT) == noise
    assert decode(ENCODERS[coding](noise), [coding], limit_bytes=len(noise)) == noise


@pytest.mark.parametrize(
    ("body", "codings", "plain"),
    [(TEXT, (), True), (b"", (), True), (TEXT, ("br",), False), (gzip.compress(TEXT), (), False)],
)
def test_is_plain(body: bytes, codings: tuple[str, ...], plain: bool) -> None:
    assert is_plain(body, codings) is plain


FILE = gzip.compress(TEXT)


@pytest.mark.parametrize(
    ("body", "content", "note"),
    [
        (b"", b"", None),
        (TEXT, TEXT, None),
        (FILE, TEXT, None),
        (gzip.compress(FILE), TEXT, None),
        (FILE + FILE, TEXT + TEXT, None),
        (FILE + b"\0\0" + FILE, TEXT + TEXT, None),
        (FILE + b"trailing garbage", TEXT, None),
        (FILE[:-8], TEXT, "gzip truncated"),
        (b"\x1f\x8b\x08\x00" + b"\0" * 6 + b"\xff" * 20, b"", "gzip damaged"),
        (b"\x1f\x8b\x08", b"", "gzip truncated"),
        (FILE + EMPTY["gzip"] * 50_000, TEXT, "cut at"),
        (CODED["gzip"] * (MAX_MEMBERS + 1), b"x" * MAX_MEMBERS, "cut at"),
    ],
)
def test_a_damaged_file_of_gzip_yields_its_readable_part(body: bytes, content: bytes, note: str | None) -> None:
    got, notes = gunzip(body, limit_bytes=LIMIT)
    assert got == content
    assert [text.startswith(note or "") for text in notes] == [True] * (note is not None)


def test_a_file_of_gzip_is_read_up_to_the_limit() -> None:
    content, notes = gunzip(gzip.compress(bytes(20 << 20)), limit_bytes=1000)
    assert (len(content), [note.partition(":")[0] for note in notes]) == (1000, ["cut at 1000 bytes"])
    assert gunzip(gzip.compress(gzip.compress(FILE)), limit_bytes=LIMIT)[0] == FILE


PACKED = gzip.compress(TEXT)


@pytest.mark.parametrize(
    ("body", "codings", "limit", "first"),
    [
        (TEXT, (), 100, TEXT[:100]),
        (TEXT, ("gzip",), 100, TEXT[:100]),  # text in spite of its header
        (PACKED, (), 100, TEXT[:100]),
        (PACKED, ("gzip",), 100, TEXT[:100]),
        (PACKED, ("br",), 100, TEXT[:100]),
        (PACKED, ("gzip",), len(TEXT), TEXT),
        (PACKED, ("gzip",), LIMIT, TEXT),
        (PACKED[:-8], ("gzip",), 100, TEXT[:100]),  # ends too soon
        (gzip.compress(zlib.compress(TEXT)), ("deflate", "gzip"), 100, TEXT[:100]),
        (brotli.compress(TEXT), ("br",), 100, TEXT[:100]),
        (b"", ("gzip",), 100, b""),
    ],
)
def test_the_first_bytes_of_a_body(body: bytes, codings: tuple[str, ...], limit: int, first: bytes) -> None:
    assert head(body, codings, limit_bytes=limit) == first


@pytest.mark.parametrize("codings", [("gzip",) * 3, ("gzip",)])
def test_a_head_that_cannot_be_decoded(codings: tuple[str, ...]) -> None:
    with pytest.raises(Undecodable) as raised:
        head(gzip.compress(b"ab")[:10] + b"\xff" * 40, codings, limit_bytes=100)
    assert raised.value.code == "bad_encoding"
