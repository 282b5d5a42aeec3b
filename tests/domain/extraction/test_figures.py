"""Pictures, lists of links, tables, formulas and players stay in an article, whichever rung finds it."""

import re

import pytest

from feedcrawl.domain.extraction import extract

URL = "https://news.example/2026/harbour"
SENTENCE = (
    "The harbour of the town has been rebuilt over ten years, and ships from everywhere come in again every morning. "
)
LONG = f"<p>{SENTENCE * 3}</p>"
DATA = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
ITEMS = "<li><a href=/1>The first report of the harbour</a></li><li><a href=/2>The second report</a></li>"
ROW = "<mrow><mi>E</mi><mo>=</mo><mi>m</mi></mrow>"


def page(inner, *, declared, layout):
    layouts = {
        "article": f"<article><h1>The harbour</h1>{LONG}{inner}{LONG * 3}</article>",
        "div": f"<div><h1>The harbour</h1>{LONG}{inner}{LONG * 3}</div>",
        "short": f"<div><h1>The harbour</h1><p>{SENTENCE}</p>{inner}<p>{SENTENCE}</p></div>",
    }
    meta = "<meta property=og:type content=article>" if declared else ""
    nav = "<nav><a href=/>Home</a><a href=/a>News</a></nav>"
    return f"<html lang=en><head><title>The harbour</title>{meta}</head><body>{nav}{layouts[layout]}</body></html>"


layouts = pytest.mark.parametrize("layout", ["article", "div", "short"])
declared = pytest.mark.parametrize("declared", [False, True])


@pytest.mark.parametrize(
    "picture",
    [
        "<p><img src=/1.jpg></p>",
        "<div><img src=/1.jpg></div>",
        "<div class=image-box><img src=/1.jpg></div>",
        "<section><img src=/1.jpg></section>",
        "<a href=/big.jpg><img src=/1.jpg></a>",
        "<center><img src=/1.jpg></center>",
        "<table><tr><td><img src=/1.jpg></td></tr></table>",
        "<picture><source srcset='/1.webp 1x'><img src=/1.jpg></picture>",
        "<div><picture><source srcset='/1.webp 1x'><img src=/1.jpg></picture></div>",
        "<figure><img src=/1.jpg><figcaption>Words</figcaption></figure>",
        "<div><noscript><img src=/1.jpg></noscript></div>",
        f"<figure><img src='{DATA}'><noscript><img src=/1.jpg></noscript></figure>",
        f"<figure><div><img src='{DATA}'></div><noscript><img src=/1.jpg></noscript></figure>",
        f"<figure><noscript><img src=/1.jpg></noscript><img src='{DATA}'></figure>",
        "<div><img src=/blur.jpg data-src=/1.jpg></div>",
        "<div><img src='/1.jpg?w=20&blur=50' srcset='/1-small.jpg 400w, /1.jpg 1200w'></div>",
        f"<div><img src='{DATA}' srcset='/1.jpg 400w'></div>",
        "<div><img src=/blur.jpg aria-hidden=true><img src=/1.jpg></div>",
        "<amp-img src=/1.jpg width=100 height=50></amp-img>",
    ],
)
@layouts
@declared
def test_a_picture_is_kept_once_at_its_place(picture, layout, declared):
    html = extract(page(picture, declared=declared, layout=layout), url=URL).html
    assert re.findall(r'<img src="([^"]*)"', html) == ["https://news.example/1.jpg"]
    before, _, after = html.partition("<img")
    assert SENTENCE.strip() in before
    assert SENTENCE.strip() in after


FIGURES = ("<figure><img src=/1.jpg></figure>", "<figure><img src=/2.jpg></figure>")


@pytest.mark.parametrize(
    "gallery",
    [
        f"<figure class=gallery><ul><li>{FIGURES[0]}</li><li>{FIGURES[1]}</li></ul></figure>",
        f"<figure class=wp-block-gallery>{FIGURES[0]}{FIGURES[1]}</figure>",
        "<div class=gallery><a href=/a><img src=/1.jpg></a><a href=/b><img src=/2.jpg></a></div>",
    ],
)
@layouts
@declared
def test_all_pictures_of_a_gallery(gallery, layout, declared):
    html = extract(page(gallery, declared=declared, layout=layout), url=URL).html
    assert re.findall(r'<img src="([^"]*)"', html) == ["https://news.example/1.jpg", "https://news.example/2.jpg"]


def test_a_gallery_of_other_articles_goes():
    teasers = "<div class=carousel>" + "".join(f"<a href=/{n}><img src=/{n}.jpg><p>Another</p></a>" for n in range(3))
    assert "<img" not in extract(page(f"{teasers}</div>", declared=True, layout="article"), url=URL).html


CELLS = "<tr><td>2024</td><td>12</td></tr>"
NESTED = "<table><tr><td>Outer<table><tr><td>inner</td><td>cell</td></tr></table></td></tr></table>"


@pytest.mark.parametrize(
    ("inner", "lines"),
    [
        (f"<p>Read the reports here:</p><ul>{ITEMS}</ul>", ["- The second report"]),
        (f"<h2>Resources</h2><ol>{ITEMS}</ol>", ["- The first report of the harbour"]),
        (f"<h3>Resources</h3><p>We like these.</p><ul>{ITEMS}</ul>", ["- The first report of the harbour"]),
        (f"<table><tr><th>Year</th><th>Ships</th></tr>{CELLS}</table>", ["Year | Ships", "2024 | 12"]),
        (f"<div class=wrap><table>{CELLS}</table></div>", ["2024 | 12"]),
        (NESTED, ["Outer", "inner | cell"]),
        ("<table><tr><td><ul><li>one</li><li>two</li></ul></td></tr></table>", ["- one", "- two"]),
        (
            f"<p>It is <math><semantics>{ROW}<annotation>E=m</annotation></semantics></math> here.</p>",
            ["It is E=m here."],
        ),
    ],
)
@layouts
@declared
def test_lines_that_stay(inner, lines, layout, declared):
    text = extract(page(inner, declared=declared, layout=layout), url=URL).text.splitlines()
    assert [line for line in lines if line not in text] == []


@pytest.mark.parametrize("lead", ["<h3>Related articles</h3>", "<p>Read also:</p>", "<p>Mehr zum Thema:</p>"])
@declared
def test_related_articles_go(lead, declared):
    found = extract(page(f"{lead}<ul>{ITEMS}</ul>", declared=declared, layout="article"), url=URL)
    assert "The second report" not in found.text


YOUTUBE = "https://www.youtube.com/watch?v=abc123"


@pytest.mark.parametrize(
    ("player", "link"),
    [
        ("<iframe src='https://www.youtube.com/embed/abc123' title='Film'></iframe>", YOUTUBE),
        (
            "<div class=video><iframe data-src='https://player.vimeo.com/video/42'></iframe></div>",
            "https://vimeo.com/42",
        ),
        ("<video><source src=/film.mp4>No film.</video>", "https://news.example/film.mp4"),
        ("<figure><audio src=/talk.mp3></audio></figure>", "https://news.example/talk.mp3"),
    ],
)
@layouts
@declared
def test_a_player_becomes_a_figure_with_a_link(player, link, layout, declared):
    found = extract(page(player, declared=declared, layout=layout), url=URL)
    assert re.search(rf'<figure><a href="{re.escape(link)}"', found.html)
    assert "No film" not in found.text
