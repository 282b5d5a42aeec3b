"""Whole pages: the text of the article, and its fields."""

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import NoArticle
from feedcrawl.domain.extraction import extract, ladder
from feedcrawl.domain.extraction.bodies.choice import FULL_LENGTH
from feedcrawl.domain.models import FeedContent, SourceRules

URL = "https://news.example/2026/11/27/harbour"
PARAGRAPHS = [
    f"Paragraph number {n} tells, in a sentence long enough to be prose, what the harbour master said on day {n}."
    for n in range(1, 9)
]
LEAD = "The harbour will be closed to ferries until spring, and nobody knows who is to pay for the repairs."
NAV = "<nav><ul>" + "".join(f'<li><a href="/s{n}">Section number {n}</a></li>' for n in range(9)) + "</ul></nav>"
RELATED = '<div class="related-articles"><h2>More</h2>' + "".join(
    f'<article><h3><a href="/o{n}">Another story about something else number {n}</a></h3>'
    f"<p>A short teaser of the other story, one sentence long, that is not ours {n}.</p></article>"
    for n in range(5)
)
COMMENTS = '<section id="comments">' + "".join(
    f'<div class="comment"><p>I think that comment number {n} is right about the harbour and the ferries.</p></div>'
    for n in range(20)
)
JSON_LD = {
    "@context": "https://schema.org",
    "@graph": [
        {"@type": "WebSite", "name": "The Example"},
        {
            "@type": "NewsArticle",
            "headline": "Harbour closed until spring",
            "datePublished": "2026-11-27T08:30:00+01:00",
            "dateModified": "2026-11-27T12:00:00Z",
            "author": [{"@type": "Person", "name": "Ann Lee"}, {"@type": "Person", "name": "Bo Ek"}],
            "publisher": {"@type": "Organization", "name": "The Example"},
            "keywords": "ports, ferries",
            "inLanguage": "en-GB",
        },
    ],
}


def page(*, body=None, head="", json_ld=JSON_LD):
    article = "".join(f"<p>{text}</p>" for text in PARAGRAPHS) if body is None else body
    data = f'<script type="application/ld+json">{json.dumps(json_ld)}</script>' if json_ld else ""
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f"<title>Harbour closed until spring | The Example</title>"
        f'<meta property="og:site_name" content="The Example"><meta property="og:image" content="/lead.jpg">'
        f'<meta property="og:description" content="{LEAD}">{head}{data}</head><body><div id="wrap">{NAV}'
        f'<main><header><h1>Harbour closed until spring</h1><p class="standfirst">{LEAD}</p>'
        f'<p class="byline">By <a rel="author" href="/ann">Ann Lee</a></p></header>'
        f'<div class="story"><figure><img src="/lead.jpg"><figcaption>The harbour. Photo: X</figcaption></figure>'
        f"{article}"
        f'<div class="newsletter-box"><p>Get our newsletter every morning, it is free and you will like it.</p></div>'
        f"</div></main>{RELATED}{COMMENTS}"
        f"<footer><p>All rights reserved by The Example, a company of its own.</p></footer>"
        f"</div><script>track()</script></body></html>"
    )


def test_the_text_is_the_article_and_nothing_else():
    found = extract(page(), url=URL)
    assert found.text.splitlines() == [LEAD, *PARAGRAPHS]
    assert found.extractor == "prose"
    assert found.notes[0].startswith("prose: ")
    assert found.text_len == len(found.text)
    assert found.raw_len == len(page())


@pytest.mark.parametrize(
    ("description", "has_lead"), [(LEAD[:60], True), ("What the site is about, in a few words.", False)]
)
def test_a_description_confirms_the_standfirst_of_a_page_that_states_nothing(description, has_lead):
    text = "".join(f"<p>{paragraph * 3}</p>" for paragraph in PARAGRAPHS)
    html = (
        f'<html><head><meta name="description" content="{description}"></head><body><div class="top"><h1>Harbour</h1>'
        f'<div class="bold">{LEAD}</div></div><div class="text">{text}</div></body></html>'
    )
    assert extract(html, url=URL).text.startswith(LEAD) is has_lead


def test_fields():
    found = extract(page(), url=URL)
    assert found.title == "Harbour closed until spring"
    assert found.authors == ("Ann Lee", "Bo Ek")
    assert found.published == datetime(2026, 11, 27, 7, 30, tzinfo=UTC)
    assert found.modified == datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
    assert found.language == "en"
    assert found.site_name == "The Example"
    assert found.image == "https://news.example/lead.jpg"
    assert found.canonical_url == URL
    assert found.abstract == LEAD
    assert found.tags == ("ports", "ferries")


