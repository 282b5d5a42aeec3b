"""Documents as HTML means them, where libxml2 alone would read them otherwise."""

import pytest
from lxml import etree

from feedcrawl.domain.extraction import extract
from feedcrawl.domain.markup import parse_html

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
        ("<body><i>a</i></body><p>b</p>", "<body><i>a</i><p>b</p></body>"),
    ],
)
def test_a_document_is_what_html_means(html: str, means: str) -> None:
    tree = parse_html(html)
    assert tree is not None
    assert etree.tostring(tree, method="html", encoding="unicode") == f"<html>{means}</html>"


def test_an_article_in_a_head_without_end_is_read() -> None:
    page = f"<!DOCTYPE html><html><head><title>The ferry</title><section><h1>The ferry</h1><div>{STORY}</div></section>"
    page += "<section><h2>Comments</h2><ol><li><b>Yara</b><p>Thanks for covering this.</p></li></ol></section>"
    found = extract(page, url="https://a.example/ferry")
    assert found.text.count("harbour board") == 9
    assert "Thanks" not in found.text
