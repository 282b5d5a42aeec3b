import pytest

from feedcrawl.domain.extraction.threads.text import clear_thread, keep_posts
from feedcrawl.domain.markup import parse_html
from feedcrawl.domain.models import Post
from feedcrawl.domain.text import canonical_text

FIRST = "Which fog signal do you use on the outer pier, and how long does one last?"
SECOND = "A horn, for it needs no gas.\nThank you!"
THREAD = [Post(FIRST, "Ann Lee", None), Post(SECOND, "bo_ek", None)]
PAGE = f"""
<div class=post><p>Ann Lee</p><p>Member since 2009, 412 posts</p><p>{FIRST}</p><p><img src=pier.jpg></p></div>
<div class=post><p>bo_ek</p><p>Quote</p><p>A horn, for it needs no gas.</p><p>Thank you!</p>
<p>Keeper of the northern light since the old one fell into the sea</p></div>
<p>You must log in to answer</p>"""


def body(markup):
    tree = parse_html(f"<html><body>{markup}</body></html>")
    assert tree is not None
    return tree.find("body")


def test_elements_outside_of_posts_go_and_authors_and_pictures_stay():
    root = body(PAGE)
    keep_posts(root, THREAD)
    assert canonical_text(root) == f"Ann Lee\n{FIRST}\nbo_ek\n{SECOND}"
    assert root.find(".//img") is not None


@pytest.mark.parametrize(
    ("markup", "posts"),
    [
        (PAGE, THREAD[:1]),
        (PAGE, []),
        (
            f"<p>{FIRST}</p>",
            [THREAD[0], Post("A long answer that the body of the page does not have at all.", "Cy", None)],
        ),
    ],
)
def test_a_single_post_or_another_thread_leaves_the_body_unchanged(markup, posts):
    root = body(markup)
    before = canonical_text(root)
    keep_posts(root, posts)
    assert canonical_text(root) == before


QUOTING = f"""
<div class=post><div class=message-user><a href=/u/1>Ann Lee</a><p>Joined in May 2009</p><p>412 posts</p></div>
<p>{FIRST}</p><div class=message-signature><p>Keeper of the northern light</p></div></div>
<div class=post><div class=userinfo><p>Guest</p></div>
<blockquote><p>Ann Lee wrote:</p><p>{FIRST}</p></blockquote><p>{SECOND.splitlines()[0]}</p><p>Thank you!</p></div>"""


def test_panels_on_members_signatures_and_quotations_of_posts_go_and_names_of_authors_stay():
    posts = [THREAD[0], Post(f"Ann Lee wrote:\n{FIRST}\n{SECOND}", None, None)]
    root = body(QUOTING)
    clear_thread(root, posts)
    assert canonical_text(root) == f"Ann Lee\n{FIRST}\n{SECOND}"
