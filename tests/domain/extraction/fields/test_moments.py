from datetime import UTC, datetime

import pytest

from feedcrawl.domain.extraction.fields.moments import find_modified, find_published
from feedcrawl.domain.extraction.fields.seen_dates import is_named_for_date
from feedcrawl.domain.extraction.labels import Label
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.models import FeedContent

URL = "https://d.example/story"


def page(head="", body="", url=URL):
    return read_page(f"<html><head>{head}</head><body>{body}<p>{'text ' * 60}</p></body></html>", url)


def day(month, date, hour=0, minute=0):
    return datetime(2026, month, date, hour, minute, tzinfo=UTC)


LD = '<script type="application/ld+json">{{"@type":"NewsArticle","headline":"x",{}}}</script>'


@pytest.mark.parametrize(
    ("head", "body", "published"),
    [
        (LD.format('"datePublished":"2026-03-04T10:00:00+02:00"'), "", day(3, 4, 8)),
        (LD.format('"datePublished":[]'), "<time datetime=2026-03-04>x</time>", day(3, 4)),
        ("<meta property=article:published_time content=2026-03-04T10:00Z>", "", day(3, 4, 10)),
        ("<meta name=article:published:time content=2026-03-04>", "", day(3, 4)),
        ("<meta name=DC.date.issued content=2026-03-04>", "", day(3, 4)),
        ("", "<span itemprop=datePublished content=2026-03-04>x</span>", day(3, 4)),
        ("", "<div class=comment><time datetime=2026-01-01>x</time></div><time datetime=2026-03-04></time>", day(3, 4)),
        ("", "<p class=post-date>Wednesday, March 4, 2026 at noon</p>", day(3, 4)),
        ("", "<div class=datum>4. März 2026</div>", day(3, 4)),
        ("", "<span class=date>2026年3月4日</span>", day(3, 4)),
        ("", "<h1>Story</h1><p>04.03.2026</p>", day(3, 4)),
        ("", "<ul><li>Datum 04.03.2026</li></ul>", day(3, 4)),
        ("", "<p>Mi 04.03.26 | 14:07 Uhr | Von X</p>", day(3, 4)),
        ("", "<article class=teaser><h1>Story</h1><time datetime=2026-03-04>x</time></article>", day(3, 4)),
        ("", "<h1>Story</h1><p>4 March 2026 - 11 minutes</p>", day(3, 4)),
        ("", "<p>4. März 2026</p><h1>Story</h1>", day(3, 4)),
        ("", "<p>Dieser Artikel wurde am 4. März 2026 um 14:48 von Ann geschrieben und unter Häfen abgelegt.</p>",
         day(3, 4)),
        ("", "<h1>Story</h1><p>(04.03.2026) Ships have come in from everywhere, as they do each year.</p>", day(3, 4)),
        ("", "<h1>Story</h1><p>Updated 5 March 2026</p><p>4 March 2026</p>", day(3, 4)),
        ("", "<h1>Story</h1><p>Updated 5 March 2026</p>", day(3, 5)),
        ("", "<p>© 4 March 2026</p>", None),
        ("", "<h1>Story</h1><p>04 | 03 | 2026 | Ports</p>", day(3, 4)),
        ("", '<script>{"a":1,"publishedAt":"2026-03-04T10:00:00Z"}</script>', day(3, 4, 10)),
        ('<script type="application/ld+json">{"datePublished":"2026-03-04", broken</script>', "", day(3, 4)),
        ("<meta property=og:image content=https://d.example/a/2026/03/04/x.jpg>", "", day(3, 4)),
        ("", "<h1>Story</h1><p>2026. 03. 04.</p>", day(3, 4)),
        ("", "<h1>Story</h1><p>2026/3/4</p>", day(3, 4)),
        ("", "<h1>Story</h1><p>04-03-2026</p>", day(3, 4)),
        ("", "<h1>Story</h1><p>Ann Lee of the harbour office | Published: 4 March 2026 | None</p>", day(3, 4)),
        ("", "<h1>Story</h1><p>Päivitetty 5.3.2026</p><p>4.3.2026</p>", day(3, 4)),
        ("", "<div data-state='{&quot;id&quot;:1,&quot;created_at&quot;:&quot;2026-03-04T10:00:00:1Z&quot;}'>x</div>",
         day(3, 4)),
        ("<meta property=og:url content=https://d.example/story-20260304>", "", day(3, 4)),
        # Another day under the headline; not that of a change, nor on news, nor a date that is read two ways.
        ("<meta name=date content=2026-03-20>", "<h1>Story</h1><p>4 March 2026</p>", day(3, 4)),
        ("<meta name=date content=2026-03-04>", "<h1>Story</h1><p>20 March 2026</p>", day(3, 20)),
        ("<meta name=article:published_time content=2026-03-04>", "<h1>Story</h1><p>20 March 2026</p>", day(3, 4)),
        ("<meta name=article:published_time content=2026-03-20>", "<h1>Story</h1><p>4 March 2026</p>", day(3, 4)),
        ("<meta name=date content=2026-03-04>", "<h1>Story</h1><p>Updated on</p><p>20 March 2026</p>", day(3, 4)),
        ("<meta name=date content=2026-03-04><meta name=article:modified_time content=2026-03-20>",
         "<h1>Story</h1><p>20 March 2026</p>", day(3, 4)),
        ("<meta name=date content=2026-03-20>", "<h1>Story</h1><p>04.03.2026</p>", day(3, 4)),
        ("<meta name=date content=2026-03-20>", "<h1>Story</h1><p>03.04.26</p>", day(3, 20)),
        (LD.format('"datePublished":"2026-03-20"'), "<h1>Story</h1><p>4 March 2026</p>", day(3, 20)),
        ("", "<p>On 4 March 2026 something happened somewhere, as was told in a text of some length.</p>", None),
        ("<meta name=article:modified_time content=2026-03-04>", "", None),
    ],
)  # fmt: skip
def test_find_published(head, body, published):
    assert find_published(page(head, body), None) == published


