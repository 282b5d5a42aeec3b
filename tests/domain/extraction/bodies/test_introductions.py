import pytest

from feedcrawl.domain.extraction.bodies.introductions import is_introduced
from feedcrawl.domain.markup import parse_html

LINKS = "<li><a href=/1>The first report</a></li><li><a href=/2>The second report</a></li>"


@pytest.mark.parametrize(
    ("before", "introduced"),
    [
        ("<p>The reports are here:</p>", True),
        ("<div>We tested these:</div>", True),
        ("<p>Die Berichte\uff1a</p>", True),
        ("<h2>Resources</h2>", True),
        ("<div><h2>Resources</h2></div>", True),
        ("<h3>Resources for sailors</h3><p>We like these.</p>", True),
        ("<p>The reports are here:</p><p> </p>", True),
        ("<p>The following places are open:</p>", True),
        ("<p>Books about bridges:</p>", True),
        ("<p>Follow us on:</p>", False),
        ("<h2>About the paper</h2>", False),
        ("<p>Nothing is announced here.</p>", False),
        ("<h2>Related articles</h2>", False),
        ("<h2>More from The Daily</h2>", False),
        ("<h2><a href=/all>Reports</a></h2>", False),
        ("<h3>Related articles</h3><p>We like these.</p>", False),
        ("<p>Read also:</p>", False),
        ("<p>Mehr zum Thema:</p>", False),
        ("<p>Tags:</p>", False),
        ("<p>Читайте также:</p>", False),
        ("<h2>Resources</h2>Some text", False),
        ("", False),
    ],
)
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_list_after_a_line(before, introduced, wrapped):
    links = f"<ul>{LINKS}</ul>"
    tree = parse_html(f"<body><div>{before}{f'<div>{links}</div>' if wrapped else links}</div></body>")
    assert tree is not None
    assert is_introduced(tree.find(".//ul")) is introduced


@pytest.mark.parametrize(
    ("html", "introduced"),
    [
        ("<h2>Resources</h2><table><tr><td><a href=/1>One</a></td></tr></table>", True),
        ("<h2>Ann</h2><dl><dt>Joined</dt><dd><a href=/1>2023</a></dd></dl>", False),
        ("<p>The sources:</p><dl><dt><a href=/1>One</a></dt></dl>", True),
        ("<h2>Chapters</h2><ul><li><a href=#one>One</a></li><li><a href=#two>Two</a></li></ul>", False),
    ],
)
def test_kinds_of_lists(html, introduced):
    tree = parse_html(f"<body><div>{html}</div></body>")
    assert tree is not None
    assert is_introduced(tree.find(".//div")[-1]) is introduced
