import pytest

from feedcrawl.domain.discovery.feed_schemes import without_feed_scheme


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("feed:https://a.test/f", "https://a.test/f"),
        ("feed://http://a.test/f", "http://a.test/f"),
        (" FEED:HTTP://a.test/f", "HTTP://a.test/f"),
        ("feed://a.test/f", "//a.test/f"),
        ("feed:a.test/f", "//a.test/f"),
        ("pcast://a.test/f", "//a.test/f"),
        ("itpc:a.test/f", "//a.test/f"),
        ("feeds://a.test/f", "https://a.test/f"),
        ("feeds:a.test/f", "https://a.test/f"),
        ("https://a.test/feed://b.test", "https://a.test/feed://b.test"),
        ("feedburner:a.test/f", "feedburner:a.test/f"),
        ("a.test/f", "a.test/f"),
    ],
)
def test_schemes_of_feeds(url: str, expected: str) -> None:
    assert without_feed_scheme(url) == expected
