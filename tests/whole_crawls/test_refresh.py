"""Pages that send their readers on, and documents whose transfer ends early, in one crawl."""

from collections.abc import Iterator

import pytest
from documents import page, paragraphs
from origin import Answer, document, html
from world import World, article, entry, feed, good_page, world_in


def sent_on(target: str) -> Answer:
    head = f'<meta http-equiv="refresh" content="0; url={target}">'
    return html(page("You are being sent on", ["Please wait."], head=head))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("refresh")) as world:
        news, other = world.origin.site("news.test"), world.origin.site("other.test")
        news.serve("/near", sent_on("/story"))
        news.serve("/story", good_page("story"))
        news.serve("/far", html("<p>Go on.", headers=(("Refresh", f"0; url={other.url('/far')}"),)))
        other.serve("/far", good_page("far"))
        news.serve("/loop", sent_on("/loop2"))
        news.serve("/loop2", sent_on("/loop"))
        for number in range(8):
            news.serve(f"/long{number}", sent_on(f"/long{number + 1}"))
        body = page("cut", paragraphs("cut", 6)).encode()
        news.serve("/cut", Answer(body=body, headers=(("Content-Length", str(len(body) + 9)),), cut_bytes=len(body)))
        entries = [entry(news, name) for name in ("near", "far", "loop", "long0", "cut")]
        old = news.serve("/old", sent_on("/feed"))
        whole = feed(entries)
        news.serve("/feed", document(whole.body, content_type="application/rss+xml", chunked=True, cut_bytes=10**6))
        world.crawl("all", world.feeds_file(old))
        yield world


def at(world: World, site: str, path: str) -> str:
    return world.origin.sites[f"{site}.test"].url(path)


def test_the_article_is_behind_the_refresh(world: World) -> None:
    with world.client() as client:
        near, far = (article(client, at(world, *place)) for place in (("news", "/story"), ("other", "/far")))
    assert (near["url"], near["title"]) == (at(world, "news", "/near"), "About story")
    assert (far["url"], far["title"]) == (at(world, "news", "/far"), "About far")
    assert world.paths("all", "other.test") == ["/robots.txt", "/far"]


def test_refreshes_end(world: World) -> None:
    with world.client() as client:
        loop, long = (article(client, at(world, "news", path)) for path in ("/loop", "/long0"))
    assert (loop["failure"], loop["failure_reason"]) == ("FAIL_HTTP", "redirect_loop")
    assert (long["failure"], long["failure_reason"]) == ("FAIL_HTTP", "too_many_redirects")
    assert "/long5" in world.paths("all", "news.test")
    assert "/long6" not in world.paths("all", "news.test")


def test_complete_documents_are_read_though_their_transfer_ended_early(world: World) -> None:
    with world.client() as client:
        assert article(client, at(world, "news", "/cut"))["status"] == "success"
    with world.wired() as wired:
        (feed_id,) = wired.registry.some(9)
        polls = wired.registry.journal(feed_id)
    assert [(poll["result"], poll["new"], poll["notes"]) for poll in polls] == [("fetched", 5, ["transfer_incomplete"])]
