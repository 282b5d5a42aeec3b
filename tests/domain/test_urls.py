import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain import urls
from feedcrawl.domain.errors import InvalidUrl

ANY_URL = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["http", "HTTPS"]),
    st.sampled_from(["news.example", "News.Example.", "bücher.example:8080", "[::1]", "127.1", "user:pw@a.example"]),
    st.text(alphabet="/.%2eE5aZ~\\ é&=?#:;+'\"\t", max_size=30).map(lambda text: f"/{text}"),
    st.lists(
        st.tuples(st.text(alphabet="ab%2eé=?;", max_size=4), st.text(alphabet="x%41+ &#", max_size=4)), max_size=5
    ).map(lambda pairs: "?" + "&".join(f"{name}={value}" for name, value in pairs)),
)


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("HTTP://News.Example:80/A", "http://news.example/A"),
        ("https://news.example:443", "https://news.example/"),
        ("https://news.example:8443/a", "https://news.example:8443/a"),
        ("https://news.example./a", "https://news.example/a"),
        ("https://reader:secret@news.example/a", "https://news.example/a"),
        ("https://bücher.example/a", "https://xn--bcher-kva.example/a"),
        ("http://①②⑦.0.0.1/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://news.example/x/./y/../a/", "https://news.example/x/a"),
        ("https://news.example/x/%2e%2E/a", "https://news.example/a"),
        ("https://news.example//", "https://news.example/"),
        ("https://news.example/%7Eann", "https://news.example/~ann"),
        ("https://news.example/a%c3%a4", "https://news.example/a%C3%A4"),
        ("https://news.example/ä", "https://news.example/%C3%A4"),
        ("https://news.example/100%", "https://news.example/100%25"),
        ("https://news.example/%%341", "https://news.example/%2541"),
        ("https://news.example/a%2Fb", "https://news.example/a%2Fb"),
        ("https://news.example/a#part", "https://news.example/a"),
        ("https://news.example/a?", "https://news.example/a"),
        ("https://news.example/a?&&b=1&", "https://news.example/a?b=1"),
        ("https://news.example/a?b=1&a=2", "https://news.example/a?a=2&b=1"),
        ("https://news.example/a?b=2&b=1&a", "https://news.example/a?a&b=2&b=1"),
        ("https://news.example/a?id=7&utm_source=rss&fbclid=x", "https://news.example/a?id=7"),
        ("https://news.example/a?%75tm_source=rss", "https://news.example/a"),
        (" \n https://news.example/a\n", "https://news.example/a"),
        ("https://news.example/\ud800", "https://news.example/%EF%BF%BD"),
    ],
)
def test_canonical_form(url, canonical):
    assert urls.canonicalize(url) == canonical


def test_relative_urls_are_resolved_against_the_base():
    assert urls.canonicalize("../b?x=1", base="https://news.example/a/c/d") == "https://news.example/a/b?x=1"


def test_trailing_slash_is_kept_on_request():
    assert urls.canonicalize("https://news.example/a/", keep_trailing_slash=True) == "https://news.example/a/"
    assert urls.url_uid("https://news.example/a/") == urls.url_uid("https://news.example/a")
    assert urls.url_uid("https://news.example/a/", keep_trailing_slash=True) != urls.url_uid("https://news.example/a")


def test_path_case_and_other_parameters_stay():
    url = "https://news.example/A/b?Id=7&page=2&ref=x&source=y&utmost=1"
    assert urls.canonicalize(url) == url


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("", "url_malformed"),
        ("news.example/a", "url_malformed"),
        ("http://news.example:99999/", "url_malformed"),
        ("http://?", "url_malformed"),
        ("http://a b/", "url_malformed"),
        ("http://1.2.3.256/", "url_malformed"),
        ("javascript:alert(1)", "url_scheme"),
        ("data:text/html,x", "url_scheme"),
        ("file:///etc/passwd", "url_scheme"),
        ("ftp://news.example/", "url_scheme"),
        ("http://xn--/", "url_host"),
        ("http://a.xn--pokxncvks/", "url_host"),
        ("http://news.example/" + "a" * 2100, "url_too_long"),
        ("http://news.example/" + "ä" * 1000, "url_too_long"),
    ],
)
@pytest.mark.parametrize("read", [urls.canonicalize, urls.resolve])
def test_refusals(read, url, code):
    with pytest.raises(InvalidUrl) as refusal:
        read(url)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("url", "base", "fetched"),
    [
        ("https://News.example/A/?b=2&a=1&utm_source=x#f", None, "https://news.example/A/?b=2&a=1&utm_source=x"),
        ("\n/a%7e b\n", "https://news.example/x", "https://news.example/a%7e%20b"),
        ("//cdn.example/x", "https://news.example/", "https://cdn.example/x"),
        ("https://news.example/a\\b", None, "https://news.example/a/b"),
        ("https://news.example/a?#", None, "https://news.example/a?"),
    ],
)
def test_the_fetched_url_is_the_published_url_made_absolute(url, base, fetched):
    assert urls.resolve(url, base) == fetched


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1:p\\@news.example", "url_ambiguous"),
        ("http://127.0.0.1\\@news.example", "url_ambiguous"),
        ("http:\\\\127.0.0.1", "url_ambiguous"),
        ("\\\\127.0.0.1", "url_ambiguous"),
        ("/\\127.0.0.1", "url_ambiguous"),
        ("http:///127.0.0.1", "url_ambiguous"),
        ("http:/127.0.0.1", "url_ambiguous"),
        ("https:127.0.0.1", "url_ambiguous"),
        ("///127.0.0.1", "url_ambiguous"),
        ("http://news.exa\tmple/", "url_ambiguous"),
        ("http://news.example/a\r\nHost: b", "url_ambiguous"),
        ("http://user@127.0.0.1/", "url_userinfo"),
        ("http://:pw@127.0.0.1/", "url_userinfo"),
        ("http://news.example:0/", "url_port"),
    ],
)
def test_spellings_with_two_readings_are_not_fetched(url, code):
    with pytest.raises(InvalidUrl) as refusal:
        urls.resolve(url, "http://base.example/")
    assert refusal.value.code == code


