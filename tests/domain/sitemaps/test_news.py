from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import NotASitemap
from feedcrawl.domain.models import News as Said
from feedcrawl.domain.models import ParsedSitemap, SitemapRef, SitemapUrl
from feedcrawl.domain.sitemaps.news import MAX_FOREIGN, Found, Terms, news_of, number_of, read_news, remembered

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
TERMS = Terms(NOW, NOW - timedelta(hours=48), limit=100, parts=100)
HERE = "https://www.example.org/sitemap.xml"


def url(name: str, hours_ago: float | None = None, **fields: object) -> SitemapUrl:
    loc = name if "://" in name else f"https://www.example.org/{name}"
    return SitemapUrl(loc, None if hours_ago is None else NOW - timedelta(hours=hours_ago), **fields)


def urlset(*urls: SitemapUrl) -> ParsedSitemap:
    return ParsedSitemap("urlset", urls=urls)


def names(found: tuple[Found, ...]) -> list[str]:
    return [each.url.removeprefix("https://www.example.org/") for each in found]


@pytest.mark.parametrize(
    ("urls", "new"),
    [
        ((url("a", 1), url("b", 47), url("c", 49)), ["a", "b"]),  # the window
        ((url("a", 5), url("b", 1), url("c")), ["b", "a", "c"]),  # the newest first, the undated last
        ((url("a"), url("b")), ["a", "b"]),  # first sight
        ((url("a", 9000), url("b", 9000)), ["a", "b"]),  # one date for all is none
        ((url("a", 9000),), []),  # a single one may be meant
        ((url("a", -30), url("b", 1)), ["b", "a"]),  # a date in the future is none
        ((url("a", -20), url("b", 9000)), ["a"]),  # clocks differ
        ((url("a", 1), url("a", 2)), ["a"]),
        ((url("n", None, news=Said(published=NOW - timedelta(hours=60))), url("b", 1)), ["b"]),
    ],
)
def test_new_urls_of_a_first_document(urls: tuple[SitemapUrl, ...], new: list[str]) -> None:
    assert names(news_of(urlset(*urls), HERE, TERMS).found) == new


def test_fields_of_a_news_sitemap_are_kept() -> None:
    fields = Said("Paper", "en", NOW, "A title")
    (found,) = news_of(urlset(url("a", 1, news=fields)), HERE, TERMS).found
    assert found == Found("https://www.example.org/a", NOW - timedelta(hours=1), "A title", NOW, "en")


def test_only_new_and_changed_urls_are_found_again() -> None:
    first = news_of(urlset(url("a", 5), url("b", 100), url("c")), HERE, TERMS)
    again = news_of(urlset(url("a", 5), url("b", 1), url("c"), url("d")), HERE, replace(TERMS, seen=first.seen))
    assert [(each.url[-1], each.edited) for each in again.found] == [("b", True), ("d", False)]
    assert news_of(urlset(url("a", 6), url("b", 1), url("c")), HERE, replace(TERMS, seen=again.seen)).found == ()


def test_a_sitemap_in_which_everything_has_changed_is_not_believed() -> None:
    def dated(hours_ago: float) -> list[SitemapUrl]:
        return [url(f"u{n}", hours_ago + n / 100) for n in range(30)]

    seen = news_of(urlset(*dated(9)), HERE, TERMS).seen
    assert news_of(urlset(*dated(1)), HERE, replace(TERMS, seen=seen)).found == ()
    for edited, believed in ((3, 3), (15, 15), (16, 0)):
        urls = [*dated(9)[:-edited], *dated(1)[-edited:]]
        assert len(news_of(urlset(*urls), HERE, replace(TERMS, seen=seen)).found) == believed


def test_urls_beyond_the_limit_are_found_by_the_next_poll() -> None:
    urls = urlset(*(url(f"u{n}") for n in range(5)))
    terms, met = replace(TERMS, limit=2), []
    for waiting in (3, 1, 0):
        news = news_of(urls, HERE, terms)
        assert news.waiting == waiting
        met += names(news.found)
        terms = replace(terms, seen=news.seen)
    assert met == ["u0", "u1", "u2", "u3", "u4"]


def test_edits_that_wait_are_found_next_time() -> None:
    before = news_of(urlset(*(url(f"u{n}", 5 + n) for n in range(9))), HERE, TERMS)
    after = urlset(*(url(f"u{n}", (1 if n < 3 else 5) + n) for n in range(9)))
    first = news_of(after, HERE, replace(TERMS, seen=before.seen, limit=2))
    assert (names(first.found), first.waiting) == (["u0", "u1"], 1)
    assert names(news_of(after, HERE, replace(TERMS, seen=first.seen)).found) == ["u2"]


