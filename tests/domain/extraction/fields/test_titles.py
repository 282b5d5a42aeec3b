import pytest

from feedcrawl.domain.extraction.fields.election import Statement, elect
from feedcrawl.domain.extraction.fields.titles import find_title, unsigned
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.models import FeedContent

URL = "https://www.daily.example/a/story"


def page(head, body=""):
    return read_page(f"<html><head>{head}</head><body>{body}<p>{'text ' * 60}</p></body></html>", URL)


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>A story | The Daily</title><meta property=og:site_name content='The Daily'>", "", "A story"),
        ("<title>A story</title>", "<h1>Daily</h1><h1>A story</h1>", "A story"),
        ("<title>A story about ports</title>", "<h1>Subscribe</h1>", "A story about ports"),
        ("<title>SEO words</title><meta property=og:title content='A story'>", "<h1>A story</h1>", "A story"),
        (
            "<meta property=og:title content='A&#8239;story of &quot;x&quot;'>",
            "<h1>A story of “x”</h1>",
            'A story of "x"',
        ),
        ("", "<h1>Only\n <b>this</b></h1>", "Only this"),
        # The name of the site, or a section, touches the headline.
        (
            "<title>A story of ports » Local » Europe Daily</title><meta name=title content='A story of ports'>",
            "<h1>A story of ports<small>Europe Daily</small></h1>",
            "A story of ports",
        ),
        (
            "<title>这个港口今年要重新建设一次_新闻_港口日报</title><meta property=og:site_name content=港口日报>",
            "",
            "这个港口今年要重新建设一次",
        ),
        ("<title>A</title>", "<svg><title>icon</title></svg>", "A"),
        # What the title element adds has the site's name in it; and what it adds has not.
        ("<title>A story of ports - The Daily, Europe</title>", "<h1>A story of ports</h1>", "A story of ports"),
        (
            "<title>A story of ports - Ann | Daily</title><meta property=og:title content='A story of ports - Ann'>",
            "<h1>A story of ports</h1>",
            "A story of ports",
        ),
        # The only h1 is the headline, whatever was written for search engines; of several h1 about it none is.
        ("<title>Best ports of 2026</title>", "<h1>Ten ports that we like best</h1>", "Ten ports that we like best"),
        (
            "<title>Best ports of 2026</title>",
            "<h1>Ten ports we like best</h1><h1>Ports A-Z</h1>",
            "Best ports of 2026",
        ),
        (
            "<title>Best ports of 2026</title>",
            "<h1>Ten ports that we like best</h1><h1>Subscribe now</h1>",
            "Ten ports that we like best",
        ),
        (
            "<meta property=og:title content='Tides (The Daily)'><meta property=og:site_name content='The Daily'>",
            "",
            "Tides",
        ),
        (f"<title>{'A sentence of a description. ' * 9}</title><meta property=og:title content=Tides>", "", "Tides"),
        ("<title>Best ports of 2026</title>", "<h1>Our weblog</h1>", "Best ports of 2026"),
        ("<title>News: Ports of the sea</title>", "<h1>Ports of the sea</h1>", "Ports of the sea"),
        ("<title>The Name | Ports of the sea</title>", "<h1>Ports of the sea</h1>", "The Name | Ports of the sea"),
        ("<title>04.03.2026 | Ports of the sea</title>", "<h1>Ports of the sea</h1>", "Ports of the sea"),
        ("<title>Ports of the sea</title>", "<h1>News: Ports of the sea</h1>", "Ports of the sea"),
        (
            "<title>Best ports</title><meta name=news_keywords content=sea>",
            "<h1>Ten ports that we like best</h1>",
            "Best ports",
        ),
        (
            """<title>Best ports</title><meta property=og:title content='Ports'>
            <script type="application/ld+json">{"@type": "Article", "headline": "Best ports of all"}</script>""",
            "<h1>Ten ports that we like best</h1>",
            "Ports",
        ),
        (
            "<title>Ports of the sea | Opinion</title><meta property=og:title content='Ports of the sea | Opinion'>",
            "",
            "Ports of the sea",
        ),
        # Of several h1 the part of a statement; of two such parts the longer one.
        (
            "<title>Port office - News - Ports of the sea</title>",
            "<h1>News</h1><h1>Ports of the sea</h1>",
            "Ports of the sea",
        ),
        (
            "<title>Ports of the sea : 04.03.2026, 10.19 Uhr</title>",
            "<h1>Ports of the sea</h1><h1>Most read</h1>",
            "Ports of the sea",
        ),
        ("<title>Weblog: Ports of the sea</title>", "<h1>Ports of the sea</h1><h1>Most read</h1>", "Ports of the sea"),
        ("<title>A story of ports -</title>", "", "A story of ports"),
        (
            "<title>A story of the ports | Weblog on ships | Sea | 6th year</title>",
            "",
            "A story of the ports | Weblog on ships | Sea",
        ),
        ("<title>A story of the ports | Weblog on ships | Daily | 6th year</title>", "", "A story of the ports"),
        ("<title>Docs of ports</title>", "<h1>A story of ports\u00b6</h1>", "A story of ports"),
        ("<title>A story of ports – My website</title>", "", "A story of ports"),
        ("<title>A story - about ports</title>", "", "A story - about ports"),
        # The banner of a site is no headline, nor what an unescaped quotation mark has left of one.
        ("<meta property=og:title content='A story'>", "<a href=/><h1>Ann writes a story</h1></a>", "A story"),
        ("<title>Ann writes - A story</title>", "<h1><a href=https://b.example>Ann writes</a></h1>", "A story"),
        (
            """<title>A story of "ports"</title><meta property=og:title content="A story of "ports" and ships">""",
            """<h1>A story of "ports"</h1>""",
            'A story of "ports"',
        ),
        # A headline that the page shows and the title element repeats; structured data may describe the subject.
        (
            """<title>New Zealand | Atlas</title>
            <script type="application/ld+json">{"@type": "Article", "headline": "a country in Oceania"}</script>""",
            "<h1>New Zealand</h1>",
            "New Zealand",
        ),
        ("", "", None),
    ],
)
def test_find_title(head, body, title):
    assert find_title(page(head, body), None) == title


