import pytest

from feedcrawl.domain.errors import InvalidUrl
from feedcrawl.domain.http.url_gate import Gate


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1/", "address_refused"),
        ("http://127.1/", "address_refused"),
        ("http://2130706433/", "address_refused"),
        ("http://0x7f.1/", "address_refused"),
        ("http://0177.0.0.1/feed", "address_refused"),
        ("http://①②⑦.⓪.⓪.①/", "address_refused"),
        ("http://[::ffff:127.0.0.1]/", "address_refused"),
        ("http://169.254.169.254/latest/meta-data", "address_refused"),
        ("http://[fd00:ec2::254]/", "address_refused"),
        ("http://10.0.0.1/", "address_refused"),
        ("http://news.test:22/", "url_port"),
        ("http://news.test:6379/", "url_port"),
        ("http://news.test:8081/", "url_port"),
        ("http://user@news.test/", "url_userinfo"),
        ("http://news.test\\@127.0.0.1/", "url_ambiguous"),
        ("http:///news.test/", "url_ambiguous"),
        ("file:///etc/passwd", "url_scheme"),
        ("gopher://news.test/", "url_scheme"),
        ("//news.test/", "url_malformed"),
        ("", "url_malformed"),
    ],
)
def test_an_unusable_url_is_refused_by_its_text(url: str, code: str) -> None:
    with pytest.raises(InvalidUrl) as raised:
        Gate("", "8081").passed(url)
    assert raised.value.code == code
    assert raised.value.detail


@pytest.mark.parametrize(
    ("url", "passed"),
    [
        ("http://News.Test:80/a#b", "http://news.test/a"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("http://localhost/", "http://localhost/"),  # a name: the resolver judges it
        ("http://8.8.8.8:8080/", "http://8.8.8.8:8080/"),
        ("http://127.1.0.7:9001/", "http://127.1.0.7:9001/"),
    ],
)
def test_a_public_or_opened_url_passes(url: str, passed: str) -> None:
    assert Gate("127.1.0.0/16", "").passed(url) == passed


@pytest.mark.parametrize(("networks", "ports"), [("127.1/16", ""), ("", "http")])
def test_rules_that_cannot_be_read(networks: str, ports: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        Gate(networks, ports)
