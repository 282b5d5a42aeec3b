import pytest

from feedcrawl.domain.extraction.fields.marked import _is_byline_named, marked_byline, marked_elements, sidebar_byline
from feedcrawl.domain.extraction.page import read_page

WORKS = "<a href=/1>The Book of Ports</a>, <a href=/2>Winds</a>, <a href=/3>Tides</a>, <a href=/4>Hulls</a>."


def found(byline, body):
    read = page(body)
    return byline(read, marked_elements(read))


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
        ("<div class=card><h3><a href=/b>Another story</a></h3><p class=byline>By Ann Lee</p></div>", []),
        (
            "<div class=author><span class=name>Ann Lee</span><i>Senior Reporter</i></div>",
            ["Ann Lee"],
        ),
        # The links of a long note lead to the author's works.
        (f"<div class=author><b class=name>Ann Lee</b> wrote {WORKS} {'Words. ' * 25}</div>", ["Ann Lee"]),
        ("<div class=bylines>Von dpa</div>", ["dpa"]),
        ("<div class=author>writes of ports</div>", []),
        ("<p>By Ann Lee</p>", []),
        ("<footer><p class=byline>By Ann Lee</p></footer>", []),
        # The footer of an article has its author (HTML section 4.3.8).
        ("<article><p>x</p><footer><a rel=author>Ann Lee</a></footer></article>", ["Ann Lee"]),
        # An account, where an hCard under the headline has it; elsewhere it may be of whoever comments.
        ("<h1>A story</h1><p>by <b class='author vcard'>ann</b></p>", ["ann"]),
        (f"<h1>A story</h1>{'<p>x</p>' * 20}<p><b class='author vcard'>ann</b></p>", []),
        # The head of a box with a long note; sections of the site are no names.
        (f"<div class=author-box><h4>Ann Lee</h4><p>{'Ann writes of ports. ' * 20}</p></div>", ["Ann Lee"]),
        ("<p class=byline><a href=/category/ports rel='category tag'>Ports</a> by <a href=/u/1>Ann Lee</a></p>",
         ["Ann Lee"]),
        ("<h1 class='vcard author'>The Harbour Blog</h1>", []),
    ],
)  # fmt: skip
def test_marked_byline(body, names):
    assert found(marked_byline, body) == names


def test_large_boxes_are_no_bylines():
    nested = "<div class=author>" * 100 + f"{'<i>12</i>' * 20_000}<i>Ann Lee</i>"
    assert found(marked_byline, nested) == []


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ("<div class=sidebar><p class=author-name>Ann Lee</p></div>", ["Ann Lee"]),
        ("<aside><p class=author>Ann Lee</p></aside><div class=sidebar><p class=author>Ann Lee</p></div>", ["Ann Lee"]),
        ("<aside><p class=author>Ann Lee</p><p class=author>Bo Ek</p></aside>", []),
        ("<aside><p class=author>The Daily</p></aside>", []),
        ("<div class=comments><p class=author>Ann Lee</p></div>", []),
        ("<aside class=card><h3><a href=/b>Another story</a></h3><p class=author>Ann Lee</p></aside>", []),
    ],
)
def test_sidebar_byline(body, names):
    assert found(sidebar_byline, body) == names


@pytest.mark.parametrize(
    "named",
    [
        "byline", "by-lines", "post author", "autoren", "autor", "auteur", "autore", "author-name", "writer", "x firma",
        "journalist", "contributors", "attribution", "postAuthor", "cardAuthorName", "authorName", "author_name",
        "articleByline",
    ],
)  # fmt: skip
def test_each_word_for_a_byline_has_a_hint(named):
    assert _is_byline_named(named)
