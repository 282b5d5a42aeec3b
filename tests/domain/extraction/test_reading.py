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
        (b"{" + b" " * 300 + b"}", "text/html", "FAIL_BAD_HTML", "{" + " " * 300 + "}"),
        (b"<title>x</title>" + b"<i></i>" * 100, "text/html", "FAIL_EMPTY", "<title>x</title>" + "<i></i>" * 100),
    ],
)
def test_a_page_is_an_article_or_says_why_not(body, content_type, code, html):
    read = read_article(body, content_type, min_chars=200, url=URL)
    assert (read.code, read.html) == (code, html)
    assert (read.extraction is None) == bool(code)
    assert bool(read.detail) == bool(code)
