import pytest

from feedcrawl.domain.search.beginnings import fits, without_short
from feedcrawl.domain.search.query import read


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("tea g*", "tea"),
        ("tea gr*", "tea"),
        ("tea gre*", "tea gre*"),
        ("tea -g* -milk", "tea -milk"),
        ("tea 水", "tea 水"),
    ],
)
def test_the_index_looks_up_all_but_short_beginnings(query: str, rest: str) -> None:
    assert without_short(read(query)) == read(rest)


def test_a_query_of_short_beginnings_leaves_no_terms_to_look_up() -> None:
    assert without_short(read("g* h*")).terms == ()


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("g*", "A Green tea", True),
        ("gr*", "A Green tea", True),
        ("r*", "A Green tea", False),
        ("g*", "(green)", True),
        ("g*", "snake_green", True),
        ("u*", "Über den Wolken", True),
        ("ж*", "Ждёт ёлка", True),
        ("का*", "की काम", True),
        ("का*", "की", False),
        ("म*", "काम", False),
        ("g* t*", "green tea", True),
        ("g* x*", "green tea", False),
        ("x -g*", "green tea", False),
        ("x -h*", "green tea", True),
        ("e-g*", "an e-green thing", True),
        ("e-g*", "green and e", False),
        ("g*", "", False),
    ],
)
def test_a_document_fits_by_the_beginnings_of_its_words(query: str, text: str, expected: bool) -> None:
    assert fits(read(query), ["other words", text]) is expected
