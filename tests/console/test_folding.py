import pytest

from feedcrawl.console.folding import folded

URL = "https://news.example/a/very/long/path/of/an/article"


@pytest.mark.parametrize(
    ("line", "width", "expected"),
    [
        ("short", 20, ["short"]),
        ("", 20, [""]),
        ("one two three four", 10, ["one two", "  three", "  four"]),
        ("  one two three", 10, ["  one two", "  three"]),
        ("a  1 h 2 min  because of this", 24, ["a  1 h 2 min  because of", "   this"]),
        ("→   5 min  the rate at which it publishes", 30, ["→   5 min  the rate at which", "           it publishes"]),
        (f"see {URL} now", 30, ["see", "  https://news.exa…/an/article", "  now"]),
        (f"see {URL} now", 60, [f"see {URL} now"]),
        ("id " + "x" * 40, 20, ["id", "  " + "x" * 40]),  # a token stays in one piece
        ("新しい記事 新しい記事", 12, ["新しい記事", "  新しい記事"]),
        ("\x1b[1mone\x1b[0m two", 7, ["\x1b[1mone\x1b[0m two"]),
    ],
)
def test_folded(line, width, expected):
    assert list(folded(line, width)) == expected