def test_uid_and_hash():
    assert urls.url_uid("https://NEWS.example/a?utm_source=x") == "3f28ceffe1221c80"
    assert urls.url_hash("https://news.example/a") == (
        "95bbca1f9b4bae7d73e89dc2c1be3dbeaa950e8c570a3426c090e614f66f4ce9"
    )


@pytest.mark.parametrize(
    ("url", "host", "origin", "domain"),
    [
        ("https://Www.News.co.uk:8443/a", "www.news.co.uk", "https://www.news.co.uk:8443", "news.co.uk"),
        ("http://news.example.:80/", "news.example", "http://news.example", "news.example"),
        ("http://ann.github.io/", "ann.github.io", "http://ann.github.io", "ann.github.io"),
        ("http://[::1]:81/", "::1", "http://[::1]:81", "::1"),
        ("http://127.0.0.1/", "127.0.0.1", "http://127.0.0.1", "127.0.0.1"),
        ("http://www.news.example/", "www.news.example", "http://www.news.example", "news.example"),
        ("http://github.io/", "github.io", "http://github.io", "github.io"),
        ("http://localhost/", "localhost", "http://localhost", "localhost"),
        ("http://ann@b.test:99/x", "b.test", "http://b.test:99", "b.test"),
        ("http://a:b@c:d@e.test/@f.test:80?g@h:1#//i.test:2", "e.test", "http://e.test", "e.test"),
        (" http://:pw@a.test?b:1/ ", "a.test", "http://a.test", "a.test"),
        ("http://a.test#b@c.test:3/", "a.test", "http://a.test", "a.test"),
    ],
)
def test_parts(url, host, origin, domain):
    assert (urls.hostname(url), urls.origin(url), urls.registered_domain(urls.hostname(url))) == (host, origin, domain)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("news.co.uk", "news.co.uk"),
        ("www.a.news.co.uk", "news.co.uk"),
        ("ann.github.io", "ann.github.io"),
        ("x.ann.github.io", "ann.github.io"),
        ("a.unlisted", "a.unlisted"),
        ("b.a.unlisted", "a.unlisted"),
        ("a.b.www.ck", "www.ck"),  # an exception to `*.ck`
        ("a.b.c.ck", "b.c.ck"),
        ("a.news.xn--55qx5d.cn", "news.xn--55qx5d.cn"),
        ("c.ck", None),
        ("github.io", None),
        ("co.uk", None),
        ("localhost", None),
        ("127.0.0.1", None),
        ("[::1]", None),
        ("::1", None),
        ("", None),
    ],
)
def test_the_site_of_a_host(host, expected):
    assert urls.site_of(host) == expected


def test_same_site():
    assert urls.same_site("https://www.news.co.uk/a", "http://m.news.co.uk/b")
    assert not urls.same_site("https://ann.github.io/", "https://bob.github.io/")


@given(ANY_URL)
def test_the_canonical_form_of_a_canonical_form_is_itself(url):
    canonical = urls.canonicalize(url)
    assert urls.canonicalize(canonical) == canonical
    assert urls.canonicalize(canonical, keep_trailing_slash=True) == canonical


@given(ANY_URL)
def test_published_and_canonical_form_name_the_same_host(url):
    try:
        fetched = urls.resolve(url)
    except InvalidUrl:
        return
    assert urls.resolve(fetched) == fetched
    assert urls.canonicalize(fetched) == urls.canonicalize(url)
    assert urls.hostname(fetched) == urls.hostname(urls.canonicalize(url))


@given(st.text(max_size=60))
def test_any_text_is_a_url_or_refused(text):
    for read in (urls.canonicalize, urls.resolve):
        try:
            assert read(text, base="https://news.example/a/").startswith(("http://", "https://"))
        except InvalidUrl:
            continue


@pytest.mark.parametrize(
    ("url", "canonical"),
    [
        ("http://a.test/a;jsessionid=0A1B.node1", "http://a.test/a"),
        ("http://a.test/a;JSESSIONID=0A1B?x=1", "http://a.test/a?x=1"),
        ("http://a.test/a;phpsessid=1/b;sid=2", "http://a.test/a/b"),
        ("http://a.test/a;v=1;jsessionid=2", "http://a.test/a;v=1"),
        ("http://a.test/a%3Bjsessionid=2", "http://a.test/a%3Bjsessionid=2"),
        ("http://a.test/a?PHPSESSID=1&x=2", "http://a.test/a?x=2"),
        ("http://a.test/a?ASPSESSIONIDQSRT=1&CFID=2&CFTOKEN=3", "http://a.test/a"),
        ("http://a.test/a?sid=1&session=2", "http://a.test/a?session=2&sid=1"),
        ("http://a.test/jsessionid=1", "http://a.test/jsessionid=1"),
    ],
)
def test_a_session_is_no_part_of_an_identity(url: str, canonical: str) -> None:
    assert urls.canonicalize(url) == canonical
