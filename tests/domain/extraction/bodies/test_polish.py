import math

import pytest

from feedcrawl.domain.extraction.bodies.leads import add_lead
from feedcrawl.domain.extraction.bodies.polish import (
    agreement,
    corroborate,
    drop_announcements,
    drop_headline,
    drop_lines,
    drop_repeats,
    grams,
)
from feedcrawl.domain.markup import parse_html
from feedcrawl.domain.text import canonical_text

LINES = [f"Line number {n} tells something of its own, namely the figure {n * n}." for n in range(8)]


def body(html):
    tree = parse_html(f"<html><body>{html}</body></html>")
    assert tree is not None
    return tree.find("body")


@pytest.mark.parametrize(
    ("line", "stays"),
    [
        ("<p><a href=/>Sign up for our newsletter</a></p>", False),
        ("<p><em>Follow us on Facebook and write to us.</em></p>", False),
        ("<p><strong>Read more:</strong> <a href=/>Another story</a></p>", False),
        ("<p>Lesen Sie auch: <a href=/>Etwas anderes</a></p>", False),
        ("<p>He told readers to subscribe to nothing.</p>", True),
        ("<p>Drivers who <a href=/>sign up for the programme</a> pay less.</p>", True),
        ("<p><a href=/>Subscribe to the paper</a> today.</p>", False),
        ("<p>Bookmark this page, and <a href=/>sign up for our letters</a>.</p>", False),
        ("<p>She reads <a href=/>the paper</a>.</p>", True),
        ("<p><em>Emphasis is no crime.</em></p>", True),
        ("<p>An dieser Stelle wird ein externer Inhalt angezeigt, wenn Sie zustimmen.</p>", False),
        ("<p>Der Minister warb für externe Inhalte im Unterricht.</p>", True),
        ("<p>If you buy through links on our pages we may earn a commission.</p>", False),
        ("<p>Brokers may earn a commission of two percent.</p>", True),
        ("<p>Links mit Sternchen sind Affiliate-Links, wir erhalten eine Provision.</p>", False),
        ("<p>The court ruled that affiliate links are lawful.</p>", True),
        ("<p>© dpa-infocom, dpa:230428-99-483045/5</p>", False),
        ("<p>Reporting by Ann Lee in Oslo; editing by Bo Ek</p>", False),
        ("<p>Reporting by the commission was slow, ministers said.</p>", True),
        ("<p>With reports from the Courier and the Mail</p>", False),
        ("<p>With reports in hand she left.</p>", True),
        ("<p>This article was first published in the Courier.</p>", False),
        ("<p>This article of the constitution was never published abroad, he said.</p>", True),
        ("<p>Dieser Artikel ist zuerst im Kurier erschienen.</p>", False),
        ("<p>Dies ist eine maschinelle Übersetzung eines Textes aus dem Kurier.</p>", False),
        ("<div>The head of the school received fourteen children © Ann Lee / Courier</div>", False),
        ("<p>The mark © stands for nothing here.</p>", True),
        ("<p>For more stories like this, see <a href=/>our front page</a>.</p>", False),
        ("<p>For more than a year she read <a href=/>the paper</a>.</p>", True),
    ],
)
def test_drop_calls(line, stays):
    root = body(f"<p>first</p>{line}")
    drop_lines(root)
    assert (len(root) == 2) is stays


PULLED = "We built the whole bridge in a single winter, and nobody came to see it"


@pytest.mark.parametrize(
    ("box", "stays"),
    [
        (f"<blockquote><p>{PULLED}.</p><cite>Ann Lee, engineer</cite></blockquote>", False),
        (f"<div class='pull-quote'><p>“{PULLED}”</p></div>", False),
        (f"<aside class='Quote_quote__a1'>{PULLED}</aside>", False),
        ("<blockquote><p>A bridge that is not seen has never been built at all.</p></blockquote>", True),
        (f"<p>{PULLED}, she says.</p>", True),
        ("<blockquote>The whole bridge</blockquote>", True),
    ],
)
def test_drop_repeats(box, stays):
    root = body(f"<p>“{PULLED},” she says.</p><p>{LINES[0]}</p>{box}<p>{LINES[1]}</p>")
    drop_repeats(root)
    assert len(root) == 3 + stays


def test_a_long_quotation_of_the_text_goes_where_posts_quote_each_other():
    story = " ".join(f"Sentence number {n} of the story is long." for n in range(30))
    root = body(f"<article class=select-to-quote><p>{story}</p><blockquote><p>{story}</p></blockquote></article>")
    drop_repeats(root)
    assert root.find(".//blockquote") is not None
    drop_repeats(root, math.inf)
    assert canonical_text(root) == story