def test_html_is_harmless_and_absolute():
    body = page(body="".join(f"<p onclick=x>{text} <a href='/more'>more</a></p>" for text in PARAGRAPHS))
    html = extract(body, url=URL).html
    assert "onclick" not in html
    assert 'href="https://news.example/more"' in html
    assert "<figcaption>The harbour. Photo: X</figcaption>" in html
    assert "newsletter" not in html


def test_bytes_in_any_encoding_and_text_give_the_same():
    expected = extract(page(), url=URL)
    assert extract(page().encode(), url=URL) == expected
    latin = page(body="".join(f"<p>Größe {text}</p>" for text in PARAGRAPHS)).replace("utf-8", "iso-8859-1")
    assert "Größe Paragraph number 1" in extract(latin.encode("latin-1"), url=URL).text


def test_a_page_that_declares_nothing():
    text = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)
    html = f"<html><head><title>Note</title></head><body><h1>Note</h1>{text}</body></html>"
    found = extract(html, url=URL)
    assert found.title == "Note"
    assert "Note" not in found.text
    assert all(paragraph in found.text for paragraph in PARAGRAPHS)
    assert found.authors == ()
    assert found.published == datetime(2026, 11, 27, tzinfo=UTC)


def test_a_witness_removes_lines_that_only_the_page_has():
    odd = "<p>Download our app now and read the news of the harbour wherever you happen to be today.</p>"
    body = "".join(f"<p>{text}</p>" for text in PARAGRAPHS[:4]) + odd + "".join(f"<p>{t}</p>" for t in PARAGRAPHS[4:])
    assert "Download our app" in extract(page(body=body), url=URL).text
    article = {**JSON_LD["@graph"][1], "articleBody": " ".join(PARAGRAPHS)}
    assert "Download our app" not in extract(page(body=body, json_ld=article), url=URL).text


def test_structured_data_alone():
    article = {**JSON_LD["@graph"][1], "articleBody": "\n".join(PARAGRAPHS)}
    data = f'<script type="application/ld+json">{json.dumps(article)}</script>'
    html = f'<html><head>{data}</head><body><div id="app"></div></body></html>'
    found = extract(html, url=URL)
    assert found.extractor == "structured"
    assert found.text.splitlines() == PARAGRAPHS


def test_source_rules_win():
    html = page(body='<div class="x"><p>Only this is wanted, says the operator.</p><i class="ad">not this</i></div>')
    rules = SourceRules(
        body=("div.missing", "div.x"),
        title=("//title/text()",),
        remove=("i.ad", "[["),
        author=("a[rel=author]",),
        published=("time",),
    )
    found = extract(html, url=URL, rules=rules)
    assert found.extractor == "rules"
    assert found.text == "Only this is wanted, says the operator."
    assert found.title == "Harbour closed until spring | The Example"
    assert found.authors == ("Ann Lee",)


def test_the_feed_has_more_than_the_page():
    html = page(body=f"<p>{PARAGRAPHS[0]}</p>")
    feed = FeedContent(content="".join(f"<p>{text}</p>" for text in [LEAD, *PARAGRAPHS]))
    assert extract(html, url=URL).extractor != "feed"
    found = extract(html, url=URL, feed=feed)
    assert found.extractor == "feed"
    assert found.text.splitlines() == [LEAD, *PARAGRAPHS]


SCRIPT = f"<script>{'x();' * 60}</script>"
HEADLINE = "Harbour closed until spring"
SHELL = f"<html><head><title>Harbour</title></head><body><div id=root></div>{SCRIPT}</body></html>"


@pytest.mark.parametrize(
    ("feed", "expected"),
    [
        (None, None),
        (FeedContent(title="Harbour closed", summary=LEAD), None),
        (FeedContent(summary=" ".join(PARAGRAPHS)), None),  # however long: a summary is no article
        (FeedContent(content=LEAD), None),
        (FeedContent(content="".join(f"<p>{text}</p>" for text in PARAGRAPHS)), "\n".join(PARAGRAPHS)),
        (FeedContent(summary=LEAD, full_text=True), LEAD),
        (FeedContent(content=LEAD, full_text=True), LEAD),
    ],
)
def test_a_page_without_text_has_an_article_only_where_the_feed_is_trusted(feed, expected):
    assert len("\n".join(PARAGRAPHS)) >= FULL_LENGTH > len(LEAD)
    if expected is None:
        with pytest.raises(NoArticle) as refused:
            extract(SHELL, url=URL, feed=feed)
        assert refused.value.code == "FAIL_EMPTY"
    else:
        found = extract(SHELL, url=URL, feed=feed)
        assert (found.extractor, found.text) == ("feed", expected)


