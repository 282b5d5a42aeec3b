import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.http.redirects import Hop, Refused, in_words, next_hop


@pytest.mark.parametrize(
    ("url", "location", "target"),
    [
        ("http://a.org/x/y", b"http://a.org/z", "http://a.org/z"),
        ("http://a.org/x/y", b"/z", "http://a.org/z"),
        ("http://a.org/x/y", b"z?q=1", "http://a.org/x/z?q=1"),
        ("http://a.org/x/y", b"../z", "http://a.org/z"),
        ("http://a.org/x/y", b"?q", "http://a.org/x/y?q"),
        ("http://a.org/x", b"//b.org/z", "http://b.org/z"),
        ("http://a.org/x", b"  /z\t", "http://a.org/z"),
        ("http://a.org/x", b"/z#part", "http://a.org/z"),
        ("http://a.org/x#old", b"/z", "http://a.org/z"),
        ("http://a.org/x", b"HTTPS://B.org:443", "https://b.org/"),
        ("http://a.org/x", b"/a b", "http://a.org/a%20b"),
        ("http://a.org/x", "/é?ü".encode(), "http://a.org/%C3%A9?%C3%BC"),
        ("http://a.org/x", b"/caf\xe9?q=\xe9t\xe9", "http://a.org/caf%E9?q=%E9t%E9"),
        ("http://a.org/x", "/記事".encode("euc-jp"), "http://a.org/%B5%AD%BB%F6"),
        ("http://a.org/x", "http://bücher.de/".encode(), "http://xn--bcher-kva.de/"),
        ("http://a.org/x", b"/%0d%0aX:y", "http://a.org/%0d%0aX:y"),
        # What names the inside is no business of this function: the guard sees the next request.
        ("http://a.org/x", b"http://127.0.0.1/", "http://127.0.0.1/"),
    ],
)
def test_targets(url: str, location: bytes, target: str) -> None:
    hop = next_hop([url], 302, location, limit=5)
    assert isinstance(hop, Hop)
    assert hop.url == target


@pytest.mark.parametrize(
    ("location", "detail"),
    [
        (None, "no_location"),
        (b"", "no_location"),
        (b" \t", "no_location"),
        (b"/z\r\nSet-Cookie: x", "url_ambiguous"),
        (b"/z\nx", "url_ambiguous"),
        (b"/\0", "url_ambiguous"),
        (b"http:/b.org/", "url_ambiguous"),
        (b"http:\\\\b.org/", "url_ambiguous"),
        (b"/\\b.org/", "url_ambiguous"),
        (b"///b.org/", "url_ambiguous"),
        (b"http://b.org\\@c.org/", "url_ambiguous"),
        (b"http://u:p@b.org/", "url_userinfo"),
        (b"http://b.org:0/", "url_port"),
        (b"http://b.org:99999/", "url_malformed"),
        (b"http://[::1/", "url_malformed"),
        (b"file:///etc/passwd", "url_scheme"),
        (b"data:text/html,x", "url_scheme"),
        (b"javascript:alert(1)", "url_scheme"),
        (b"ftp://b.org/", "url_scheme"),
        ("http://bücher.de/".encode("latin-1"), "url_malformed"),  # a host is UTF-8 only (WHATWG, host parsing)
        (b"/" + b"a" * 3000, "url_too_long"),
    ],
)
def test_bad_locations(location: bytes | None, detail: str) -> None:
    assert next_hop(["http://a.org/x"], 301, location, limit=5) == Refused("bad_redirect", detail)


@pytest.mark.parametrize(("status", "permanent"), [(301, True), (302, False), (303, False), (307, False), (308, True)])
def test_permanence(status: int, permanent: bool) -> None:
    hop = next_hop(["http://a.org/x"], status, b"/y", limit=5)
    assert isinstance(hop, Hop)
    assert hop.permanent == permanent


