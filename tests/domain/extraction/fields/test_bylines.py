import pytest

from feedcrawl.domain.extraction.fields.bylines import marked_byline, plain_byline
from feedcrawl.domain.extraction.page import read_page


def page(body):
    return read_page(f"<html><body>{body}<p>{'text ' * 60}</p></body></html>", "https://d.example/a")


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("<p class=byline>By Ann Lee</p>", ["Ann Lee"]),
        ("<div class=author><a>Ann Lee</a></div><div class=author><a>Bo Ek</a></div>", ["Ann Lee", "Bo Ek"]),
        # Beside a linked name the boxes without one are controls.
        ("<div class=author><a>Ann Lee</a></div><div class=author>Connect Directly<a></a></div>", ["Ann Lee"]),
        ("<div class=author><div class=author-name>Ann Lee</div> writes of ports and ships</div>", ["Ann Lee"]),
        ("<div class='page with-sidebar'><h1>A story</h1><p class=byline>By Ann Lee</p></div>", ["Ann Lee"]),
        ("<div class=sidebar><p class=byline>By Ann Lee</p></div>", []),
        ("<div class=bylines>Von dpa</div>", ["dpa"]),
        ("<div class=author>writes of ports</div>", []),
        ("<p>By Ann Lee</p>", []),
        ("<footer><p class=byline>By Ann Lee</p></footer>", []),
    ],
)
def test_marked_byline(body, names):
    assert marked_byline(page(body)) == names


def test_large_boxes_are_no_bylines():
    nested = "<div class=author>" * 100 + f"{'<i>12</i>' * 20_000}<i>Ann Lee</i>"
    assert marked_byline(page(nested)) == []


LINE = "<p>A line.</p>"


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("<h1>A story</h1><p>By Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><ul><li>Von: Ann Lee und Bo Ek</li></ul>", ["Ann Lee", "Bo Ek"]),
        ("<h1>A story</h1><p>Written by Ann Lee on 3 May 2024</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>By Ann Lee | The Daily</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>Von Ann Lee, Berlin</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p><a href=/author/ann>Ann Lee</a> 3 May</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>3 May • Written by Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>Von</p><p>Ann Lee</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>By <a href=/team/ann>Ann Lee</a>, Bo Ek and Cy Dee</p>", ["Ann Lee", "Bo Ek", "Cy Dee"]),
        ("<h1>A story</h1><p><a href=/by/ann>Ann Lee</a><a href=/by/bo>Bo Ek</a></p>", ["Ann Lee", "Bo Ek"]),
        ("<h1>A story</h1><p>By <a href=/author/ann>Ann Lee</a> Berlin</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>By Ann Lee December 2, 2025</p>", ["Ann Lee"]),
        ("<h1>A story</h1><p>Posted on September 21, 2020 by Ann Lee</p>", ["Ann Lee"]),
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
