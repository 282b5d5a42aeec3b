from datetime import UTC, datetime, timedelta

import pytest
from documents import sitemap, sitemap_index

from feedcrawl.domain.errors import NotASitemap
from feedcrawl.domain.sitemaps.gaps import MAX_DOCUMENTS, MAX_FOUND, Gap, folder_of, read_document

NOON = datetime(2026, 11, 27, 12, tzinfo=UTC)
GAP = Gap(NOON - timedelta(hours=6), NOON, "news.test/sport/")
SITE = "https://news.test"


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        (["https://a.test/x/1", "https://a.test/x/2"], "a.test/x/"),
        (["https://a.test/x/1", "https://a.test/y/2"], "a.test/"),
        (["https://a.test/x/1"], "a.test/x/"),
        (["https://a.test/en/sport/story/1", "https://a.test/en/world/story/2"], "a.test/en/"),
        (["http://a[b]/1", "http://℀.test/", "http://a b/2", "https://a.test/x/1"], "a.test/x/"),
        (["https://a.test/news/2026/11/27/1", "https://a.test/news/2026/11/26/2"], "a.test/news/"),
        (["https://a.test/1", None], "a.test/"),
        (["https://a.test/1", "https://b.test/2"], None),
        ([None], None),
        ([], None),
    ],
)
def test_the_folder_that_entries_share(links, expected):
    assert folder_of(links) == expected


def urls(*hours: int, folder: str = "sport") -> str:
    rows = "".join(
        f"<url><loc>{SITE}/{folder}/{hour}</loc><lastmod>{(NOON - timedelta(hours=hour)).isoformat()}</lastmod></url>"
        for hour in hours
    )
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{rows}</urlset>'


def test_urls_of_the_time_and_the_folder_the_newest_first():
    found = read_document(urls(7, 5, -1, 1).encode(), url=f"{SITE}/s.xml", gap=GAP)
    assert [each.url for each in found.urls] == [f"{SITE}/sport/1", f"{SITE}/sport/5"]
    assert read_document(urls(1, folder="politics").encode(), url=f"{SITE}/s.xml", gap=GAP).urls == ()


@pytest.mark.parametrize(
    ("since_sec", "lastmod", "is_found"),
    [
        (0.5, "{:%Y-%m-%dT%H:%M:%SZ}", True),  # written without the fraction of its second
        (1.5, "{:%Y-%m-%dT%H:%M:%SZ}", False),
        (3600, "{:%Y-%m-%d}", True),  # a day alone is all of its day
        (86_400, "{:%Y-%m-%d}", False),
    ],
)
def test_dates_are_as_precise_as_sitemaps_write_them(since_sec: float, lastmod: str, *, is_found: bool):
    gap = Gap(NOON + timedelta(seconds=since_sec), NOON + timedelta(days=2), "news.test/")
    row = f"<url><loc>{SITE}/1</loc><lastmod>{lastmod.format(NOON)}</lastmod></url>"
    body = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{row}</urlset>'
    assert bool(read_document(body.encode(), url=f"{SITE}/s.xml", gap=gap).urls) is is_found


def test_sitemaps_that_may_cover_the_gap():
    named = [f"{SITE}/1.xml", f"{SITE}/2.xml", "https://elsewhere.test/3.xml"]
    found = read_document(sitemap_index(named).encode(), url=f"{SITE}/index.xml", gap=GAP)
    assert found.sitemaps == (f"{SITE}/1.xml", f"{SITE}/2.xml")
    old = sitemap_index([f"{SITE}/old.xml"]).replace("</loc>", "</loc><lastmod>2020-01-01</lastmod>")
    assert read_document(old.encode(), url=f"{SITE}/index.xml", gap=GAP).sitemaps == ()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"Sitemap: {SITE}/news.xml\nUser-agent: *\nDisallow: /", (f"{SITE}/news.xml",)),
        ("Sitemap: /news.xml", (f"{SITE}/news.xml",)),
    ],
)
def test_sitemaps_of_a_robots_txt_are_read(body, expected):
    assert read_document(body.encode(), url=f"{SITE}/robots.txt", gap=GAP).sitemaps == expected


def test_sitemaps_are_guessed_without_a_robots_txt():
    assert f"{SITE}/sitemap.xml" in read_document(b"", url=f"{SITE}/robots.txt", gap=GAP).sitemaps
    with pytest.raises(NotASitemap):
        read_document(b"<html><p>Not found</p></html>", url=f"{SITE}/s.xml", gap=GAP)
    assert read_document(sitemap([f"{SITE}/sport/1"]).encode(), url=f"{SITE}/s.xml", gap=GAP).urls == ()


def test_a_walk_is_bounded():
    gap = GAP.after(["a", "b"], 3).after(["b", "c"], 0)
    assert (gap.places, gap.documents, gap.found, gap.next) == (("b", "c", "a"), 2, 3, "b")
    assert GAP.next is None
    for _ in range(gap.documents, MAX_DOCUMENTS - 1):
        gap = gap.after(["d"], 0)
    assert (gap.documents, gap.next) == (MAX_DOCUMENTS - 1, "d")
    assert gap.after(["d"], 0).next is None
    assert GAP.after(["a"], MAX_FOUND).next is None
    assert GAP.after(["a"], 0, sitemap=False).documents == 0
