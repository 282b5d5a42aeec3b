import re

import pytest
from lxml import etree

from feedcrawl.domain.extraction.bodies.restoration import mark_figures, restore
from feedcrawl.domain.extraction.bodies.weights import weigh
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


def test_mark_figures():
    root = tree(
        "<div class=img-box><div><img src=a></div><span>The harbour</span></div><p class=photo><img src=b>text</p>"
        f"<div class=image><img src=c>{'long text ' * 80}</div>"
    )
    mark_figures(root, weigh(root))
    assert [child.tag for child in root] == ["figure", "p", "div"]


def test_an_item_with_its_picture_and_heading_is_no_figure():
    root = tree("<div class=item-has-image><img src=a><h3>The first machine</h3><p>What is good about it.</p></div>")
    mark_figures(root, weigh(root))
    assert root[0].tag == "div"


def test_a_box_of_text_with_a_figure_inside_is_no_figure():
    text = "A paragraph that is long enough to be prose stands beside the picture and tells a story."
    root = tree(f"<div class=photo-story><figure><img src=a></figure><p>{text}</p></div>")
    mark_figures(root, weigh(root))
    assert [child.tag for child in root] == ["div"]
