import pytest

from feedcrawl.domain.figures.images import image_source, is_pixel, show_images
from feedcrawl.domain.markup import Elements, parse_html

DATA = "data:image/gif;base64,R0lGODlhAQABAAAAACw="


def tree(html):
    document = parse_html(f"<body><div>{html}</div></body>")
    assert document is not None
    return document


@pytest.mark.parametrize(
    ("html", "source"),
    [
        ("<img src=a.jpg>", "a.jpg"),
        ("<img src='a photo'>", "a photo"),
        ("<img src=image?id=3>", "image?id=3"),
        ("<img>", None),
        (f"<img src='{DATA}'>", None),
        (f"<img src='{DATA}' data-src=/late.jpg>", "/late.jpg"),
        ("<img src=/placeholder.gif data-src=/late.jpg>", "/late.jpg"),
        ("<img src=/placeholder.gif data-original=/late.jpg>", "/late.jpg"),
        ("<img src=/placeholder.gif data-srcset='/s.jpg 1x, /l.jpg 2x'>", "/l.jpg"),
        ("<img src=a.jpg data-src=true>", "a.jpg"),
        ("<img src=a&#14;.jpg>", None),
        ("<img src=a.jpg data-src=/b&#14;.jpg>", "a.jpg"),
        ("<img srcset='/b&#14;.jpg 2x'>", None),
        ("""<img src=a.jpg data-src='{"default": "/b.jpg"}'>""", "a.jpg"),
        (f"<img src=a.jpg data-src='{DATA}'>", "a.jpg"),
        ("<img src=a.jpg data-orig-file=/large.jpg>", "a.jpg"),
        (f"<img src='{DATA}' data-orig-file=/large.jpg>", "/large.jpg"),
        ("<img src=a.jpg srcset='/l.jpg 2x'>", "a.jpg"),
        ("<img srcset='/s.jpg 320w, /l.jpg 1280w, /m.jpg 640w'>", "/l.jpg"),
        ("<img srcset='/w=875,q=90/1.jpg 1x,/w=1750,q=70/1.jpg 1.5x'>", "/w=1750,q=70/1.jpg"),
        ("<img srcset='/a.jpg, /b.jpg'>", "/a.jpg"),
        ("<img srcset=', 2x,, 100w'>", None),
        (f"<picture><source srcset='/s.webp 1x, /l.webp 2x'><img src='{DATA}'></picture>", "/l.webp"),
        ("<picture><source data-srcset=/late.webp><img></picture>", "/late.webp"),
        ("<img src='/p.jpg?w=20&blur=50' srcset='/p.jpg?w=400 400w, /p.jpg?w=1200 1200w'>", "/p.jpg?w=1200"),
        ("<img src=/p-20x13.jpg srcset='/p.jpg 1200w'>", "/p.jpg"),
        ("<img src=/p-20x13.jpg>", "/p-20x13.jpg"),
        ("<img src=/assets/placeholder.png data-cfsrc=/p.jpg>", "/p.jpg"),
        ("<picture><source srcset='/l.webp 2x'><img src=/lazy.gif></picture>", "/l.webp"),
        ("<picture><source srcset=/other.webp><img src=a.jpg></picture>", "a.jpg"),
    ],
)
def test_image_source(html, source):
    assert image_source(tree(html).find(".//img")) == source


def test_a_long_srcset_is_read_in_linear_time():
    assert image_source(tree(f"<img srcset='{',' * 100_000} /a.jpg 1x{',' * 100_000}'>").find(".//img")) == "/a.jpg"


@pytest.mark.parametrize(
    ("html", "sources"),
    [
        (f"<img src='{DATA}'><noscript><img src=/shown.jpg></noscript>", ["/shown.jpg"]),
        ("<img src=/blank.gif><noscript><a href=/><img data-src=/shown.jpg></a></noscript>", ["/shown.jpg"]),
        ("<img src=a.jpg><p>text</p><noscript><img src=/pixel.gif width=1></noscript>", ["a.jpg"]),
        ("<img src=a.jpg><noscript>Please switch scripts on.</noscript>", ["a.jpg"]),
        ("<picture><source srcset=/s.webp><img></picture>", ["/s.webp"]),
        ("<picture><source srcset=/s.webp></picture>", ["/s.webp"]),
        ("<noscript><img src=/shown.jpg></noscript>", ["/shown.jpg"]),
        ("<a href=/x><noscript><img src=/shown.jpg></noscript></a>", ["/shown.jpg"]),
        (f"<div><img src='{DATA}'></div><noscript><img src=/shown.jpg></noscript>", ["/shown.jpg"]),
        (f"<noscript><img src=/shown.jpg></noscript><img src='{DATA}'>", ["/shown.jpg"]),
        ("<div><img src=a.jpg></div><noscript><img src=a.jpg></noscript>", ["a.jpg"]),
        ("<img aria-hidden=true src=/blur.jpg><img src=/shown.jpg>", ["/shown.jpg"]),
        ("<img src=a.jpg><img src=a.jpg>", ["a.jpg"]),
        ("<img src=a.jpg><img src=b.jpg>", ["a.jpg", "b.jpg"]),
        ("<amp-img src=/shown.jpg></amp-img>", ["/shown.jpg"]),
    ],
)
def test_show_images(html, sources):
    document = tree(html)
    show_images(Elements(document))
    for fallback in list(document.iter("noscript")):
        fallback.drop_tree()
    assert [image.get("src") for image in document.iter("img")] == sources


@pytest.mark.parametrize(
    ("html", "pixel"),
    [
        ("<img src=a width=1 height=1>", True),
        ("<img src=a height=0px>", True),
        ("<img src=a style='color: red; display:none'>", True),
        ("<img src=a width=100 height=10>", False),
        ("<img src=a width=100%>", False),
    ],
)
def test_is_pixel(html, pixel):
    assert is_pixel(tree(html).find(".//img")) is pixel
