import re

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.markup import MATH_TAGS, parse_html
from feedcrawl.domain.sanitize import MAX_DEPTH, _allow, clean_html, clean_tree, safe_url

BASE = "https://news.example/2026/a.html"
LINK = 'rel="noopener noreferrer" target="_blank" referrerpolicy="no-referrer"'

UNCHANGED = [
    ("<p>a <em>b</em> <strong>c</strong></p>", None),
    ("<ul><li>one</li></ul><ol><li>two</li></ol>", None),
    ("<pre>x\n  y</pre><p><code>z</code></p>", None),
    ("<blockquote><p>said</p></blockquote>", None),
    ('<figure><img src="https://o.example/i.png" alt="A"><figcaption>c</figcaption></figure>', None),
    ('<table><tbody><tr><td colspan="2">c</td></tr></tbody></table>', None),
    ("text &amp; more", None),
    ("1 &lt; 2", None),
    ("", ""),
    ("  ", ""),
    ('<a href="/x">l</a>', f'<a href="https://news.example/x" {LINK}>l</a>'),
    (
        '<a href="b.html#part" rel="opener" target="x">l</a>',
        f'<a href="https://news.example/2026/b.html#part" {LINK}>l</a>',
    ),
    ('<a href="mailto:a@b.example">m</a>', f'<a href="mailto:a@b.example" {LINK}>m</a>'),
    ('<img src="i.png">', '<img src="https://news.example/2026/i.png">'),
    ('<img data-src="i.png" src="data:image/gif;base64,R0">', '<img src="https://news.example/2026/i.png">'),
    (
        '<picture><source srcset="l.webp"><source srcset="l.jpg"><img src="i.png"></picture>',
        '<img src="https://news.example/2026/i.png">',
    ),
    (
        '<img srcset="i.png 1x, l.png 2x">',
        '<img src="https://news.example/2026/l.png">',
    ),
    ('<p>x</p><img src="&#14; javascript:alert(1)">', "<p>x</p>"),
    ('<a href="x&#1;y">l</a>', f"<a {LINK}>l</a>"),
    ("<section>Hello</section><section>World</section>", "<div>Hello</div><div>World</div>"),
    ("<details><summary>Hello</summary>World</details>", "<div><div>Hello</div>World</div>"),
    ("<x-card>Hello</x-card><x-card>World</x-card>", "Hello World"),
    ("Hello<button>x</button>World", "Hello World"),
    ("<label>Hello</label><button>x</button>World", "Hello World"),
    ("a<script>x</script>b", "ab"),
    ("<math><mi>E</mi><mo>=</mo><msup><mi>c</mi><mn>2</mn></msup></math>", None),
    ('<math display="block"><mfrac linethickness="0"><mn>1</mn><mn>2</mn></mfrac></math>', None),
    (
        '<iframe src="https://www.youtube.com/embed/abc123?rel=0" title="A film"></iframe>',
        f'<figure><a href="https://www.youtube.com/watch?v=abc123" {LINK}>A film</a></figure>',
    ),
    (
        "<figure><video><source src='/film.mp4'>No film.</video><figcaption>c</figcaption></figure>",
        f'<figure><a href="https://news.example/film.mp4" {LINK}>film.mp4</a><figcaption>c</figcaption></figure>',
    ),
    ('<iframe src="https://ads.example/x" title="Advert"></iframe>', ""),
    ("<p>x</p><noscript><img src='/i.png'></noscript>", '<p>x</p><img src="https://news.example/i.png">'),
    ('<p class="c" id="location" style="x" onclick="f()" data-x="1" lang="de">a</p>', '<p lang="de">a</p>'),
]


@pytest.mark.parametrize(("html", "expected"), UNCHANGED)
def test_harmless_markup_is_kept(html, expected):
    assert clean_html(html, base_url=BASE) == (html if expected is None else expected)


