import pytest

from feedcrawl.console.tables import fitting
from feedcrawl.domain.operations.display import shortened

NAMES = ("title", "url", "next")


@pytest.mark.parametrize(
    ("title", "url", "width", "expected"),
    [
        (10, 20, 80, {"title": 10, "url": 20}),  # all fits
        (10, 100, 80, {"title": 10, "url": 56}),  # the long column gets what the short one leaves
        (100, 100, 80, {"title": 33, "url": 33}),
        (100, 100, 20, {"title": 12, "url": 12}),  # never narrower than can be read
    ],
)
def test_columns_that_are_cut_share_the_room(title: int, url: int, width: int, expected: dict[str, int]) -> None:
    rows = [["t" * title, "u" * url, "in 10 mins"]]
    assert fitting(NAMES, rows, ("title", "url"), width) == expected


@pytest.mark.parametrize(
    ("text", "longest", "expected"),
    [
        ("https://a.example/feed", 22, "https://a.example/feed"),
        ("https://a.example/feed", 12, "https:…/feed"),
        ("abcdef", 5, "ab…ef"),
        ("", 5, ""),
    ],
)
def test_a_text_is_cut_in_its_middle(text: str, longest: int, expected: str) -> None:
    assert shortened(text, longest) == expected
    assert len(shortened(text, longest)) <= longest
