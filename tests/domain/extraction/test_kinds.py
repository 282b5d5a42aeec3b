import pytest

from feedcrawl.domain.extraction.kinds import page_kind
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
        ("", "https://d.example/products/a", "article"),
    ],
)
def test_page_kind(head, url, kind):
    assert page_kind(read_page(f"<html><head>{head}</head><body><p>{'text ' * 60}</p>", url)) == kind


def test_questions_are_told_by_microdata():
    html = f"<html itemscope itemtype=https://schema.org/QAPage><p>{'text ' * 60}</p>"
    assert page_kind(read_page(html, "https://d.example/questions/1")) == "question"
