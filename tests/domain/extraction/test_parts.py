import pytest
from documents import prose

from feedcrawl.domain.extraction import read_article
from feedcrawl.domain.extraction.parts import cut_part
from feedcrawl.domain.models import FeedContent

FIRST, SECOND = (prose(seed, 40) for seed in ("one", "two"))
DIVS = f'<div id="a1"><h2>First</h2><p>{FIRST}</p></div><div id="a2"><h2>Second</h2><p>{SECOND}</p></div>'
HEADINGS = f'<h2 id="a1">First</h2><p>{FIRST}</p><h3>More</h3><p>and more</p><h2 id="a2">Second</h2><p>{SECOND}</p>'
INNER = f'<h2><a name="a1"></a>First</h2><p>{FIRST}</p><h2><a name="a2"></a>Second</h2><p>{SECOND}</p>'
ANCHORS = f'<a name="a1"></a><p>{FIRST}</p><p><a name="a2">Second</a></p><p>{SECOND}</p>'
EMPTY = f'<div id="a1"></div><p>{FIRST}</p><div id="a2"></div><p>{SECOND}</p>'
TERMS = f'<dl><dt id="a1">First</dt><dd>{FIRST}</dd><dt id="a2">Second</dt><dd>{SECOND}</dd></dl>'


@pytest.mark.parametrize("body", [DIVS, HEADINGS, INNER, ANCHORS, EMPTY, TERMS])
def test_a_fragment_names_a_part(body: str) -> None:
    page = f'<html lang="de"><head><base href="/x/"></head><body><nav>Home</nav>{body}<footer>x</footer></body></html>'
    first, second = cut_part(page, "a1"), cut_part(page, "a2")
    assert first is not None
    assert second is not None
    assert (FIRST in first, SECOND in first, "Home" in first) == (True, False, False)
    assert (FIRST in second, SECOND in second) == (False, True)
    assert first.startswith('<html lang="de"><head><base href="/x/"></head>')


@pytest.mark.parametrize("fragment", ["a9", "", "!/route", "A1"])
def test_a_fragment_may_name_nothing(fragment: str) -> None:
    assert cut_part(f"<body>{DIVS}</body>", fragment) is None


def test_an_encoded_fragment() -> None:
    assert cut_part(f"<body><p id='ä 1'>{FIRST}</p></body>", "%C3%A4%201") is not None


def test_the_article_is_the_part() -> None:
    page = f"<html><head><title>Notices</title></head><body>{DIVS}</body></html>"
    feed = FeedContent(title="The second notice")
    read = read_article(page.encode(), "text/html", min_chars=100, url="http://a.test/notices#a2", feed=feed)
    assert read.extraction is not None
    assert SECOND in read.extraction.text
    assert FIRST not in read.extraction.text
    assert read.html == page


def test_a_missing_part_is_taken_from_the_feed_or_refused() -> None:
    page = f"<html><head><title>App</title></head><body><p>{FIRST}</p></body></html>".encode()
    url = "http://a.test/#!/route"
    content = f"<p>{SECOND}</p><p>{prose('three', 60)}</p>"
    read = read_article(page, "text/html", min_chars=100, url=url, feed=FeedContent(title="Route", content=content))
    assert read.extraction is not None
    assert (read.extraction.extractor, FIRST in read.extraction.text) == ("feed", False)
    read = read_article(page, "text/html", min_chars=100, url=url)
    assert (read.code, read.detail) == ("FAIL_EMPTY", "no_part: the page has no element that is named '!/route'")
