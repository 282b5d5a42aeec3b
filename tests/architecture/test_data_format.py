"""What other programs read is what docs/data-format.md says: a crawl's real output against every published schema."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from documents import page, paragraphs, rss, sitemap
from jsonschema import Draft202012Validator
from origin import document, failure, html
from world import World, entry, feed, good_page, world_in

from feedcrawl.domain.frontier.selection import TaskFilter
from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.domain.operations.kafka_messages import message_of
from feedcrawl.domain.search.documents import Filters
from feedcrawl.services.frontier import listing
from feedcrawl.services.sites import watched
from feedcrawl.store.subscriptions.registry import Registry

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "data-format.md"
SCHEMAS = ROOT / "docs" / "schemas"
NAMES = sorted(path.stem for path in SCHEMAS.glob("*.json"))
EVENTS = [name for name in NAMES if name.startswith(("entry_", "new_", "webpage_", "article_", "url_", "source_"))]
EVENTS.remove("article_hash")
COMPLETE = '<fh:complete xmlns:fh="http://purl.org/syndication/history/1.0"/>'
PNG = b"\x89PNG\r\n\x1a\n" + bytes(59)
QUEUED: list[Any] = [
    {"category": "queued", "priority": 9, "again": True},
    {"category": None},
    {},
]


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.json").read_text())
    return found


def validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(schema(name), format_checker=Draft202012Validator.FORMAT_CHECKER)


def crawl(world: World) -> None:
    """Runs that bring every kind of record, and items that others queued."""
    site = world.origin.site("news.test")
    for name in ("a", "b"):
        site.serve(f"/{name}", good_page(name, etag='"1"'))
    site.serve("/edited", good_page("edited"), html(page("About edited", paragraphs("anew", count=4))))
    site.serve("/copy", html(page("About a", paragraphs("a", count=4), canonical=site.url("/a"))))
    site.serve("/twin", html(page("About b", [*paragraphs("b", count=4), "The harbour stays open."])))
    site.serve("/bad", failure(404))
    site.serve("/small", html("<p>no"))
    names = ("a", "b", "edited", "copy", "bad", "small")
    first = [entry(site, name) for name in names]
    later = [entry(site, name, summary="Now longer." if name == "edited" else None) for name in (*names, "twin")]
    kinds = {"/a.png": "image/png", "/a.html": "text/html"}
    enclosed = tuple(site.serve(path, document(PNG, content_type=kind)) for path, kind in kinds.items())
    first[0] = replace(first[0], files=enclosed)
    url = site.serve("/feed", feed(first), feed(later, 2))
    bare = site.serve("/bare", feed([], 1, etag=None))
    ill = site.serve("/ill", failure(500))
    queued = [json.dumps({"url": site.serve(f"/q{n}", good_page(f"q{n}")), **item}) for n, item in enumerate(QUEUED)]
    with world.client() as client:
        client.rpush("crawler_queue", *queued, site.serve("/plain", good_page("plain")), "no url")
    stored, lost = (replace(entry(site, name), guid=f"c-{name}") for name in ("kept", "lost"))
    for each in ("kept", "lost"):
        site.serve(f"/{each}", good_page(each))
    complete = [document(rss(entries, head=COMPLETE)) for entries in ([stored, lost], [stored])]
    whole = site.serve("/complete", *complete)
    world.crawl("first", world.feeds_file(f"{url} news\n{bare}\n{ill}\n{whole}\n"))
    with world.client() as client:
        client.rpush("crawler_queue", site.url("/plain"))
    world.crawl("second", "now=1")
    (world.folder / "sources.yaml").write_text(
        f"[{{name: bare, base_url: '{world.origin.site('bare.test').url('/')}'}}]"
    )
    world.crawl("searched", FEEDCRAWL_SOURCES=str(world.folder / "sources.yaml"))
    pages = [site.serve(f"/s{number}", good_page(f"s{number}")) for number in range(3)]
    listed = document(sitemap(pages, modified=datetime.now(UTC)), etag='"1"')
    world.crawl("sitemaps", f"sitemaps={site.serve('/sitemap.xml', listed)}", "category=mapped", spider="sitemaps")


def undo(world: World) -> list[dict[str, Any]]:
    """Parts the last that were joined; the joins as they were."""
    with world.wired() as wired:
        joins = wired.merges.last(10)
        wired.merges.undo(next(join["uid"] for join in joins if join["why"] == "near_text"), wired.now())
        return joins


def media(world: World, client: redis.Redis) -> list[dict[str, Any]]:
    """The media records, those of failures too, and one of an actor."""
    with world.wired() as wired:
        wired.media.submit(world.origin.sites["news.test"].url("/a"), "ada", wired.now())
        ids = [key.rpartition(":")[2] for key in client.scan_iter("fc:{0}:media:*")]
        return [wired.media.get(each) for each in ids]


def sitemaps(world: World) -> list[Any]:
    """The watched sitemaps."""
    with world.wired() as wired:
        return [watched.public(each, wired.config) for each in wired.sitemaps.all()]


def search_documents(world: World) -> list[Any]:
    """The documents of the search index."""
    with world.wired() as wired:
        return [hit.document for hit in wired.search.find("about", Filters(), limit=100).hits]


def tasks(world: World) -> list[Any]:
    """The tasks of the frontier."""
    with world.wired() as wired:
        stores = wired.frontier, wired.articles
        return listing.task_records(*stores, listing.urls(*stores, TaskFilter(), limit=1000)[1])


def produced(world: World, client: redis.Redis, joins: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """By schema, what the crawl left for others."""
    stream = [fields for _, fields in client.xrange("feedcrawl:events")]
    feeds = list(Registry(client).all())
    journals = [client.lrange(key, 0, -1) for key in client.scan_iter("fc:{0}:*journal:*")]
    indexes = [path.read_text().splitlines() for path in world.data.glob("raw/*/*.index.ndjson")]
    letters = [json.loads(letter) for letter in client.lrange("page_fetcher_dlq", 0, -1)]
    return {
        "entry": world.lines("entries"),
        "article": world.lines("articles"),
        "article_hash": [client.hgetall(key) for key in client.scan_iter("rss:article_canonical:*")],
        "event": stream,
        **{kind: [json.loads(each["data"]) for each in stream if each["type"] == kind] for kind in EVENTS},
        "feed": [each.public(min_interval_sec=300, max_interval_sec=86_400) for each in feeds],
        "raw_fetch": [json.loads(line) for lines in indexes for line in lines],
        "dead_letter": letters,
        "merge": joins,
        "media": media(world, client),
        "queue_item": [{"url": "http://a.example/", **item} for item in QUEUED]
        + [letter for letter in letters if "url" in letter],
        "file": world.lines("files"),
        "task": tasks(world),
        "sitemap": sitemaps(world),
        "raw_content": search_documents(world),
        "journal_line": [json.loads(line) for lines in journals for line in lines],
    }


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, redis.Redis]]:
    with world_in(tmp_path_factory.mktemp("format"), FEEDCRAWL_MEDIA_FILES="true") as world, world.client() as client:
        crawl(world)
        yield world, client


@pytest.fixture(scope="module")
def records(crawled: tuple[World, redis.Redis]) -> dict[str, list[Any]]:
    return produced(*crawled, undo(crawled[0]))


@pytest.mark.parametrize("name", NAMES)
def test_records_of_a_crawl_fit_their_schemas(name: str, records: dict[str, list[Any]]) -> None:
    assert records[name], f"the crawl brought no {name}"
    for record in records[name]:
        wrong = [f"{error.json_path}: {error.message[:300]}" for error in validator(name).iter_errors(record)]
        assert not wrong, (record, wrong)


def test_the_crawl_brought_both_kinds_of_each(records: dict[str, list[Any]]) -> None:
    assert {record["status"] for record in records["article_hash"]} == {"success", "failure"}
    assert {"item" in record for record in records["dead_letter"]} == {True, False}
    assert {bool(record["feed_id"]) for record in records["raw_fetch"]} == {True, False}
    assert {record["type"] for record in records["event"]} == set(EVENTS)
    assert {"new", "known", "kind"} <= {field for line in records["journal_line"] for field in line}
    assert {bool(record["feed_id"]) for record in records["article"]} == {True, False}
    assert {record["status"] for record in records["file"]} == {"stored", "failed"}
    assert {each["role"] for record in records["entry"] for each in record["files"]} == {"enclosure"}
    assert {record["why"] for record in records["merge"]} == {"canonical", "near_text"}
    states = {(record["processing_status"], bool(record["fragments"])) for record in records["media"]}
    assert states == {("ready_for_reading", True), ("failed", False)}


def test_events_of_a_crawl_fit_the_messages_of_kafka(records: dict[str, list[Any]]) -> None:
    sent = [message_of(each, {"webpage_fetched": "webpage_log", "new_entry": "new_entry"}) for each in records["event"]]
    assert not [each for each in sent if isinstance(each, Unprocessable)]
    assert {each.topic for each in sent if each is not None} == {"webpage_log", "new_entry"}


def objects(found: Any) -> Iterator[dict[str, Any]]:
    if isinstance(found, dict):
        if "properties" in found and "type" in found:
            yield found
        for value in found.values():
            yield from objects(value)


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_strict_and_explain_each_field(name: str) -> None:
    found = schema(name)
    Draft202012Validator.check_schema(found)
    assert found["$schema"].endswith("/draft/2020-12/schema")
    for each in objects(found):
        assert each["additionalProperties"] is False
        assert all(field.get("description") for field in each["properties"].values())


def sections() -> dict[str, str]:
    """The sections of the document that belong to a schema, by its name."""
    parts = re.split(r"^### ", DOCUMENT.read_text("utf-8"), flags=re.MULTILINE)[1:]
    found = [(re.search(r"\(schemas/(\w+)\.json\)", part), part) for part in parts]
    return {match.group(1): part for match, part in found if match}


@pytest.mark.parametrize("name", NAMES)
def test_the_document_has_an_example_that_fits(name: str) -> None:
    examples = re.findall(r"^```json\n(.*?)^```", sections()[name], flags=re.MULTILINE | re.DOTALL)
    assert examples
    for example in examples:
        assert not list(validator(name).iter_errors(json.loads(example)))


def documented_keys() -> dict[str, str]:
    """Types of Redis keys by the pattern of their names."""
    rows = re.findall(
        r"^\| `((?:rss|webpage|crawler|page_|robots|feedcrawl)[^`]*)` \| (\w+) \|", DOCUMENT.read_text(), re.M
    )
    return {re.sub(r"<[^>]+>", ".+", re.escape(name).replace(r"\<", "<")): kind.lower() for name, kind in rows}


def test_every_key_is_documented(crawled: tuple[World, redis.Redis]) -> None:
    client = crawled[1]
    known = documented_keys()
    for key in client.scan_iter():
        if key.startswith("fc:{0}:"):
            continue
        kinds = {kind for pattern, kind in known.items() if re.fullmatch(pattern, key)}
        assert client.type(key) in kinds, (key, kinds)


def test_every_file_is_documented(crawled: tuple[World, redis.Redis]) -> None:
    places = [path.relative_to(crawled[0].data) for path in crawled[0].data.rglob("*") if path.is_file()]
    kinds = {
        f"{place.parent}/" if place.parent.name else f"{place.name}`" for place in places if place.parts[0] != "redis"
    }
    document = DOCUMENT.read_text("utf-8")
    named = {re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", "<day>", re.sub("/[0-9a-f]{2}/", "/<aa>/", kind)) for kind in kinds}
    assert {kind for kind in named if f"`{kind}" not in document} == set()
    assert "subscriptions.ndjson`" in kinds
