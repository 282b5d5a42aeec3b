import pytest

from feedcrawl.domain.extraction.bodies.leads import add_opening, described_lead, named_lead, plain_lead
from feedcrawl.domain.extraction.bodies.prose import find_root
from feedcrawl.domain.extraction.bodies.weights import weigh
from feedcrawl.domain.extraction.page import read_page
from feedcrawl.domain.text import canonical_text

LEAD = "The harbour will be closed until spring, and nobody knows who is to pay for the repairs."
OTHER = "Ferries go from the old pier in the meantime, the harbour master said on Friday evening."
STORY = "".join(f"<p>Sentence number {n} of the story is long enough to be taken for prose.</p>" for n in range(9))


def page(body, description=None):
    meta = f'<meta name=description content="{description}">' if description else ""
    return read_page(f"<html><head>{meta}</head><body>{body}</body></html>", "https://d.example/x")


def parts(body):
    tree = page(body).tree.find("body")
    return tree, tree.find(".//div[@id='root']"), weigh(tree)


@pytest.mark.parametrize(
    ("body", "lead"),
    [
        (f"<p>{LEAD}</p>{STORY}", LEAD),
        (f"<p>PORTO <b>{LEAD}</b></p>{STORY}", f"PORTO {LEAD}"),
        (f"<p>The <a href=/h>harbour</a>{LEAD.removeprefix('The harbour')}</p>{STORY}", LEAD),
        (f"<p class=intro>{LEAD}</p><p class=intro>{OTHER}</p><p>x</p>", f"{LEAD}\n{OTHER}"),
        (f"<p class=t>{LEAD}</p>{STORY.replace('<p>', '<p class=t>')}", LEAD),
        (f"<figure><figcaption>{LEAD}</figcaption></figure>{STORY}", None),
        (STORY, None),
    ],
)
def test_described_lead(body, lead):
    assert described_lead(page(body, LEAD[:60])) == lead


@pytest.mark.parametrize(
    ("above", "lead"),
    [
        (f"<p class=standfirst>{LEAD}</p>", LEAD),
        (f"<div class=perex><p>{LEAD}</p></div>", LEAD),
        (f"<p class=standfirst>{LEAD} <a href=/>More</a></p>", None),
        (f"<p>{LEAD}</p>", None),
        ("<p class=intro>Published 2026/1/14 21:17, last changed 2026/1/15 21:17</p>", None),
    ],
)
def test_named_lead(above, lead):
    assert named_lead(*parts(f"<h1>Harbour</h1>{above}<div id=root>{STORY}</div>")) == lead


@pytest.mark.parametrize(
    ("page_of", "lead"),
    [
        (f"<article><h2>Harbour</h2><p>{LEAD}</p><div id=root>{STORY}</div></article>", LEAD),
        (f"<article><p>{'By somebody ' * 6}</p><p>{LEAD}</p><div id=root>{STORY}</div></article>", LEAD),
        (f"<article><figure><p>{LEAD}</p></figure><div id=root>{STORY}</div></article>", None),
        (f"<p>{LEAD}</p><div id=root>{STORY}</div>", None),
        (f"<article><div id=root>{STORY}</div><p>{LEAD}</p></article>", None),
    ],
)  # fmt: skip
def test_plain_lead(page_of, lead):
    _, root, weights = parts(page_of)
    assert plain_lead(root, weights) == lead


@pytest.mark.parametrize(
    ("before", "opening"),
    [
        (f"<h1>Harbour</h1><div class=intro><p>{LEAD}</p><p>{OTHER}</p></div>", [LEAD, OTHER]),
        (f"<h1>Harbour</h1><div><p>{LEAD}</p></div><div><p>{OTHER}</p></div>", []),
        (
            f"<h1>Harbour</h1><div><p>{LEAD} {LEAD}</p></div><div><p>{OTHER} {OTHER}</p></div>",
            [f"{LEAD} {LEAD}", f"{OTHER} {OTHER}"],
        ),
        (f"<p>{LEAD} {OTHER}</p><h1>Harbour</h1>", []),
        (f"<h1>Harbour</h1><ul><li>{LEAD} {OTHER}</li></ul>", []),
        (f"<h1>Harbour</h1><figure><p>{LEAD} {OTHER}</p></figure>", []),
        (f"<h1>Harbour</h1><p><a href=/>{LEAD}</a> {OTHER}</p>", []),
        (f"<p>{LEAD} {OTHER}</p>", []),
        ("<h1>Harbour</h1>" + "".join(f"<p>{LEAD} {OTHER} {n}</p>" for n in range(31)), []),
    ],
)
def test_add_opening(before, opening):
    tree, root, weights = parts(f"{before}<div id=root>{STORY}</div>")
    find_root(tree, set(), weights)  # which values the elements
    add_opening(root, weights)
    story = canonical_text(root).splitlines()
    assert story[: len(opening)] == opening
    assert len(story) == len(opening) + 9
