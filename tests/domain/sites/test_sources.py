import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.models import SourceRules
from feedcrawl.domain.sites.sources import BadSources, Source, read_sources

WHOLE = """
sources:
  - name: Example News
    base_url: https://www.example.org/news
    feed_urls: [https://www.example.org/a.xml, https://www.example.org/b.xml]
    sitemap_url: https://www.example.org/sitemap.xml
    ingestion_mode: both
    categories: [world, local]
    priority: 8
    delay_sec: 2.5
    feed_poll_interval_minutes: 15
    min_interval_sec: 300
    max_interval_sec: 7200
    sitemap_interval_sec: 1800
    article_url_patterns: '/\\d{4}/\\d\\d/'
    listing_url_patterns: ['/section/', 'page=\\d+']
    selectors:
      body: [div.story, //article]
      remove: .advert
    trailing_slash: keep
    external_links: submit
    render: never
    full_text: true
    bind_address: [192.0.2.1, 192.0.2.2]
  - name: bare
    base_url: https://bare.example
    proxy: 'http://ada:${PROXY_PASSWORD}@192.0.2.9:3128'
    proxy_resolves: true
"""


def test_every_field() -> None:
    whole, bare = read_sources(WHOLE)
    assert whole == Source(
        name="Example News",
        base_url="https://www.example.org/news",
        feed_urls=("https://www.example.org/a.xml", "https://www.example.org/b.xml"),
        sitemap_urls=("https://www.example.org/sitemap.xml",),
        ingestion_mode="both",
        categories=("world", "local"),
        priority=8,
        delay_sec=2.5,
        poll_interval_sec=900,
        min_interval_sec=300,
        max_interval_sec=7200,
        sitemap_interval_sec=1800,
        article_patterns=(r"/\d{4}/\d\d/",),
        listing_patterns=("/section/", r"page=\d+"),
        selectors=SourceRules(body=("div.story", "//article"), remove=(".advert",)),
        keep_trailing_slash=True,
        external_links="submit",
        render="never",
        full_text=True,
        bind_addresses=("192.0.2.1", "192.0.2.2"),
    )
    proxies = ("http://ada:${PROXY_PASSWORD}@192.0.2.9:3128",)
    assert bare == Source("bare", "https://bare.example/", proxies=proxies, proxy_resolves=True)


