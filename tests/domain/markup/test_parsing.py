"""Documents as HTML means them, where libxml2 alone would read them otherwise."""

import pytest
from growth import assert_linear
from lxml import etree

from feedcrawl.domain.extraction import extract
from feedcrawl.domain.markup import Elements, drop, drop_all, parse_html

STORY = "".join(
    f"<p>The harbour board met for the {n}. time this year, and put the ferry question off again.</p>" for n in range(9)
)


@pytest.mark.parametrize(
    ("html", "means"),
    [
        (
            "<head><title>a</title><section>story</section><div>more</div>",
            "<head><title>a</title></head><body><section>story</section><div>more</div></body>",
        ),
        (
            "<head><title>a</title><header>h</header><article>b</article>",
            "<head><title>a</title></head><body><header>h</header><article>b</article></body>",
        ),
        (
            "<head><title>a</title><x-story>story</x-story>tail<p>b",
            "<head><title>a</title></head><body><x-story>story</x-story>tail<p>b</p></body>",
        ),
        (
            "<head><main>story</main></head><body><p>b</p></body>",
            "<head></head><body><main>story</main><p>b</p></body>",
        ),
        (
            "<head><noscript><img></noscript><title>a</title></head><body>b</body>",
            "<head><noscript><img></noscript><title>a</title></head><body>b</body>",
        ),
        ("<video><source><p>b</p></video>", "<body><video><source></source><p>b</p></video></body>"),
        # Scripts and styles end with their end tag only.
        (
            "<head><script src=a /></script><script/>b()</script></head><body>c</body>",
            '<head><script src="a"></script><script>b()</script></head><body>c</body>',
        ),
        ("<head><style/>p {}</style></head><body>c</body>", "<head><style>p {}</style></head><body>c</body>"),
        # One without an end tag ends where it begins: a browser would show nothing of the page.
        (
            "<head><script src=a /><script>b()</script></head><body>c</body>",
            '<head><script src="a"></script><script>b()</script></head><body>c</body>',
        ),
        ("<body><i>a</i></body><p>b</p>", "<body><i>a</i><p>b</p></body>"),
    ],
)
def test_a_document_is_parsed_as_html_defines(html: str, means: str) -> None:
    tree = parse_html(html)
    assert tree is not None
    assert etree.tostring(tree, method="html", encoding="unicode") == f"<html>{means}</html>"


def test_an_article_in_a_head_without_end_is_read() -> None:
    page = f"<!DOCTYPE html><html><head><title>The ferry</title><section><h1>The ferry</h1><div>{STORY}</div></section>"
    page += "<section><h2>Comments</h2><ol><li><b>Yara</b><p>Thanks for covering this.</p></li></ol></section>"
    found = extract(page, url="https://a.example/ferry")
    assert found.text.count("harbour board") == 9
    assert "Thanks" not in found.text


@pytest.mark.parametrize("before", [0, 1, 2047, 2048, 2049, 4095, 9000])
@pytest.mark.parametrize("count", [4000, 20_000])
def test_attributes_beyond_the_limit_are_dropped_wherever_the_tag_stands(before: int, count: int) -> None:
    tag = "<b " + "".join(f" a{number}=1" for number in range(count)) + ">"
    tree = parse_html("x" * before + f"<p>{tag}Words</b></p>")
    assert tree is not None
    bold = next(tree.iter("b"))
    assert not bold.attrib
    assert bold.text == "Words"


def test_a_tag_keeps_a_long_value() -> None:
    tree = parse_html(f"<p><img src='data:{'x' * 9000}' alt=A></p>")
    assert tree is not None
    assert next(tree.iter("img")).get("alt") == "A"


def test_elements_of_several_tags_are_in_document_order() -> None:
    elements = Elements(parse_html("<body><p id=a><b id=b>x</b></p><i id=c>y</i><p id=d>z</p></body>"))
    assert [each.get("id") for each in elements.of("p", "b", "i", "u")] == ["a", "b", "c", "d"]
    assert elements.of("u") == []


def test_elements_of_a_copy_are_at_the_same_places_in_another_tree() -> None:
    elements = Elements(parse_html("<body><p>x</p><div><p>y</p></div></body>"))
    copied = elements.copied()
    for paragraph in copied.of("p"):
        paragraph.text = f"{paragraph.text}, copied"
    assert [each.text for each in copied.of("p")] == ["x, copied", "y, copied"]
    assert [each.text for each in elements.of("p")] == ["x", "y"]
    assert all(each.getroottree().getroot() is copied.tree for each in copied.all)


def test_elements_are_read_again_after_a_change() -> None:
    elements = Elements(parse_html("<body><p>x</p><p>y</p></body>"))
    elements.of("p")[0].drop_tree()
    elements.read()
    assert [each.text for each in elements.of("p")] == ["y"]


@pytest.mark.parametrize("tag", ["source", "SOURCE", "Source"])
def test_sources_are_empty_in_any_case(tag) -> None:
    tree = parse_html(f"<body><video><{tag} src=/a.mp4><p>Your player is old.</p></video></body>")
    assert [len(source) for source in tree.iter("source")] == [0]


@pytest.mark.parametrize(
    "body",
    [
        "one<img>two",
        "one<img><img>two<img>, three",
        "(<img>one <img>two",
        "<img>one<img>",
        "<p>one</p><img>two<b><img>three</b>four<img>",
        "one<object><img>two</object>three",
    ],
)
def test_elements_removed_together_leave_what_one_after_the_other_leave(body: str) -> None:
    one, together = (parse_html(f"<div>{body}</div>") for _ in range(2))
    assert one is not None
    assert together is not None
    for element in list(one.iter("img", "object")):
        drop(element)
    drop_all(together, list(together.iter("img", "object")))
    assert etree.tostring(together) == etree.tostring(one)
    assert "img" not in etree.tostring(together, encoding="unicode")


def test_elements_removed_together_may_join_the_words_around_them() -> None:
    tree = parse_html("<p>one<img>two</p>")
    assert tree is not None
    drop_all(tree, list(tree.iter("img")), apart=False)
    assert tree.text_content() == "onetwo"


@pytest.mark.parametrize("tag", ["img", "input", "x-unknown"])
def test_many_removed_elements_in_one_line_take_linear_time(tag: str) -> None:
    def run(count: int) -> None:
        line = "".join(f"<{tag}></{tag}> and words {number}" for number in range(count))
        found = extract(f"<article><p>{line}</p><img src=/a.jpg><img src=/b.jpg></article>", url="https://a.test/x")
        assert found.text.endswith(f"and words {count - 1}")

    assert_linear(run, 3_000)
