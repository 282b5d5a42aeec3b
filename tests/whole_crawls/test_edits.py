"""Articles that their publishers have edited, by what a feed says of it, and the requests that this costs."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from documents import FIRST_DAY, atom, page, paragraphs, rss
from origin import Answer, Site, document, html
from world import World, article, entry, events, good_page, world_in

LATER = FIRST_DAY + timedelta(days=2)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with world_in(tmp_path) as world:
        yield world


def edited(name: str) -> Answer:
    return html(page(f"About {name}", paragraphs(f"{name} edited", count=4), published=FIRST_DAY), etag='"2"')


def updated(site: Site, text: str, *names: str) -> str:
    """An Atom document in which these entries were changed at a later time, each at its own."""
    for number, name in enumerate(names):
        head, mark, tail = text.partition(f"<id>id-{name}</id><updated>")
        assert mark
        text = f"{head}{mark}{(LATER + timedelta(minutes=number)).isoformat()}{tail[len(FIRST_DAY.isoformat()) :]}"
    return text


def text_of(world: World, url: str) -> str:
    with world.client() as client:
        return article(client, url)["clean_text"]


def test_an_entry_with_only_a_new_date_of_edit_has_its_article_fetched_again(world: World) -> None:
    site = world.origin.site("news.test")
    names = ["a", "b", "c", "d"]
    urls = [site.serve(f"/{name}", good_page(name, etag='"1"'), edited(name)) for name in names]
    same = good_page("b", etag='"1"')
    site.serve("/b", same, same)
    first = atom([entry(site, name) for name in names])
    stamped = first.replace(f"<updated>{FIRST_DAY.isoformat()}", f"<updated>{LATER.isoformat()}")
    versions = [first, updated(site, first, "a", "b"), stamped]
    feed = site.serve("/feed", *(document(text, content_type="application/atom+xml") for text in versions))
    world.crawl("first", f"feeds={feed}")
    before = [text_of(world, url) for url in urls]
    world.crawl("edited", "now=1")
    etags = {request.path: request.header("If-None-Match") for request in world.requests["edited"]}
    assert etags == {"/feed": None, "/a": '"1"', "/b": '"1"'}
    after = [text_of(world, url) for url in urls]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True, True, True]
    assert paragraphs("a edited", count=4)[0] in after[0]
    world.crawl("stamped", "now=1")
    assert world.paths("stamped", "news.test") == ["/feed"]  # all at once: a program did it
    with world.client() as client:
        assert [event["url"] for event in events(client, "article_updated")] == [urls[0]]
        assert events(client, "entry_updated") == []  # no entry says something else
    assert len(world.lines("entries")) == len(names)


def test_an_edit_under_another_url_has_the_article_itself_read_again(world: World) -> None:
    """Both ways round: known by its own URL and edited under another, and known by another and edited under its own."""
    site, mobile = world.origin.site("news.test"), world.origin.site("m.news.test")
    for name in ("a", "b"):
        versions = [
            html(page(f"About {name}", paragraphs(text, count=4), canonical=site.url(f"/{name}"), published=FIRST_DAY))
            for text in (name, f"{name} edited")
        ]
        for each in (site, mobile):
            each.serve(f"/{name}", *versions)
    other = page("About a", paragraphs("a, on a mobile", count=4), canonical=site.url("/a"), published=FIRST_DAY)
    mobile.serve("/a", html(other))
    first = [entry(site, "a"), entry(site, "b", mobile.url("/b"))]
    second = [entry(site, "a", mobile.url("/a"), summary="Corrected."), entry(site, "b", summary="Corrected.")]
    url = site.serve(
        "/feed", *(document(rss(entries), content_type="application/rss+xml") for entries in (first, second))
    )
    world.crawl("first", f"feeds={url}")
    world.crawl("edited", "now=1")
    for name in ("a", "b"):
        assert paragraphs(f"{name} edited", count=4)[0] in text_of(world, site.url(f"/{name}")), name
    with world.client() as client:
        assert len(events(client, "article_ready")) == 2
        assert sorted(event["url"] for event in events(client, "article_updated")) == [mobile.url("/b"), site.url("/a")]
    world.crawl("again", "now=1")
    assert [request.path for request in world.requests["again"]] == ["/feed"]
