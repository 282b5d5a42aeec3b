import pytest

from feedcrawl.domain.extraction.bodies.folds import open_folds
from feedcrawl.domain.extraction.bodies.marks import marks_of
from feedcrawl.domain.extraction.labels import label_of
from feedcrawl.domain.markup import parse_html
from feedcrawl.domain.text import canonical_text

ANSWER = "<p>A mortgage is a loan that is secured by the house which it pays for.</p>"
QUESTION = "What is a mortgage?"
MENU = "".join(f"<a href=/{n}>Another page of the site</a>" for n in range(4))


def opened(markup):
    tree = parse_html(f"<html><body>{markup}</body></html>")
    assert tree is not None
    open_folds(tree.xpath(".//*[@aria-expanded or @aria-controls]"))
    return tree.find("body")


@pytest.mark.parametrize(
    "markup",
    [
        f"<button aria-expanded=false>{QUESTION}</button><div id=panel hidden>{ANSWER}</div>",
        f"<h3><button aria-expanded=false>{QUESTION}</button></h3><div id=panel aria-hidden=true>{ANSWER}</div>",
        f"<h3><button aria-expanded=true>{QUESTION}</button></h3><div id=panel>{ANSWER}</div>",
        f"<div><h3><a aria-expanded=false>{QUESTION}</a></h3></div><div id=panel class='text hidden'>{ANSWER}</div>",
        f"<div><a role=button aria-controls=panel>{QUESTION}</a></div><div id=panel style=display:none>{ANSWER}</div>",
    ],
)
def test_a_folded_text_is_shown_with_its_heading(markup):
    body = opened(markup)
    assert canonical_text(body).splitlines() == [QUESTION, canonical_text(parse_html(ANSWER))]
    panel = body.get_element_by_id("panel")
    assert marks_of(panel, label_of(panel)) == []


@pytest.mark.parametrize(
    "markup",
    [
        f"<button aria-expanded=false>Menu</button><div id=panel hidden>{MENU}</div>",
        "<button aria-expanded=false>Sort</button><div id=panel hidden>By price</div>",
        f"<button>{QUESTION}</button><div id=panel hidden>{ANSWER}</div>",
        f"<button aria-controls=other>{QUESTION}</button><div id=panel hidden>{ANSWER}</div>",
        f"<button aria-controls>{QUESTION}</button><div><p id=panel hidden>{ANSWER}</p></div>",
        f"<div><p>Two sorts</p><button aria-expanded=false>More</button></div><div id=panel hidden>{ANSWER}</div>",
        f"<div><button aria-expanded=false></button></div><div id=panel hidden>{ANSWER}</div>",
    ],
)
def test_a_hidden_element_that_is_no_text_under_a_heading_stays_hidden(markup):
    panel = opened(markup).get_element_by_id("panel")
    assert "hidden attribute" in marks_of(panel, label_of(panel))


@pytest.mark.parametrize(("attributes", "tag"), [("href=#panel", "span"), ("role=button", "span"), ("href=/more", "a")])
def test_a_control_that_leads_nowhere_is_no_link(attributes, tag):
    body = opened(f"<h3><a aria-expanded=false {attributes}>{QUESTION}</a></h3><div id=panel hidden>{ANSWER}</div>")
    assert body.find("h3")[0].tag == tag
