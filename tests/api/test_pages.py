"""How values are written on pages, and what of the web may be linked."""

from datetime import UTC, datetime, timedelta

import pytest

from feedcrawl.api.pages import templates
from feedcrawl.api.routes.dashboard.login import own_path
from feedcrawl.domain.sanitize import clean_html

NOW = datetime(2026, 11, 28, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("url", "linked"),
    [
        ("https://a.example/x?y=1", True),
        ("http://[::1]:8000/", True),
        ("javascript:alert(1)", False),
        ("JaVaScRiPt:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("https://a.example/\u202egnp", False),
        (" javascript:alert(1)", False),
        ("data:text/html,<script>alert(1)</script>", False),
        ("//a.example/x", False),
        ("https:alert(1)", False),
        ("https://[bad", False),
        ("mailto:a@b.example", False),
        ("", False),
        (None, False),
    ],
)
def test_only_addresses_of_the_web_are_linked(url: str | None, linked: bool) -> None:
    assert templates.web(url) == (url if linked else None)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/dashboard/feeds?q=a%26b", "/dashboard/feeds?q=a%26b"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/a\r\nSet-Cookie: x", "/"),
        ("/\t/evil.example", "/"),
        ("", "/"),
    ],
)
def test_a_login_leads_to_a_page_of_this_server(path: str, expected: str) -> None:
    assert own_path(path) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0, "now"), (-45, "45 s ago"), (90, "in 2 min"), (-3700, "1 h 2 min ago"), (-200_000, "2 d ago")],
)
def test_times_from_now(seconds: float, expected: str) -> None:
    at = NOW + timedelta(seconds=seconds)
    assert (
        templates.ago(at, NOW) == templates.ago(at.timestamp(), NOW) == templates.ago(at.isoformat(), NOW) == expected
    )


@pytest.mark.parametrize("value", [None, "", 0, "yesterday", float(10**18)])
def test_a_missing_or_bad_moment_is_shown_as_a_dash(value: object) -> None:
    assert templates.ago(value, NOW) == "–"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "–"), (0, "0"), (7, "7"), (0.05, "0.05"), (3.21, "3.2"), (42.4, "42"), (12_345, "12\u202f345")],
)
def test_numbers(value: float | None, expected: str) -> None:
    assert templates.number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(0, "0 B"), (999, "999 B"), (999.6, "1 kB"), (1234, "1.23 kB"), (2e15, "2e+03 TB")]
)
def test_sizes(value: float, expected: str) -> None:
    assert templates.size(value) == expected


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [(0, 0, "–"), (0, 9, "0 %"), (9, 9, "100 %"), (1, 3, "33 %"), (1, 40, "2.5 %"), (999, 1000, "99.9 %")],
)
def test_shares(part: float, whole: float, expected: str) -> None:
    assert templates.share(part, whole) == expected


def test_a_text_is_shown_on_a_single_line_of_bounded_length() -> None:
    assert templates.short(" a\n\tb\u202e\x00c ") == "a b c"
    assert templates.short("x" * 500, 10) == "x" * 9 + "…"


def test_pictures_are_replaced_by_their_alt_texts() -> None:
    html = (
        '<p>a<img src="https://a.example/1.png" alt="x &gt; y &lt;b&gt; > z">b<img src="https://a.example/2.png">c</p>'
    )
    shown = str(templates.without_pictures(clean_html(html, base_url="https://a.example/")))
    assert "<img" not in shown
    assert "a.example" not in shown
    assert "[picture]" in shown
    assert "<b>" not in shown
    assert shown.startswith("<p>a<em>[x ")


def test_a_query_leaves_out_empty_parameters() -> None:
    assert templates.query(a="x&y", b=None, c="", d=0, e=2) == "?a=x%26y&e=2"
    assert templates.query() == ""
