import pytest

from feedcrawl.console.tables import fitting, lines_of
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


@pytest.mark.parametrize(
    ("names", "rows", "cut", "width", "expected"),
    [
        (
            ("a", "next"),
            [["one", "now"], ["", "in 5 s"]],
            (),
            80,
            ["a    next", "───────────", "one  now", "     in 5 s"],
        ),
        (("title", "n"), [], (), 80, ["title  n", "────────"]),
        (
            ("title", "n"),
            [["新しい記事", "1"], ["ab", "2"]],
            (),
            80,
            ["title       n", "─────────────", "新しい記事  1", "ab          2"],
        ),
        (  # more columns than a terminal has room for
            ("host", "delay_sec", "waits"),
            [["a.test", "1", "its turn"], ["a.co", "2", "-"]],
            (),
            20,
            [
                "host       a.test",
                "delay_sec  1",
                "waits      its turn",
                "",
                "host       a.co",
                "delay_sec  2",
                "waits      -",
            ],
        ),
        (
            ("url", "n"),
            [["https://a.test/feed", "1"]],
            ("url",),
            16,
            ["url            n", "────────────────", "https:/…/feed  1"],
        ),
        (
            ("title", "n"),
            [["新しい記事の題名", "1"]],
            ("title",),
            16,
            ["title        n", "──────────────", "新しい…題名  1"],
        ),
        (
            ("reason", "n"),
            [["a reason of many words", "1"]],
            (),
            16,
            ["reason         n", "────────────────", "a reason of m  1", "any words"],
        ),
    ],
)
def test_lines_of_a_table(
    names: tuple[str, ...], rows: list[list[str]], cut: tuple[str, ...], width: int, expected: list[str]
) -> None:
    assert list(lines_of(names, rows, cut, width)) == ["", *expected, ""]
