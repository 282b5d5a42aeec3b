import pytest

from feedcrawl.domain.extraction.page import read_page

FILLER = "<p>" + "text " * 60


@pytest.mark.parametrize(
    ("html", "is_kept"),
    [
        ("<p>{{ story.status }}</p>", False),
        ("<p>by {{ review.sender }} - {{ review.time | date }}</p>", False),
        ("<p>A port<br>{{ review.time }}</p>", False),
        ("<p>Write {{ name }} where the name of the port belongs.</p>", True),
        ("<pre>{{ name }}</pre>", True),
        ("<p>Write <code>{{ name }}</code> there.</p>", True),
        ("<p>Two braces {{ do not end</p>", True),
    ],
)
def test_places_that_no_script_has_filled_in_are_no_text(html, is_kept):
    page = read_page(f"<body>{html}{FILLER}</body>", "https://a.example/")
    assert any("{{" in line for line in page.lines) is is_kept


def test_text_beside_a_placeholder_stays():
    page = read_page(f"<body><p>One<br>{{{{ a.count }}}}<b>two</b></p>{FILLER}</body>", "https://a.example/")
    assert page.lines[:2] == ["One", "two"]
