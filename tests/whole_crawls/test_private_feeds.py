"""Private feeds and settings of single feeds, in one crawl: who gets the secrets, and where they are written."""

import gzip
import json
from base64 import b64encode
from collections.abc import Iterator

import pytest
from ledger import Request
from origin import Answer, Site, redirect
from scrapy_process import run_scrapy
from world import World, entry, events, feed, good_page, world_in

PASSWORD, TOKEN = "pa55:w0rd", "t0p5ecret"
BASIC = f"Basic {b64encode(f'ann:{PASSWORD}'.encode()).decode()}"
SECRETS = (PASSWORD, TOKEN, BASIC.removeprefix("Basic "), "pa55%3Aw0rd")


def private(site: Site, name: str, header: str, value: str) -> None:
    """Serves a feed to those who send this header, and 401 to others."""

    def answer(request: Request) -> Answer:
        if request.header(header) == value:
            return feed([entry(site, f"{name}-1"), entry(site, f"{name}-2")])
        return Answer(status=401, headers=(("WWW-Authenticate", 'Basic realm="club"'),))

    site.serve(f"/{name}", answer)
    for number in (1, 2):
        site.serve(f"/{name}-{number}", good_page(f"{name}-{number}"))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("private")) as world:
        club, other = world.origin.site("club.test"), world.origin.site("other.test")
        private(club, "basic", "Authorization", BASIC)
        private(club, "token", "X-Token", TOKEN)
        private(club, "closed", "X-Token", "another")
        club.serve("/away", redirect(other.url("/feed"), 302))
        other.serve("/feed", redirect(club.url("/token"), 302))
        plain = {name: world.origin.site(f"{name}.test") for name in ("entries", "rules", "paused")}
        for name, site in plain.items():
            site.serve("/feed", feed([entry(site, f"{name}-1"), entry(site, f"{name}-2")]))
            for number in (1, 2):
                site.serve(f"/{name}-{number}", good_page(f"{name}-{number}"))

        def run(*words: str) -> str:
            ran = run_scrapy(*words, data_dir=world.data, env=world.env)
            assert ran.code == 0, ran.err
            shown.append(ran.out + ran.err)
            return ran.out

        shown: list[str] = []
        logins = world.folder / "logins"
        logins.write_text(f"# of the club\nX-Token: {TOKEN}\n")
        run("subscribe", club.url("/basic").replace("://", f"://ann:{PASSWORD.replace(':', '%3A')}@"))
        run("subscribe", "--as-is", "--login", f"@{logins}", club.url("/token"))
        run("subscribe", "--as-is", "--login", f"X-Token: {TOKEN}", club.url("/away"))
        run("subscribe", "--as-is", club.url("/closed"))
        lists = json.dumps(
            [
                {"url": plain["entries"].url("/feed"), "entries_only": True, "user_agent": "Reader/1.0"},
                {"url": plain["rules"].url("/feed"), "drop_rules": "title=rules-1"},
                {"url": plain["paused"].url("/feed"), "paused": True},
            ]
        )
        (world.folder / "feeds.json").write_text(lists)
        run("subscribe", str(world.folder / "feeds.json"))
        world.crawl("all")
        shown += [run("feeds"), run("feeds", "--json"), run("opml"), run("why", club.url("/basic"))]
        world.shown = "\n".join([*shown, world.runs["all"].out, world.runs["all"].err])  # type: ignore[attr-defined]
        yield world


def at(world: World, site: str, path: str) -> list[Request]:
    return world.origin.ledger.of(f"{site}.test", path)


def test_each_private_feed_gets_its_own_headers(world: World) -> None:
    assert {request.header("Authorization") for request in at(world, "club", "/basic")} == {BASIC}
    assert [request.header("X-Token") for request in at(world, "club", "/token")].count(TOKEN) == 1
    assert [line["title"] for line in world.lines("articles") if "basic" in line["url"]]
    assert [request.header("X-Token") for request in at(world, "club", "/basic-1")] == [None]


def test_headers_end_at_a_redirect_to_another_origin(world: World) -> None:
    assert [request.header("X-Token") for request in at(world, "club", "/away")] == [TOKEN]
    assert [request.header("X-Token") for request in at(world, "other", "/feed")] == [None]
    # Back at the feed's own origin after a detour, they are not sent again.
    assert [request.header("X-Token") for request in at(world, "club", "/token")].count(None) == 1


def test_a_401_without_a_login_has_a_hint(world: World) -> None:
    with world.wired() as wired:
        (closed,) = (each for each in wired.registry.all() if each.subscription.url.endswith("/closed"))
        line = wired.registry.journal(closed.id)[0]
    assert (line["http_status"], line["result"]) == (401, "http_401")
    assert line["detail"].startswith("the server asks for a login (Basic): `")


def test_no_secret_is_shown_logged_exported_or_archived(world: World) -> None:
    with world.client() as client:
        published = str(client.xrange("feedcrawl:events")) + str(client.lrange("page_fetcher_dlq", 0, -1))
        stored = {key: client.get(key) for key in client.scan_iter() if client.type(key) == "string"}
        assert len(events(client, "new_entry")) >= 6
    files = [path for path in world.data.rglob("*") if path.is_file() and "redis" not in path.parts]
    archived = [path.read_bytes() for path in files]
    archived += [gzip.decompress(path.read_bytes()) for path in files if path.suffix == ".gz"]
    for secret in SECRETS:
        assert secret not in world.shown  # type: ignore[attr-defined]
        assert secret not in published
        assert not [path for path, body in zip(files, archived, strict=False) if secret.encode() in body]
        assert not [body for body in archived if secret.encode() in body]
    holders = {key for key, text in stored.items() if any(secret in (text or "") for secret in SECRETS)}
    assert {key.split(":")[2] for key in holders} == {"access"}
    assert b"X-Token: (left out)" in b"".join(archived) or b"x-token: (left out)" in b"".join(archived).lower()


def test_settings_of_single_feeds(world: World) -> None:
    assert [request.header("User-Agent") for request in at(world, "entries", "/feed")][-1] == "Reader/1.0"
    assert at(world, "entries", "/entries-1") == []
    assert at(world, "rules", "/rules-1") == []
    assert len(at(world, "rules", "/rules-2")) == 1
    assert at(world, "paused", "/feed") == []
    url = world.origin.sites["paused.test"].url("/feed")
    with world.wired() as wired:
        (paused,) = (each for each in wired.registry.all() if each.subscription.url == url)
    assert (paused.subscription.paused, paused.polls.last_fetch_at) == (True, None)
    lines = [line for line in world.lines("entries") if "entries.test" in line["link"]]
    assert [line["article_uid"] for line in lines] == [None, None]
