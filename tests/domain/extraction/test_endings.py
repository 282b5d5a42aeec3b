"""What sites set behind the text of an article is removed; the text and its own sections stay."""

import pytest
from growth import assert_linear
from lxml.html import fragment_fromstring

from feedcrawl.domain.extraction.endings import (
    drop_endings,
    heads_articles,
    heads_labels,
    heads_notes,
    is_last_line,
)
from feedcrawl.domain.text import canonical_text

TEXT = "".join(f"<p>The harbour of town {n} keeps its old fog horn, which can be heard far out.</p>" for n in range(6))


def ended(html: str, *, lists: bool = True) -> str:
    root = fragment_fromstring(f"<div>{TEXT}{html}</div>")
    drop_endings(root, lists=lists)
    return canonical_text(root).split("town 5 keeps its old fog horn, which can be heard far out.", 1)[1].strip()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Last updated: November 13, 2025", True),
        ("Zuletzt aktualisiert am 3.5.2026 um 12:30 Uhr", True),
        ("Publiziert: 03.04.2020, 12:35", True),
        ("Mis à jour le 3 mai 2026", True),
        ("Última actualización: 3/5/2026", True),
        ("Обновлено 03.05.2026", True),
        ("Was this page helpful?", True),
        ("↑ Back to top", True),
        ('Retrieved from "https://wiki.test/index.php?title=Horn&oldid=1"', True),
        ("The post Horns at sea appeared first on The Herald.", True),
        ("(Visited 1,902 times, 364 visits today)", True),
        ("Quelle: Hafenamt", True),
        ("Crédits photos : Agence du port", True),
        ("0 Kommentare Keine Kommentare", True),
        ("All rights reserved.", True),
        ("The views expressed by the authors of this blog are their own.", True),
        ("Except as noted, the content of this page is licensed under CC BY 4.0.", True),
        ("Please log in to leave a comment.", True),
        ("Reprinting without permission is prohibited.", True),
        ("For the latest stories download the Herald app for iOS and Android.", True),
        ("Updated horns were heard in three towns", False),
        ("The horn was last heard in 2019.", False),
        ("Source code of the horn", False),
        ("Print on paper", False),
        ("Next of kin", False),
        ("Loading the ship took three days.", False),
        ("Posted Jan 20th, 2016, 6:40 pm", True),
        ("Updated 5 hours ago", True),
        ("Published in 1949, the novel made him known.", False),
        ("Stand 2019 lebten dort noch 300 Menschen.", False),
        ("Changed by 3 percent", False),
        ("No comments yet. Be the first.", True),
        ("No comment on the article, I only wanted to say thanks.", False),
        ("Reproduction is prohibited.", True),
        ("The team could not reproduce the result without the original code.", False),
        ("He is charged with redistributing pictures without her consent.", False),
        ("This page does not constitute legal advice.", True),
        ("The court held that the letter does not constitute a threat.", False),
        ("The views expressed here are those of the author.", True),
        ("The views expressed in the letter shocked the town.", False),
        ("Follow us on Instagram.", True),
        ("Find out more in our newsletter", True),
        ("Related: the fog horn", True),
        ("She left the port in 2019 to join the team at Google.", False),
        ("The mayor wrote so in the newsletter of the town.", False),
        ("He wants to get in touch with his brother.", False),
        ("El alcalde lo escribió en el canal de Telegram.", False),
        ("For more stories, see the archive.", True),
        ("For more on the horn, the book of Ann Lee is essential reading.", False),
        ("Related to this, the town will buy a second horn.", False),
    ],
)
def test_last_lines(line, expected):
    assert is_last_line(line) is expected


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("About the Author", True),
        ("About the author: Ann Lee", True),
        ("Über die Autorin", True),
        ("À propos de l\u2019auteur", True),
        ("Written by Ann Lee", True),
        ("Subscribe to our newsletter", True),
        ("Leave a Reply", True),
        ("12 comments", True),
        ("Share this:", True),
        ("Filed under: Harbours", True),
        ("Pressekontakt", True),
        ("Media contact:", True),
        ("Contact between the ships", False),
        ("About the horn", False),
        ("Comment le port a été construit", False),
        ("Comments on the plan", False),
        ("Share of the market", False),
    ],
)
def test_headings_of_notes(heading, expected):
    assert heads_notes(heading) is expected


