import pytest

from feedcrawl.domain.extraction.bodies.areas import main_area
from feedcrawl.domain.extraction.labels import Labels
from feedcrawl.domain.markup import Elements, parse_html

SENTENCE = "The harbour has three piers, of which two are open to the ships of the island all year round."


def area(body):
    elements = Elements(parse_html(f"<html><body>{body}</body></html>"))
    return main_area(elements, Labels(elements.all))


MAIN = f"<h1>Ships</h1><p>{SENTENCE}</p><p>{SENTENCE}</p><p>{SENTENCE}</p>"


@pytest.mark.parametrize(
    "furniture",
    [
        "<nav><a href=/a>Home</a></nav>",
        "<header><a href=/a>Harbour News</a></header>",
        "<footer>All rights reserved</footer>",
        "<aside>Weather</aside>",
        "<form><p>Search the site</p></form>",
        "<div role=search>Search the site</div>",
        "<div role=listbox>Colour: red</div>",
        "<div role=img aria-label='4 of 5'>1385</div>",
        "<div class=product-filters>Colour: red</div>",
        "<div class=top-ad>Buy a ship</div>",
        "<div class=sortBy>Sort by price</div>",
        "<div id=mini-cart>Your cart is empty</div>",
        "<div class=cookie-banner>We use cookies</div>",
        "<ul><li><a href=/1>One</a><li><a href=/2>Two</a><li><a href=/3>Three</a><li><a href=/4>Four</a></ul>",
    ],
)
def test_furniture_is_not_in_the_main_area(furniture):
    assert area(furniture + MAIN).text.splitlines() == ["Ships", SENTENCE, SENTENCE, SENTENCE]


@pytest.mark.parametrize(
    "part",
    [
        f"<header><h1>Piers</h1><p>{SENTENCE}</p></header>",
        f"<div hidden><p>{SENTENCE}</p></div>",
        f"<form><p>{SENTENCE * 9}</p></form>",
        "".join(f"<div class=hide-ad><p>{SENTENCE} {SENTENCE}</p></div>" for _ in range(9)),
        f"<section class=shared-values><p>{SENTENCE}</p></section>",
        f"<section class=with-sidebar><p>{SENTENCE}</p></section>",
        f"<section id=column-28c65ad00c><p>{SENTENCE}</p></section>",
        f"<section class=table_root__adKqa><p>{SENTENCE}</p></section>",
    ],
    ids=["headline", "hidden answers", "most of it", "most of it, in parts", "in words", "has", "number", "hash"],
)
def test_content_is(part):
    assert SENTENCE in area(part + "<p>More of the harbour</p>" * 40).text


def test_the_main_element_is_the_area_if_it_contains_a_good_part():
    assert area(f"<p>Offers of the week</p><main>{MAIN}</main>").text.startswith("Ships")
    assert area(f"<main>Ships</main><div>{MAIN}</div>").text.count(SENTENCE) == 3


def test_controls_of_items_go_and_their_words_stay_apart():
    item = "<li><a href=/{0}>Ship number {0}</a> <span>{0}0 m</span><span>$ {0}</span><a href=/cart?{0}>Add to cart</a>"
    items = "".join(item.format(number) for number in range(1, 5))
    assert area(f"<h1>Ships</h1><ul>{items}</ul>").text.splitlines()[1] == "- Ship number 1 10 m $ 1"
