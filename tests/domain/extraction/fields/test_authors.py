import json

import pytest

from feedcrawl.domain.extraction.fields.authors import find_authors
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.models import FeedContent


def page(author=None, head="", body=""):
    article = {"@type": "NewsArticle", "headline": "x", "publisher": {"@type": "Organization", "name": "The Daily"}}
    if author is not None:
        article["author"] = author
    data = f'<script type="application/ld+json">{json.dumps(article)}</script>'
    return read_page(
        f"<html><head>{head}{data}</head><body>{body}<p>{'text ' * 60}</p></body></html>", "https://d.example/"
    )


CITED = "<meta name=citation_author content='Bo Ek'>"
STAFF = {"@type": "Organization", "name": "The Daily"}


@pytest.mark.parametrize(
    ("author", "head", "body", "names"),
    [
        ("Ann Lee", "", "", ("Ann Lee",)),
        ({"name": "Ann Lee"}, "", "", ("Ann Lee",)),
        ([{"name": "Ann Lee"}, {"givenName": "Bo", "familyName": "Ek"}], "", "", ("Ann Lee", "Bo Ek")),
        ([[[]]], "", "", ()),
        ({"name": {}}, "", "", ()),
        (STAFF, "", "<p class=byline>By Ann Lee</p>", ("Ann Lee",)),
        (STAFF, "", "", ("The Daily",)),
        (None, "<meta name=author content='The Daily'>", "", ()),
        (None, "<meta name=author content='Ann Lee'>", "", ("Ann Lee",)),
        (None, "<meta property=article:author content=https://x.example/a>", "<a rel=author>Ann Lee</a>", ("Ann Lee",)),
        (None, "", "<div itemprop=author><a><span itemprop=name>Ann Lee</span></a></div>", ("Ann Lee",)),
        (None, "", "<div class='byline'>By <a>Ann Lee</a> and <a>Bo Ek</a></div>", ("Ann Lee", "Bo Ek")),
        (None, "", "<div class='author-info'><a>Ann Lee</a> writes of ports. <a>Read more</a></div>", ("Ann Lee",)),
        (None, "", "<div class=comments><span class=author>Troll</span></div>", ()),
        (None, "", "<div class=author style='display:none'>Nobody Here</div>", ()),
        (None, "", "<aside><p class=byline>By Someone Else</p></aside>", ()),
        # A person beside the publisher; others beside it; the publisher alone, where it signs.
        ([STAFF, {"name": "Ann Lee"}], "", "", ("Ann Lee",)),
        ([STAFF, {"name": "Editors"}], "", "", ("The Daily", "Editors")),
        (None, "", "<a rel=author>The Daily</a>", ("The Daily",)),
        (STAFF, "", "<h1>A story</h1><p>By Ann Lee</p>", ("Ann Lee",)),
        (None, "<meta name=articleauthor content='Ann Lee'>", "", ("Ann Lee",)),
        (None, "", "<footer><p>Written by Ann Lee</p></footer>", ("Ann Lee",)),
        # A name that no reader sees: an account's is dropped, and a person's counts where none else signs.
        ("mdelatorre", "", "", ()),
        ("mdelatorre", "", "<p>mdelatorre</p>", ("mdelatorre",)),
        (None, "<meta name=author content='Luke Day'>", "", ("Luke Day",)),
        (None, "<meta name=citation_author content='Lee, Ann'>", "", ("Ann Lee",)),
        (None, "<meta name=byl content='Ann Lee'><meta name=citation_author content='Ann Lee'>" + CITED, "",
         ("Ann Lee", "Bo Ek")),
        (None, "<meta name=twitter:label1 content='Verfasst von'><meta name=twitter:data1 content='Ann Lee'>", "",
         ("Ann Lee",)),
        (None, "<meta name=twitter:label1 content='Est. reading time'><meta name=twitter:data1 content='Two Minutes'>",
         "", ()),
        (None, "<meta name=author content='content: Harbour, design: Ann Lee, code: Bo Ek, Docks'>", "", ()),
        (None, "", "<h1>A story</h1><p>by annlee</p>", ("annlee",)),
        (None, "", "", ()),
    ],
)  # fmt: skip
def test_find_authors(author, head, body, names):
    assert find_authors(page(author, head, body), None) == names


def test_authors_of_the_feed():
    assert find_authors(page(), FeedContent(authors=("Cy Dee",))) == ("Cy Dee",)
    assert find_authors(page("Ann Lee"), FeedContent(authors=("Cy Dee",))) == ("Ann Lee",)


def test_a_signature_that_readers_see_goes_before_a_name_that_they_do_not():
    html = "<meta name=author content='Luke Day'><h1>A story</h1><p>By: Ann Lee</p><p>" + "text " * 60
    assert find_authors(read_page(html, "https://d.example/a"), None) == ("Ann Lee",)


@pytest.mark.parametrize(
    ("stated", "line", "names"),
    [
        ("Ann Lee", "By Ann Lee and Bo Ek", ("Ann Lee", "Bo Ek")),
        ("Ann", "By Ann Lee", ("Ann Lee",)),
        ("Ann Lee", "By Dr. Ann Lee", ("Ann Lee",)),
        ("Ann Lee", "By Bo Ek and Cy Dee", ("Ann Lee",)),
        ("Ann Lee", "Ann Lee, Bo Ek", ("Ann Lee",)),
    ],
)
def test_a_signature_with_more_persons_than_are_stated(stated, line, names):
    assert find_authors(page(stated, "", f"<h1>A story</h1><p>{line}</p>"), None) == names


