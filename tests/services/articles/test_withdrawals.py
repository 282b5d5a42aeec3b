from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from documents import paragraphs
from stories import Reader, reading

from feedcrawl.domain.urls import url_uid
from feedcrawl.items import Article
from feedcrawl.store.redis import keys

TEXT = "\n".join(paragraphs("story", count=5))
STORED, UNKNOWN = "http://a.paper.test/1", "http://a.paper.test/2"


@pytest.fixture
def reader(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Reader]:
    with reading(redis_server, tmp_path) as made:
        yield made


@pytest.mark.parametrize(("status", "expected"), [(410, [url_uid(STORED)]), (404, [])])
def test_a_410_marks_an_article_that_was_stored(
    reader: Reader, redis_client: redis.Redis, status: int, expected: list[str]
) -> None:
    reader.read(STORED, TEXT)
    for url in (STORED, UNKNOWN):
        lease = reader.lease(url, again="queue_again")
        fields = {"code": "FAIL_HTTP", "reason": f"http_{status}", "detail": "", "http_status": status}
        reader.passed(Article(lease, url, reader.now, "failure", **fields))
        reader.wired.leases.done(lease, status="dead")
    marked = [fields["id"] for _, fields in redis_client.xrange("feedcrawl:events") if "deleted" in fields["type"]]
    assert [each.split(":")[1] for each in marked] == expected
    uids = [url_uid(url) for url in (STORED, UNKNOWN)]
    assert [uid for uid in uids if redis_client.hexists(keys.article(uid), "deleted_at")] == expected
