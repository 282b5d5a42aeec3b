"""What a feed names as its hub, which callbacks are ours, which signatures and leases are believed."""

import hashlib
import hmac
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.push.protocol import (
    MAX_LEASE_SEC,
    MIN_LEASE_SEC,
    REQUESTED_LEASE_SEC,
    Topic,
    feed_of,
    is_challenge,
    lease_sec,
    signature_refusal,
    token_of,
    topic_of,
)

FEED = "http://news.test/feed"
FEED_ID = "0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e"
BODY, SECRET = b"<rss>\xff</rss>", "s" * 64


@pytest.mark.parametrize(
    ("links", "hubs", "own", "expected"),
    [
        ((), (), None, None),
        ((), (), "http://news.test/self", None),
        ((), ("https://hub.test/",), None, ("https://hub.test/", FEED)),
        ((), ("/hub",), "/self", ("http://news.test/hub", "http://news.test/self")),
        ((), ("http://a.test/", "https://b.test/"), FEED, ("https://b.test/", FEED)),
        ((), ("http://a.test/", "http://b.test/"), FEED, ("http://a.test/", FEED)),
        ((), ("javascript:alert(1)",), FEED, None),
        ((), ("ftp://hub.test/", "https://b.test/"), FEED, ("https://b.test/", FEED)),
        ((), ("https://hub.test/",), "http://News.test", ("https://hub.test/", "http://News.test")),
        ((), ("https://hub.test/",), "http://a b/", ("https://hub.test/", FEED)),
        ((), ("https://hub.test/",), "urn:x", ("https://hub.test/", FEED)),
        (("<https://hub.test/>; rel=hub",), (), None, ("https://hub.test/", FEED)),
        (
            ('<https://h.test/>; rel="hub", <http://t.test/f>; rel="self"',),
            (),
            None,
            ("https://h.test/", "http://t.test/f"),
        ),
        (
            ("<https://h.test/>; rel=hub", "<http://t.test/f>; rel=self"),
            (),
            None,
            ("https://h.test/", "http://t.test/f"),
        ),
        (('<https://h.test/>;REL="Hub self"',), (), None, ("https://h.test/", "https://h.test/")),
        (('<https://h.test/a,b>; title="x, y; rel=no"; rel=hub',), (), None, ("https://h.test/a,b", FEED)),
        (("<https://h.test/>; rel=hub",), ("https://other.test/",), "/s", ("https://h.test/", "http://news.test/s")),
        (("<https://h.test/>; rel=alternate", "nonsense", "<", ""), (), None, None),
    ],
)
def test_hub_and_topic(links: tuple[str, ...], hubs: tuple[str, ...], own: str | None, expected: object) -> None:
    assert topic_of(links, hubs, own, url=FEED) == (expected and Topic(*expected))


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3), st.none() | st.text())
def test_a_topic_is_two_web_addresses_whatever_the_feed_contains(
    links: list[str], hubs: list[str], own: str | None
) -> None:
    found = topic_of(links, hubs, own, url=FEED)
    assert found is None or all(url.startswith(("http://", "https://")) for url in (found.hub, found.topic))


def test_a_token_names_its_feed() -> None:
    token = token_of(FEED_ID, bytes(range(32)))
    assert len(token) == 64
    assert feed_of(token) == FEED_ID


@pytest.mark.parametrize(
    "token",
    ["", "x", "é" * 64, "a" * 63, "a" * 65, "=" * 64, "+" * 64, token_of(FEED_ID, b"short"), "a" * 100_000],
)
def test_a_malformed_token_names_no_feed(token: str) -> None:
    assert feed_of(token) is None


@given(st.text(max_size=80))
def test_any_text_is_a_token_or_none(text: str) -> None:
    found = feed_of(text)
    assert found is None or str(uuid.UUID(found)) == found


def signed(method: str, secret: str = SECRET, body: bytes = BODY) -> str:
    return f"{method}={hmac.new(secret.encode(), body, getattr(hashlib, method)).hexdigest()}"


@pytest.mark.parametrize(
    ("signatures", "refusal"),
    [
        ([signed("sha256")], ""),
        ([signed("sha384")], ""),
        ([signed("sha512")], ""),
        ([f" {signed('sha256')} "], ""),
        ([], "unsigned"),
        ([signed("sha256"), signed("sha256")], "two_signatures"),
        ([signed("sha256"), "sha256=0"], "two_signatures"),
        ([signed("sha1")], "sha1_refused"),
        (["sha1=" + "0" * 40], "sha1_refused"),
        ([signed("md5")], "unknown_signature"),
        (["plain"], "unknown_signature"),
        ([""], "unknown_signature"),
        (["SHA256=" + signed("sha256")[7:]], "unknown_signature"),
        (["sha256="], "bad_signature"),
        (["sha256=" + "0" * 64], "bad_signature"),
        ([signed("sha256").upper().replace("SHA256", "sha256")], "bad_signature"),
        ([signed("sha256")[:39]], "bad_signature"),
        ([signed("sha256") + "00"], "bad_signature"),
        (["sha256=" + signed("sha384")[7:]], "bad_signature"),
        ([signed("sha256", "another")], "bad_signature"),
        ([signed("sha256", body=BODY + b" ")], "bad_signature"),
        (["sha256=\udc80é"], "bad_signature"),
    ],
)
def test_signatures(signatures: list[str], refusal: str) -> None:
    assert signature_refusal(SECRET, signatures, BODY) == refusal


def test_sha1_is_accepted_where_configured() -> None:
    assert signature_refusal(SECRET, [signed("sha1")], BODY, sha1=True) == ""
    assert signature_refusal(SECRET, [signed("sha1", "another")], BODY, sha1=True) == "bad_signature"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, REQUESTED_LEASE_SEC),
        ("", REQUESTED_LEASE_SEC),
        ("86400", 86_400.0),
        ("60", MIN_LEASE_SEC),
        ("3153600", MAX_LEASE_SEC),
        ("31622400", MAX_LEASE_SEC),
        ("31622401", None),
        ("0", None),
        ("-1", None),
        ("1e6", None),
        ("1000000000000", None),
        ("9" * 400, None),
        ("٣٦٠٠", None),
        ("nan", None),
    ],
)
def test_leases(text: str | None, seconds: float | None) -> None:
    assert lease_sec(text) == seconds


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("a", True),
        ("Zm9v-_.~+/=", True),
        ("x" * 1024, True),
        ("x" * 1025, False),
        (None, False),
        ("", False),
        ("<script>", False),
        ("a&b", False),
        ('a"b', False),
        ("a'b", False),
        ("a b", False),
        ("a\r\nb", False),
        ("a\n", False),
        ("é", False),
    ],
)
def test_challenges(text: str | None, good: bool) -> None:
    assert is_challenge(text) is good
