"""Links between records and files, whichever of the two is there first."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy.settings import Settings as ScrapySettings

from feedcrawl.config import Config
from feedcrawl.domain.articles.files import WantedFile, state
from feedcrawl.domain.frontier.tasks import History, Lease
from feedcrawl.domain.sites.owners import Sources
from feedcrawl.items import Article
from feedcrawl.services.articles.files import FileService, resolved
from feedcrawl.services.articles.tasks import article_task
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.settings import from_environment
from feedcrawl.store.articles.files import FileContents, Files
from feedcrawl.store.articles.records import Articles, Lifetimes
from feedcrawl.store.disk.ndjson import NdjsonFile
from feedcrawl.store.frontier.queue import Shard
from feedcrawl.store.frontier.scripts import FrontierPolicy
from feedcrawl.store.redis import keys

NOW = datetime(2026, 3, 2, tzinfo=UTC)
URL = "http://a.test/x.png"
FAILED = state("failed", reason="http_404")
STORED = state("pending") | {"status": "stored", "sha256": "ab"}


class Shown:
    """The requests for extractions."""

    image = URL


class Wired:
    """The stores that the service works with."""

    def __init__(self, client: redis.Redis, folder: Path) -> None:
        settings = ScrapySettings(from_environment({}), priority="project")
        settings.update({"FEEDCRAWL_DATA_DIR": str(folder), "FEEDCRAWL_MEDIA_FILES": "true"}, priority="cmdline")
        self.config, self.client = Config.from_settings(settings), client
        self.frontier = Shard(client, FrontierPolicy())
        self.leases, self.articles = Leases(self.frontier), Articles(client, Lifetimes())
        stores = (Files(client, life_sec=60), self.articles, NdjsonFile(folder / "files"))
        self.files = FileService(self.config, stores, self.leases, FileContents(folder))


@pytest.fixture
def wired(redis_client: redis.Redis, tmp_path: Path) -> Wired:
    return Wired(redis_client, tmp_path)


@pytest.fixture
def service(wired: Wired) -> FileService:
    return wired.files


def article(service: FileService, uid: str = "u1") -> Article:
    lease = Lease(article_task("http://a.test/a", Sources()), History(), "1-x")
    made = Article(lease, "http://a.test/a", NOW, "success", uid=uid)
    made.extraction = Shown()  # type: ignore[assignment]
    service.attach(made)
    return made


def publish(wired: Wired, made: Article) -> None:
    wired.client.hset(keys.article(made.uid), mapping={"files": json.dumps(made.files)})


def linked(wired: Wired, uid: str = "u1") -> list[dict[str, Any]]:
    links: list[dict[str, Any]] = json.loads(wired.articles.files(uid) or "[]")
    return links


def end(service: FileService, found: dict[str, Any] = FAILED) -> None:
    service.end(WantedFile(URL, "image").task(), found, NOW)


def test_an_article_that_waits_is_put_right_when_its_file_ends(wired: Wired, service: FileService) -> None:
    made = article(service)
    assert [each["status"] for each in made.files] == ["pending"]
    publish(wired, made)
    service.enqueue_pending(made)
    service.enqueue_pending(made)  # as after a kill
    assert wired.frontier.counts()["pending:file"] == 1
    end(service)
    assert linked(wired) == [{"url": URL, "role": "image", **FAILED}]
    end(service)
    assert linked(wired) == [{"url": URL, "role": "image", **FAILED}]


def test_a_file_that_ends_between_line_and_publication_is_linked(wired: Wired, service: FileService) -> None:
    first, late = article(service), article(service, "u2")
    publish(wired, first)
    service.enqueue_pending(first)
    (lease,) = wired.leases.take(1, ["file"]).leases
    end(service)
    wired.leases.done(lease, status="dead", reason="http_404")
    publish(wired, late)
    service.enqueue_pending(late)
    assert linked(wired, "u2") == [{"url": URL, "role": "image", **FAILED}]
    assert "pending:file" not in {name for name, number in wired.frontier.counts().items() if number}
    assert article(service, "u3").files == [{"url": URL, "role": "image", **FAILED}]


def test_a_file_whose_record_expired_is_queued_again(wired: Wired, service: FileService) -> None:
    made = article(service)
    publish(wired, made)
    service.enqueue_pending(made)
    (lease,) = wired.leases.take(1, ["file"]).leases
    wired.leases.done(lease, status="fetched")
    service.enqueue_pending(made)
    assert wired.frontier.counts()["pending:file"] == 1


def test_a_version_that_names_another_file_is_left_alone(wired: Wired, service: FileService) -> None:
    made = article(service)
    publish(wired, made)
    service.enqueue_pending(made)
    other = [{"url": "http://a.test/other.png", "role": "image", **state("pending")}]
    wired.client.hset(keys.article("u1"), "files", json.dumps(other))
    end(service)
    assert linked(wired) == other


def test_an_expired_article_is_not_written_by_its_file(wired: Wired, service: FileService) -> None:
    service.enqueue_pending(article(service))
    end(service)
    assert wired.client.exists(keys.article("u1")) == 0


def test_content_of_another_machine_is_believed_and_our_own_looked_for(wired: Wired, service: FileService) -> None:
    stored = service.keep(b"\x89PNG", "image/png", ".png")
    end(service, stored)
    assert article(service).files[0]["sha256"] == stored["sha256"]
    (wired.config.data_dir / stored["path"]).unlink()
    assert article(service).files[0]["status"] == "pending"
    (wired.config.data_dir / stored["path"]).symlink_to("/dev/null")
    assert article(service).files[0]["status"] == "pending"  # and no error of the article's
    end(service, {**stored, "machine": "elsewhere"})
    assert article(service).files[0]["machine"] == "elsewhere"


def test_lines_are_completed_by_later_ends_of_files(tmp_path: Path) -> None:
    lines = NdjsonFile(tmp_path)
    pending, failed = (
        {"url": url, "role": "image", **state("pending")} for url in ("http://a.test/1", "http://a.test/2")
    )
    records = [{"uid": "1", "files": [pending, failed]}, {"uid": "2"}, {"uid": "3", "files": []}]
    assert list(resolved(records, lines)) == records
    lines.append(NOW.date(), {"type": "file", "url": pending["url"], **FAILED, "ended_at": "x"})
    lines.append(NOW.date(), {"type": "file", "url": pending["url"], **STORED, "ended_at": "y"})
    found = list(resolved(records, lines))
    assert found[0]["files"] == [{**pending, **STORED}, failed]
    assert found[1:] == records[1:]


def test_readers_get_the_current_state_of_a_file(wired: Wired) -> None:
    link = {"url": URL, "role": "enclosure", **state("pending")}
    ended = {"url": URL, "role": "enclosure", **state("failed", reason="bad_type")}
    records: list[dict[str, Any]] = [{"entry_uid": "1", "files": [link, ended]}, {"entry_uid": "2"}, {"files": []}]
    assert wired.files.completed(records) == records
    wired.files.end(WantedFile(URL, "enclosure").task(), FAILED, NOW)
    found = wired.files.completed(records)
    assert found == [{"entry_uid": "1", "files": [{**link, **FAILED}, ended]}, *records[1:]]
    assert wired.files.completed(records[1:]) == records[1:]