@pytest.mark.parametrize(
    ("body", "is_empty"),
    [
        (f"<h1>{HEADLINE}</h1><div id=root></div>", True),
        (f"<h1>{HEADLINE}</h1><p>By Ann Lee</p><time>27 November 2026</time><div id=root></div>", True),
        ("<header>The Example</header><div id=root></div><footer>Copyright 2026 Example Ltd</footer>", True),
        ("<p>港は春まで閉鎖されると市長が月曜日に発表した。</p>", False),
        (f"<p>{LEAD}</p>", False),
    ],
)
def test_the_frame_of_a_page_that_scripts_fill_is_no_article(body, is_empty):
    html = f"<html><head><title>{HEADLINE}</title></head><body>{body}{SCRIPT}</body></html>"
    if is_empty:
        with pytest.raises(NoArticle, match="scripts: nothing but") as refused:
            extract(html, url=URL)
        assert refused.value.code == "FAIL_EMPTY"
    else:
        extract(html, url=URL)
    data = f"<script type='application/ld+json'>{{}}{' ' * 200}</script>"
    assert extract(html.replace(SCRIPT, data), url=URL).text


def test_a_summary_that_repeats_the_headline_of_a_shell_is_no_article():
    shell = SHELL.replace("<div id=root>", f"<h1>{HEADLINE}</h1><div id=root>")
    with pytest.raises(NoArticle) as refused:
        extract(shell, url=URL, feed=FeedContent(title=HEADLINE, summary=f"{HEADLINE}. {LEAD}"))
    assert refused.value.code == "FAIL_EMPTY"


def test_the_feed_fills_fields_that_the_page_lacks():
    html = f"<html><body>{''.join(f'<p>{p}</p>' for p in PARAGRAPHS)}</body></html>"
    feed = FeedContent(
        title="From the feed",
        authors=("Cy Dee",),
        published=datetime(2026, 1, 2, tzinfo=UTC),
        language="de",
        categories=("a",),
    )
    found = extract(html, url="https://news.example/x", feed=feed)
    assert (found.title, found.authors, found.published) == ("From the feed", ("Cy Dee",), feed.published)
    assert (found.language, found.tags) == ("de", ("a",))


def wall(title, text, head=""):
    filler = "<!-- " + "x" * 200 + " -->"
    return f"<html><head><title>{title}</title>{head}{filler}</head><body><h1>{title}</h1><p>{text}</p></body></html>"


