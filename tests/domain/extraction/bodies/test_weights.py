import re

import pytest

from feedcrawl.domain.extraction.bodies.weights import forget, in_names, weigh
from feedcrawl.domain.markup import parse_html

WORDS = "Words that make a line of prose, for there are more than sixty letters in them."


@pytest.mark.parametrize(
    "body",
    [
        f"<div><p id=x>{WORDS}</p>tail<p>{WORDS}</p></div>",
        f"<div><p>{WORDS}<span id=x>inline {WORDS}</span>and on</p></div>",
        f"<div><p>Short<span id=x>{WORDS}</span>and on</p></div>",
        f"<div><p>{WORDS}<a href=/>one<span id=x>{WORDS}</span>two</a></p></div>",
        f"<div><p><em>A<span id=x><a href=/>{WORDS}</a></span>b</em>{WORDS}</p></div>",
        f"<ul><li>{WORDS}<div id=x>{WORDS}<p>{WORDS}</p></div></li></ul>",
    ],
)
def test_weights_after_an_element_is_forgotten_equal_those_of_the_page_without_it(body):
    tree = parse_html(f"<html><body>{body}</body></html>")
    assert tree is not None
    element, weights = tree.get_element_by_id("x"), weigh(tree)
    forget(element, weights)
    element.drop_tree()
    assert weights == weigh(tree)


def test_in_names_reads_a_hint_in_any_case_and_remembers():
    pattern = re.compile("[a-z]Byline|by-line")
    is_byline = in_names(pattern, "by")
    assert [is_byline(named) for named in ("postByline", "by-line", "Byline", "headline", "", "by-line")] == [
        True, True, False, False, False, True,
    ]  # fmt: skip
