import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.http.conditional import Validators

OCTETS = st.none() | st.binary(min_size=1, max_size=40)


@given(etag=OCTETS, modified=OCTETS)
def test_validators_are_sent_back_octet_by_octet(etag: bytes | None, modified: bytes | None) -> None:
    sent = Validators.received(etag, modified).headers()
    assert (sent.get("If-None-Match"), sent.get("If-Modified-Since")) == (etag, modified)


@pytest.mark.parametrize(
    ("etag", "modified", "headers"),
    [
        (None, None, {}),
        (b"", b"", {}),
        (b'"1"', None, {"If-None-Match": b'"1"'}),
        (b'W/"1"', None, {"If-None-Match": b'W/"1"'}),
        (b"unquoted", b"yesterday", {"If-None-Match": b"unquoted", "If-Modified-Since": b"yesterday"}),
        (None, b"Fri, 27 Nov 2026 12:00:00 GMT", {"If-Modified-Since": b"Fri, 27 Nov 2026 12:00:00 GMT"}),
    ],
)
def test_headers_that_ask(etag: bytes | None, modified: bytes | None, headers: dict[str, bytes]) -> None:
    assert Validators.received(etag, modified).headers() == headers


@pytest.mark.parametrize(
    ("stored", "newer", "after"),
    [
        (("a", "m"), (None, None), ("a", "m")),
        (("a", "m"), ("b", None), ("b", "m")),
        (("a", "m"), (None, "n"), ("a", "n")),
        ((None, None), ("b", "n"), ("b", "n")),
    ],
)
def test_a_304_updates_its_validators_and_keeps_the_others(stored: tuple, newer: tuple, after: tuple) -> None:
    assert Validators(*stored).updated(Validators(*newer)) == Validators(*after)