ATTACKS = [
    "<script>alert(1)</script>x",
    "<img src=x onerror=alert(1)>",
    '<a href="javascript:alert(1)">a</a>',
    '<a href="jav&#x0A;ascript:alert(1)">a</a>',
    '<a href="&#9;java\tscript:alert(1)">a</a>',
    '<a href="vbscript:x">a</a>',
    '<a href="data:text/html,<script>1</script>">a</a>',
    '<img src="data:image/svg+xml,<svg onload=alert(1)>">',
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
    "<template><script>alert(1)</script></template>",
    "<textarea><img title='</textarea><img src onerror=alert(1)>'></textarea>",
    "<!--><img src onerror=alert(1)>-->",
    "<xmp><p title='</xmp><img src=x onerror=alert(1)>'></xmp>",
    '<iframe srcdoc="<script>1</script>"></iframe><object data=x></object><embed src=x>',
    '<form action="javascript:1"><button formaction="javascript:1">x</button><input></form>',
    '<base href="https://evil.example/"><meta http-equiv=refresh content="0;url=x"><link rel=import href=x>',
    "<video onloadstart=alert(1) poster=javascript:1><source></video><details open ontoggle=alert(1)>x</details>",
    '<p style="background:url(https://t.example/)">x</p><style>@import "https://t.example/";</style>',
    "<math><mi//xlink:href='data:x,<script>alert(1)</script>'>",
    "<math href='javascript:alert(1)'><maction actiontype='statusline#x' xlink:href='javascript:1'>x</maction></math>",
    "<math><annotation-xml encoding='text/html'><img src=x onerror=alert(1)></annotation-xml></math>",
    "<math><mi><style><img src=x onerror=alert(1)></style></mi></math><iframe src='javascript:alert(1)'></iframe>",
    "<iframe src='javascript:alert(1)//www.youtube.com/embed/x'></iframe><video src='javascript:alert(1)'></video>",
    "<noscript><img src='x' onerror=alert(1)></noscript><amp-img src=x onerror=alert(1)></amp-img>",
    "<p/onclick=alert(1)>x</p><p \x00onclick=alert(1)>x",
    '<table background="javascript:1"><td background="javascript:1">',
]
MATHML = "{http://www.w3.org/1998/Math/MathML}"
ACTIVE = frozenset(
    {"script", "style", "iframe", "object", "embed", "form", "button", "input", "svg", "base", "meta", "link"}
    | {"template", "textarea", "noscript", "video", "audio", "details", "xmp"}
)


def active_parts(html):
    tree = html5lib.parseFragment(html, treebuilder="etree", namespaceHTMLElements=False)
    for element in tree.iter():
        if not isinstance(element.tag, str):
            yield element
            continue
        if element.tag in ACTIVE:
            yield element.tag
        if element.tag == f"{MATHML}math":  # with anything else in it, browsers may leave the formula again
            yield from (inner.tag for inner in element.iter() if inner.tag.removeprefix(MATHML) not in MATH_TAGS)
        for name, value in element.attrib.items():
            squeezed = re.sub(r"[\x00-\x20]", "", value).lower()
            if name.startswith("on") or name in {"style", "srcdoc", "class", "id", "name"}:
                yield name
            if name in {"href", "src", "cite"} and not squeezed.startswith(("http:", "https:", "mailto:")):
                yield value


@pytest.mark.parametrize("html", ATTACKS)
def test_sanitised_html_has_no_active_part(html):
    assert list(active_parts(clean_html(html, base_url=BASE))) == []


MARKUP = st.lists(
    st.sampled_from(
        [
            *ATTACKS,
            *(html for html, _ in UNCHANGED),
            "<div>",
            "</div>",
            "<p>",
            "</p>",
            "<a href=/x>",
            "</a>",
            "<table>",
            "<td>",
            "&lt;b&gt;",
            "'\"<",
            "é\u200b",
        ]
    ),
    max_size=8,
).map("".join)


@pytest.mark.parametrize(
    "between",
    [
        "",
        "<base href=/y>",
        "<link rel=x href=y>",
        "<wbr>",
        "<x></x>",
        "<x> <y></y></x>",
        "</x><x>",
        "</picture><picture>",
    ],
)
def test_copies_of_an_image_are_shown_once_whatever_empty_element_is_between(between):
    html = f"<p><x><picture><img src=a.png>{between}<img src=a.png></picture></x></p>"
    assert clean_html(html, base_url=BASE).count("<img") == 1


@pytest.mark.parametrize("between", ["<table>", "<table><tr>", "<table><tbody>"])
def test_copies_of_an_image_are_shown_once_where_the_second_is_between_cells(between):
    html = f"<img src=a.png>{between}<img src=a.png>"
    assert clean_html(html, base_url=BASE).count("<img") == 1


@given(MARKUP)
def test_a_second_pass_changes_nothing(html):
    once = clean_html(html, base_url=BASE)
    assert clean_html(once, base_url=BASE) == once
    assert list(active_parts(once)) == []


