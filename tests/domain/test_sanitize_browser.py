"""What a real Chromium makes of sanitised markup, scripts on: nothing runs, and only its images are requested."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import unquote

import html5lib
import pytest
from lxml import html as lxml_html
from xss import payloads

from feedcrawl.domain.sanitize import clean_html
from feedcrawl.rendering.browser import NAMES

BASE = "https://news.example/2026/a.html"
PAYLOADS = payloads()
CLEANED = [clean_html(payload, base_url=BASE) for payload in PAYLOADS]
BATCH = 60
SURE_RAW = 0.75
"""Share of the payloads that run in this browser when they are shown as they are; the others are meant for others."""

TAGS = """
a abbr b bdi blockquote br caption cite code col colgroup dd del dfn div dl dt em figcaption figure h1 h2 h3 h4 h5 h6
hr i img ins kbd li mark ol p pre q rp rt ruby s samp small span strong sub sup table tbody td tfoot th thead time
tr u ul var
"""
ATTRIBUTES = """
href title hreflang target rel referrerpolicy src alt width height cite start reversed colspan rowspan scope datetime
lang dir
"""
# Each event that an attribute waits for, then what a reader may do. Where links of the web lead nobody wants to see.
PROVOKE = """() => {
  document.addEventListener('click', event => {
    const link = event.target.closest('a');
    if (link && /^(https?|mailto):/.test(link.getAttribute('href'))) event.preventDefault();
  }, true);
  for (const element of document.querySelectorAll('*')) {
    for (const name of element.getAttributeNames())
      if (name.startsWith('on')) element.dispatchEvent(new Event(name.slice(2), {bubbles: true}));
    try { element.focus && element.focus(); } catch {}
    if (element.click) element.click();
    element.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
  }
  for (const form of document.querySelectorAll('form'))
    for (const button of form.querySelectorAll('button, input')) HTMLElement.prototype.click.call(button);
  for (const link of document.querySelectorAll('svg a'))
    link.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
}"""
# mXSS: what is read, written and read again, in the places where a page puts it.
AGAIN = """() => {
  const text = document.body.innerHTML;
  for (const tag of ['div', 'td', 'li', 'noscript', 'template', 'textarea', 'select', 'style']) {
    const inside = document.createElement(tag);
    document.body.append(inside);
    inside.innerHTML = text;
    inside.innerHTML = inside.innerHTML;
  }
  for (const outside of ['svg', 'math', 'svg><foreignObject', 'math><mtext', 'table', 'select', 'p']) {
    const inside = document.createElement('div');
    document.body.append(inside);
    inside.innerHTML = `<${outside}>${text}`;
    inside.innerHTML = inside.innerHTML;
  }
  document.body.append(new DOMParser().parseFromString(text, 'text/html').body);
}"""


@dataclass
class Seen:
    """What pages did: the numbers of payloads that ran, and the requests as pairs of kind and URL."""

    fired: set[int] = field(default_factory=set)
    requested: set[tuple[str, str]] = field(default_factory=set)
    whole: int = 0
    """Pages that stayed to the end, and did not lead themselves away."""


async def show(pages: Sequence[str], *, again: bool) -> Seen:
    """Each in a page of its own, in one browser; every request is refused and noted."""
    from playwright.async_api import Error, Route, async_playwright

    seen = Seen()

    async def refuse(route: Route) -> None:
        seen.requested.add((route.request.resource_type, route.request.url))
        await route.abort()

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, NAMES))),
            chromium_sandbox=os.geteuid() != 0,
            args=["--host-resolver-rules=MAP * ~NOTFOUND", "--disable-gpu"],
        )
        try:
            context = await browser.new_context()
            await context.expose_function("fired", lambda number: seen.fired.add(int(number)))
            await context.route("**/*", refuse)
            for html in pages:
                page = await context.new_page()
                try:
                    await page.set_content(html, wait_until="commit", timeout=5000)
                    await page.wait_for_timeout(30)
                    await page.evaluate(PROVOKE)
                    if again:
                        await page.evaluate(AGAIN)
                        await page.evaluate(PROVOKE)
                    await page.wait_for_timeout(30)
                    seen.whole += 1
                except Error:
                    pass
                await page.close(run_before_unload=False)
        finally:
            await browser.close()
    return seen


without = pytest.mark.skipif(not any(map(shutil.which, NAMES)), reason="there is no Chromium on PATH")


@pytest.mark.chromium
@without
@pytest.mark.timeout(600)
def test_sanitised_html_runs_nothing_and_requests_only_images() -> None:
    batches = ["\n<hr>\n".join(CLEANED[start : start + BATCH]) for start in range(0, len(CLEANED), BATCH)]
    seen = asyncio.run(show([f"<!DOCTYPE html><body>{batch}" for batch in batches], again=True))
    assert seen.whole == len(batches)
    assert {PAYLOADS[number] for number in seen.fired} == set()
    images = {url for batch in batches for url in re.findall(r'<img src="([^"]*)"', batch)}
    assert {(kind, url) for kind, url in seen.requested if kind != "image"} == set()
    assert {unquote(url) for _, url in seen.requested} <= {unquote(unescape(url)) for url in images}


@pytest.mark.chromium
@without
@pytest.mark.timeout(600)
def test_the_same_browser_runs_the_payloads_as_they_are() -> None:
    sample = PAYLOADS[::24]
    seen = asyncio.run(show([f"<!DOCTYPE html><body>{payload}" for payload in sample], again=False))
    assert len(seen.fired) >= SURE_RAW * len(sample), [
        each for each in sample if PAYLOADS.index(each) not in seen.fired
    ]


def test_the_set_is_large_and_has_no_payload_twice() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 300


def elements(cleaned: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Tags and names of attributes, as two parsers find them."""
    for element in lxml_html.fragments_fromstring(f"<div>{cleaned}</div>"):
        yield from ((str(each.tag), tuple(each.attrib)) for each in element.iter())
    tree = html5lib.parseFragment(cleaned, treebuilder="etree", namespaceHTMLElements=True)
    for each in tree.iter():
        if each is not tree:
            yield str(each.tag).removeprefix("{http://www.w3.org/1999/xhtml}"), tuple(map(str, each.attrib))


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_two_parsers_find_only_listed_tags_and_attributes(number: int) -> None:
    for tag, attributes in elements(CLEANED[number]):
        assert tag in TAGS.split(), PAYLOADS[number]
        assert set(attributes) <= set(ATTRIBUTES.split()), PAYLOADS[number]
