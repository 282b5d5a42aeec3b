import pytest

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.sites.owners import Sources, source_of
from feedcrawl.domain.sites.sources import Source

SITE = Source("site", "https://www.a.example/", keep_trailing_slash=True, delay_sec=2)
SPORT = Source("sport", "https://www.a.example/sport", delay_sec=5)
INDEX = Source("index", "https://b.example/world/index.html")
BLOG = Source("blog", "https://blog.b.example/")
TWIN = Source("twin", "https://blog.b.example/")
LOCAL = Source("local", "http://127.0.0.1:8001/")
OTHER = Source("other", "http://127.0.0.1:8002/")
ALL = Sources([SITE, SPORT, INDEX, BLOG, TWIN, LOCAL, OTHER])


@pytest.mark.parametrize(
    ("url", "named", "expected"),
    [
        ("https://www.a.example/x", None, "site"),
        ("http://A.example:80/x?y#z", None, "site"),
        ("https://m.a.example/sport/x", None, "sport"),
        ("https://www.a.example/sport", None, "sport"),
        ("https://a.example/sport/", None, "sport"),
        ("https://a.example/sports", None, "site"),
        ("https://www.a.example/x", "sport", "site"),
        ("https://b.example/world/1", None, "index"),
        ("https://b.example/other", None, "index"),
        ("https://blog.b.example/world/1", None, "blog"),
        ("https://blog.b.example/1", "twin", "twin"),
        ("https://blog.b.example/1", "site", "blog"),
        ("http://127.0.0.1:8002/x", None, "other"),
        ("https://c.example/x", None, None),
        ("https://c.example/x", "sport", "sport"),
        ("https://c.example/x", "gone", None),
        ("https://user:pw@www.a.example/x", None, "site"),
    ],
)
def test_the_source_of_a_url(url: str, named: str | None, expected: str | None) -> None:
    found = ALL.of(url, named)
    assert (found.name if found else None) == expected


def test_a_malformed_url_has_no_source() -> None:
    with pytest.raises(InvalidUrl):
        ALL.of("mailto:a@a.example")
    assert source_of("https://a.example/", []) is None


def test_the_slash_of_a_url_is_that_of_its_source() -> None:
    urls = ("https://a.example/x/", "https://a.example/sport/x/", "https://c.example/x/")
    assert [ALL.keeps_trailing_slash(url, None) for url in urls] == [True, False, False]
    assert ALL.keeps_trailing_slash("https://c.example/x/", "site")


def test_a_domain_has_the_longest_delay_of_its_sources() -> None:
    assert ALL.delays_sec() == {"a.example": 5, "b.example": None, "127.0.0.1": None}


def test_sources_are_a_mapping_by_name() -> None:
    assert (len(ALL), list(ALL)[:2], ALL["site"], "none" in ALL) == (7, ["site", "sport"], SITE, False)
    assert repr(Sources([SITE])) == "Sources(['site'])"
