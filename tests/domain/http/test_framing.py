import pytest

from feedcrawl.domain.http.framing import ambiguous


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
