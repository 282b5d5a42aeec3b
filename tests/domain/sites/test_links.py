import pytest

from feedcrawl.domain.sites.links import SiteLinks, is_article, is_listing, looks_like_article, read_links
from feedcrawl.domain.sites.sources import Source

BASE = "https://www.example.org"
PLAIN = Source("example", BASE + "/")


@pytest.mark.parametrize(
    "path",
    [
        "/2026/11/28/storm",
        "/2026/11/storm-over-town.html",
        "/news/2026-11-28/storm",
        "/20261128/storm.html",
        "/news/storm-closes-three-bridges",
        "/storm-closes-three-bridges/",
        "/storm-closes-three-bridges-17/",
        "/en/world/storm_closes_three_bridges.html",
        "/news/123456/storm",
        "/news/17/storm-warning",
        "/world/storm-123456.html",
        "/section/politics/2026/11/28/storm-over-town",
        "/?p=123",
        "/story.php?id=17&section=news",
        "/news.aspx?articleId=17",
        "/%D0%B1%D1%83%D1%80%D1%8F-%D0%B7%D0%B0%D0%BA%D1%80%D1%8B%D0%BB%D0%B0-%D0%BC%D0%BE%D1%81%D1%82%D1%8B",
    ],
)
def test_articles(path: str) -> None:
    assert looks_like_article(BASE + path)
    assert not is_listing(BASE + path, PLAIN)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/page/2",
        "/?page=2",
        "/news",
        "/news/world/",
        "/2026",
        "/2026/11/",
        "/2026/11/28/",
        "/tag/storm-closes-three-bridges",
        "/category/all-about-the-weather",
        "/author/jane-mary-henrietta-doe",
        "/authors/jane-mary-henrietta-doe",
        "/topics/the-great-storm-of-november",
        "/search/storm-closes-three-bridges",
        "/news.php?page=3",
        "/latest",
    ],
)
def test_listings(path: str) -> None:
    assert not looks_like_article(BASE + path)
    assert is_listing(BASE + path, PLAIN)


@pytest.mark.parametrize(
    "path",
    [
        "/login",
        "/account/change-your-long-password",
        "/wp-login.php?id=5",
        "/wp-admin/",
        "/feed/",
        "/news/feed",
        "/about-us",
        "/newsletter",
        "/img/storm-closes-three-bridges.jpg",
        "/files/storm-closes-three-bridges.pdf",
        "/sitemap.xml",
    ],
)
def test_links_that_are_neither_article_nor_listing(path: str) -> None:
    assert not is_article(BASE + path, PLAIN)
    assert not is_listing(BASE + path, PLAIN)


def test_patterns_decide_where_there_are_some() -> None:
    source = Source("a", BASE, article_patterns=(r"/a\d+$",), listing_patterns=(r"/l\d+$", "/all-the-long-listings"))
    assert is_article(BASE + "/a1", source)
    assert not is_article(BASE + "/storm-closes-three-bridges", source)
    assert is_listing(BASE + "/l1", source)
    assert not is_listing(BASE + "/news", source)
    only_listings = Source("b", BASE, listing_patterns=("/all-the-long-listings",))
    assert is_article(BASE + "/storm-closes-three-bridges", only_listings)
    assert not is_article(BASE + "/all-the-long-listings", only_listings)


HTML = """<base href="/news/"><a href="storm-closes-three-bridges?utm_source=x">1</a>
<a href="storm-closes-three-bridges#top">again</a><a href="/page/2">more</a><a href="mailto:a@b.example">mail</a>
<a href="https://sport.example.org/2026/11/28/match">sub-domain</a><a href="/login">in</a>
<a href="https://other.example/2026/11/28/elsewhere">out</a><a href="https://other.example/">their front</a>
<!-- <a href="/2026/11/28/hidden">no</a> -->"""


@pytest.mark.parametrize(("setting", "external"), [("ignore", 0), ("submit", 1)])
def test_links_of_a_page(setting: str, external: bool) -> None:
    source = Source("example", BASE, external_links=setting)
    assert read_links(HTML.encode(), url=BASE + "/", source=source) == SiteLinks(
        articles=(
            BASE + "/news/storm-closes-three-bridges?utm_source=x",
            "https://sport.example.org/2026/11/28/match",
        ),
        listings=(BASE + "/page/2",),
        external=("https://other.example/2026/11/28/elsewhere",) if external else (),
    )


@pytest.mark.parametrize(("keep", "count"), [(False, 1), (True, 2)])
def test_a_trailing_slash_may_tell_pages_apart(keep: bool, count: int) -> None:
    html = b"<a href=/2026/11/28/storm>1</a><a href=/2026/11/28/storm/>2</a>"
    found = read_links(html, url=BASE, source=Source("a", BASE, keep_trailing_slash=keep))
    assert len(found.articles) == count
