import pytest

from feedcrawl.domain.extraction.fields.bylines import (
    account_byline,
    dated_byline,
    late_byline,
    met_byline,
    noted_byline,
    only_byline,
    plain_byline,
)
from feedcrawl.domain.extraction.page import read_page


def page(body):
    return read_page(f"<html><body>{body}<p>{'text ' * 60}</p></body></html>", "https://d.example/a")


LINE = "<p>A line.</p>"
PROSE = f"<p>{'Words of a story. ' * 8}</p>"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("<h1>A story</h1><p>By Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><ul><li>Von: Ann Lee und Bo Ek</li></ul>", ["Ann Lee", "Bo Ek"]),
        ("<h1>A story</h1><p>Written by Ann Lee on 3 May 2024</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>By Ann Lee | The Daily</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>By ANN LEE and BO EK<time>SEPT. 19, 2026</time></p>", ["ANN LEE", "BO EK"]),
        ("<h1>A story</h1><p>Von Ann Lee, Berlin</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p><a href=/author/ann>Ann Lee</a> 3 May</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>3 May • Written by Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>by Ann Lee ● December 23, 2025 ● 6 min read</p>", ["Ann Lee"]),
        ("<title>A story of ports | The Daily</title><h2>A story of ports</h2><p>By Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>Von</p><p>Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>By <a href=/team/ann>Ann Lee</a>, Bo Ek and Cy Dee</p>", ["Ann Lee", "Bo Ek", "Cy Dee"]),
        ("<h1>A story</h1><p><a href=/by/ann>Ann Lee</a><a href=/by/bo>Bo Ek</a></p>", ["Ann Lee", "Bo Ek"]),
        ("<h1>A story</h1><p>By <a href=/author/ann>Ann Lee</a> Berlin</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>By Ann Lee December 2, 2025</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>Posted on September 21, 2020 by Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>von Ann Lee, Online-Redaktion Veröffentlicht: 3.5.2024</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p><b>By</b><i>Ann Lee</i></p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>Written by<b>Ann Lee</b><i>Updated on 3 May</i></p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>by Ann LeeReviewed May 3</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p><a href=/author/ann>By Ann Lee</a></p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>Eine Kolumne von Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>by Amanda · Dec 20, 2025 at 3:00 am</p><p>by Tor Books</p>", ["Amanda"]),
        ("<h1>A story</h1><p>by chance · Dec 20, 2025</p>", []),
        ("<h1>A story</h1><p>By Ann Lee and Bo Ek For The Sunday Daily</p>", ["Ann Lee", "Bo Ek"]),
        ("<h1>A story</h1><p><a href=/people/>Ann Lee</a></p>", []),
        ("<h1>A story</h1><p>von Montag, den 1. Mai</p><p>By the way</p>", []),
        (f"<h1>A story</h1>{LINE * 8}<p>By Ann Lee</p>", []),
        (f"<h1>A story</h1>{LINE * 8}<p><a href=/author/ann>Ann Lee</a></p>", []),
        ("<p>By Ann Lee</p><h1>A story</h1>", []),
        ("<p>By Ann Lee</p>", []),
    ],
)
def test_plain_byline(body, names):
    assert plain_byline(page(body)) == names


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("<p>Author: Ann Lee</p>", ["Ann Lee"]),
        ("<p>Autoren Ann Lee und Bo Ek</p>", ["Ann Lee", "Bo Ek"]),
        ("<p>Text von Ann Lee Illustration von Bo Ek</p>", ["Ann Lee"]),
        ("<p>Text und Interview: Ann Lee</p>", ["Ann Lee"]),
        ("<p>Posted by David at May 3, 2024 11:15 AM</p>", ["David"]),
        (f"{PROSE}<p>Von:</p><p>Ann Lee</p>", ["Ann Lee"]),
        (f"<p>By:</p><p>Ann Lee</p>{PROSE}", []),
        (f"{PROSE}<p>by</p><p>Ann Lee</p><p>by</p><p>Bo Ek</p>", []),
        ("<p>Kommentar von Ann Lee</p>", []),
        ("<p>Autoren lesen vor</p>", []),
        ("<p>Posted by David</p>", []),
    ],
)
def test_late_byline(lines, names):
    assert late_byline(page(f"<h1>A story</h1>{LINE * 20}{lines}")) == names