def test_parts_of_an_index() -> None:
    old, new = SitemapRef(HERE + "?old", NOW - timedelta(days=90)), SitemapRef(HERE + "?new", NOW)
    index = ParsedSitemap("index", sitemaps=(old, new, SitemapRef(HERE + "?undated")))
    news = news_of(index, HERE, TERMS)
    assert (news.kind, [each.url[-4:] for each in news.found], news.old) == ("index", ["?new", "ated"], 1)
    no_parts = news_of(index, HERE, replace(TERMS, parts=0))
    assert (no_parts.found, no_parts.refused, no_parts.waiting) == ((), 2, 0)
    single_part = news_of(index, HERE, replace(TERMS, parts=1))
    assert (len(single_part.found), single_part.refused, single_part.waiting) == (1, 1, 0)


def test_parts_come_in_portions() -> None:
    index = ParsedSitemap("index", sitemaps=tuple(SitemapRef(f"{HERE}?{n}") for n in range(2500)))
    met, terms = [], replace(TERMS, parts=2200)
    for waiting in (1200, 200, 0):
        news = news_of(index, HERE, terms)
        assert (news.waiting, news.refused) == (waiting, 300)
        met += [each.url for each in news.found]
        terms = replace(terms, seen=news.seen, parts=terms.parts - len(news.found))
    assert len(set(met)) == len(met) == 2200


def test_robots_txt_of_another_site_is_requested_first() -> None:
    urls = urlset(url("a"), url("https://other.example/x"), url("https://blog.example.org/y"))
    news = news_of(urls, HERE, TERMS)
    assert (len(news.found), news.foreign, news.waiting) == (2, ("https://other.example",), 1)
    for named, count in ((True, 1), (False, 0)):
        known = news_of(urls, HERE, replace(TERMS, seen=news.seen, hosts={"other.example": named}))
        assert (len(known.found), known.refused, known.waiting, known.foreign) == (count, 1 - count, 0, ())


def test_a_sitemap_of_everyone_else_asks_few() -> None:
    news = news_of(urlset(*(url(f"https://h{n}.test{n}.example/") for n in range(500))), HERE, TERMS)
    assert (news.found, len(news.foreign)) == ((), MAX_FOREIGN)


@pytest.mark.parametrize(
    "loc",
    ["https://www.example.org@evil.example/", "http://www.example.org:0/", "http:\\\\a\\b", "http://[", "file:///x"],
)
def test_an_unusable_url_is_refused(loc: str) -> None:
    news = news_of(urlset(SitemapUrl(loc)), HERE, TERMS)
    assert (news.found, news.foreign, news.refused) == ((), (), 1)


def test_a_document_is_parsed() -> None:
    body = b"<urlset><url><loc>https://www.example.org/a</loc></url></urlset>"
    assert names(read_news(body, url=HERE, terms=TERMS).found) == ["a"]
    with pytest.raises(NotASitemap):
        read_news(b"<html>", url=HERE, terms=TERMS)


@given(st.binary(max_size=100))
def test_any_memory_can_be_read(seen: bytes) -> None:
    assert len(remembered(seen)) <= len(seen) // 12
    news_of(urlset(url("a", 1)), HERE, replace(TERMS, seen=seen))


URLS = st.lists(st.builds(url, st.sampled_from("abcdefgh"), st.none() | st.integers(-40, 200)), max_size=12)


@given(st.lists(URLS, max_size=5), st.integers(0, 5))
def test_a_url_is_new_once_while_it_stays(polls: list[list[SitemapUrl]], limit: int) -> None:
    seen, there = b"", set[str]()
    for urls in polls:
        news = news_of(urlset(*urls), HERE, replace(TERMS, seen=seen, limit=limit))
        new = {each.url for each in news.found if not each.edited}
        assert not new & there
        assert len(news.found) <= limit
        assert remembered(news.seen).keys() <= {number_of(each.loc) for each in urls}
        locs = {each.loc for each in urls}
        there, seen = {loc for loc in locs if number_of(loc) in remembered(news.seen)}, news.seen


def test_a_urlset_may_list_sitemaps_too():
    body = (
        "<urlset><url><loc>https://news.example/a</loc></url>"
        "<sitemap><loc>https://news.example/s.xml</loc></sitemap></urlset>"
    )
    found = read_news(body.encode(), url="https://news.example/sitemap.xml", terms=TERMS)
    assert (found.kind, [each.url for each in found.found]) == ("urlset", ["https://news.example/a"])
    assert [each.url for each in found.parts] == ["https://news.example/s.xml"]
