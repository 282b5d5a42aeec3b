import re

import pytest

from feedcrawl.domain.extraction.labels import Label, Labels, label_of
from feedcrawl.domain.markup import parse_html

PAGE = """<body><p class=lead id=one>a</p><div><p class=lead>b</p><p>c</p><p class=lead title=x>d</p></div>
<p class=lead>e</p></body>"""


@pytest.mark.parametrize(
    ("markup", "label"),
    [
        ("<p>x", Label("p")),
        ("<p title=x>x", Label("p")),
        ("<p class='a b'>x", Label("p", "a b", "a b")),
        ("<p id=c>x", Label("p", "c", anchor="c")),
        ("<p class='' id=c>x", Label("p", " c", anchor="c")),
        ("<p class=a id=c title=x>x", Label("p", "a c", "a", "c")),
        ("<a rel='author nofollow' href=/>x</a>", Label("a", rel="author nofollow")),
        ("<p itemprop=author role=note>x", Label("p", itemprop="author", role="note")),
        ("<p class=a hidden>x", Label("p", "a", "a", is_hidden=True)),
        ("<p aria-hidden=true>x", Label("p", is_hidden=True)),
        ("<p style='color: red; display: none'>x", Label("p", is_hidden=True)),
        ("<p aria-hidden=false style='color: red'>x", Label("p")),
        ("<p aria-label='Video Player'>x", Label("p", is_player=True)),
        ("<p aria-label='Menu'>x", Label("p")),
    ],
)
def test_label_of(markup, label):
    assert label_of(parse_html(f"<body>{markup}").find("body")[0]) == label


def test_labels_are_found_in_document_order_and_judged_once():
    elements = list(parse_html(PAGE).iter())
    judged = []

    def is_lead(label):
        judged.append(label)
        return "lead" in label.names

    found = Labels(elements).find(is_lead)
    assert [elements[at].text for at, _ in found] == ["a", "b", "d", "e"]
    assert [label.anchor for _, label in found] == ["one", "", "", ""]
    assert len([label for label in judged if label.names == "lead"]) == 1


def test_only_labels_that_match_the_hint_are_judged():
    elements = list(
        parse_html(
            "<body><p class=a>1</p><p class='b UPDATED'>2</p><i>3</i><p itemprop=x-updated>4</p><p id=updat>5"
        ).iter()
    )
    judged = []

    def is_paragraph(label):
        judged.append(label.names)
        return label.tag == "p"

    found = Labels(elements).find(is_paragraph, re.compile("updated"))
    assert [elements[at].text for at, _ in found] == ["2", "4"]
    assert sorted(judged) == ["", "b UPDATED"]


def test_an_attribute_is_found_at_its_elements():
    elements = list(parse_html("<body><p>1</p><b aria-expanded=true>2</b><i itemtype=x aria-expanded>3</i>").iter())
    labels = Labels(elements)
    assert [elements[at].text for at in labels.having("aria-expanded")] == ["2", "3"]
    assert [elements[at].text for at in labels.having("itemtype")] == ["3"]
