import pytest

from feedcrawl.domain import feeds
from feedcrawl.domain.models import Cloud
from feedcrawl.domain.push.protocol import Topic
from feedcrawl.domain.push.rsscloud import is_refused, registration, topic_of

FEED = "http://news.test/feed"


def cloud(**fields: object) -> Cloud:
    return Cloud(**{"domain": "rpc.test", "port": 5337, "path": "/notify", "protocol": "http-post", **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("element", "hub"),
    [
        (cloud(), "http://rpc.test:5337/notify"),
        (cloud(path="notify", port=80), "http://rpc.test/notify"),
        (cloud(protocol="https-post", port=443), "https://rpc.test/notify"),
        (cloud(protocol="xml-rpc"), None),
        (cloud(protocol=""), None),
        (cloud(domain="a b"), None),
        (None, None),
    ],
)
def test_the_server_that_a_feed_names(element: Cloud | None, hub: str | None) -> None:
    found = topic_of(element, url=FEED)
    assert (found and (found.topic, found.protocol)) == (hub and (FEED, "rsscloud"))
    assert hub is None or found is None or found.hub.replace(":80/", "/").replace(":443/", "/") == hub
    assert found is None or isinstance(found, Topic)


@pytest.mark.parametrize(
    ("callback", "expected"),
    [
        ("http://push.test:8000/base/rsscloud/t", ("push.test", "8000", "/base/rsscloud/t", "http-post")),
        ("https://push.test/rsscloud/t", ("push.test", "443", "/rsscloud/t", "https-post")),
    ],
)
def test_a_registration(callback: str, expected: tuple[str, ...]) -> None:
    form = registration(FEED, callback)
    assert tuple(form[name] for name in ("domain", "port", "path", "protocol")) == expected
    assert (form["url1"], form["notifyProcedure"]) == (FEED, "")


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (b'<notifyResult success="true" msg="Thanks"/>', False),
        (b"<notifyResult success='false' msg='No'/>", True),
        (b'<notifyResult SUCCESS = "0"/>', True),
        (b"", False),
    ],
)
def test_a_response_that_refuses(body: bytes, refused: bool) -> None:
    assert is_refused(body) is refused


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('domain="rpc.test" port="5337" path="/notify" registerProcedure="x" protocol="HTTP-POST"', cloud()),
        ('domain="rpc.test" path="/notify" protocol="http-post"', cloud(port=80)),
        ('domain="rpc.test" port="0" path="/notify" protocol="http-post"', None),
        ('domain="rpc.test" port="many" path="/notify" protocol="http-post"', None),
        ('port="80" path="/notify" protocol="http-post"', None),
        ("", None),
    ],
)
def test_the_element_of_a_feed(attributes: str, expected: Cloud | None) -> None:
    text = f"<rss version='2.0'><channel><title>A</title><cloud {attributes}/></channel></rss>"
    assert feeds.parse(text.encode(), url=FEED).cloud == expected