@pytest.mark.parametrize(
    ("near", "note", "names"),
    [
        ("Ann Lee", "Ann Lee is a writer.", ["Ann Lee"]),
        ("Stefan", "Stefan is the founder of a harbour.", ["Stefan"]),
        ("Yucy 3/4/2025", "Yucy, as an editor, writes.", ["Yucy"]),
        ("Stefan", "Stefan walked home.", []),
        ("harbour", "harbour is a word that writers use.", []),
    ],
)
def test_met_byline(near, note, names):
    assert met_byline(page(f"<h1>A story</h1><p>{near}</p>{LINE * 20}<p>{note}</p>")) == names


SIGNED_BELOW = f"<h1>A story</h1>{'<p>' + 'text and more ' * 20 + '</p>'}"


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("<p>Ann Lee</p><p>March 1, 2026</p>", ["Ann Lee"]),
        ("<p>March 1, 2026 · 4 min read</p><p>Ann Lee</p>", ["Ann Lee"]),
        ("<p>Ann Lee</p><p>Tech Writer</p>", ["Ann Lee"]),
        ("<p>Ann Lee, 3 May 2024</p>", ["Ann Lee"]),
        ("<p><b>May 3, 2024</b><i>Ann Lee</i></p>", ["Ann Lee"]),
        ("<p>May 3, 2024 • Ann Lee in Harbours</p>", ["Ann Lee"]),
        ("<p>Ann Lee, Bo C. Ek and Cy Dee</p><p>24 Apr 2024 • 3 min read</p>", ["Ann Lee", "Bo C. Ek", "Cy Dee"]),
        ("<p>Ann Lee, London</p><p>24 Apr 2024</p>", []),
        ("<p>Ann Lee</p><p>wrote it</p>", []),
        ("<p>Ann Lee</p><p>24 May 1941</p>", []),
        ("<p>Ann Lee</p><p>2024 election</p>", []),
        ("<p>Find Care</p><p>March 1, 2026</p><p>to find care is easy</p>", []),
        ("<p>Editorial Team</p><p>March 1, 2026</p>", []),
        ("<p>x</p><p>x</p><p>x</p><p>x</p><p>Ann Lee</p><p>March 1, 2026</p>", []),
    ],
)
def test_dated_byline(lines, names):
    assert dated_byline(page(f"<h1>A story</h1>{lines}")) == names


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("<p>Ann Lee</p><p>Ann Lee is a writer of stories.</p>", ["Ann Lee"]),
        ("<p>Ann Lee</p><p>Ann Lee ist Redakteurin.</p>", ["Ann Lee"]),
        ("<p>Cloud Service</p><p>Cloud Service is a suite of tools.</p>", []),
        ("<p>Ann Lee</p><p>Ann Lee is a writer.</p><p>Bo Ek</p><p>Bo Ek is an editor.</p>", []),
    ],
)
def test_noted_byline(lines, names):
    assert noted_byline(page(f"{SIGNED_BELOW}{SIGNED_BELOW}{lines}")) == names


def test_a_note_above_the_text_is_on_its_subject():
    assert noted_byline(page(f"<p>Ann Lee</p><p>Ann Lee is a writer of stories.</p>{SIGNED_BELOW}")) == []


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        ("<p>By Ann Lee</p>", ["Ann Lee"]),
        ("<p>By Ann Lee</p><p>By Bo Ek</p>", []),
        ("<h1>A story</h1><p>x</p><p>By Ann Lee</p>", []),
    ],
)
def test_only_byline(lines, names):
    assert only_byline(page(lines)) == names


def test_a_reviewer_is_no_author():
    links = "<a href=/author/ann>Ann Lee</a> Reviewed by <a href=/author/bo>Bo Ek</a>"
    assert plain_byline(page(f"<h1>A story</h1><p>Written by {links}</p>")) == ["Ann Lee"]


def test_no_byline_after_two_paragraphs():
    prose = "<p>" + "Words of the story. " * 15 + "</p>"
    assert plain_byline(page(f"<h1>A story</h1>{prose}{prose}<p>By Ann Lee</p>")) == []


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("by annlee", ["annlee"]),
        ("By Ann | Published: 3 May 2024", ["Ann"]),
        ("by ann on May 3, 2024", ["ann"]),
        ("By The Harbour Team", ["The Harbour Team"]),
        ("Posted by ann under Harbours", ["ann"]),
        ("By May 3, 2024", []),
        ("By email", []),
        ("By AFP", []),
        ("By the numbers: what ships cost", []),
        ("By 2030 every ship will be late", []),
    ],
)
def test_account_byline(line, names):
    assert account_byline(page(f"<h1>A story</h1><p>{line}</p>")) == names
