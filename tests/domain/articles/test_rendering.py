import pytest

from feedcrawl.domain.articles.rendering import may_load, wants_rendering
from feedcrawl.domain.extraction.bodies.choice import FULL_LENGTH
from feedcrawl.domain.sites.sources import Render

SCRIPTED = "<html><body><div id=root></div><script src=/app.js></script></body></html>"
STILL = "<html><body><p>No script here, and the description of one.</p></body></html>"


@pytest.mark.parametrize(
    ("mode", "html", "refusal", "expected"),
    [
        ("auto", SCRIPTED, "FAIL_EMPTY: javascript: 'Loading'", True),
        ("auto", SCRIPTED, "FAIL_EMPTY: no_text: no extractor found any", True),
        ("auto", SCRIPTED, "FAIL_EMPTY: ", True),
        ("auto", SCRIPTED, "FAIL_BAD_HTML: 150 characters", True),
        ("auto", "<svg:script/>", "FAIL_EMPTY: no_text", True),
        ("auto", "<body onload = 'go()'>", "FAIL_EMPTY: no_text", True),
        ("auto", STILL, "FAIL_EMPTY: no_text", False),
        ("auto", SCRIPTED, "FAIL_EMPTY: challenge: 'Just a moment...'", False),
        ("auto", SCRIPTED, "FAIL_EMPTY: paywall: 'Subscribe to read'", False),
        ("auto", SCRIPTED, "FAIL_EMPTY: teaser: 'The first lines'", False),
        ("auto", SCRIPTED, "FAIL_EMPTY: front_page: https://a.test/1 redirects", False),
        ("auto", SCRIPTED, "FAIL_PARSE: took too long", False),
        ("auto", SCRIPTED, None, False),
        ("always", SCRIPTED, None, True),
        ("always", STILL, None, True),
        ("always", SCRIPTED, "FAIL_EMPTY: no_text", True),
        ("always", SCRIPTED, "FAIL_EMPTY: paywall: 'Subscribe to read'", False),
        ("always", SCRIPTED, "FAIL_PARSE: took too long", False),
        ("never", SCRIPTED, "FAIL_EMPTY: no_text", False),
        ("never", SCRIPTED, None, False),
    ],
)
def test_pages_that_need_a_browser(mode: Render, html: str, refusal: str | None, expected: bool) -> None:
    assert wants_rendering(mode, html, refusal=refusal, feed_text=None) is expected


@pytest.mark.parametrize(
    ("html", "feed_text", "expected"),
    [
        (SCRIPTED, FULL_LENGTH - 1, True),
        (SCRIPTED, FULL_LENGTH, False),
        (STILL, 10, False),
        (SCRIPTED, None, False),
    ],
)
def test_a_teaser_from_the_feed_is_no_article_yet(html: str, feed_text: int | None, expected: bool) -> None:
    assert wants_rendering("auto", html, refusal=None, feed_text=feed_text) is expected


@pytest.mark.parametrize(
    ("url", "kind", "page_url", "expected"),
    [
        ("https://a.org/x", "document", "https://a.org/", True),
        ("http://A.org:81/x", "document", "https://a.org/", True),
        ("https://b.org/", "document", "https://a.org/", False),
        ("https://www.a.org/", "document", "https://a.org/", False),
        ("https://cdn.org/app.js", "script", None, True),
        ("https://a.org/data.json", "fetch", None, True),
        ("https://a.org/data.json", "xhr", None, True),
        ("https://a.org/a.css", "stylesheet", None, True),
        ("https://a.org/a.png", "image", None, False),
        ("https://a.org/a.mp4", "media", None, False),
        ("https://a.org/a.woff2", "font", None, False),
        ("https://a.org/beacon", "ping", None, False),
        ("https://a.org/frame", "frame", None, False),
        ("file:///etc/passwd", "document", "https://a.org/", False),
        ("ftp://a.org/x", "fetch", None, False),
        ("chrome://settings", "document", None, False),
        ("ws://a.org/", "websocket", None, False),
        ("javascript:alert(1)", "document", None, False),
        ("http://", "document", "https://a.org/", False),
    ],
)
def test_resources_that_a_page_may_load(url: str, kind: str, page_url: str | None, expected: bool) -> None:
    assert may_load(url, kind, page_url=page_url) is expected
