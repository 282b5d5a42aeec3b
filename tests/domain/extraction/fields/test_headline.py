import pytest

from feedcrawl.domain.extraction.fields.headline import headline_at
from feedcrawl.domain.extraction.page import read_page

TAIL = f"<p>{'text ' * 60}</p>"
STORY = "A story of ports"
LD = '<script type="application/ld+json">{"@type":"Article","headline":"A story of ports"}</script>'


@pytest.mark.parametrize(
    ("head", "body", "headline"),
    [
        ("", "<p>menu</p><h1>A story of ports</h1>", STORY),
        (f"<meta property=og:title content='{STORY}'>", "<h1>Ships</h1><h1>A story of ports</h1>", STORY),
        (f"<meta property=og:title content='{STORY}'>", "<h2>A story of ports</h2>", STORY),
        ("", "<h1>A story<br>of ports</h1><p>x</p>", "of ports"),
        ("<title>A story of ports - The Daily</title>", "<h1><a href=/>Daily</a></h1><p>A story of ports</p>", STORY),
        (LD, "<h1>D.example</h1><h2>A story of ports</h2>", STORY),
        ("<title>Ports | A story of ports</title>", "<p>Ports</p><h2>A story of ports</h2>", STORY),
        ("<title>Another one</title>", "<h1><a href=/>Daily</a></h1><p>A story of ports</p>", "Daily"),
        ("<title>The Daily</title>", "<p>A story of ports</p>", None),
    ],
)
def test_the_headline_among_the_lines(head, body, headline):
    page = read_page(f"<html><head>{head}</head><body>{body}{TAIL}</body></html>", "https://d.example/a")
    assert (None if headline_at(page) is None else page.lines[headline_at(page)]) == headline
