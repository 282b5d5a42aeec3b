import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.discovery import COMMON_PATHS, MAX_LINKS, feed_like_links, find_feeds
from feedcrawl.domain.models import FeedLink

URL = "https://news.example/section/page"
LINK = '<link rel="alternate" type="application/rss+xml" href="{}">'


def urls(html: str | bytes) -> list[str]:
    return [link.url for link in find_feeds(html if isinstance(html, bytes) else html.encode(), url=URL)]


def test_url_type_and_title():
    page = b"""<!doctype html><meta charset="iso-8859-1">
        <link rel="alternate" type="Application/Atom+XML; charset=x"
        title="Caf\xe9 &amp; more" href="/atom.xml">
        <link type=application/feed+json href=../feed.json rel=alternate />"""
    assert find_feeds(page, url=URL) == (
        FeedLink("https://news.example/atom.xml", "application/atom+xml", "Café & more"),
        FeedLink("https://news.example/feed.json", "application/feed+json"),
    )


@pytest.mark.parametrize(
    ("page", "feeds"),
    [
        ('<LINK REL="Alternate" TYPE=" application/rss+xml " HREF=" /f ">', ["https://news.example/f"]),
        ("<link rel='home alternate' type='application/rss+xml' href='f'>", ["https://news.example/section/f"]),
        ("<link rel=alternate type=application/rdf+xml href=/f>", ["https://news.example/f"]),
        ("<link rel=alternate type=text/xml href=/f>", ["https://news.example/f"]),
        ("<link rel=alternate type=application/json href=/f.json>", ["https://news.example/f.json"]),
        ("<link rel=feed href=/f>", ["https://news.example/f"]),
        ("<link rel=&#97;lternate type=appl&#x69;cation/rss&#43;xml href=/f>", ["https://news.example/f"]),
        ("<link\nrel\n=\n'alternate'\ntype='application/rss+xml'\nhref='/a\nb'>", ["https://news.example/ab"]),
        ("<link rel=alternate type=application/rss+xml title='a > b' href=/f>", ["https://news.example/f"]),
        ("<link rel=alternate type=application/rss+xml title=it's href=/f>", ["https://news.example/f"]),
        ('<div title="' + "<link" + '"><link rel=feed href=/f></div>', ["https://news.example/f"]),
        (LINK.format("/f") * 2, ["https://news.example/f"]),
        (LINK.format("/f?a=1&amp;b=2"), ["https://news.example/f?a=1&b=2"]),
        (LINK.format("/f?a=1&copy=2&region=3"), ["https://news.example/f?a=1&copy=2&region=3"]),
        (LINK.format("feed://a.example/f"), ["https://a.example/f"]),
        (LINK.format("feed:https://a.example/f"), ["https://a.example/f"]),
        (LINK.format("//a.example/f#x"), ["https://a.example/f"]),
        (f"<body><p>{LINK.format('/f')}", ["https://news.example/f"]),
        (
            f"<base target=x><base href='https://b.example/d/'><base href=/no>{LINK.format('f')}",
            ["https://b.example/d/f"],
        ),
        (f"{LINK.format('f')}<base href='//b.example/d/'>", ["https://b.example/d/f"]),
        (f"<base href='javascript:x'>{LINK.format('/f')}", ["https://news.example/f"]),
        (f"<p <b>{LINK.format('/f')}", ["https://news.example/f"]),
        (f"a < b {LINK.format('/f')}", ["https://news.example/f"]),
        (f"<!-->{LINK.format('/f')}-->", ["https://news.example/f"]),
        (f"<script>if (a < b) '</scripty>'</script >{LINK.format('/f')}", ["https://news.example/f"]),
    ],
)
def test_announced(page, feeds):
    assert urls(page) == feeds


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<link rel=alternate href=/f>",
        "<link rel=alternate type=text/html href=/f>",
        "<link rel='alternate stylesheet' type=text/xml href=/f>",
        "<link rel=nofollow type=application/rss+xml href=/f>",
        "<link type=application/rss+xml href=/f>",
        "<a rel=alternate type=application/rss+xml href=/f>",
        "<links rel=alternate type=application/rss+xml href=/f>",
        "<link rel=alternate type=application/json+oembed href=/f>",
        "<link rel=alternate type=application/json href=https://news.example/wp-json/wp/v2/posts/1>",
        LINK.format(""),
        LINK.format("javascript:alert(1)"),
        LINK.format("data:application/rss+xml,x"),
        LINK.format("file:///etc/passwd"),
        LINK.format("https://user:pw@a.example/f"),
        LINK.format("https://a.example/" + "a" * 3000),
        f"<!-- {LINK.format('/f')} -->",
        f"<!-- {LINK.format('/f')}",
        f"<script>var x = '{LINK.format('/f')}'</script>",
        f"<script>{LINK.format('/f')}",
        f"<title>{LINK.format('/f')}</title>",
        f"<textarea>{LINK.format('/f')}</textarea>",
        f"<div title='{LINK.format('/f')}'>",
        f"<![CDATA[{LINK.format('/f')[:-1]}]]>",
    ],
)
def test_not_announced(page):
    assert urls(page) == []