REFUSED = [
    ("", "FAIL_BAD_HTML", "0 characters"),
    ("<p>short</p>", "FAIL_BAD_HTML", "12 characters"),
    ('{"a": 1}' + " " * 300, "FAIL_BAD_HTML", "JSON"),
    (b"%PDF-1.7\n" + b"\x00\xff" * 500, "FAIL_BAD_HTML", "unsupported_type: a PDF"),
    (b"\xff\xd8\xff\xe0<html>" + b"x" * 500, "FAIL_BAD_HTML", "unsupported_type: a JPEG"),
    (" " * 500, "FAIL_PARSE", "no element"),
    ("<html><frameset><frame src='/a.html'></frameset></html>" + " " * 200, "FAIL_EMPTY", "no_text"),
    (wall("Page not found", "Sorry, we could not find it anywhere."), "FAIL_EMPTY", "not_found"),
    (wall("Consent", "We and our 842 partners value your privacy. Accept cookies."), "FAIL_EMPTY", "consent"),
    (wall("Just a moment...", "Checking your browser before accessing the site."), "FAIL_EMPTY", "challenge"),
    (wall("x", "", "<noscript>Please enable JavaScript to view this page.</noscript>"), "FAIL_EMPTY", "javascript"),
    (wall("Members", "Already a subscriber? Log in to continue reading this story."), "FAIL_EMPTY", "paywall"),
    (wall("Port", "Port closed today.", '<meta name="article:content_tier" content=locked>'), "FAIL_EMPTY", "teaser"),
    (
        wall("News", "All the news of the day, every day.")
        + "".join(f'<div><a href="/{n}">One of many stories on our front page {n}</a></div>' for n in range(60)),
        "FAIL_EMPTY",
        "index",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("html", "code", "detail"), REFUSED)
def test_a_page_without_an_article_is_refused_with_its_reason(html, code, detail):
    with pytest.raises(NoArticle) as refusal:
        extract(html, url="https://news.example/")
    assert refusal.value.code == code
    assert refusal.value.detail.startswith(detail)


def test_a_long_article_may_speak_of_cookies():
    body = "".join(
        f"<p>Sites must ask before they set them: accept all cookies, they say. {text}</p>" for text in PARAGRAPHS
    )
    assert "accept all cookies" in extract(page(body=body), url=URL).text


HOSTILE = {
    "deep": "<div>" * 20_000 + "<p>" + PARAGRAPHS[0] * 5,
    "wide": "<p>" * 20_000 + PARAGRAPHS[0],
    "attributes": "<p " + " ".join(f"a{n}=1" for n in range(20_000)) + ">" + PARAGRAPHS[0],
    "json": '<script type="application/ld+json">' + "[" * 100_000 + "</script><p>" + PARAGRAPHS[0] * 5,
    "types": '<script type="application/ld+json">'
    + json.dumps(
        {
            "@type": ["NewsArticle", 5],
            "headline": {},
            "author": [[[]]],
            "datePublished": [],
            "image": 7,
            "articleBody": 1,
        }
    )
    + f"</script><p>{PARAGRAPHS[0] * 5}",
    "nul": "<html><title>x<body><p>one<p>t\0wo<b><i>" + "<p>A long enough paragraph. " * 60,
    "surrogates": b"<p>\xed\xa0\x80 &#xD800; &#0; &#x110000;</p>" + PARAGRAPHS[0].encode() * 5,
    "charset": f'<meta charset="{"x" * 100_000}"><p>{PARAGRAPHS[0] * 5}',
    "dtd": '<?xml version="1.0"?><!DOCTYPE html SYSTEM "http://127.0.0.1:1/x">' + page(),
    "cr": page().replace("><", ">\r<"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_end_in_an_article_or_a_refusal(name):
    try:
        found = extract(HOSTILE[name], url=URL)
    except NoArticle as refusal:
        assert refusal.code.startswith("FAIL_")  # noqa: PT017
    else:
        assert found.text


@given(st.text("<>/=\"' abdivpth&;\n", min_size=200, max_size=400))
def test_any_markup_ends_in_an_article_or_a_refusal(html):
    with suppress(NoArticle):
        extract(html, url=URL)


@pytest.mark.parametrize("piece", ["<div class=image><img src=a></div>", "<p>", "<i></i>"])
def test_wide_pages_end_soon(piece):
    with suppress(NoArticle):
        assert PARAGRAPHS[0] in extract(page() + piece * 3000, url=URL).text


def test_pages_beyond_any_size_are_refused():
    with pytest.raises(NoArticle, match=r"FAIL_PARSE: .* elements, more than"):
        extract(page() + "<i></i>" * 70_000, url=URL)


def test_images_of_the_body_may_go_through_a_proxy() -> None:
    body = "".join(f"<p>{'The harbour council has voted for the new bridge. ' * 4}{number}</p>" for number in range(5))
    html = f"<html><body><article><h1>Bridge</h1>{body}<img src='/i.png' width=640></article></body></html>"
    plain = extract(html, url="https://d.example/x")
    proxied = extract(html, url="https://d.example/x", image_proxy="/media/image?url=")
    assert 'src="https://d.example/i.png"' in plain.html
    assert 'src="/media/image?url=https%3A%2F%2Fd.example%2Fi.png"' in proxied.html
    assert (proxied.image, proxied.text) == (plain.image, plain.text)


def test_a_body_that_cannot_be_made_safe_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> str:
        raise ValueError("no tree")

    monkeypatch.setattr(ladder, "clean_tree", fails)
    html = "<html><body><article>" + "".join(f"<p>{each}</p>" for each in PARAGRAPHS) + "</article></body></html>"
    with pytest.raises(NoArticle) as refused:
        extract(html, url=URL)
    assert (refused.value.code, refused.value.detail) == ("sanitize_failed", "ValueError: no tree")


@pytest.mark.parametrize("ends", ["\r", "", "\n"])
def test_a_page_on_a_single_line_is_read(ends: str) -> None:
    body = ends.join(f"<p>{each}</p>" for each in PARAGRAPHS)
    assert PARAGRAPHS[3] in extract(f"<html><body><article>{body}</article></body></html>", url=URL).text


def authors_by_reference(count: int) -> str:
    persons = [{"@type": "Person", "@id": f"#{n}", "name": f"Name{n}"} for n in range(count)]
    article = {"@type": "NewsArticle", "headline": "Harbour", "author": [{"@id": f"#{n}"} for n in range(count)]}
    return f'<script type="application/ld+json">{json.dumps([*persons, article])}</script>'


def marked_parts(count: int) -> str:
    return "".join(f'<p class="article-body" id="video-{n}">Some words.</p>' for n in range(count))


def entities(count: int) -> str:
    return f"<p>{'&amp;' * count}</p>"


@pytest.mark.parametrize(("many", "count"), [(authors_by_reference, 120), (marked_parts, 1_500), (entities, 25_000)])
def test_many_statements_parts_or_entities_take_linear_time(many: Callable[[int], str], count: int) -> None:
    body = "".join(f"<p>{each}</p>" for each in PARAGRAPHS)

    def run(count: int) -> None:
        assert (
            PARAGRAPHS[3] in extract(f"<html><body><article>{body}</article>{many(count)}</body></html>", url=URL).text
        )

    assert_linear(run, count)
