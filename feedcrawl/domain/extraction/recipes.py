"""Recipes: the ingredients and steps that a page states (https://schema.org/Recipe), for bodies that lack them.

Recipe sites set ingredients in a sidebar, an aside or a form, where other pages have furniture, and steps in boxes of
their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lxml import etree
from lxml.html import Element

from feedcrawl.domain.extraction.bodies.polish import grams, lines
from feedcrawl.domain.extraction.structured import has_type, values
from feedcrawl.domain.text import canonical_text, fold, plain_text, raw_text, squeezed, text_of, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lxml.html import HtmlElement

    from feedcrawl.domain.extraction.page import Page
    from feedcrawl.domain.json_values import Json

MAX_PARTS = 200
_MOST_LINES = 2000  # of a body, that are compared with ingredients
_LACKED = 0.5  # share of the ingredients, or of the runs of words of the steps
_SAME_WORDS = 0.6  # of an ingredient, in one line
_HEADING = 40  # letters of a line above the steps: "Method", "Step 1"
_KEY = 40  # letters of a step by which its line is found
_INGREDIENTS = "//*[@itemprop='recipeIngredient' or @itemprop='ingredients']"


class Recipe(NamedTuple):
    """The ingredients and steps of a recipe, each as one line."""

    ingredients: list[str]
    steps: list[str]


def stated_recipe(page: Page) -> Recipe | None:
    """The only recipe that a page states as JSON-LD or microdata; None where there are none or several."""
    stated = [thing for thing in page.things if has_type(thing, "Recipe")]
    found = [Recipe(_texts(t.get("recipeIngredient")), _texts(t.get("recipeInstructions"))) for t in stated]
    if not found and any(
        "Recipe" in page.elements.all[at].get("itemtype", "") for at in page.labels.having("itemtype")
    ):
        marked = [text for each in page.tree.xpath(_INGREDIENTS) if (text := fold(raw_text(each)))]
        found = [Recipe(marked[:MAX_PARTS], [])]
    with_parts = [recipe for recipe in found if recipe.ingredients]
    return with_parts[0] if len(with_parts) == 1 else None


def complete_recipe(body: HtmlElement, recipe: Recipe) -> bool:
    """Insert the list of ingredients, and append that of the steps, if a body lacks most of them; True if it did."""
    lacks_ingredients, lacks_steps = _lacks_ingredients(body, recipe), _lacks_steps(body, recipe)
    if lacks_steps:
        body.append(_list("ol", recipe.steps))
    if lacks_ingredients:
        place = _first_step(body, recipe)
        if place is None:
            body.append(_list("ul", recipe.ingredients))
        else:
            place.addprevious(_list("ul", recipe.ingredients))
    return lacks_ingredients or lacks_steps


def _texts(value: Json) -> list[str]:
    """The lines of a property: texts, or things with a text, in lists and sections."""
    return list(_lines_of(value))[:MAX_PARTS]


def _lines_of(value: Json) -> Iterator[str]:
    for part in values(value):
        if isinstance(part, str):
            yield from (line for line in plain_text(part).splitlines() if line.strip())
        elif isinstance(part, dict):
            yield from _lines_of(part.get("itemListElement") or part.get("text") or part.get("name"))
        elif isinstance(part, list):
            yield from _lines_of(part)


def _lacks_ingredients(body: HtmlElement, recipe: Recipe) -> bool:
    text = canonical_text(body)
    written, found = squeezed(text), [set(words(line)) for line in text.splitlines()[:_MOST_LINES]]
    lacked = sum(not _is_written(each, written, found) for each in recipe.ingredients)
    return lacked > _LACKED * len(recipe.ingredients)


def _is_written(ingredient: str, written: str, found: Sequence[set[str]]) -> bool:
    """True if a text has an ingredient, or a short line with most of the ingredient's words: units are abbreviated."""
    if squeezed(ingredient) in written:
        return True
    own = set(words(ingredient))
    most = 2 * len(own) + 2
    return any(len(line) <= most and len(own & line) >= _SAME_WORDS * len(own) for line in found)


def _lacks_steps(body: HtmlElement, recipe: Recipe) -> bool:
    theirs = grams("\n".join(recipe.steps))
    return bool(theirs) and (theirs & grams(canonical_text(body))).total() < _LACKED * theirs.total()


def _first_step(body: HtmlElement, recipe: Recipe) -> HtmlElement | None:
    """The line of a body with the first step, or the list around that line, or the heading above."""
    key = squeezed(recipe.steps[0], _KEY) if recipe.steps else ""
    line = next((line for line in lines(body) if key and key in squeezed(canonical_text(line))), None)
    if line is None:
        return None
    place = next((kin for kin in line.iterancestors("ol", "ul", "table") if body in kin.iterancestors()), line)
    before = place.getprevious()
    is_headed = before is not None and 0 < len(text_of(before)) < _HEADING and not (before.tail or "").strip()
    return before if is_headed else place


def _list(tag: str, texts: Sequence[str]) -> HtmlElement:
    items = Element(tag)
    for text in texts:
        etree.SubElement(items, "li").text = text
    return items
