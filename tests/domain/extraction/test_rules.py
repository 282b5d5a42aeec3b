"""The operator's selectors, applied to large pages."""

import time

from feedcrawl.domain.extraction.rules import select_body
from feedcrawl.domain.markup import parse_html


def test_selectors_that_find_very_many_elements_take_linear_time() -> None:
    lines = "".join(f"<p>Line {number} <i>of</i> the text.<br><b>Removed</b></p>" for number in range(12_000))
    tree = parse_html(f"<body>{lines}</body>")
    assert tree is not None
    began = time.process_time()
    body = select_body(tree, ["p, p i"], ["b"])
    assert time.process_time() - began < 10
    assert body is not None
    assert len(body) == 12_000
    assert body[-1].text_content() == "Line 11999 of the text."