def test_encodings():
    page = f"<title>é</title>{LINK.format('/é')}"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert urls(page.encode(encoding)) == ["https://news.example/%C3%A9"]


def test_links_are_capped():
    assert len(urls("".join(LINK.format(f"/{n}") for n in range(MAX_LINKS + 5)))) == MAX_LINKS


@pytest.mark.parametrize(
    ("href", "likely"),
    [
        ("/feed", True),
        ("/feed/", True),
        ("/blog/rss", True),
        ("/rss2/?x=1", True),
        ("/news.rss", True),
        ("/index.rdf", True),
        ("/atom.xml", True),
        ("/news_rss_world.xml", True),
        ("/feeds/world/index.xml", True),
        ("/?feed=rss2", True),
        ("/index.php?id=3&format=rss", True),
        ("/sitemap.xml", False),
        ("/feedback", False),
        ("/feed-the-world", False),
        ("/rss-explained.html", False),
        ("https://feed.example/", False),
        ("javascript:feed()", False),
    ],
)
def test_anchors_that_look_like_feeds(href, likely):
    assert bool(feed_like_links(f'<a title="T" href="{href}">x</a>'.encode(), url=URL)) is likely


def test_an_anchor_with_a_feeds_type_counts_whatever_its_path():
    page = b"<base href=/b/><a type=application/rss+xml title=News href=latest>x</a>"
    assert feed_like_links(page, url=URL) == (FeedLink("https://news.example/b/latest", "application/rss+xml", "News"),)


def test_common_paths_are_absolute_and_differ():
    assert len(set(COMMON_PATHS)) == len(COMMON_PATHS)
    assert all(path.startswith("/") for path in COMMON_PATHS)


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "page",
    [
        "<!--",
        "<script>",
        "<b <i ",
        "<a href='",
        '<a x="',
        "<a ",
        "</",
        "<a" + " a=1" * 50,
        "<title></titl",
        "<",
        "<a =",
        "<!",
    ],
)
def test_cost_is_linear(page):
    find_feeds((page * (1_000_000 // len(page))).encode(), url=URL)


@given(st.text(alphabet="<>/!-='\" abcdefhiklnorst&;\n", max_size=200).map(str.encode) | st.binary(max_size=200))
def test_any_bytes_are_a_page(html):
    assert all(url.startswith(("http://", "https://")) for url in urls(html))


@given(st.text(alphabet="<>!-= abcdefhiklnorst&;\n", max_size=50))
def test_links_in_a_comment_are_not_read(text):
    page = f"<!-- {text.replace('-', '')}{LINK.format('/no')} -->{LINK.format('/f')}"
    if "!>" not in text:
        assert urls(page) == ["https://news.example/f"]


@pytest.mark.parametrize(
    ("headers", "feeds"),
    [
        (['</f>; rel="alternate"; type="application/rss+xml"'], ["https://news.example/f"]),
        (["<f>; rel=alternate; type=application/atom+xml; title=x"], ["https://news.example/section/f"]),
        (['</a>;rel="home alternate";TYPE="application/feed+json" , </b>; rel=feed'], ["/a", "/b"]),
        (['</p>; rel=preload; as=style, </f>; rel="alternate"; type="text/xml"'], ["/f"]),
        (['</f>; title="a, b; c"; rel=alternate; type=application/rss+xml'], ["/f"]),
        (["</one>; rel=feed", "<https://other.example/two>; rel=feed"], ["/one", "https://other.example/two"]),
        (["</f>; rel=alternate; rel=feed; type=text/html"], []),
        (['</de>; rel="alternate"; hreflang=de'], []),
        (['</wp-json/x>; rel="alternate"; type="application/json"'], []),
        (["<javascript:x>; rel=feed", "; rel=feed", "<>; rel=feed", "<" * 9000], []),
    ],
)
def test_link_headers(headers, feeds):
    page = b'<base href="https://other.example/">' + LINK.format("https://last.example/f").encode()
    found = [link.url for link in find_feeds(page, url=URL, headers=headers)]
    expected = [f"https://news.example{feed}" if feed.startswith("/") else feed for feed in feeds]
    assert found == [*expected, "https://last.example/f"]


@pytest.mark.parametrize(
    ("href", "url"),
    [("feeds://a.example/f", "https://a.example/f"), ("pcast:a.example/f", "https://a.example/f"),
     ("itpc://a.example/f", "https://a.example/f"), ("FEED:http://a.example/f", "http://a.example/f")],
)  # fmt: skip
def test_feed_schemes(href, url):
    assert urls(LINK.format(href)) == [url]
