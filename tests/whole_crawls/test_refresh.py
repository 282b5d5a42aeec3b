"""Pages that send their readers on, documents whose transfer ends early, and notices on one page, in one crawl."""

from collections.abc import Iterator

import pytest
from documents import page, paragraphs, prose
from ledger import Request
from origin import Answer, Site, document, html
from world import World, article, entry, feed, good_page, world_in


def sent_on(target: str) -> Answer:
    head = f'<meta http-equiv="refresh" content="0; url={target}">'
    return html(page("You are being sent on", ["Please wait."], head=head))


def wants_cookies(site: Site, login: Site) -> None:
    """A page that first sends its readers to another host and back, and looks for cookies on both."""

    def sets(cookie: str, target: str) -> Answer:
        return Answer(status=302, headers=(("Set-Cookie", f"{cookie}; Path=/"), ("Location", target)))

    def gate(request: Request) -> Answer:
        return (
            good_page("gated") if "seen=1" in (request.header("Cookie") or "") else sets("first=1", login.url("/check"))
        )

    def check(request: Request) -> Answer:
        known = request.header("Cookie") == "sso=1"
        return sent_on(site.url("/token")) if known else sets("sso=1", "/check")

    site.serve("/gated", gate)
    site.serve("/token", sets("seen=1", "/gated"))
    login.serve("/check", check)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("refresh")) as world:
        news, other = world.origin.site("news.test"), world.origin.site("other.test")
        news.serve("/near", sent_on("/story"))
        news.serve("/story", good_page("story"))
        news.serve("/far", html("<p>Go on.", headers=(("Refresh", f"0; url={other.url('/far')}"),)))
        other.serve("/far", good_page("far"))
        wants_cookies(news, world.origin.site("login.test"))
        news.serve("/loop", sent_on("/loop2"))
        news.serve("/loop2", sent_on("/loop"))
        for number in range(8):
            news.serve(f"/long{number}", sent_on(f"/long{number + 1}"))
        body = page("cut", paragraphs("cut", 6)).encode()
        news.serve("/cut", Answer(body=body, headers=(("Content-Length", str(len(body) + 9)),), cut_bytes=len(body)))
        bad = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<html>\r\nZZ\r\n"
        news.serve("/chunks", Answer(raw=bad))
        entries = [entry(news, name) for name in ("near", "far", "gated", "loop", "long0", "cut", "chunks")]
        old = news.serve("/old", sent_on("/feed"))
        whole = feed(entries)
        news.serve("/feed", document(whole.body, content_type="application/rss+xml", chunked=True, cut_bytes=10**6))
        board = world.origin.site("board.test")
        notices = [prose(f"notice {number}", 60) for number in range(4)]
        parts = [
            f'<div id="a{number}"><h2>N{number}</h2><p>{notice}</p></div>' for number, notice in enumerate(notices)
        ]
        pages = [html(f"<html><title>Notices</title><body>{''.join(parts[:count])}</body></html>") for count in (3, 4)]
        board.serve("/notices", *[pages[0]] * 3, pages[1])
        linked = [entry(board, f"n{number}", board.url(f"/notices#a{number}")) for number in range(4)]
        feeds = [feed(linked[:3], 1), feed(linked, 2)]
        listed = world.feeds_file(f"{old}\n{board.serve('/feed', *feeds)}\n")
        world.crawl("all", listed)
        world.crawl("later", listed, "now=1")
        yield world


def at(world: World, site: str, path: str) -> str:
    return world.origin.sites[f"{site}.test"].url(path)


def test_the_article_is_behind_the_refresh(world: World) -> None:
    with world.client() as client:
        near, far = (article(client, at(world, *place)) for place in (("news", "/story"), ("other", "/far")))
    assert (near["url"], near["title"]) == (at(world, "news", "/near"), "About story")
    assert (far["url"], far["title"]) == (at(world, "news", "/far"), "About far")
    assert world.paths("all", "other.test") == ["/robots.txt", "/far"]


def test_cookies_of_a_chain_are_kept_from_host_to_host_and_sent_to_their_own_only(world: World) -> None:
    with world.client() as client:
        assert article(client, at(world, "news", "/gated"))["title"] == "About gated"
    requested = [
        each for each in world.requests["all"] if each.host == "login.test" or each.path in ("/gated", "/token")
    ]
    assert [(each.host, each.path, each.header("Cookie")) for each in requested if each.path != "/robots.txt"] == [
        ("news.test", "/gated", None),
        ("login.test", "/check", None),
        ("login.test", "/check", "sso=1"),
        ("news.test", "/token", "first=1"),
        ("news.test", "/gated", "first=1; seen=1"),
    ]


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
        feed_id = next(each.id for each in wired.registry.all() if "/old" in each.subscription.url)
        polls = wired.registry.journal(feed_id)
    first = polls[-1]
    assert (first["result"], first["new"], first["notes"]) == ("fetched", 7, ["transfer_incomplete"])


def test_chunks_that_cannot_be_read_are_named(world: World) -> None:
    with world.client() as client:
        chunks = article(client, at(world, "news", "/chunks"))
    assert (chunks["failure"], chunks["failure_reason"]) == ("FAIL_HTTP", "protocol")


def test_each_notice_of_a_page_is_an_article(world: World) -> None:
    page = at(world, "board", "/notices")
    found = {line["canonical_url"]: line for line in world.lines("articles") if "board.test" in line["url"]}
    assert sorted(found) == [f"{page}#a{number}" for number in range(4)]
    assert len({line["uid"] for line in found.values()}) == 4
    for number in range(4):
        text = found[f"{page}#a{number}"]["clean_text"]
        assert [prose(f"notice {other}", 60) in text for other in range(4)] == [other == number for other in range(4)]
    entries = {line["link"]: line["article_uid"] for line in world.lines("entries") if "board.test" in line["link"]}
    assert entries == {url: line["uid"] for url, line in found.items()}
    assert world.paths("later", "board.test").count("/notices") == 1
