import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.discovery.link_headers import MAX_HEADERS, HeaderLink, header_links


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("<https://a.example/>; rel=hub", [HeaderLink("https://a.example/", ("hub",))]),
        (
            '</f>; rel="alternate feed"; type="application/rss+xml"',
            [HeaderLink("/f", ("alternate", "feed"), "application/rss+xml")],
        ),
        ("</f>; type=application/atom+xml; rel=Alternate", [HeaderLink("/f", ("alternate",), "application/atom+xml")]),
        ("</a>; rel=next, </b>; rel=self", [HeaderLink("/a", ("next",)), HeaderLink("/b", ("self",))]),
        ('</a>; title="; rel=hub, <x>"; rel=self', [HeaderLink("/a", ("self",), title="; rel=hub, <x>")]),
        ('</a>; note="\\"; rel=hub', [HeaderLink("/a")]),
        ("</a>; rel=next; rel=hub; type=a/b; type=c/d", [HeaderLink("/a", ("next",), "a/b")]),
        ("</a>", [HeaderLink("/a")]),
        ("rel=hub", []),
        ("", []),
    ],
)
def test_links(value: str, expected: list[HeaderLink]) -> None:
    assert list(header_links([value])) == expected


def test_few_headers_are_read() -> None:
    assert len(list(header_links(["</a>; rel=hub"] * 100))) == MAX_HEADERS


@given(st.lists(st.text(max_size=80), max_size=3))
def test_any_text_is_read(values: list[str]) -> None:
    assert all(link.target.strip() == link.target for link in header_links(values))