@pytest.mark.parametrize(
    ("body", "published"),
    [
        # A line that says publication goes before elements with a date that say nothing.
        ("<h1>A story</h1><time datetime=2026-03-04>x</time><p>Publié le 3 mars 2026</p>", day(3, 3)),
        (
            "<h1>A story</h1><p>Publié le <time datetime=2026-03-03T08:15:00+01:00>3 mars 2026</time></p>",
            day(3, 3, 7, 15),
        ),
        ("<h1>A story</h1><time datetime=2026-03-04>x</time><p>Veröffentlicht: 03.03.2026</p>", day(3, 3)),
        ("<h1>A story</h1><p>4 March 2026</p><p>This was originally published on 3 March 2026.</p>", day(3, 3)),
        ("<h1>A story</h1><p>4. März 2026</p><p>Zuerst erschienen am 03.03.2026 in Ports.</p>", day(3, 3)),
        ("<h1>A story</h1><time datetime=2026-03-04>x</time><p>Publishers met on 3 March 2026</p>", day(3, 4)),
        # A day after the last change that readers see is another thing's.
        ("<h1>A story</h1><p>Last modified: 3 March 2026</p>" + "<p>x</p>" * 9 + "<p>4 May 2026</p>", day(3, 3)),
        ("<h1>A story</h1><p>Last modified: 3 March 2026</p>" + "<p>x</p>" * 9 + "<p>4 February 2026</p>", day(2, 4)),
    ],
)
def test_a_date_line_is_read_by_its_words(body, published):
    assert find_published(page("", body), None) == published


@pytest.mark.parametrize(
    ("url", "published"),
    [
        ("https://d.example/2026/03/04/story", day(3, 4)),
        ("https://d.example/2026-03-04-story", day(3, 4)),
        ("https://d.example/a/20260304/x", day(3, 4)),
        ("https://d.example/world/2026/mar/4/story", day(3, 4)),
        ("https://d.example/blog/2026/märz/04/story", day(3, 4)),
        ("https://d.example/2026/folge/4/story", None),
        ("https://d.example/news/04-03-2026", day(3, 4)),
        ("https://d.example/story-20260304.html", day(3, 4)),
        ("https://d.example/story-20991304", None),
        ("https://d.example/2026/02/31/story", None),
        ("https://d.example/2026/03/story", None),
    ],
)
def test_the_path_is_the_last_resort(url, published):
    assert find_published(page(url=url), None) == published


def test_the_feed_comes_before_the_page_s_look():
    feed = FeedContent(published=day(5, 5, 6), updated=day(5, 6))
    assert find_published(page(body="<time datetime=2026-03-04>x</time>"), feed) == day(5, 5, 6)
    assert find_published(page("<meta name=date content=2026-03-04>"), feed) == day(3, 4)
    assert find_modified(page(), feed) == day(5, 6)
    assert find_modified(page("<meta property=article:modified_time content=2026-03-04>"), feed) == day(3, 4)
    assert find_modified(page(), None) is None