@pytest.mark.parametrize(
    ("body", "title"),
    [
        # What follows in the h1 after a text that two statements agree upon: a date, a source, a count.
        ("<h1>Ports of the sea <small>Posted on July 1, 2024 by ann</small></h1>", "Ports of the sea"),
        ("<h1>Ports of the sea <i>(daily.example)</i> 87</h1>", "Ports of the sea"),
        ("<h1>Ports of the sea and of the rivers</h1>", "Ports of the sea and of the rivers"),
        # Ornaments at either end.
        ("<h1>Ports of the sea ⋆</h1>", "Ports of the sea"),
        ("<h1>» Ports of the sea</h1>", "Ports of the sea"),
    ],
)
def test_parts_of_a_heading_that_are_no_headline(body, title):
    stated = "<title>Ports of the sea</title><meta property=og:title content='Ports of the sea'>"
    assert find_title(page(stated, body), None) == title


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Ports of all seas - Daily Sea Company of the North", "Ports of all seas"),
        ("Ports of all seas - Daisies and more of the North", "Ports of all seas - Daisies and more of the North"),
        ("»Ports« of the sea", "»Ports« of the sea"),
    ],
)
def test_a_last_part_whose_first_word_begins_the_host_is_the_site(title, expected):
    assert find_title(page(f"<title>{title}</title>"), None) == expected


def test_the_heading_of_a_front_page_is_a_slogan():
    html = f"<title>Anna Lee | Ports by the sea</title><h1>Ports for all who love the sea</h1><p>{'text ' * 60}</p>"
    assert find_title(read_page(html, "https://www.daily.example/"), None) == "Anna Lee | Ports by the sea"


def test_a_title_of_many_parts_is_cut():
    assert len(find_title(page(f"<title>{'ab | ' * 100_000}</title>"), None)) <= 500


def test_the_feed_has_a_say():
    assert find_title(page(""), FeedContent(title="From the feed")) == "From the feed"
    head = "<title>SEO words</title><meta property=og:title content='SEO words of another kind'>"
    assert (
        find_title(page(head, "<h1>A story of words</h1>"), FeedContent(title="A story of words")) == "A story of words"
    )


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("One two three four | Site", "One two three four"),
        ("One two three four | Part | The Site", "One two three four | Part"),
        ("One two three | Site", "One two three | Site"),
        ("One two three four - and five more words", "One two three four - and five more words"),
        ("One two three four", "One two three four"),
        ("", ""),
    ],
)
def test_unsigned(title, expected):
    assert unsigned(title) == expected


@pytest.mark.parametrize(
    ("statements", "title"),
    [
        ([("One", 1), ("Two", 0.5), ("Two", 0.6)], "Two"),
        ([("One", 1), ("Two", 1)], "One"),
        ([("“One”", 0.5), ("Two", 0.9), ('"One"', 0.5)], "“One”"),
        ([("Another", 1), ("A long story", 0.5), ("A long story - Sport", 0.6)], "A long story"),
        ([("Another", 1), ("A long story", 0.5), ("A long sto...", 0.6)], "A long story"),
        ([("A long story - Sport", 0.5), ("A long story - Sport", 0.5), ("A long story", 0.9)], "A long story - Sport"),
        ([('He said "no"', 0.6), ("He said", 1), ("He said", 0.5)], "He said"),
        ([('The mayor said "no"', 0.6), ("The mayor said", 1), ("The mayor said", 0.5)], 'The mayor said "no"'),
        ([("Sport", 0.5), ("Sport - A long story", 0.6)], "Sport - A long story"),
        ([("", 1)], None),
        ([], None),
    ],
)
def test_elect(statements, title):
    assert elect([Statement(*statement) for statement in statements]).text == (title or "")


def test_a_heading_that_the_url_spells_is_the_title_though_the_title_element_has_other_words():
    html = f"<title>Trips to the river and the coast</title><h1>Harbour towns</h1><p>{'text ' * 60}</p>"
    assert find_title(read_page(html, "https://d.example/trips/harbour-towns.htm"), None) == "Harbour towns"
    assert find_title(read_page(html, "https://d.example/trips/4"), None) == "Trips to the river and the coast"
