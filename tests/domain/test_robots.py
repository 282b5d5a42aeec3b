import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain import robots

SITE = "https://news.example"


def allowed(body: str | bytes, path: str, agent: str = "feedcrawl") -> bool:
    return robots.parse(body.encode() if isinstance(body, str) else body).allowed(SITE + path, agent)


@pytest.mark.parametrize(
    ("rules", "path", "may"),
    [
        ("", "/a", True),
        ("Disallow:", "/a", True),
        ("Disallow: /", "/a", False),
        ("Disallow: /a", "/a/b", False),
        ("Disallow: /a", "/A", True),
        ("Disallow: /a/\nAllow: /a/b", "/a/b/c", True),
        ("Allow: /a\nDisallow: /a", "/a", True),
        ("Allow: /\nDisallow: /a*c", "/abc", False),
        ("Disallow: /*.pdf$", "/x.pdf", False),
        ("Disallow: /*.pdf$", "/x.pdf?y", True),
        ("Disallow: /*?print=", "/x?print=1", False),
        ("Disallow: /caf%C3%A9", "/caf%c3%a9", False),
        ("Disallow: /café", "/caf%C3%A9", False),
        ("Disallow: /%61", "/a", False),
        ("Disallow: /a # but not b", "/b", True),
        ("disalow /a", "/a", False),
        ("Disallow: /a\u2028b", "/a", True),
        ("Disallow: /a\x0bDisallow: /b", "/b", True),
        ("Disallow: /", "/robots.txt", False),
        ("Disallow: /a", "/robots.txt", True),
        ("<html>\nNot found", "/a", True),
    ],
)
def test_rules(rules, path, may):
    for end in ("\n", "\r\n", "\r"):
        assert allowed(f"User-agent: *\n{rules}".replace("\n", end), path) is may


GROUPS = """
User-agent: *
Disallow: /all
User-agent: feedcrawl
User-agent: Other
Disallow: /ours
User-agent: FeedCrawl/2.0 (anything)
Disallow: /too
User-agent: feedcrawl-news
Disallow: /news
User-agent: AB42bot
Disallow: /ab
User-agent: * beta
Disallow: /beta
"""


@pytest.mark.parametrize(
    ("agent", "closed"),
    [
        ("feedcrawl", {"/ours", "/too"}),
        ("FEEDCRAWL", {"/ours", "/too"}),
        ("feedcrawl/1.2 (+https://crawler.example/)", {"/ours", "/too"}),
        ("other", {"/ours"}),
        ("feedcrawl-news", {"/news"}),
        ("feedcrawl-images", {"/all", "/beta"}),
        ("feed", {"/all", "/beta"}),
        ("AB", {"/ab"}),
        ("AB42bot", {"/all", "/beta"}),
        ("", {"/all", "/beta"}),
    ],
)
def test_the_group_of_an_agent(agent, closed):
    paths = ("/all", "/ours", "/too", "/news", "/ab", "/beta")
    assert {path for path in paths if not allowed(GROUPS, path, agent)} == closed


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_a_mark_before_the_first_line_is_passed_over(mark):
    assert not allowed(mark + b"User-agent: *\nDisallow: /a", "/a")


def test_other_encodings():
    assert not allowed("User-agent: *\nDisallow: /a".encode("utf-16"), "/a")
    assert not allowed(b"User-agent: *\nDisallow: /caf\xe9", "/caf%E9")
    assert allowed(b"User-agent: *\nDisallow: /caf\xe9", "/cafe")


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        ("2", 2.0),
        ("0.5", 0.5),
        ("1e9", 1e9),
        ("0", 0.0),
        ("-1", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("soon", None),
        ("", None),
    ],
)
def test_crawl_delay(value, delay):
    rules = robots.parse(f"User-agent: feedcrawl\nCrawl-delay: {value}\nDisallow: /a".encode())
    assert rules.crawl_delay("feedcrawl/1.0") == delay
    assert rules.crawl_delay("other") is None


def test_sitemaps_belong_to_no_group():
    rules = robots.parse(
        b"Sitemap: https://a.example/1.xml\nUser-agent: *\nsitemap:https://a.example/2.xml # news\n"
        b"Disallow: /\nSITEMAP: https://a.example/1.xml\nSitemap:\n"
    )
    assert rules.sitemaps == ("https://a.example/1.xml", "https://a.example/2.xml")
    many = b"".join(b"Sitemap: https://a.example/%d\n" % number for number in range(robots.MAX_SITEMAPS + 9))
    assert len(robots.parse(many).sitemaps) == robots.MAX_SITEMAPS


def test_lines_beyond_the_limit_are_not_read_and_a_cut_line_is_no_rule(monkeypatch):
    monkeypatch.setattr(robots, "MAX_BYTES", 40)
    body = b"User-agent: *\nDisallow: /a\nDisallow: /private\n"
    assert not allowed(body, "/a")
    assert allowed(body, "/private")
    assert allowed(body, "/pri")


@pytest.mark.timeout(5)
@pytest.mark.parametrize(
    "body",
    [
        b"User-agent: *\nDisallow: /" + b"*a" * 200_000,
        b"User-agent: *\n" + b"Disallow: /a*b*c$\n" * 20_000,
        b"User-agent: *\n" * 30_000,
        b"\0" * 500_000,
        b"User-agent: " + b" " * 500_000,
        b"".join(b"User-agent: %c%c%c\n" % (97 + n % 26, 97 + n // 26 % 26, 97 + n // 676) for n in range(15_000))
        + b"Disallow: /x\n" * 20_000,
        b"User-agent: *\n" + b"".join(b"Disallow: /*zq%d\n" % number for number in range(30_000)),
        b"User-agent: *\nDisallow: /" + b"\xff" * 500_000,
    ],
)
def test_cost_is_bounded(body):
    rules = robots.parse(body)
    rules.allowed(SITE + "/" + "a" * 2000, "feedcrawl")
    assert rules.crawl_delay("feedcrawl") is None


def test_wildcards_beyond_the_budget_are_named_and_dropped(monkeypatch):
    monkeypatch.setattr(robots, "MAX_WILDCARDS", 3)
    body = "User-agent: *\nDisallow: /*a\nDisallow: /b*c*d\nAllow: /*e\nUser-agent: other\nDisallow: /f\nDisallow: /*g"
    rules = robots.parse(body.encode())
    assert rules.dropped == ("Allow: /*e", "Disallow: /*g")
    paths = ("/xa", "/b1c2d", "/xe", "/f", "/xg")
    assert [rules.allowed(SITE + path, "feedcrawl") for path in paths] == [False, False, True, True, True]
    assert [rules.allowed(SITE + path, "other") for path in paths] == [True, True, True, False, True]
    assert robots.parse(b"User-agent: *\nDisallow: /*").dropped == ()


@given(st.lists(st.sampled_from([b"User-agent:", b"*", b"\n", b"\xff", b"Disallow: /", b"Crawl-delay:", b"\0", b"%"])))
def test_any_bytes_are_rules(parts):
    rules = robots.parse(b" ".join(parts))
    assert rules.allowed(SITE + "/a", "feedcrawl") in {True, False}
    assert rules.sitemaps == ()