@pytest.mark.parametrize(("language", "published"), [("en", day(3, 4)), ("en-GB", day(4, 3)), ("fr", day(4, 3))])
def test_the_order_of_day_and_month_is_that_of_the_page_s_language(language, published):
    html = f"<html lang={language}><h1>Story</h1><p>03/04/2026</p><p>{'text ' * 60}</p>"
    assert find_published(read_page(html, URL), None) == published


def test_the_day_on_which_an_author_registered_is_not_the_day_of_the_thread():
    html = f"<meta name=date content=2026-03-20><h1>Story</h1><p>4 March 2014</p><p>{'text ' * 60}</p>"
    assert find_published(read_page(html, "https://d.example/threads/story.1/"), None) == day(3, 20)


@pytest.mark.parametrize(
    ("line", "published", "modified"),
    [
        ("<p>Updated March 5, 2026 · Published March 1, 2026</p>", day(3, 1), day(3, 5)),
        ("<p>Published March 1, 2026 | Updated March 5, 2026</p>", day(3, 1), day(3, 5)),
        ("<p>YAYIM TARİHİ: 01.03.2026 | GÜNCELLEME TARİHİ: 05.03.2026</p>", day(3, 1), day(3, 5)),
        ("<p>Aktualisiert am 5. März 2026 · Veröffentlicht am 1. März 2026</p>", day(3, 1), day(3, 5)),
        ("<p>Stand: 05.03.2026, erstellt am 01.03.2026</p>", day(3, 1), day(3, 5)),
        ("<p>Actualizado 5 de marzo de 2026 | Publicado 1 de marzo de 2026</p>", day(3, 1), day(3, 5)),
        ("<p>Publié le 1 mars 2026, mis à jour le 5 mars 2026</p>", day(3, 1), day(3, 5)),
        (
            "<p>Updated: <time datetime=2026-03-05>5</time></p><p>Published: <time datetime=2026-03-01>1</time></p>",
            day(3, 1),
            day(3, 5),
        ),
        (
            "<time class=updated datetime=2026-03-05>5</time><time class=published datetime=2026-03-01>1</time>",
            day(3, 1),
            day(3, 5),
        ),
        (
            "<p><span class=updated>March 5, 2026</span> <span class=published>March 1, 2026</span></p>",
            day(3, 1),
            day(3, 5),
        ),
        ("<p class=last-modified>March 5, 2026</p><p class=info>March 1, 2026</p>", day(3, 1), day(3, 5)),
        ("<p><b class=label>News</b> <span class='date updated'>March 1, 2026</span></p>", day(3, 1), None),
        ("<time class='published updated' datetime=2026-03-01>1</time>", day(3, 1), None),
        ("<time class='entry-date updated' datetime=2026-03-05>March 5, 2026</time>", day(3, 5), None),
        ("<time itemprop=dateModified datetime=2026-03-05>5</time><p>March 1, 2026</p>", day(3, 1), day(3, 5)),
        ("<div class='node node--promoted'><time datetime=2026-03-01>1</time></div>", day(3, 1), None),
    ],
)
def test_a_day_of_change_is_not_that_of_publication(line, published, modified):
    seen = page(body=f"<h1>The story</h1>{line}")
    assert find_published(seen, None) == published
    assert find_modified(seen, None) == modified


@pytest.mark.parametrize(
    ("lang", "url", "published"),
    [
        ("", "https://d.example/story", day(3, 4)),
        ("en-US", "https://d.example/story", day(3, 4)),
        ("en-GB", "https://d.example/story", day(4, 3)),
        ("fr", "https://d.example/story", day(4, 3)),
        ("", "https://d.example/en-gb/story", day(4, 3)),
        ("", "https://d.co.uk/story", day(4, 3)),
        ("en-US", "https://d.example/2026/april/03/story", day(4, 3)),
        ("fr", "https://d.example/2026/03/04/story", day(3, 4)),
        ("fr", "https://d.example/2026/03/05/story", day(4, 3)),
    ],
)
def test_dates_with_slashes(lang, url, published):
    html = f"<html lang='{lang}'><body><h1>Story</h1><p>03/04/2026</p><p>{'text ' * 60}</p></body></html>"
    assert find_published(read_page(html, url), None) == published


@pytest.mark.parametrize(
    "named",
    [
        "pub", "published", "publication-date", "publie", "posted-on", "entry-date", "article-info", "time",
        "date-header", "datum", "fecha", "data", "tarih", "datetime", "timestamp", "meta", "byline", "details",
        "created-date", "postDate", "readTime",
    ],
)  # fmt: skip
def test_each_word_for_a_date_has_a_hint(named):
    assert is_named_for_date(Label("p", named))
