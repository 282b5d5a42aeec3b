import pytest

from feedcrawl.domain.extraction.kinds import may_be_service, page_kind
from feedcrawl.domain.extraction.page import read_page

LD = '<script type="application/ld+json">{{"@type": "{}", "headline": "x"}}</script>'


@pytest.mark.parametrize(
    ("head", "url", "kind"),
    [
        ("", "https://d.example/news/story", "article"),
        (LD.format("DiscussionForumPosting"), "https://d.example/a", "forum"),
        (LD.format("QAPage"), "https://d.example/a", "question"),
        ("<meta name=generator content='phpBB'>", "https://d.example/a", "forum"),
        ("", "https://d.example/threads/a-story.12/", "forum"),
        ("", "https://d.example/viewtopic.php?t=12", "forum"),
        ("", "https://forum.d.example/a", "forum"),
        ("", "https://d.example/index.php?topic=12.0", "forum"),
        ("", "https://d.example/thread-12-1-1.html", "forum"),
        ("", "https://d.example/forums/", "article"),
        (LD.format("NewsArticle"), "https://forum.d.example/a", "article"),
        (LD.format("NewsArticle"), "https://docs.d.example/a", "article"),
        (LD.format("TechArticle"), "https://d.example/a", "documentation"),
        ("<meta name=generator content='Docusaurus v3'>", "https://d.example/a", "documentation"),
        ("", "https://docs.d.example/a", "documentation"),
        ("", "https://d.example/docs/a", "documentation"),
        ("", "https://project.readthedocs.io/a", "documentation"),
        (LD.format("Product"), "https://d.example/a", "product"),
        ("<meta property=og:type content=product>", "https://d.example/a", "product"),
        (LD.format("CollectionPage"), "https://d.example/a", "listing"),
        (LD.format("ItemList") + LD.format("Product"), "https://d.example/a", "listing"),
        (LD.format("ItemList") + LD.format("NewsArticle"), "https://d.example/a", "article"),
        ("<meta property=og:type content=product.group>", "https://d.example/a", "listing"),
        ("", "https://developers.d.example/story/25/a-story", "article"),
        ("", "https://d.example/products/a", "article"),
    ],
)
def test_page_kind(head, url, kind):
    assert page_kind(read_page(f"<html><head>{head}</head><body><p>{'text ' * 60}</p>", url)) == kind


def test_a_page_of_questions_is_recognised_by_microdata():
    html = f"<html itemscope itemtype=https://schema.org/QAPage><p>{'text ' * 60}</p>"
    assert page_kind(read_page(html, "https://d.example/questions/1")) == "question"


@pytest.mark.parametrize(
    ("names", "kind"),
    [
        ("id=phpbb class='nojs section-viewtopic ltr'", "forum"),
        ("id=phpbb class='nojs section-index ltr'", "article"),
        ("data-template=thread_view", "forum"),
        ("data-template=forum_view", "article"),
        ("class=ipsApp data-pageapp=forums data-pagecontroller=topic", "forum"),
        ("class=ipsApp data-pageapp=cms data-pagecontroller=page", "article"),
        ("class='page-topic page-topic-12 template-topic'", "forum"),
        ("class='ForumTopicPage lia-body'", "forum"),
        ("class='topic bbpress no-js'", "forum"),
        ("class='page-topics single-post'", "article"),
        ("itemscope itemtype=https://schema.org/DiscussionForumPosting", "forum"),
        ("itemscope itemtype=https://schema.org/BlogPosting", "article"),
    ],
)
def test_a_thread_is_recognised_by_names_of_its_software(names, kind):
    html = f"<html><body {names}><p>{'text ' * 60}</p>"
    assert page_kind(read_page(html, "https://d.example/a")) == kind


ITEM = "<li><a href=/{0}>Ship number {0} of the fleet</a> {0} tons"
PROSE = "<p>" + "The harbour has three piers, of which two are open to ships. " * 4 + "</p>"


def page(items, prose, url, head=""):
    shown = "".join(ITEM.format(number) for number in range(items))
    return read_page(f"<html><head>{head}</head><body><h1>Ships</h1>{PROSE * prose}<ul>{shown}</ul></body></html>", url)


@pytest.mark.parametrize(
    ("items", "prose", "url", "head", "kind"),
    [
        (40, 0, "https://d.example/ships", "", "listing"),
        (40, 3, "https://d.example/ships", "", "article"),
        (40, 2, "https://d.example/category/ships", "", "listing"),
        (40, 9, "https://d.example/category/ships", "", "article"),
        (40, 0, "https://d.example/2026/ships", "", "article"),
        (40, 0, "https://d.example/the-forty-ships-of-the-fleet", "", "article"),
        (40, 0, "https://d.example/category/ships", LD.format("NewsArticle"), "article"),
        (90, 0, "https://d.example/category/ships", LD.format("NewsArticle"), "listing"),
        (40, 0, "https://d.example/ships", LD.format("Product"), "product"),
        (40, 0, "https://d.example/", "<meta property=og:type content=website>", "listing"),
        (25, 0, "https://d.example/", "", "article"),
        (90, 0, "https://forum.d.example/ships", "", "forum"),
        (70, 0, "https://docs.d.example/ships", "", "documentation"),
        (180, 0, "https://docs.d.example/ships", "", "listing"),
    ],
)
def test_a_listing_is_recognised_by_its_items(items, prose, url, head, kind):
    assert page_kind(page(items, prose, url, head)) == kind


@pytest.mark.parametrize(
    ("url", "head", "may_be"),
    [
        ("https://d.example/services/towing", "", True),
        ("https://d.example/", "<meta property=og:type content=website>", True),
        ("https://d.example/", "", False),
        ("https://d.example/blog/towing", "", False),
        ("https://d.example/how-we-tow-ships-home", "", False),
        ("https://d.example/20260301", "", False),
        ("https://d.example/towing?id=58354", "", False),
        ("https://d.example/News/Towing", "", False),
        ("https://d.example/products/tow", "", False),
        ("https://d.example/services/towing", "<meta property=article:published_time content=2026-03-01>", False),
    ],
)
def test_pages_that_may_present_a_service(url, head, may_be):
    assert may_be_service(page(0, 2, url, head)) is may_be
