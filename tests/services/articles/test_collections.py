from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from documents import paragraphs
from stories import START, Reader, wired_to

from feedcrawl.domain.articles.media import media_id
from feedcrawl.domain.articles.query import OUTLINE
from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.urls import url_uid
from feedcrawl.services.articles import collections
from feedcrawl.services.articles.collections import CollectionService, UnknownCollection


def text(name: str) -> str:
    return "\n".join(paragraphs(name, count=5))


def url(number: int) -> str:
    return f"http://a.paper.test/{number}"


def key(kind: str, number: int) -> str:
    return f"fc:{{0}}:{kind}:{media_id(url_uid(url(number)))}"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with wired_to(redis_server, tmp_path) as wired:
        yield Reader(wired)


@pytest.fixture
def shelves(reader: Reader) -> CollectionService:
    return reader.wired.collection_service


def members_of(shelves: CollectionService, actor: str = "ada", name: str = "default") -> list[str]:
    return [each.media.requested_url for each in shelves.page(actor, name).members]


def test_each_actor_has_a_default_collection_and_makes_others(reader: Reader, shelves: CollectionService) -> None:
    assert shelves.all("ada") == [{"name": "default", "articles": 0, "created_at": None}]
    made = shelves.make("ada", "later", START)
    assert made == {"name": "later", "articles": 0, "created_at": "2026-11-28T12:00:00.000Z"}
    shelves.make("ada", "a-b_c1", START)
    reader.wired.media.submit(url(1), "ada", START, collection="later")
    assert [(each["name"], each["articles"]) for each in shelves.all("ada")] == [
        ("default", 0), ("a-b_c1", 0), ("later", 1),
    ]  # fmt: skip
    assert len(shelves.all("bob")) == 1


@pytest.mark.parametrize("name", ["", "A", "-a", "_a", "a.b", "a/b", "a b", "é", "a" * 65, "a\n"])
def test_an_invalid_name_is_refused(shelves: CollectionService, name: str) -> None:
    with pytest.raises(Refusal, match="bad_collection_name"):
        shelves.make("ada", name, START)


def test_collections_have_unique_names_and_a_limit(shelves: CollectionService, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collections, "MAX_COLLECTIONS", 2)
    shelves.make("ada", "a", START)
    for name in ("a", "default"):
        with pytest.raises(Refusal, match="collection_exists"):
            shelves.make("ada", name, START)
    shelves.make("ada", "b", START)
    with pytest.raises(Refusal, match="too_many_collections"):
        shelves.make("ada", "c", START)
    shelves.drop("ada", "a")
    shelves.make("ada", "c", START)
    shelves.make("bob", "a", START)


def test_a_collection_of_another_actor_is_not_found(reader: Reader, shelves: CollectionService) -> None:
    shelves.make("ada", "own", START)
    reader.wired.media.submit(url(1), "ada", START, collection="own")
    for call in (
        lambda: shelves.page("bob", "own"),
        lambda: shelves.drop("bob", "own"),
        lambda: shelves.take_out("bob", "own", url_uid(url(1))),
        lambda: reader.wired.media.hold(url_uid(url(1)), "bob", "own", START),
        lambda: shelves.page("bob", "none"),
    ):
        with pytest.raises(UnknownCollection):
            call()
    assert members_of(shelves, name="own") == [url(1)]


def test_a_page_shows_pending_and_read_members(reader: Reader, shelves: CollectionService) -> None:
    item = reader.read(url(1), text("a"), title="One")
    reader.fail(url(3))
    for n in (1, 2):
        reader.wired.media.submit(url(n), "ada", reader.now)
    pending, ready = sorted(shelves.page("ada", "default").members, key=lambda each: each.media.processing_status)
    assert (pending.media.requested_url, pending.article) == (url(2), None)
    assert ready.article == {name: item.record[name] for name in OUTLINE if name in item.record}
    assert ready.since == reader.now.timestamp()
    with_html = {each.media.uid: each.article for each in shelves.page("ada", "default", html=True).members}
    assert with_html == {url_uid(url(2)): None, item.uid: ready.article | {"content_html": f"<p>{text('a')}</p>"}}


def test_a_failed_url_has_no_article(reader: Reader, shelves: CollectionService) -> None:
    reader.wired.media.submit(url(1), "ada", START)
    reader.fail(url(1))
    (found,) = shelves.page("ada", "default").members
    assert (found.media.processing_status, found.article) == ("failed", None)


@pytest.mark.parametrize("requested_first", [True, False])
@pytest.mark.parametrize("html", [True, False])
def test_a_member_stays_after_its_article_has_expired(
    reader: Reader, shelves: CollectionService, redis_client: redis.Redis, requested_first: bool, html: bool
) -> None:
    if requested_first:
        reader.wired.media.submit(url(1), "ada", START)
    reader.read(url(1), text("a"), title="One")
    if not requested_first:
        reader.wired.media.submit(url(1), "ada", START)
    before = shelves.page("ada", "default", html=html)
    redis_client.delete(f"rss:article_canonical:{url_uid(url(1))}")
    assert shelves.page("ada", "default", html=html) == before
    assert before.members[0].article is not None


def test_pages_of_a_collection_have_each_member_once(reader: Reader, shelves: CollectionService) -> None:
    for n in range(5):
        reader.wired.media.submit(url(n), "ada", START)  # all of one moment
    found, before = list[str](), None
    for size in (2, 2, 1):
        page = shelves.page("ada", "default", before=before, limit=2)
        assert len(page.members) == size
        found += [each.media.requested_url for each in page.members]
        before = page.next
    assert before is None
    assert sorted(found) == [url(n) for n in range(5)]


def test_an_article_without_a_collection_expires(
    reader: Reader, shelves: CollectionService, redis_client: redis.Redis
) -> None:
    reader.read(url(1), text("a"))
    shelves.make("ada", "own", START)
    reader.wired.media.submit(url(1), "ada", START, collection="own")
    reader.wired.media.submit(url(1), "bob", START)
    shelves.take_out("ada", "own", url_uid(url(1)))
    assert [redis_client.ttl(key(kind, 1)) for kind in ("media", "fragments")] == [-1, -1]
    with pytest.raises(Refusal, match="article_not_held"):
        shelves.take_out("ada", "own", url_uid(url(1)))
    shelves.take_out("bob", "default", url_uid(url(1)))
    assert redis_client.ttl(key("media", 1)) > 0
    assert redis_client.ttl(key("fragments", 1)) > 0


def test_a_dropped_collection_releases_its_members(
    reader: Reader, shelves: CollectionService, redis_client: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collections, "PAGE", 2)
    shelves.make("ada", "own", START)
    for n in range(5):
        reader.wired.media.submit(url(n), "ada", START, collection="own")
    reader.wired.media.submit(url(0), "ada", START)
    shelves.drop("ada", "own")
    with pytest.raises(UnknownCollection):
        shelves.page("ada", "own")
    assert [redis_client.ttl(key("media", n)) == -1 for n in range(5)] == [True, False, False, False, False]
    shelves.make("ada", "own", START)
    assert members_of(shelves, name="own") == []
    with pytest.raises(Refusal, match="collection_is_default"):
        shelves.drop("ada", "default")


def test_members_of_a_merged_article_show_the_article_it_was_merged_into(
    reader: Reader, shelves: CollectionService
) -> None:
    reader.read(url(1), text("a"))
    shelves.make("ada", "own", START)
    reader.wired.media.submit(url(2), "ada", START, collection="own")
    reader.read(url(2), text("a"))
    (found,) = shelves.page("ada", "own").members
    assert found.article is not None
    assert found.article["canonical_url"] == url(1)
