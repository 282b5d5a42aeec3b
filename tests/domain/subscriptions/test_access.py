import pytest

from feedcrawl.domain.errors import InvalidUrl, Refusal
from feedcrawl.domain.subscriptions.access import (
    Access,
    access_for,
    header,
    load,
    login_hint,
    read_headers,
    without_login,
)

TOKEN = ("X-Token", "t0p5ecret")
FEED = "https://a.test/feed"


@pytest.mark.parametrize(
    ("url", "bare", "login"),
    [
        ("https://ann:pw@a.test/feed", "https://a.test/feed", "Basic YW5uOnB3"),
        ("https://ann@a.test/feed?x=1", "https://a.test/feed?x=1", "Basic YW5uOg=="),
        ("https://:pw@a.test:8443/", "https://a.test:8443/", "Basic OnB3"),
        ("https://a%40b:p%3Aw%2F@a.test/feed", "https://a.test/feed", "Basic YUBiOnA6dy8="),
        ("https://ann:a@b@a.test/feed", "https://a.test/feed", "Basic YW5uOmFAYg=="),
        ("https://jörg:schön@a.test/feed", "https://a.test/feed", "Basic asO2cmc6c2Now7Zu"),
        ("https://a.test/feed", "https://a.test/feed", None),
        ("https://a.test/@ann:pw", "https://a.test/@ann:pw", None),
    ],
)
def test_a_login_stands_apart_from_the_url(url: str, bare: str, login: str | None) -> None:
    assert without_login(url) == (bare, (("Authorization", login),) if login else ())


def test_a_url_that_cannot_be_parsed_is_refused() -> None:
    with pytest.raises(InvalidUrl):
        without_login("https://ann:pw@")


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://a.test/feed", True),
        ("https://A.test:443/other?page=2", True),
        ("https://a.test./feed", True),
        ("http://a.test/feed", False),
        ("https://a.test:8443/feed", False),
        ("https://www.a.test/feed", False),
        ("https://b.test/feed", False),
        ("https://a.test.b.test/feed", False),
        ("no url", False),
    ],
)
def test_headers_go_to_their_own_origin_alone(url: str, sent: bool) -> None:
    access = access_for(FEED, [TOKEN])
    assert access is not None
    assert access.headers_for(url) == (dict([TOKEN]) if sent else {})


def test_headers_are_not_sent_after_a_detour() -> None:
    access = access_for(FEED, [TOKEN])
    assert access is not None
    assert access.headers_for(FEED, ["https://a.test/old"])
    assert not access.headers_for(FEED, ["https://a.test/old", "https://b.test/"])


def test_an_access_shows_names_only_and_travels_as_json() -> None:
    access = access_for(FEED, [TOKEN, ("Cookie", "a=1"), ("x-token", "second")])
    assert access == Access("https://a.test", (("x-token", "second"), ("Cookie", "a=1")))
    assert access is not None
    assert access.names == ("x-token", "cookie")
    assert "second" not in f"{access!r} {access}"
    assert load(access.dump()) == access
    assert access_for(FEED, []) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Token", ""),
        ("X-Token", "a\r\nHost: b"),
        ("X-Token", "a\x00b"),
        ("X-Token", "\u0431"),
        ("X-Token", "s3cret" * 1000),
        ("X Token", "s3cret"),
        ("", "s3cret"),
        ("Host", "s3cret"),
        ("transfer-encoding", "s3cret"),
        ("User-Agent", "s3cret"),
        ("If-None-Match", "s3cret"),
        ("Proxy-Authorization", "s3cret"),
    ],
)
def test_bad_headers_are_refused_without_their_value(name: str, value: str) -> None:
    with pytest.raises(Refusal) as caught:
        header(name, value)
    assert caught.value.code == "bad_header"
    assert "s3cret" not in str(caught.value)


def test_headers_are_read_from_lines() -> None:
    text = "# of the archive\nAuthorization: Bearer a:b=\n\n  Cookie : a=1; b=2 \r\n"
    assert read_headers(text) == (("Authorization", "Bearer a:b="), ("Cookie", "a=1; b=2"))
    assert read_headers("ann:p:w") == (("Authorization", "Basic YW5uOnA6dw=="),)
    with pytest.raises(Refusal):
        read_headers("t0p5ecret")
    with pytest.raises(Refusal):
        access_for(FEED, [(f"x-{number}", "1") for number in range(21)])


@pytest.mark.parametrize(
    ("scheme", "sent", "subscribed", "part"),
    [
        ("Basic", False, True, "asks for a login (Basic): `scrapy feeds login"),
        (None, True, True, "refuses the headers stored"),
        ("Basic", False, False, "asks for a login (Basic): `scrapy subscribe --login USER:PASSWORD URL`"),
        (None, True, False, "asks for a login and refuses the given one: `scrapy subscribe --login"),
    ],
)
def test_the_hint_of_a_401_depends_on_the_login_that_was_sent(
    scheme: str | None, sent: bool, subscribed: bool, part: str
) -> None:
    assert part in login_hint(scheme=scheme, sent=sent, program="scrapy", subscribed=subscribed)