SHARED = "<meta property=og:title content='A story'>"
SITE = "<meta property=og:site_name content='Harbour Coffee'>"


@pytest.mark.parametrize(
    ("head", "body", "names"),
    [
        # Written into all pages of a site: by its webmaster, or for the company.
        ("<meta name=author content='Ann Lee'>", "", ()),
        ("<meta name=author content='Ann Lee'>", "<p>© 2024 by Ann Lee</p>", ()),
        ("<meta name=author content='Ann Lee'>", "<p>Ann Lee</p>", ("Ann Lee",)),
        (f"{SHARED}<meta name=author content='Ann Lee'>", "", ("Ann Lee",)),
        (f"{SHARED}{SITE}<meta name=author content='Harbour Coffee'>", "", ()),
        (f"{SHARED}<meta name=author content='Harbour Magazine'>", "", ()),
        (f"{SHARED}<meta name=author content='Harbour Magazine'>", "<p>Harbour Magazine</p>", ("Harbour Magazine",)),
    ],
)
def test_names_in_meta_elements_that_no_reader_sees(head, body, names):
    seen = read_page(f"<html><head>{head}</head><body>{body}<p>{'text ' * 60}</p></body></html>", "https://d.example/a")
    assert find_authors(seen, None) == names


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("By Ann Lee", ("Ann Lee",)),
        ("By The Harbour Team", ("The Harbour Team",)),
        ("Ann Lee", ()),
    ],
)
def test_a_signature_may_be_the_name_of_the_site(line, names):
    head = '<meta property=og:site_name content="Ann Lee\'s Harbour">'
    seen = read_page(
        f"<html><head>{head}</head><body><h1>A story</h1><p>{line}</p><p>{'text ' * 60}</p></body></html>",
        "https://d.example/a",
    )
    assert find_authors(seen, None) == names


def test_a_person_with_a_site_of_the_same_name():
    html = "<meta name=author content='Ann Lee'><meta property=og:site_name content='Ann Lee'><p>" + "text " * 60
    assert find_authors(read_page(html, "https://annlee.example/a"), None) == ("Ann Lee",)


@pytest.mark.parametrize(
    ("author", "names"),
    [
        ({"@type": "Organization", "name": "Harbour Trust"}, ()),
        ([{"@type": "Organization", "name": "Harbour Trust"}, {"@type": "Person", "name": "Ann Lee"}], ("Ann Lee",)),
        ([{"@type": "Person", "name": "Editorial Team"}, {"@type": "Person", "name": "Ann Lee"}], ("Ann Lee",)),
        ({"@type": "Person", "name": "Ann Lee, Senior Reporter"}, ("Ann Lee",)),
        ({"@type": "Person", "name": "wordpressadmin"}, ()),
    ],
)
def test_persons_only_where_no_news_agency_signs(author, names):
    data = json.dumps({"@type": "BlogPosting", "headline": "x", "author": author})
    head = f'<script type="application/ld+json">{data}</script>'
    seen = read_page(f"<html><head>{head}</head><body><p>{'text ' * 60}</p></body></html>", "https://d.example/a")
    assert find_authors(seen, None) == names


def test_a_publisher_with_its_address_is_not_several_names():
    metas = "<meta property=og:site_name content='The Daily'><meta name=author content='The Daily, Berlin, Germany'>"
    seen = read_page(f"<html><head>{metas}</head><body><p>{'text ' * 60}</p></body></html>", "https://d.example/a")
    assert find_authors(seen, None) == ()


def test_a_name_beside_goods_is_a_brand():
    data = json.dumps({"@type": "Product", "name": "Harbour Chair", "offers": {"price": 3}})
    head = f'<meta property=og:type content=product><script type="application/ld+json">{data}</script>'
    html = f"<html><head>{head}</head><body><h1>Harbour Chair</h1><p>By Ann Lee</p><p>{'text ' * 60}</p></body></html>"
    assert find_authors(read_page(html, "https://shop.example/chair"), None) == ()


REVIEW = {"@type": "Review", "author": "Cy Dee", "datePublished": "2026-01-01"}


@pytest.mark.parametrize(
    ("thing", "names"),
    [
        ({"@type": "Product", "name": "x", "review": [REVIEW, REVIEW]}, ()),
        ({"@type": "Product", "name": "x", "review": REVIEW}, ("Cy Dee",)),
        ({"@type": "Recipe", "name": "x", "author": {"name": "Ann Lee"}, "review": [REVIEW]}, ("Ann Lee",)),
        (
            [
                {"@type": "Article", "headline": "x", "datePublished": "2026-01-01", "author": "Ann"},
                {"@type": "Recipe", "author": "Ann Lee", "review": {"@type": "Review", "author": "Ann Ek"}},
            ],
            ("Ann Lee",),
        ),
    ],
)
def test_readers_who_review_are_no_authors(thing, names):
    data = f'<script type="application/ld+json">{json.dumps(thing)}</script>'
    html = f"<html><head>{data}</head><body><p>{'text ' * 60}</p></body></html>"
    assert find_authors(read_page(html, "https://d.example/port"), None) == names
