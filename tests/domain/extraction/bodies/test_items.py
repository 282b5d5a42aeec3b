import pytest

from feedcrawl.domain.extraction.bodies.items import Items, count_items
from feedcrawl.domain.extraction.bodies.weights import weigh
from feedcrawl.domain.markup import parse_html

PROSE = "<p>" + "The harbour has three piers, of which two are open. " * 4 + "</p>"


def items(body):
    tree = parse_html(f"<html><body>{body}</body></html>").find("body")
    return count_items(tree, weigh(tree))


def teasers(number, shape="<div class='teaser t-{0}'><a href=/{0}>Ship number {0}</a> sails on</div>"):
    return "<section>" + "".join(shape.format(n) for n in range(number)) + "</section>"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (teasers(4), 4 * 21),
        (teasers(3), 0),
        (teasers(4, "<div class=teaser>Ship number {0} sails on</div>"), 0),
        (teasers(4, "<p><a href=/{0}>Ship number {0}</a> sails on</p>"), 0),
        (teasers(4, "<div class=teaser><a href=/{0}>{0}</a></div>"), 0),
        (f"<main>{teasers(4)}{teasers(4)}</main>", 8 * 21),
        (f"<div>{''.join(f'<div class=row>{teasers(4)}</div>' for _ in range(4))}</div>", 16 * 21),
    ],
    ids=["teasers", "too few", "no links", "paragraphs", "no words in links", "two groups", "groups in groups"],
)
def test_text_of_items(body, text):
    assert items(body).text == text


def test_prose_beside_the_items_speaks_for_an_article():
    listing, article = items(teasers(40)), items(teasers(5) + PROSE * 20)
    assert listing.prose_beside == 0
    assert listing.outweigh > 2
    assert article.outweigh < 0.1


def test_items_of_a_page_without_any():
    assert items(PROSE) == Items(0, 207, 0.0)
