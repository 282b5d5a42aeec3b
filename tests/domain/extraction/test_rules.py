"""The operator's selectors, applied to large pages."""

import pytest
from growth import assert_linear

from feedcrawl.domain.extraction.rules import select_body, select_text
from feedcrawl.domain.markup import parse_html


def test_selectors_that_find_very_many_elements_take_linear_time() -> None:
    def run(count: int) -> None:
        lines = "".join(f"<p>Line {number} <i>of</i> the text.<br><b>Removed</b></p>" for number in range(count))
        tree = parse_html(f"<body>{lines}</body>")
        assert tree is not None
        body = select_body(tree, ["p, p i"], ["b"])
        assert body is not None
        assert len(body) == count
        assert body[-1].text_content() == f"Line {count - 1} of the text."

    assert_linear(run, 1_500)


@pytest.mark.parametrize(
    ("selector", "texts"),
    [
        ("div b", ("one", "two", "three", "four")),
        ("div b:first-child", ("one", "two")),
        ("div > b", ("one", "four")),
        ("p b + b", ("three",)),
        ("p:contains('TWO') b", ("two", "three")),
    ],
)
def test_css_selectors_find_descendants_in_document_order(selector: str, texts: tuple[str, ...]) -> None:
    tree = parse_html("<div><b>one</b><p><i><b>two</b><b>three</b></i></p><b>four</b></div>")
    assert tree is not None
    assert select_text(tree, [selector]) == texts
