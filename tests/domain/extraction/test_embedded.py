import json

import pytest

from feedcrawl.domain.extraction import extract
from feedcrawl.domain.extraction.embedded import embedded_html
from feedcrawl.domain.markup import parse_html

LINES = [f"Paragraph number {n} tells in a sentence what the harbour master said on day {n}." for n in range(9)]
STORY = "".join(f"<p>{line}</p>" for line in LINES)


def state(value):
    return json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003e")


def page(script):
    return f"<html><head><title>Harbour</title></head><body><div id=app></div>{script}</body></html>"


SCRIPTS = [
    f"<script>window.__STATE__ = {state({'a': {'body': STORY, 'also': STORY[:450]}})};</script>",
    f"<script type=application/json>{state([1, STORY])}</script>",
    f"<script>self.push([1, {state('2a:' + STORY)}])</script>",
]


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_article_in_the_state_of_a_page(script):
    found = extract(page(script), url="https://d.example/x")
    assert found.extractor == "embedded"
    assert found.text.splitlines()[-8:] == LINES[1:]


@pytest.mark.parametrize(
    "script",
    ["", f"<script>{STORY}</script>", '<script>a = "<p>short</p>"</script>', f'<script>a = "{STORY}\\q"</script>'],
)
def test_scripts_without_an_article_give_none(script):
    tree = parse_html(page(script))
    assert tree is not None
    assert embedded_html(tree.iter("script")) is None


def test_a_page_with_text_is_not_searched():
    story = "".join(f"<p>{line} It is told twice.</p>" for line in LINES)
    html = page(f"<article>{story}</article>{SCRIPTS[0]}")
    assert extract(html, url="https://d.example/x").extractor != "embedded"
