import pytest
from documents import page, paragraphs

from feedcrawl.domain.extraction import read_article

HTML = page("Quiet harbours", paragraphs("harbours", 6))
URL = "http://a.test/x"


@pytest.mark.parametrize(
    ("body", "content_type", "code", "html"),
    [
        (HTML.encode(), "text/html", "", HTML),
        (HTML.encode(), "text/html; charset=punycode", "", HTML),
        (
            HTML.replace("harbours", "häfen").encode("gb18030"),
            "text/html; charset=gb18030",
            "",
            HTML.replace("harbours", "häfen"),
        ),
        (b"<p>short", None, "too_short", "<p>short"),
        (b"%PDF-1.7 " + bytes(range(9)) * 100, "text/html", "unsupported_type", None),
        (bytes(range(1, 9)) * 200, "text/html", "unsupported_type", None),
        (b"<rss><channel>" + b"<item><title>A title</title></item>" * 99, "text/xml", "unsupported_type", None),
        (b"{" + b" " * 300 + b"}", "text/html", "FAIL_BAD_HTML", "{" + " " * 300 + "}"),
        (b"<title>x</title>" + b"<i></i>" * 100, "text/html", "FAIL_EMPTY", "<title>x</title>" + "<i></i>" * 100),
    ],
)
def test_a_page_becomes_an_article_or_a_refusal_with_its_reason(body, content_type, code, html):
    read = read_article(body, content_type, min_chars=200, url=URL)
    assert (read.code, read.html) == (code, html)
    assert (read.extraction is None) == bool(code)
    assert bool(read.detail) == bool(code)


ONWARD = '<meta http-equiv="refresh" content="3; url=/story">'
SCRIPTLESS = f"<noscript>{ONWARD}</noscript>"


@pytest.mark.parametrize(
    ("html", "header", "onward"),
    [
        (f"<html><head>{ONWARD}</head></html>", None, True),
        (page("Sent on", ["You are being sent on to the story."], head=ONWARD), None, True),
        (page("Sent on", paragraphs("sent on", 6), head=ONWARD), None, True),
        (page("Sent on", ["You are being sent on to the story."]), "0; url=/story", True),
        (page("Scripts", ["This page needs scripts."], head=SCRIPTLESS), None, True),
        (f"<html><head>{SCRIPTLESS}</head></html>", None, True),
        # A story that readers with scripts get, and a page that reloads itself
        (page("Quiet harbours", paragraphs("harbours", 6), head=SCRIPTLESS), None, False),
        (HTML, "300", False),
        (HTML, "5; url=/x", False),
    ],
)
def test_a_page_sends_its_readers_on(html, header, onward):
    read = read_article(html.encode(), "text/html", min_chars=200, url=URL, refresh=header)
    assert (read.code, read.detail) == (("refresh", "http://a.test/story") if onward else ("", ""))
