import re

import pytest

from feedcrawl.domain.extraction.bodies.furniture import POSTS, clear_away
from feedcrawl.domain.extraction.labels import Labels, is_hidden
from feedcrawl.domain.markup import Elements, parse_html
from feedcrawl.domain.text import canonical_text

STORY = "".join(
    f"<p>Sentence number {n} of the story is long enough to be taken for prose by anyone.</p>" for n in range(9)
)
NOTE = "<p>This paragraph of some length is furniture and has to go, wherever on the page it may stand.</p>"


def cleared(body):
    tree = parse_html(f"<html><body>{body}</body></html>")
    assert tree is not None
    return canonical_text(clear_away(Elements(tree), Labels(tree.iter()))[0])


@pytest.mark.parametrize(
    "furniture",
    [
        f"<nav>{NOTE}</nav>",
        f"<aside>{NOTE}</aside>",
        f"<footer>{NOTE}</footer>",
        f"<div role=complementary>{NOTE}</div>",
        f"<div role=menu>{NOTE}</div>",
        f"<div role=img aria-label=Chart>{NOTE}</div>",
        f"<div class='elementor-widget elementor-widget-nav-menu'>{NOTE}</div>",
        f"<div class='widget widget_text'>{NOTE}</div>",
        f"<div class='card--with-picture related'>{NOTE}</div>",
        f"<div class=no-print>{NOTE}</div>",
        f"<div hidden>{NOTE}</div>",
        f"<div aria-label='Video Player'>{NOTE}</div>",
        f"<div aria-hidden=true>{NOTE}</div>",
        f"<div style='display: none'>{NOTE}</div>",
        f"<div class=related>{NOTE}</div>",
        f"<div class=article-related-items>{NOTE}</div>",
        f"<div class=relatedItems>{NOTE}</div>",
        f"<div class=related2>{NOTE}</div>",
        f"<div id=comments>{NOTE}</div>",
        f"<div class=relatedbroadcast>{NOTE}</div>",
        f"<blockquote class=twitter-tweet>{NOTE}</blockquote>",
        f"<blockquote class=wp-embedded-content>{NOTE}</blockquote>",
        f"<div class='box read-more'>{NOTE}</div>",
        f"<div class=more-articles>{NOTE}</div>",
        f"<div class='player video'>{NOTE}</div>",
        f"<input type=checkbox id=c><label for=c>{NOTE}</label>",
        f"<noscript>{NOTE}</noscript>",
        f"<div class=paywall>{NOTE}</div>",
        f"<div class=onetrust-banner>{NOTE * 20}</div>",
        f"<script>{NOTE}</script>",
    ],
)
def test_furniture_goes(furniture):
    assert cleared(f"<article>{STORY}</article>{furniture}") == cleared(STORY)


@pytest.mark.parametrize(
    ("part", "is_kept"),
    [
        (f"<div class='post-content text' id=video-text-0>{NOTE}</div>", True),
        (f"<div class='post-content text' id=video-text-0 hidden>{NOTE}</div>", False),
        (f"<div class='post-content video' id=video-text-0>{NOTE}</div>", False),
    ],
)
def test_a_part_that_looks_like_the_parts_of_the_body_beside_is_one_of_them(part, is_kept):
    text = cleared(f"{part}<div class='post-content text' id=text-1>{STORY}</div>")
    assert text.startswith("This paragraph") is is_kept


@pytest.mark.parametrize(
    "page",
    [
        f"<div class=gate-ad><main>{STORY}</main></div>",
        f"<div class=sidebar-layout>{STORY}</div>",
        STORY.replace("<p>", "<p class=paywall>"),
        STORY + STORY.replace("<p>", "<p class=paywall aria-hidden=true>").replace("number ", "number 1"),
        f"<div class=article-widget>{STORY}</div><div class=article-widget>{STORY}</div>",
        f"<div class='md:hidden [&_p]:ad'>{STORY}</div>",
        f"<div id=ad6ed79d-88fd>{STORY}</div>",
        f"<div class=shared-header>{STORY}</div>",
        f"<form>{STORY}</form>",
        f"<div hidden id=S:1>{STORY}</div>",
        f"<div id=sharing-with-others><h2>Sharing with others</h2>{STORY}</div><div>{STORY * 3}</div>",
    ],
)
def test_a_word_that_would_remove_the_whole_page_is_no_mark(page):
    assert "Sentence number 8" in cleared(page)


@pytest.mark.parametrize(
    "line",
    [
        "<h2 id=cookies>What cookies are</h2>",
        "<h2 class=paywall>For members too</h2>",
        "<ul class=paywall><li>For members too</li></ul>",
        "<div id=recommended-by-experts><h3>Recommended by experts, not by us</h3><p>Two things.</p></div>",
    ],
)
def test_headings_and_lines_of_a_story_stay(line):
    assert cleared(f"<article>{STORY}{line}{STORY}</article>") == cleared(
        STORY + re.sub(" (?:id|class)=[^ >]+", "", line) + STORY
    )


@pytest.mark.parametrize("name", ["related-stories", "most-popular-stories-today", "more-popular-stories"])
def test_an_anchor_needs_its_heading(name):
    box = f"<div id={name}><h3>Popular</h3>{NOTE}</div>"
    assert cleared(f"<article>{STORY}</article>{box}") == cleared(STORY)


@pytest.mark.parametrize(
    "name",
    [
        "overflow-hidden", "overflow-x-hidden", "vds-overflow_hidden", "field--label-hidden", "hide-author",
        "hide-opentable-icons", "field--label-visually_hidden", "hide-mobile", "hidden-xs",
    ],
)  # fmt: skip
def test_a_name_that_hides_something_else_is_no_mark(name):
    assert cleared(f"<div>{STORY}<div class={name}>{NOTE}</div></div>") == cleared(STORY + NOTE)