@pytest.mark.parametrize(
    ("url", "location", "same_host", "same_origin"),
    [
        ("http://a.org/", b"/y", True, True),
        ("http://a.org/", b"http://A.org:80/y", True, True),
        ("http://a.org/", b"http://a.org./y", True, True),
        ("http://a.org/", b"https://a.org/y", True, False),
        ("http://a.org/", b"http://a.org:8080/y", True, False),
        ("http://a.org/", b"http://www.a.org/y", False, False),
        ("http://127.0.0.1/", b"http://127.0.0.2/", False, False),
        ("http://[2606:4700::1]/", b"http://[2606:4700:0:0::1]/y", True, True),
    ],
)
def test_a_redirect_on_the_same_host_or_origin_is_recognised(
    url: str, location: bytes, same_host: bool, same_origin: bool
) -> None:
    hop = next_hop([url], 301, location, limit=5)
    assert isinstance(hop, Hop)
    assert (hop.same_host, hop.same_origin) == (same_host, same_origin)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        # The server behind a TLS proxy adds a slash, or moves within itself.
        (b"http://a.org/x/", "https://a.org/x/"),
        (b"http://a.org:80/x/", "https://a.org/x/"),
        (b"https://b.org/x", "https://b.org/x"),
        # It insists on http, or leads elsewhere over it.
        (b"http://a.org/x", None),
        (b"http://a.org/first", None),
        (b"http://b.org/x", None),
        (b"http://a.org:8080/x/", None),
        (b"http://www.a.org/x", None),
    ],
)
def test_downgrades(location: bytes, expected: str | None) -> None:
    hop = next_hop(["https://a.org/first", "https://a.org/x"], 301, location, limit=5)
    if expected is None:
        assert hop == Refused("bad_redirect", "downgrade")
    else:
        assert isinstance(hop, Hop)
        assert hop.url == expected


def test_a_downgrade_keeps_an_odd_port_that_spoke_tls() -> None:
    hop = next_hop(["https://a.org:8443/x"], 301, b"http://a.org:8443/x/", limit=5)
    assert isinstance(hop, Hop)
    assert hop.url == "https://a.org:8443/x/"


@pytest.mark.parametrize("location", [b"/x", b"", b"#top", b"/first", b"http://a.org:80/first#a", b"/second"])
def test_loops(location: bytes) -> None:
    chain = ("http://a.org/first", "http://a.org/second#b", "http://a.org/x")
    expected = Refused("redirect_loop") if location else Refused("bad_redirect", "no_location")
    assert next_hop(chain, 302, location, limit=5) == expected


def follow(hops: int, limit: int) -> Hop | Refused:
    """The last of so many hops, each to a new path."""
    chain: tuple[str, ...] = ("http://a.org/0",)
    for number in range(1, hops + 1):
        hop = next_hop(chain, 302, b"/%d" % number, limit=limit)
        if isinstance(hop, Refused):
            return hop
        chain = (*chain, hop.url)
    return hop


@pytest.mark.parametrize(("hops", "limit"), [(5, 5), (1, 1), (3, 20)])
def test_up_to_the_limit(hops: int, limit: int) -> None:
    assert isinstance(follow(hops, limit), Hop)


@pytest.mark.parametrize(("hops", "limit"), [(6, 5), (1, 0), (2, 1)])
def test_beyond_the_limit(hops: int, limit: int) -> None:
    assert follow(hops, limit) == Refused("too_many_redirects")


@given(st.binary(max_size=60), st.sampled_from([b"", b"/", b"http://", b"//"]))
def test_whatever_a_server_sends_is_followed_over_http_or_refused(location: bytes, start: bytes) -> None:
    hop = next_hop(["https://a.org/", "https://a.org/x"], 302, start + location, limit=5)
    if isinstance(hop, Hop):
        assert hop.url.startswith("https://")
        assert hop.url.isascii()
        assert "#" not in hop.url
        assert not set("\r\n\0 \\") & set(hop.url.partition("?")[0])


def test_a_new_cookie_makes_a_known_url_another_request() -> None:
    chain = ("http://a.org/x", "http://a.org/login")
    assert next_hop(chain, 302, b"/x", limit=5) == Refused("redirect_loop")
    hop = next_hop(chain, 302, b"/x", limit=5, fresh=True)
    assert isinstance(hop, Hop)
    assert hop.url == "http://a.org/x"
    assert next_hop(["http://a.org/x"] * 6, 302, b"/x", limit=5, fresh=True) == Refused("too_many_redirects")


@pytest.mark.parametrize(
    ("chain", "location", "words"),
    [
        (["http://a.org/x"], None, "http://a.org/x redirects without a target: its Location is missing or empty"),
        (
            ["http://a.org/x"],
            b"feed://a.org/f",
            "http://a.org/x redirects to feed://a.org/f, which cannot be requested (url_scheme)",
        ),
        (
            ["http://a.org/x"],
            b"/z\r\nA: b",
            "http://a.org/x redirects to /z%0D%0AA:%20b, which cannot be requested (url_ambiguous)",
        ),
        (["https://a.org/x"], b"http://b.org/", "https://a.org/x redirects from https to http: http://b.org/"),
        (["http://a.org/x"], b"#top", "http://a.org/x redirects to #top, which was requested before"),
        ([f"http://a.org/{n}" for n in range(6)], b"/6", "http://a.org/5 redirects to /6, after 5 redirects"),
    ],
)
def test_a_refusal_in_words(chain: list[str], location: bytes | None, words: str) -> None:
    refused = next_hop(chain, 302, location, limit=5)
    assert isinstance(refused, Refused)
    assert in_words(refused, chain, location) == words
