import pytest

from feedcrawl.domain.http.refresh import Refresh, find_refresh

URL = "http://a.test/news/old"


def meta(content: str) -> str:
    return f'<html><head><meta http-equiv="refresh" content="{content}"></head><body><p>You are being sent on.</p>'


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0; url=/new", "http://a.test/new"),
        ("0;URL=new", "http://a.test/news/new"),
        ("5; url='http://b.test/x?a=1&amp;b=2'", "http://b.test/x?a=1&b=2"),
        ("0,url=/new", "http://a.test/new"),
        ("0 url = /new", "http://a.test/new"),
        ("  10 ; Url=/new", "http://a.test/new"),
        ("0.5; url=/new", "http://a.test/new"),
        (".5; url=/new", "http://a.test/new"),
        ("0; /new", "http://a.test/new"),
        ("0; url='/new' and more", "http://a.test/new"),
        ("0; url=/new#part", "http://a.test/new"),
        # The page itself, a page that is meant to be read first, and what is no page of the web
        ("0", None),
        ("0;", None),
        ("0; url=", None),
        ("5; url=/news/old", None),
        ("5; url=/news/old#top", None),
        ("11; url=/new", None),
        ("300; url=/new", None),
        ("99999999999999999999; url=/new", None),
        ("url=/new", None),
        ("-1; url=/new", None),
        ("0x; url=/new", None),
        ("0; url=javascript:alert(1)", None),
        ("0; url=file:///etc/passwd", None),
        ("0; url=http://u:p@b.test/", None),
    ],
)
def test_directives(content: str, target: str | None) -> None:
    expected = Refresh(target) if target else None
    assert find_refresh(meta(content), url=URL) == expected
    header = content.replace("&amp;", "&")
    assert find_refresh(b"<p>You are being sent on.", url=URL, header=header) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<META HTTP-EQUIV=Refresh CONTENT="0;url=/new">', Refresh("http://a.test/new")),
        ('<body><p>Moved.</p><meta content="0; url=/new" http-equiv="refresh">', Refresh("http://a.test/new")),
        ('<base href="http://b.test/x/"><meta http-equiv=refresh content="0;url=new">', Refresh("http://b.test/x/new")),
        (f"<noscript>{meta('0;url=/plain')}</noscript>", Refresh("http://a.test/plain", scriptless=True)),
        (f"<noscript>{meta('0;url=/plain')}</noscript>{meta('0;url=/new')}", Refresh("http://a.test/new")),
        (f"<noscript></noscript>{meta('0;url=/new')}", Refresh("http://a.test/new")),
        (f"{meta('900')}{meta('0;url=/new')}", Refresh("http://a.test/new")),
        (f"<!-- {meta('0;url=/new')} -->", None),
        (f"<script>'{meta('0;url=/new')}'</script>", None),
        ("<meta name=refresh content='0;url=/new'>", None),
        ("<p>Refresh this page.", None),
        ("", None),
    ],
)
def test_documents(html: str, expected: Refresh | None) -> None:
    assert find_refresh(html, url=URL) == expected
    assert find_refresh(html.encode(), url=URL) == expected


def test_the_header_counts_before_the_document() -> None:
    assert find_refresh(meta("0;url=/a"), url=URL, header="0;url=/b") == Refresh("http://a.test/b")