@pytest.mark.parametrize(
    "name",
    [
        "has-sidebar", "no-sidebar", "with-related", "sidebar-enabled--false", "text--with-comments",
        "comments-disabled", "table_root__adKqa", "styles_text__6adPr",
        "'elementor-widget elementor-widget-text-editor'", "'so-panel widget'", "hs_cos_wrapper_widget",
    ],
)  # fmt: skip
def test_names_of_what_an_element_has_and_of_page_builders_are_no_marks(name):
    assert cleared(f"<div>{STORY}<div class={name}>{NOTE}</div></div>") == cleared(STORY + NOTE)


@pytest.mark.parametrize(
    ("teaser", "stays"),
    [
        ("What the harbour master said about the year, in his own words.", True),
        ("<a href=/x>What the harbour master</a> said about the year, in his own words.", False),
        ("What the harbour master said about the year", False),
        ("The year ends.", False),
    ],
)
def test_sentences_without_a_link_are_a_standfirst_though_they_are_called_a_teaser(teaser, stays):
    part = f"<p class=teaser>{teaser}</p>"
    assert (cleared(f"<div>{part}{STORY}</div>") != cleared(STORY)) is stays


@pytest.mark.parametrize(
    "name", ["hidden", "is-hidden", "yvp-hide", "visually-hidden", "panel--hidden", "_hidden_snh3y_1"]
)
def test_a_name_that_hides_the_element_is_a_mark(name):
    assert cleared(f"<div>{STORY}<div class={name}>{NOTE}</div></div>") == cleared(STORY)


def test_code_is_coloured_by_names_that_mark_furniture_elsewhere():
    code = "<pre><span class='token comment'># fetch the branch</span>\n<span class=hljs-tag>body</span></pre>"
    assert cleared(f"<article>{STORY}{code}</article>") == f"{cleared(STORY)}\n# fetch the branch\nbody"


def test_formulas_stay_whatever_draws_them():
    formula = "<mjx-container class='MathJax CtxtMenu_0'><span class=widget><math><mi>a</mi><mo>≠</mo></math></span>"
    assert "a≠" in cleared(f"{STORY}<p>When {formula}</mjx-container>, there are two.</p>")
    assert "a≠" not in cleared(
        f"{STORY}<p>When {formula.replace('class=widget', 'style=display:none')}</mjx-container>."
    )
    assert "a≠" not in cleared(f"{STORY}<aside>When {formula}</mjx-container>, there are two.</aside>")


def test_consent_longer_than_the_story_does_not_shield_furniture():
    page = f"<div class=consent>{NOTE * 25}</div><article>{STORY}<div class=widget>{NOTE}</div></article>"
    assert cleared(page) == cleared(STORY)


@pytest.mark.parametrize(
    ("html", "hidden"),
    [
        ("<p hidden>", True),
        ("<p style='visibility:hidden'>", True),
        ("<p style='color:red;DISPLAY:NONE'>", True),
        ("<p style='display:block'>", False),
        ("<p class=hidden>", False),
        ("<p aria-hidden=false>", False),
    ],
)
def test_is_hidden(html, hidden):
    tree = parse_html(html)
    assert tree is not None
    assert is_hidden(tree.find(".//p")) is hidden


def test_consent_goes_however_long_and_a_page_of_recipes_stays():
    dialog = f"<div id=onetrust-consent-sdk>{STORY * 20}</div>"
    assert "Sentence" not in cleared(f"<p>Short.</p>{dialog}")
    assert "Sentence" in cleared(f"<div class=cookie-recipe>{STORY}</div>")
    assert "Sentence" in cleared(f"<p>Short.</p><div class=cmp-container>{STORY}</div>")  # of Adobe's components
    assert "Sentence" not in cleared(f"<p>Short.</p><div id=cmpbox>{STORY}</div>")
    # The software has marked the whole page.
    assert "Sentence" in cleared(f"<div class=cookie-bar--open><h1>Harbour</h1>{STORY}</div>")
    assert "Sentence" in cleared(f"<div class=cookie-bar--open><main>{STORY}</main></div>")
    assert "Sentence" not in cleared(f"<h1>Short</h1><div id=didomi-host><h1>Privacy</h1>{STORY}</div>")


def test_comments_go_however_many_there_are_unless_they_are_all_that_there_is():
    comments = f"<div id=comments>{NOTE * 60}</div>"
    assert cleared(f"<article>{STORY}</article>{comments}") == cleared(STORY)
    assert "furniture" in cleared(f"<h1>Notes</h1>{NOTE}{comments}")


def test_comments_are_the_posts_of_a_thread():
    tree = parse_html(f"<html><body><p>{NOTE}</p>{STORY}<div class=comment>{NOTE}</div></body></html>")
    assert tree is not None
    assert canonical_text(clear_away(Elements(tree), Labels(tree.iter()), POSTS)[0]).count("furniture") == 2


def test_a_button_of_consent_software_is_no_heading_of_a_text():
    panel = f"<button class=cookie-banner aria-expanded=false>Which cookies?</button><div hidden>{NOTE} {NOTE}</div>"
    tree = parse_html(f"<html><body>{STORY}{panel}</body></html>")
    elements = Elements(tree)
    assert "Which cookies?" not in canonical_text(clear_away(elements, Labels(elements.all))[0])


@pytest.mark.parametrize(("notes", "stays"), [(0, True), (20, False)])
def test_nearly_all_of_an_article_is_its_text_whatever_its_name(notes, stays):
    page = f"<article>{NOTE * notes}<div class=newsletter-text>{STORY}</div></article><div>{NOTE * 40}</div>"
    assert ("Sentence" in cleared(page)) is stays
