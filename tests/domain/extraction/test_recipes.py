import json

import pytest

from feedcrawl.domain.extraction import extract
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.extraction.recipes import Recipe, complete_recipe, stated_recipe
from feedcrawl.domain.markup import parse_html
from feedcrawl.domain.text import canonical_text

INGREDIENTS = ["200 g of rye flour", "1 teaspoon of baking soda", "2 large eggs", "85 g of molasses"]
STEPS = [
    "Preheat the oven to 160 degrees and line two baking sheets with paper.",
    "Whisk the flour, the soda and the spices in a medium bowl, and put the bowl aside.",
    "Stir the eggs and the molasses into the flour until the dough is smooth.",
]
RECIPE = Recipe(INGREDIENTS, STEPS)


def page(things, markup=""):
    script = f"<script type=application/ld+json>{json.dumps(things)}</script>"
    text = f"<p>{'Cookies for the winter. ' * 9}</p>"
    return read_page(f"<html><body>{script}{markup}{text}</body></html>", "https://d.example/x")


def body(markup):
    tree = parse_html(f"<html><body>{markup}</body></html>")
    assert tree is not None
    return tree.find("body")


def stated(instructions, **more):
    return {"@type": "Recipe", "recipeIngredient": INGREDIENTS, "recipeInstructions": instructions, **more}


@pytest.mark.parametrize(
    "instructions",
    [
        STEPS,
        "\n".join(STEPS),
        "".join(f"<p>{step}</p>" for step in STEPS),
        [{"@type": "HowToStep", "text": step} for step in STEPS],
        [{"@type": "HowToSection", "name": "Dough", "itemListElement": [{"text": step} for step in STEPS]}],
    ],
    ids=["list", "lines", "markup", "steps", "sections"],
)
def test_stated_recipe(instructions):
    assert stated_recipe(page(stated(instructions))) == RECIPE


@pytest.mark.parametrize(
    ("things", "recipe"),
    [
        ([], None),
        ({"@type": "Recipe", "name": "Cookies"}, None),
        ([stated(STEPS), stated(STEPS)], None),
        ({"@type": ["Recipe", "NewsArticle"], "recipeIngredient": "2 eggs", "recipeInstructions": 7}, (["2 eggs"], [])),
    ],
    ids=["none", "without ingredients", "a list of recipes", "one ingredient"],
)
def test_a_page_has_one_recipe_or_none(things, recipe):
    assert stated_recipe(page(things)) == recipe


def test_ingredients_in_microdata():
    items = "".join(f"<li itemprop=recipeIngredient>{each}</li>" for each in INGREDIENTS)
    found = stated_recipe(page([], f"<div itemscope itemtype=https://schema.org/Recipe><ul>{items}</ul></div>"))
    assert found == Recipe(INGREDIENTS, [])


METHOD = "<h2>Method</h2><ol>" + "".join(f"<li>{step}</li>" for step in STEPS) + "</ol>"
LISTED = "<ul>" + "".join(f"<li>{each}</li>" for each in INGREDIENTS) + "</ul>"
LIST_LINES = [f"- {each}" for each in INGREDIENTS]


def test_lacking_ingredients_stand_before_the_steps_and_their_heading():
    root = body(f"<p>Cookies.</p>{METHOD}")
    assert complete_recipe(root, RECIPE)
    assert canonical_text(root).splitlines()[:6] == ["Cookies.", *LIST_LINES, "Method"]


def test_lacking_steps_stand_at_the_end():
    root = body(f"<p>Cookies.</p>{LISTED}")
    assert complete_recipe(root, RECIPE)
    assert canonical_text(root).splitlines() == ["Cookies.", *LIST_LINES, *(f"- {step}" for step in STEPS)]


@pytest.mark.parametrize(
    "ingredients",
    [
        LISTED,
        "<table><tr><td>200 g</td><td>of rye flour</td></tr><tr><td>2</td><td>large eggs</td></tr></table>",
        "<p>200g rye flour</p><p>1 tsp of baking soda</p><p>2 eggs, large</p><p>85 g molasses</p>",
    ],
    ids=["as stated", "half of them, in cells", "abbreviated"],
)
def test_a_body_that_has_its_ingredients_stays(ingredients):
    root = body(f"<p>Cookies.</p>{ingredients}{METHOD}")
    assert not complete_recipe(root, RECIPE)


def test_an_article_has_the_ingredients_of_a_sidebar():
    story = "".join(f"<p>{step} It takes a while, but it is worth the wait for all of us.</p>" for step in STEPS)
    html = f"""<html><head><title>Cookies</title>
    <script type=application/ld+json>{json.dumps(stated(STEPS))}</script></head>
    <body><article><h1>Cookies</h1><aside>{LISTED}</aside>{story}</article></body></html>"""
    text = extract(html, url="https://d.example/recipes/cookies").text
    assert text.splitlines()[:4] == LIST_LINES
