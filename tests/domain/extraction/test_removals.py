"""Many parts are removed from one line in linear time, whatever removes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from growth import assert_linear
from lxml.html import HtmlElement

from feedcrawl.domain.extraction.bodies.areas import main_area
from feedcrawl.domain.extraction.bodies.furniture import shown_body
from feedcrawl.domain.extraction.bodies.polish import corroborate, drop_lines, drop_repeats
from feedcrawl.domain.extraction.bodies.prose import trim
from feedcrawl.domain.extraction.bodies.weights import weigh
from feedcrawl.domain.extraction.labels import Labels
from feedcrawl.domain.extraction.threads.text import clear_thread
from feedcrawl.domain.markup import Elements, parse_html
from feedcrawl.domain.models import Post
from feedcrawl.domain.text import canonical_text

FIRST = "Which fog signal do you use on the outer pier, and how long does one of these last?"
SECOND = "A horn, for it needs no gas, and it can be heard far out on the sea at night."
POSTS = [Post(FIRST, "Ann Lee", None), Post(SECOND, "bo_ek", None)]
UNSEEN = "only here and never seen by the witness"
BETWEEN = (
    " and then the words that follow each of the parts, which stay where they are, since they belong to the text that"
    " nobody wants to lose, whatever is removed around them "
)


def area_of(body: HtmlElement) -> HtmlElement:
    elements = Elements(body.getroottree().getroot())
    return main_area(elements, Labels(elements.all)).root


def shown(body: HtmlElement) -> HtmlElement:
    elements = Elements(body.getroottree().getroot())
    return shown_body(elements, Labels(elements.all))[0]


def corroborated(body: HtmlElement) -> None:
    corroborate(body, canonical_text(body).replace(UNSEEN, ""))


@pytest.mark.parametrize(
    ("part", "remove"),
    [
        pytest.param("<div>of no post</div>", lambda body: clear_thread(body, POSTS), id="lines of no post"),
        pytest.param("<div class=signature>Ann</div>", lambda body: clear_thread(body, POSTS[:1]), id="signatures"),
        pytest.param(f"<blockquote>{FIRST}</blockquote>", drop_repeats, id="quotations"),
        pytest.param("<div>© 2024 The Herald. All rights reserved.</div>", drop_lines, id="notices"),
        pytest.param("".join(f"<div>{FIRST} {n}</div>" for n in range(4)), drop_lines, id="repeated lines"),
        pytest.param(f"<div>{UNSEEN}</div>", corroborated, id="lines that the witness does not have"),
        pytest.param("<nav>menu</nav>", area_of, id="navigation"),
        pytest.param(f"<ul>{'<li><a href=/b>x</a>' * 9}</ul>", area_of, id="menus"),
        pytest.param("<div><a href=/more>More of this</a></div>", lambda body: trim(body, weigh(body)), id="links"),
        pytest.param("<div class=cookie-banner>We use cookies</div>", shown, id="consent"),
    ],
)
def test_many_parts_between_words_are_removed_in_linear_time(
    part: str, remove: Callable[[HtmlElement], HtmlElement | None]
) -> None:
    def run(times: int) -> None:
        tree = parse_html(
            f"<html><body><p>{FIRST}</p><p>{SECOND}</p>{(part + BETWEEN) * times}<h1>Horns</h1></body></html>"
        )
        assert tree is not None
        body = tree.find("body")
        assert body is not None
        changed = remove(body)
        left = [child for child in (body if changed is None else changed) if child.tag != "p"]
        assert len(left) < times / 2, "the parts are still there"

    assert_linear(run, 800)
