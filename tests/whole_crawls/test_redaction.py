"""FEEDCRAWL_REDACT_EMAILS in a whole crawl: what is kept of authors, and what is not."""

import gzip
from pathlib import Path

import redis
from origin import document
from world import good_page, world_in

BODY = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><id>f</id><title>F</title><updated>2026-11-27T00:00:00Z</updated>'
    '<entry><id>1</id><title>About a</title><link href="{}"/><updated>2026-11-27T00:00:00Z</updated>'
    "<author><name>ada@writers.test (Ada Writer)</name><email>ada@writers.test</email></author></entry></feed>"
)

READ = {
    "string": redis.Redis.get,
    "hash": redis.Redis.hgetall,
    "set": redis.Redis.smembers,
    "list": lambda client, key: client.lrange(key, 0, -1),
    "zset": lambda client, key: client.zrange(key, 0, -1),
    "stream": redis.Redis.xrange,
}


def test_an_address_is_in_the_archive_and_nowhere_else(tmp_path: Path) -> None:
    with world_in(tmp_path, FEEDCRAWL_REDACT_EMAILS="true") as world:
        site = world.origin.site("news.test")
        body = BODY.format(site.serve("/a", good_page("a")))
        url = site.serve("/feed", document(body, content_type="application/atom+xml"))
        world.crawl("first", f"feeds={url}")
        (entry,) = world.lines("entries")
        assert entry["authors"] == [{"name": "Ada Writer", "email": None, "uri": None}]
        (article,) = world.lines("articles")
        assert article["authors"] == ["Ada Writer"]
        with world.client() as client:
            stored = "".join(repr(READ[client.type(key)](client, key)) for key in client.scan_iter("*"))
        assert "Ada Writer" in stored
        written = "".join(path.read_text() for path in world.data.rglob("*.ndjson")) + world.runs["first"].err
        assert "ada@writers.test" not in stored + written
        archived = b"".join(gzip.decompress(path.read_bytes()) for path in world.data.rglob("*.warc.gz"))
        assert b"<email>ada@writers.test</email>" in archived
