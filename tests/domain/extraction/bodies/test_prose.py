import pytest

from feedcrawl.domain.extraction.bodies.prose import find_root, find_thread, trim, whole_articles
from feedcrawl.domain.extraction.bodies.weights import weigh
from feedcrawl.domain.markup import Elements, parse_html
from feedcrawl.domain.text import canonical_text


def story(count=9, word="story"):
    return "".join(
        f"<p>Sentence number {n} of the {word} is long enough to be taken for prose by anyone.</p>"
        for n in range(count)
    )


def found(body):
    tree = parse_html(f"<html><body>{body}</body></html>")
    assert tree is not None
    weights = weigh(tree.find("body"))
    root = find_root(tree.find("body"), whole_articles(Elements(tree)), weights)
    trim(root, weights)
    return root, canonical_text(root)


LINKS = (
    "<ul>" + "".join(f"<li><a href=/{n}>Another story of some length number {n}</a></li>" for n in range(8)) + "</ul>"
)
TEASERS = "".join(
    f"<div><h3><a href=/{n}>Another story {n}</a></h3><p>Its first sentence, told short {n}.</p></div>"
    for n in range(5)
)


@pytest.mark.parametrize(
    "body",
    [
        f"<div id=root>{story()}</div>{LINKS}",
        f"<div>{LINKS}</div><div id=root>{story()}</div>{TEASERS}",
        f"<div><section id=root class=article-body>{story()}</section><div>{story(2, 'box')}</div></div>",
        f"<main><article id=root>{story()}</article><div>{TEASERS}</div></main>",
        f"<div id=root>{story(4)}{LINKS}{story(5)}</div>",
        f"<div id=root><div class=part>{story()}</div><div class=part>{story(1)}</div></div>",
        f"<div><article id=root><h1>One</h1>{story()}</article><article><h1>Two</h1>{story(20)}</article></div>",
        f"<div id=root>{story(3)}<div>{story(60)}</div></div>",
        f"<div id=root class=post-text>{story(1)}<div class='post-text members'>{story(30)}</div></div>",
        f"<div><p class=box>{'Something else in a box. ' * 6}</p><div id=root>{story(60)}</div></div>",
        f"<div id=root>{story(3)}<table><tr><td>{story(9)}</td></tr></table></div>",
    ],
)
def test_find_root(body):
    root, _ = found(body)
    assert root.get("id") == "root"


def test_the_first_of_several_articles_though_its_headline_was_cleared_away():
    tree = parse_html(
        f"<html><body><main><article id=root><div><h1>One</h1></div>{story()}</article>"
        f"<article><div><h1>Two</h1></div>{story(20)}</article></main>"
    )
    wholes = whole_articles(Elements(tree))
    for box in list(tree.iter("div")):
        box.drop_tree()
    body = tree.find("body")
    assert find_root(body, wholes, weigh(body)).get("id") == "root"
    assert find_root(body, set(), weigh(body)).tag == "main"


def test_lists_of_links_go_and_lists_of_words_stay():
    _, text = found(f"<div>{story()}{LINKS}<ul><li>plain</li><li>words</li></ul></div>")
    assert "Another story" not in text
    assert text.endswith("- plain\n- words")


ITEMS = "".join(
    f"<div><h3><a href=https://shop.test/{n}>Machine {n}</a></h3><p>What is good about machine {n}.</p></div>"
    for n in range(5)
)


@pytest.mark.parametrize("items", [ITEMS, ITEMS.replace("<h3><a", "<a").replace("</a></h3>", "</a>"), TEASERS])
def test_headlines_that_lead_to_other_sites_are_items_and_others_are_teasers(items):
    tree = parse_html(f"<html><body><div id=root>{story()}<div>{items}</div>{story(2)}</div></body></html>")
    assert tree is not None
    weights = weigh(tree.find("body"))
    root = find_root(tree.find("body"), set(), weights, frozenset({"example"}))
    trim(root, weights, frozenset({"example"}))
    assert ("good about machine 4" in canonical_text(root)) is (items is not TEASERS)
    assert ("Its first sentence" in canonical_text(root)) is False


@pytest.mark.parametrize(
    ("heading", "stays"),
    [
        ("<h3><a href=/{n}>{n}. Machine</a></h3>", True),
        ("<h3><a href=/{n}>Chapter {n}: Machines</a></h3>", True),
        ("<h3><a href=/{n}>#{n} – Machine</a></h3>", True),
        ("<a href=/{n}><h3>{n}) Machine</h3></a>", True),
        ("<h3><a href='#machine-{n}'>The machine</a></h3>", True),
        ("<h3><a href=/{n}>{n} machines that work</a></h3>", False),
        ("<h3><a href=/{n}>{n}-day plan</a></h3>", False),
        ("<h3><a href=/{n}>{n}.0 out of five stars</a></h3>", False),
        ("<h3><a href='#'>The machine</a></h3>", False),
    ],
)
def test_numbered_headlines_and_those_that_lead_to_themselves_are_no_teasers(heading, stays):
    items = "".join(f"<div>{heading.format(n=n)}<p>What is good about machine {n}.</p></div>" for n in range(1, 5))
    _, text = found(f"<div>{story()}<div>{items}</div>{story(2)}</div>")
    assert ("good about machine 4" in text) is stays


def test_lists_of_links_to_other_sites_stay():
    links = LINKS.replace("href=/", "href=https://other.test/")
    tree = parse_html(f"<html><body><div>{story()}{links}</div></body></html>")
    assert tree is not None
    weights = weigh(tree.find("body"))
    trim(tree.find("body"), weights, frozenset({"example"}))
    assert "Another story of some length number 7" in canonical_text(tree)


def test_where_prose_is_full_of_links_lists_may_be():
    linked = story().replace("the story is long enough", "<a href=/>the story is long enough</a>")
    _, text = found(
        f"<div>{linked}<ul><li><a href=/>linked</a> and told of</li><li><a href=/>again</a> told</li></ul></div>"
    )
    assert "- linked and told of" in text


def test_paragraphs_in_scripts_without_spaces():
    sentence = "気象庁は、日向灘で地震があったと発表した。震源の深さは約三十キロと推定される。"
    root, _ = found(f"<div id=root>{f'<p>{sentence}</p>' * 5}</div>{LINKS}")
    assert root.get("id") == "root"


POSTS = "".join(
    f"<div class=post><h4><a href=/{n}>User {n}</a></h4><div class=text>{story(n % 3 + 1, 'post')}</div></div>"
    for n in range(5)
)


def test_find_thread():
    tree = parse_html(f"<html><body><div><div id=thread>{POSTS}</div>{TEASERS}</div></body></html>")
    assert tree is not None
    weights = weigh(tree.find("body"))
    thread = find_thread(tree.find("body"), weights)
    assert thread is not None
    assert thread.get("id") == "thread"
    trim(thread, weights, teasers=False)
    assert canonical_text(thread).count("User ") == 5


def test_a_page_with_a_single_post_is_no_thread():
    tree = parse_html(f"<html><body><div class=post><div class=text>{story()}</div></div></body></html>")
    assert tree is not None
    assert find_thread(tree.find("body"), weigh(tree.find("body"))) is None
