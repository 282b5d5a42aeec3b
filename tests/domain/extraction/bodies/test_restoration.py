import re

import pytest
from lxml import etree

from feedcrawl.domain.extraction.bodies.restoration import restore
from feedcrawl.domain.markup import parse_html

FIRST, SECOND = "The first paragraph of the story.", "The second paragraph of the story."


def tree(html):
    document = parse_html(f"<body><div>{html}</div></body>")
    assert document is not None
    return document.find(".//div")


@pytest.mark.parametrize(
    ("body", "prose", "restored"),
    [
        ("<p>1</p><p>2</p>", "<p>1</p><div><img src=a></div><p>2</p>", "<p>1</p><img src=a><p>2</p>"),
        (
            "<p>1</p><p>2</p>",
            "<p>1</p><figure><img src=a></figure><p>2</p>",
            "<p>1</p><figure><img src=a></figure><p>2</p>",
        ),
        ("<p>1</p><p>2</p>", "<img src=a><p>1</p><p>2</p>", "<img src=a><p>1</p><p>2</p>"),
        ("<p>1</p><p>2</p>", "<p>1</p><p>2</p><img src=a>", "<p>1</p><p>2</p><img src=a>"),
        ("<p>1</p><p>2</p>", "<p>1</p><img src=a><img src=b><p>2</p>", "<p>1</p><img src=a><img src=b><p>2</p>"),
        ("<p>1</p><img src=a><p>2</p>", "<p>1</p><figure><img src=a></figure><p>2</p>", "<p>1</p><img src=a><p>2</p>"),
        ("<p>1</p><p>2</p>", "<p>1</p><img src=a width=1><p>2</p>", "<p>1</p><p>2</p>"),
        (
            "<p>1</p><p>2</p>",
            "<p>1</p><table><tr><td>2024</td></tr></table><p>2</p>",
            "<p>1</p><table><tr><td>2024</td></tr></table><p>2</p>",
        ),
        (
            "<ul><li>1</li></ul><p>2</p>",
            "<ul><li>1</li></ul><img src=a><p>2</p>",
            "<ul><li>1</li></ul><img src=a><p>2</p>",
        ),
        ("<p>Another text.</p>", "<p>1</p><img src=a><p>2</p>", "<p>Another text.</p>"),
    ],
)  # fmt: skip
def test_an_element_that_a_library_drops_returns_to_its_place(body, prose, restored):
    def with_sentences(html):
        return html.replace(">1<", f">{FIRST}<").replace(">2<", f">{SECOND}<")

    changed = tree(with_sentences(body))
    restore(changed, tree(with_sentences(prose)))
    html = etree.tostring(changed, encoding="unicode", method="html")
    assert re.sub(r'(?<=src=)"(\w)"', r"\1", html) == f"<div>{with_sentences(restored)}</div>"


def test_a_long_line_of_another_text_ends_the_restoration():
    body = tree(f"<p>{FIRST}</p>")
    restore(
        body, tree(f"<p>{FIRST}</p><p>{'Something else that the other reading does not have. ' * 3}</p><img src=a>")
    )
    assert body.find(".//img") is None