@pytest.mark.parametrize(("mode", "polls", "crawls"), [("feed", 1, 0), ("spider", 0, 1), ("both", 1, 1)])
def test_modes(mode: str, polls: bool, crawls: bool) -> None:
    (source,) = read_sources(f"[{{name: a, base_url: 'http://a.example', ingestion_mode: {mode}}}]")
    assert (source.polls, source.crawls) == (polls, crawls)


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("base_url: ftp://a.example", "base_url must be an absolute http:// or https:// URL, not 'ftp://a.example'"),
        ("feed_urls: [http://b.example, nowhere]", "feed_urls must be an absolute http:// or https:// URL"),
        ("feed_url: 7", "feed_url must be an absolute http:// or https:// URL, not 7"),
        ("ingestion_mode: crawl", "ingestion_mode must be feed or spider or both, not 'crawl'"),
        ("priority: 11", "priority must be a whole number from 1 to 10, not 11"),
        ("priority: true", "priority must be a whole number from 1 to 10, not True"),
        ("delay_sec: soon", "delay_sec must be a number of seconds above 0, not 'soon'"),
        ("delay_sec: .nan", "delay_sec must be a number of seconds above 0, not nan"),
        ("feed_poll_interval_minutes: 0", "feed_poll_interval_minutes must be a number of minutes above 0, not 0"),
        ("article_url_patterns: ['(']", "article_url_patterns must be a regular expression or a list of them"),
        ("listing_url_patterns: 3", "listing_url_patterns must be a regular expression or a list of them"),
        ("selectors: {bodi: p}", "selectors must be a mapping with some of body, title, published, author, remove"),
        ("selectors: {title: 'h1['}", "selectors must be valid CSS or XPath (title: 'h1[' is no CSS"),
        (
            "selectors: {body: [p, '//p[']}",
            "selectors must be valid CSS or XPath (body: '//p[' is no XPath: ",
        ),
        (
            "selectors: {body: 'nosuch()'}",
            "selectors must be valid CSS or XPath (body: 'nosuch()' is no CSS",
        ),
        (
            "selectors: {body: '//x:p'}",
            "selectors must be valid CSS or XPath (body: '//x:p' is no XPath: Undefined namespace prefix",
        ),
        ("selectors: {body: [1]}", "selectors must be CSS or XPath selectors, each a text or a list of texts"),
        ("trailing_slash: yes please", "trailing_slash must be remove or keep, not 'yes please'"),
        ("external_links: true", "external_links must be ignore or submit, not True"),
        ("render: [auto]", "render must be never or auto or always"),
        ("categories: ['']", "categories must be a text of at most 100 characters"),
        ("feedurl: http://b.example", "there is no field 'feedurl'; the fields are name, base_url"),
        ("category: a\n  categories: [b]", "give category or categories, not both"),
        (
            "poll_interval_sec: 60\n  feed_poll_interval_minutes: 5",
            "give poll_interval_sec or feed_poll_interval_minutes, not both",
        ),
        (
            "spider_interval_sec: 60\n  spider_interval: 5",
            "give spider_interval_sec or spider_interval, not both",
        ),
        ("bind_address: eth0", "bind_address must be an IP address of this machine, or a list of them, not 'eth0'"),
        ("proxy: 'http://a:b@c:1'", "proxy must be a URL whose password is ${NAME}"),
        ("proxy: 'http://c:1'\n  bind_address: 192.0.2.1", "give bind_address or proxy, not both"),
        ("proxy_resolves: true", "proxy_resolves is given without a proxy"),
        ("proxy: 'http://c:1'\n  proxy_resolves: 1", "proxy_resolves must be true or false, not 1"),
        ("min_interval_sec: 9\n  max_interval_sec: 8", "min_interval_sec must be at most max_interval_sec"),
    ],
)
def test_a_fault_names_source_field_and_expected_value(field: str, expected: str) -> None:
    base = "" if field.startswith("base_url") else "base_url: http://a.example\n  "
    with pytest.raises(BadSources) as refused:
        read_sources(f"- name: alpha\n  {base}{field}\n")
    assert refused.value.code == "bad_sources"
    assert f"source 'alpha': {expected}" in refused.value.detail


def test_all_faults_are_reported_at_once() -> None:
    text = "- {name: a, base_url: x, priority: 0}\n- text\n- {base_url: 'http://c.example'}\n"
    with pytest.raises(BadSources) as refused:
        read_sources(text + "- {name: d, base_url: 'http://d.example'}\n" * 2)
    faults = refused.value.detail.split("; ")
    assert [fault.partition(" must")[0].partition(": expected")[0] for fault in faults] == [
        "source 'a': base_url",
        "source 'a': priority",
        "source 2",
        "source 3: name is missing",
        "source 'd': the name is given twice",
    ]


@pytest.mark.parametrize(
    "text", ["", "sources:", "a: b", "42", "sources: {a: b}", "[", "- !!python/object:os.system x"]
)
def test_a_document_that_is_no_list_of_sources_is_refused(text: str) -> None:
    with pytest.raises(BadSources):
        read_sources(text)


def test_no_sources_are_none() -> None:
    assert read_sources("[]") == ()


def faults_of(text: str) -> str:
    try:
        read_sources(text)
    except BadSources as refused:
        return refused.detail
    return "none"


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert faults_of(text)


LEAVES = st.none() | st.booleans() | st.integers(-5, 20) | st.floats() | st.text(max_size=5)
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))


@given(st.dictionaries(st.sampled_from(["name", "base_url", "selectors", "priority", "article_url_patterns"]), VALUES))
def test_any_value_of_a_field_is_read_or_refused(entry: dict[str, object]) -> None:
    assert faults_of(yaml.safe_dump([entry], allow_unicode=True))