def test_quotations_of_each_other_stay():
    quotation = f"<blockquote>{PULLED}</blockquote>"
    root = body(f"<p>{LINES[0]}</p>{quotation}<p>{LINES[1]}</p>{quotation}")
    drop_repeats(root)
    assert len(root) == 4


@pytest.mark.parametrize(
    ("end", "left"),
    [
        ("<h2>You may also like</h2>", ""),
        ("<h3>More on this</h3><p></p><div> </div>", ""),
        ("<p>Taking part:</p>", ""),
        ("<h2>Sources</h2><p>Links:</p>", ""),
        ("<h2>One</h2><h3>Two</h3><h4>Three</h4>", "One"),
        ("<h2>Sources</h2>The harbour office.", "Sources\nThe harbour office."),
        ("<h2>The pier</h2><figure><img src=/pier.jpg></figure>", "The pier"),
        ("<p>It was over.</p>", "It was over."),
        (f"<h2>{LINES[0]} {LINES[1]} {LINES[2]}</h2>", f"{LINES[0]} {LINES[1]} {LINES[2]}"),
    ],
)
def test_drop_announcements(end, left):
    root = body(f"<h2>First</h2><p>{LINES[0]}</p>{end}")
    drop_announcements(root)
    assert canonical_text(root) == f"First\n{LINES[0]}\n{left}".rstrip()


def test_drop_headline():
    root = body("<h1>The <b>Headline</b>!</h1><h2>Another</h2><p>text</p>")
    drop_headline(root, [None, "The headline"])
    assert canonical_text(root) == "Another\ntext"


@pytest.mark.parametrize(
    ("title", "stays"),
    [
        ("A headline of some length | The Example", False),
        ("A headline of some length", False),
        ("Another headline", True),
    ],
)
def test_the_title_may_go_on_with_the_site_s_name(title, stays):
    root = body("<h1>A headline of some length</h1><p>text</p>")
    drop_headline(root, [title])
    assert (len(root) == 2) is stays


def test_add_lead():
    root = body("<p>The text.</p>")
    add_lead(root, None)
    add_lead(root, "What it is about.")
    add_lead(root, "WHAT it is about")
    assert canonical_text(root) == "What it is about.\nThe text."
    add_lead(root, "Two lines\nof it.")
    assert canonical_text(root) == "Two lines\nof it.\nWhat it is about.\nThe text."


def test_corroborate_removes_lines_that_the_witness_does_not_have():
    odd = "Our app has all of this and more, every day of the week."
    root = body("".join(f"<p>{line}</p>" for line in [*LINES[:4], odd, "Short.", *LINES[4:]]))
    assert corroborate(root, "\n".join(LINES))
    assert canonical_text(root).splitlines() == [*LINES[:4], "Short.", *LINES[4:]]


def test_a_heading_stays_with_the_lines_below():
    heading, odd = "What the witness does not head with", "Our app has all of this and more, every day of the week."
    first, rest = "".join(f"<p>{line}</p>" for line in LINES[:4]), "".join(f"<p>{line}</p>" for line in LINES[4:])
    root = body(f"{first}<h2>{heading}</h2>{rest}<h2>Where it is that you can get our app</h2><p>{odd}</p>")
    assert corroborate(root, "\n".join(LINES))
    assert canonical_text(root).splitlines() == [*LINES[:4], heading, *LINES[4:]]


@pytest.mark.parametrize("witness", ["", LINES[0], "Something else entirely, told in words of its own and at length."])
def test_a_witness_of_another_text_changes_nothing(witness):
    root = body("".join(f"<p>{line}</p>" for line in LINES))
    assert not corroborate(root, witness)
    assert canonical_text(root).splitlines() == LINES


def test_agreement():
    assert agreement(grams("a b c d e"), grams("A, b c d e!")) == 1
    assert agreement(grams("a b c d"), grams("e f g h")) == 0
    assert agreement(grams(""), grams("")) == 0
    assert agreement(grams("a b c d e"), grams("a b c d x")) == 0.5


def test_a_paragraph_that_occurs_twice_is_shown_once():
    story = "".join(f"<p>{line}</p>" for line in LINES)
    tree = body(f"<div><div>{story}<p>Short.</p><li>{LINES[0]}</li></div><div>{story}<p>Short.</p></div></div>")
    drop_lines(tree)
    assert canonical_text(tree).splitlines() == [*LINES, "Short.", f"- {LINES[0]}", "Short."]


def test_a_list_that_occurs_twice_is_shown_once():
    steps = "".join(f"<li>{line}</li>" for line in LINES)
    tree = body(f"<div><ol>{steps}</ol></div><div><ol>{steps}</ol></div>")
    drop_lines(tree)
    assert canonical_text(tree).splitlines() == [f"- {line}" for line in LINES]