def proxied_html(html, proxy):
    tree = parse_html(f"<div>{html}</div>")
    assert tree is not None
    return clean_tree(tree.find("body/div"), base_url=BASE, image_proxy=proxy)


@pytest.mark.parametrize("proxy", ["https://me.example/image?url=", "/media/image?url="])
def test_images_may_go_through_a_proxy(proxy):
    page = '<p>x<img src="/i.png?a=1"><a href="/y">z</a><q cite="/media/image?url=q">q</q>'
    proxied = proxied_html(page, proxy)
    assert f'<img src="{proxy}https%3A%2F%2Fnews.example%2Fi.png%3Fa%3D1">' in proxied
    assert f'<a href="https://news.example/y" {LINK}>z</a>' in proxied
    assert '<q cite="https://news.example/media/image?url=q">' in proxied
    assert proxied_html(proxied, proxy) == proxied


@pytest.mark.parametrize("override", ["\u202e", "\u202d", "&#8238;", "&#x202E;"])
def test_no_text_is_made_to_read_as_another(override):
    """Isolates and marks stay: right-to-left text needs them."""
    html = f"<p>Pay {override}001</p><p>\u2067אבג\u2069 \u200fא</p>"
    assert clean_html(html, base_url=BASE) == "<p>Pay 001</p><p>\u2067אבג\u2069 \u200fא</p>"


def test_tracking_pixels_go():
    html = '<img src="a.gif" width="1" height="1"><img src="b.gif" style="display: none"><img src="c.gif" width="0">'
    assert clean_html(html, base_url=BASE) == ""


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("/x", "https://news.example/x"),
        ("//other.example/x", "https://other.example/x"),
        ("https://8.8.8.8/x", "https://8.8.8.8/x"),
        ("http://127.0.0.1/x.png", None),
        ("http://169.254.169.254/latest", None),
        ("http://2130706433/", None),
        ("http://[::1]/", None),
        ("file:///etc/passwd", None),
        ("ftp://a.example/", None),
        ("javascript:1", None),
        ("http://[bad", None),
        ("", None),
        (" \t", None),
        ("https://a.example/" + "x" * 5000, None),
        ("https://a.example/" + "x" * 3000, None),
        ("mailto:ann@a.example", "mailto:ann@a.example"),
        ("http://a.example:99999/", None),
        ("http://ann:pw@127.0.0.1/", None),
        (r"http://127.0.0.1\@a.example/", None),
        (r"http:///127.0.0.1/", None),
        ("http://a.example \x01/", None),
    ],
)
def test_safe_url(url, safe):
    assert safe_url(url, BASE) == safe


@pytest.mark.parametrize(
    ("html", "safe"),
    [
        ('<p><a title="x" href="/b">a</a> <a title="x" href="https://d.example/b">b</a></p>', ["https://d.example/b"]),
        ('<p><a href="https://d.example/b">a</a> in code: x href="/b"</p>', ["https://d.example/b", "/b"]),
        ('<img src="b.png"><img src="https://d.example/b.png">', ["https://d.example/b.png"]),
    ],
)
def test_only_absolute_urls_pass_the_allow_list(html, safe):
    assert re.findall(r'(?:href|src)="([^"]*)"', _allow(html, None)) == safe


def test_a_page_on_a_private_address_may_show_its_own_images():
    assert safe_url("i.png", "http://127.0.0.2:8000/a/") == "http://127.0.0.2:8000/a/i.png"
    assert safe_url("http://127.0.0.3:8000/i.png", "http://127.0.0.2:8000/a/") is None


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000 + "text",
        "<table><tr><td>" * 10_000,
        "<b <i " * 50_000,
        "<p " + " ".join(f"a{n}=1" for n in range(50_000)) + ">x</p>",
        "<!--" * 50_000,
        "<p>" * 50_000,
    ],
    ids=["deep", "tables", "unclosed", "attributes", "comments", "wide"],
)
def test_hostile_sizes_are_bounded(html):
    cleaned = clean_html(html, base_url=BASE)
    assert cleaned.count("<div>") <= MAX_DEPTH + 1


def test_a_large_data_attribute_is_not_taken_for_many():
    tree = parse_html(f'<p data-x="{"a=b " * 400}" title="t">{"x" * 10}</p>' + '<img alt="' + "x" * 9000 + '" src="i">')
    assert tree is not None
    assert tree.find(".//img").get("src") == "i"
