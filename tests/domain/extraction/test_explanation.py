import pytest

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction.explanation import Row, explain, table

STORY = "".join(f"<p>Sentence number {n} of the story is long enough to be taken for prose.</p>" for n in range(80))
PAGE = f"""<title>Best ports</title><meta name=author content="Ann Lee"><meta name=date content=2026-03-04>
<article><h1>Ten best ports</h1><p>By Bo Ek</p>{STORY}</article>"""


def test_each_candidate_and_each_choice_has_a_row():
    rows = explain(PAGE, url="https://d.example/story")
    values = {(row.field, row.source): row.value for row in rows}
    assert values["page", "kind"] == "article"
    assert {source for field, source in values if field == "body"} == {
        "prose",
        "readability",
        "trafilatura",
        "area",
        "chosen",
    }
    assert values["body", "chosen"].startswith("prose: ")
    assert values["title", "heading"] == "Ten best ports"
    assert values["title", "title element or editors"] == "Best ports"
    assert values["published", "chosen"] == "2026-03-04T00:00:00+00:00"
    assert values["authors", "meta elements"] == "Ann Lee (of whoever made the site)"
    assert values["authors", "chosen"] == "Bo Ek"
    weights = {(row.field, row.source): row.weight for row in rows}
    assert weights["title", "chosen"] == "0.6"
    assert weights["authors", "chosen"] == "signature under the headline"


def test_a_dropped_name_is_explained_with_its_reason():
    story = '{"@type":"Article","headline":"x","author":[{"name":"annlee42"},{"name":"Daily"}]}'
    head = f"<meta name=author content='Web Works Agency'><script type=application/ld+json>{story}</script>"
    rows = explain(f"{head}<article><h1>Ports</h1>{STORY}</article>", url="https://daily.example/story")
    assert [row.value for row in rows if row.field == "authors"] == [
        "annlee42 (an account that no line shows); Daily (the publisher)",
        "Web Works Agency (of whoever made the site)",
        "none",
    ]


def test_the_stated_day_is_listed_where_the_day_under_the_headline_wins():
    page = PAGE.replace("<p>By Bo Ek</p>", "<p>1 March 2026</p>")
    days = [row[1::2] for row in explain(page, url="https://d.example/story") if row.field == "published"]
    assert days[:2] == [
        ("day under the headline, not as stated", "2026-03-01T00:00:00+00:00"),
        ("structured data, meta elements", "2026-03-04T00:00:00+00:00"),
    ]


def test_what_stood_behind_the_text_is_listed():
    behind = "<h2>About the author</h2><p>Bo Ek writes on ports.</p><p>Last updated: 3 May 2026</p>"
    page = PAGE.replace("</article>", f"{behind}</article>")
    rows = explain(page, url="https://d.example/story")
    assert [row[1::2] for row in rows if row.field == "furniture"] == [
        ("end of the text: line", "Last updated: 3 May 2026"),
        ("end of the text: About the author", "Bo Ek writes on ports."),
        ("end of the text: About the author", "About the author"),
    ]


def test_furniture_is_listed_with_its_rule_the_longest_first():
    note = "Something else that is not of the story at all. "
    parts = {
        "related": f"<div class=related>{note * 3}</div>",
        "<nav>": f"<nav>{note}</nav>",
        "consent software": f"<div id=onetrust-banner>{note * 4}</div>",
        "100% links": f"<ul><li><a href=/x>{note * 2}</a></li></ul>",
    }
    page = PAGE.replace("</article>", f"{parts.pop('100% links')}</article>{''.join(parts.values())}")
    found = [row for row in explain(page, url="https://d.example/story") if row.field == "furniture"]
    assert [row.source for row in found] == ["consent software", "related", "100% links", "<nav>"]
    assert {row.value[:14] for row in found} == {"Something else"}
    assert found[-1].weight == f"{len(note) - 1} characters"


def test_a_page_without_an_article_is_explained():
    rows = explain(f"<title>404</title><p>Page not found</p>{' ' * 300}", url="https://d.example/story")
    assert [row.value[:9] for row in rows if row.source == "refused"] == ["FAIL_EMPT"]


def test_a_document_that_is_no_page_is_refused():
    with pytest.raises(NoArticle):
        explain("{}", url="https://d.example/story")


def test_a_table_has_aligned_columns():
    text = table((Row("title", "heading", "3.5", "A story"), Row("title", "chosen", "", "A story")))
    assert text == ("field  source   weight  value\ntitle  heading  3.5     A story\ntitle  chosen           A story")


def test_the_posts_of_a_thread_are_counted():
    posts = "".join(
        f"<div class=post><a href=/u/{name}>{name}</a> <div class=text>{STORY}</div></div>" for name in ("ann", "bo")
    )
    rows = explain(posts, url="https://forum.d.example/t/ports/1")
    assert [row for row in rows if row.field == "posts"] == [
        Row("posts", "thread", "2", "2 with an author, 0 with a day")
    ]