@pytest.mark.parametrize(
    ("heading", "share", "expected"),
    [
        ("Related articles that may interest you", 0.3, True),
        ("Recommended Reading", 1, True),
        ("More from The Herald", 0.5, True),
        ("You might also like:", 1, True),
        ("Weitere Artikel", 1, True),
        ("Articles similaires", 1, True),
        ("Похожие статьи", 1, True),
        ("Mehr zum Thema", 1, True),
        ("Related articles", 0.2, False),
        ("Related", 1, False),
        ("Related work", 1, False),
        ("More about horns", 1, False),
        ("You will also need", 1, False),
        ("Further reading", 1, False),
        ("References", 1, False),
    ],
)
def test_headings_of_other_articles(heading, share, expected):
    assert heads_articles(heading, share) is expected


@pytest.mark.parametrize(
    ("heading", "share", "expected"),
    [("Categories:", 1, True), ("Tags", 1, True), ("Schlagwörter", 1, True), ("Tags", 0.9, False), ("Horns", 1, False)],
)
def test_headings_of_labels(heading, share, expected):
    assert heads_labels(heading, share) is expected


@pytest.mark.parametrize(
    ("html", "left"),
    [
        ("<h2>About the author</h2><p>Ann Lee writes on harbours and lives by one of them.</p>", ""),
        ("<h2>Related articles</h2><h3>Bells</h3><p>How bells are cast.</p><p>Updated 3 May 2026</p>", ""),
        (
            "<p>Read also</p><h2>More stories</h2><ul><li><a href=/a>Bells</a><li><a href=/b>Buoys</a></ul><hr>",
            "",
        ),
        ("<h4>Tags</h4><a href=/t/horn>horn</a> <div><a href=/t/fog>fog</a></div>", ""),
        ("<div>Published: 3 May 2026<div>Share it</div></div>Loading...", ""),
        ("<h2>Related articles</h2><p>The text goes on here without a link to anything at all.</p>", None),
        ("<h2>Related articles</h2><p><a href=/a>Bells</a></p><h2>Costs</h2><p>The horn costs little.</p>", None),
        ("<p>Read also:</p><ul><li><a href=/a>Bells</a><li><a href=/b>Buoys</a></ul><p>The text goes on.</p>", None),
        ("<p>Read also:</p><ul><li><a href=/a>Bells</a><li><a href=/b>Buoys</a></ul>", ""),
        (
            "<h3>Related articles</h3><a href=/a>Bells</a><h3>Horn <a href=#horn>¶</a></h3><p>A horn is loud.</p>",
            None,
        ),
        ("<table><tr><th>Horn<th>Comments<tr><td>Town 1<td>Loud</table>", None),
        ("<table><tr><td>Horn<td>Comments<tr><td>Town 1<td>Loud</table>", None),
        ("<h2>Comments on the plan</h2><p>The town said that the plan is good.</p>", None),
    ],
)
def test_endings(html, left):
    expected = canonical_text(fragment_fromstring(f"<div>{html}</div>")) if left is None else left
    assert ended(html) == expected


def test_a_heading_above_the_text_is_none():
    root = fragment_fromstring(f"<div><h2>About the author</h2>{TEXT}</div>")
    assert not drop_endings(root)
    assert canonical_text(root).startswith("About the author\nThe harbour of town 0")


def test_lists_of_articles_stay_where_the_page_consists_of_them():
    html = "<h2>Latest news</h2><ul><li><a href=/a>Bells are rung</a><li><a href=/b>Buoys are laid</a></ul>"
    assert ended(html, lists=False) == "Latest news\n- Bells are rung\n- Buoys are laid"
    assert ended(html) == ""


def test_a_number_of_comments_heads_none_where_the_page_is_a_list():
    html = "<p>Bells are rung<p>16 comments<p>Buoys are laid"
    assert ended(html, lists=False) == "Bells are rung\n16 comments\nBuoys are laid"
    assert ended(html) == "Bells are rung"


def test_the_pictures_of_other_articles_go_with_these():
    root = fragment_fromstring(f"<div>{TEXT}<h2>Related articles</h2><a href=/a><img src=a.png>Bells</a></div>")
    assert drop_endings(root)
    assert root.find(".//img") is None


def test_more_than_half_of_a_text_stays():
    sections = "<h2>About the author</h2><p>Ann Lee writes on harbours and on horns.</p>" * 20
    root = fragment_fromstring(f"<div>{TEXT}{sections}</div>")
    size = len(canonical_text(root))
    drop_endings(root)
    assert len(canonical_text(root)) > size / 2


def test_many_endings_are_removed_in_linear_time():
    def run(times: int) -> None:
        root = fragment_fromstring(
            f"<div>{'<p>Horns</p>' * 4}{'<div>Back to top</div><h2>Bells</h2>' * times}{'<b>Top</b>' * times}</div>"
        )
        drop_endings(root)

    assert_linear(run, 800)
