import json
from typing import Any

import pytest
from scrapy.settings import Settings

from feedcrawl.domain.articles import files
from feedcrawl.domain.frontier.dead_letters import DeadLetterFilter
from feedcrawl.domain.frontier.tasks import Task
from feedcrawl.services.operations import dead_letters
from feedcrawl.services.operations.inputs import Inputs
from feedcrawl.settings import from_environment
from feedcrawl.store.articles.files import Files
from feedcrawl.store.frontier import dead_letters as store
from feedcrawl.store.redis import keys
from feedcrawl.store.redis.keys import DEAD_LETTERS, article
from feedcrawl.wiring import Wiring

UID = "846820ee79c4269c"
CARRIED = {"feed_id": "f", "entry_uid": "e", "title": "Old", "categories": ["news"]}
BAD = '{"item":"javascript:1","reason":"url_scheme","detail":"x","at":3}'


@pytest.fixture
def wired(redis_server: str, redis_client: Any, tmp_path: Any) -> Any:
    given = {"REDIS_URL": redis_server, "FEEDCRAWL_DATA_DIR": str(tmp_path), "FEEDCRAWL_HOST_DELAY_SEC": 0}
    wired = Wiring(Settings(from_environment({}) | given))
    yield wired
    wired.close()


def dies(wired: Wiring, number: int, reason: str = "http_404", **fields: Any) -> None:
    """A task that is given up."""
    host = f"h{number}.test"
    wired.frontier.enqueue([Task(f"{number:016x}", "article", f"http://{host}/", host, **fields)])
    (lease,) = wired.frontier.take(1).leases
    wired.frontier.done(lease, status="dead", reason=reason, dead_letter=True, http_status=404)
    wired.frontier.deliver_dead_letters()


ALL = DeadLetterFilter()


def names(wired: Wiring, wanted: DeadLetterFilter = ALL, **limit: int) -> list[str]:
    return [dead_letter.name for dead_letter in wired.dead_letter_service.matching(wanted, **limit)]


def test_dead_letters_are_listed_oldest_first_and_over_pages(wired: Wiring) -> None:
    for number in range(3):
        dies(wired, number)
    wired.client.rpush(DEAD_LETTERS, *(json.dumps({"url": f"http://n{n}.test/"}) for n in range(2 * store.PAGE)))
    assert names(wired)[:3] == ["http://h0.test/", "http://h1.test/", "http://h2.test/"]
    assert len(names(wired)) == 3 + 2 * store.PAGE
    assert names(wired, limit=2) == ["http://h0.test/", "http://h1.test/"]
    assert names(wired, DeadLetterFilter(host="n399.test")) == ["http://n399.test/"]


def test_a_replayed_task_equals_the_task_that_died(wired: Wiring) -> None:
    fields = {"priority": 8, "origin": "feed", "parent": "http://h1.test/feed", "category": "news", "source": "s"}
    dies(wired, 1, payload=CARRIED, **fields)
    assert wired.dead_letter_service.replay(DeadLetterFilter()) == dead_letters.Replayed(1, 0)
    (lease,) = wired.frontier.take(1).leases
    assert lease.task == Task(f"{1:016x}", "article", "http://h1.test/", "h1.test", payload=CARRIED, **fields)
    assert (lease.history.again, lease.history.attempts) == ("retry", 0)
    assert names(wired) == []
    assert wired.articles.requested_categories(lease.id) == {"news"}


def test_long_texts_of_the_feed_are_left_out_of_dead_letters(wired: Wiring) -> None:
    dies(wired, 1, payload={**CARRIED, "content": "x" * 5000, "summary": "y" * 5000})
    dies(wired, 2, payload={**CARRIED, "content": "short"})
    long, short = wired.dead_letter_service.matching(DeadLetterFilter())
    assert len(long.text) < 600
    assert json.loads(long.fields["payload"]) == CARRIED
    assert json.loads(short.fields["payload"]) == {**CARRIED, "content": "short"}


def test_only_matching_dead_letters_are_replayed_and_unusable_letters_stay(wired: Wiring) -> None:
    dies(wired, 1)
    dies(wired, 2, reason="http_410")
    wired.client.rpush(DEAD_LETTERS, BAD, "no letter")
    assert wired.dead_letter_service.replay(DeadLetterFilter(reason="http_410")) == dead_letters.Replayed(1, 0)
    assert names(wired) == ["http://h1.test/", "javascript:1", "no letter"]
    assert wired.dead_letter_service.replay(DeadLetterFilter()) == dead_letters.Replayed(1, 2)
    assert names(wired) == ["javascript:1", "no letter"]
    assert {lease.task.host for lease in wired.frontier.take(9).leases} == {"h1.test", "h2.test"}


def test_a_replay_killed_before_the_removal_has_replayed(wired: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    dies(wired, 1)

    def killed(*_: Any) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.DeadLetters, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            wired.dead_letter_service.replay(DeadLetterFilter())
    assert names(wired) == ["http://h1.test/"]
    assert wired.dead_letter_service.replay(DeadLetterFilter()) == dead_letters.Replayed(1, 0)
    assert len(wired.frontier.take(9).leases) == 1


def test_dead_letters_are_dropped_and_equal_letters_counted(wired: Wiring) -> None:
    letters = [json.dumps({"url": f"http://n{n % 7}.test/", "reason": "r"}) for n in range(3 * store.PAGE + 5)]
    wired.client.rpush(DEAD_LETTERS, *letters)
    dropped = wired.dead_letter_service.drop(DeadLetterFilter(host="n3.test"))
    assert dropped == sum("n3.test" in dead_letter for dead_letter in letters)
    assert wired.dead_letters.count() == len(letters) - dropped
    assert wired.dead_letter_service.drop(DeadLetterFilter(), limit=10) == 10
    assert wired.dead_letter_service.drop(DeadLetterFilter()) == len(letters) - dropped - 10


def test_dead_letters_are_found_after_the_list_has_moved(wired: Wiring) -> None:
    wired.client.rpush(DEAD_LETTERS, *(f"l{n}" for n in range(5)))
    page = wired.dead_letters.page(0)
    wired.client.lpop(DEAD_LETTERS, 2)
    wired.client.lpush(DEAD_LETTERS, *(f"new{n}" for n in range(store.PAGE)))
    assert wired.dead_letters.remove(0, page) == 3
    assert wired.dead_letters.count() == store.PAGE


def test_a_dead_letter_that_another_program_moved_is_retried_unchanged(wired: Wiring) -> None:
    dies(wired, 1, payload={**CARRIED, "redirect_chain": ["http://first.test/"]}, priority=9, category="news")
    wired.client.rpush(DEAD_LETTERS, BAD)
    inputs = Inputs(wired.client, wired.leases, wired.articles, worker="w", now=wired.now, repeats=wired.repeats)
    while wired.client.rpoplpush(DEAD_LETTERS, "crawler_queue"):
        pass
    inputs.from_queue()
    (lease,) = wired.frontier.take(9).leases
    assert (lease.id, lease.task.url, lease.task.priority, lease.task.category) == (
        f"{1:016x}",
        "http://first.test/",
        9,
        "news",
    )
    assert lease.task.payload == CARRIED
    (refused,) = wired.dead_letter_service.matching(DeadLetterFilter())
    assert (refused.fields["item"], refused.fields["reason"]) == ("javascript:1", "url_scheme")


def test_a_task_that_workers_died_of_is_announced_once(wired: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    """As any other article that failed: HASH, event, media record; by whoever hands out its dead letter."""
    now = [1_000_000]
    monkeypatch.setattr(wired.frontier, "_clock", lambda: now[0])
    started = wired.media.submit("http://h1.test/", "ada", wired.now()).media
    while not (taken := wired.frontier.take(1)).given_up:
        wired.media.prepare(taken.leases, wired.now())
        now[0] += 10_000_000
    assert wired.media.get(started.media_id)["processing_status"] == "extracting"
    assert names(wired) == ["http://h1.test/"]
    assert names(wired) == ["http://h1.test/"]
    record = wired.articles.record(started.uid)
    assert (record["status"], record["failure"], record["failure_reason"]) == ("failure", "FAIL_PARSE", "lease_expired")
    events = [each for _, each in wired.client.xrange("feedcrawl:events")]
    assert [each["type"] for each in events] == ["article_failed"]
    assert json.loads(events[0]["data"])["failure_reason"] == "lease_expired"
    media = wired.media.get(started.media_id)
    assert (media["processing_status"], media["last_error_code"]) == ("failed", "E_INGEST_FAILED")


def test_an_unannounced_dead_letter_is_announced_by_the_next_worker(wired: Wiring) -> None:
    wired.frontier.enqueue([Task(UID, "article", "http://h1.test/", "h1.test")])
    (lease,) = wired.frontier.take(1).leases
    wired.frontier.done(lease, status="dead", reason="callback_failed", dead_letter=True)
    wired.client.set("fc:{0}:delivery", 1)  # whoever it was has died
    assert wired.dead_letter_service.deliver() == 0
    wired.client.delete("fc:{0}:delivery")
    assert wired.dead_letter_service.deliver() == 1
    assert len(wired.client.xrange("feedcrawl:events")) == 1


def test_a_task_that_was_queued_again_is_not_announced_as_failed(wired: Wiring) -> None:
    task = Task(UID, "article", "http://h1.test/", "h1.test")
    wired.frontier.enqueue([task])
    (lease,) = wired.frontier.take(1).leases
    wired.frontier.done(lease, status="dead", reason="lease_expired", dead_letter=True)
    wired.frontier.enqueue([task], again="retry")
    assert wired.dead_letter_service.deliver() == 1
    assert wired.client.xrange("feedcrawl:events") == []


def test_a_file_that_workers_died_of_ends_as_failed(wired: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    """In what records say of it, in the article that waits for it, and on the disk."""
    now = [1_000_000]
    monkeypatch.setattr(wired.frontier, "_clock", lambda: now[0])
    file = files.WantedFile("http://h1.test/a.png", "image")
    waiting = json.dumps([files.link(file, None)])
    known = Files(wired.client, life_sec=60)
    wired.client.hset(article(UID), mapping={"uid": UID, "files": waiting})
    known.refer(file.id, UID)
    wired.frontier.enqueue([file.task()])
    while not wired.frontier.take(1, lanes=("file",)).given_up:
        now[0] += 10_000_000
    assert names(wired) == [file.url]
    failed = files.link(file, files.state("failed", reason="lease_expired"))
    assert json.loads(wired.articles.files(UID)) == [failed]
    assert known.load([file.id]) == {file.id: files.state("failed", reason="lease_expired")}
    (line,) = (each for day in wired.file_lines.days() for each in wired.file_lines.read(day))
    assert {name: line[name] for name in ("url", "status", "reason")} == {
        "url": file.url,
        "status": "failed",
        "reason": "lease_expired",
    }


def test_a_file_that_has_come_again_has_not_failed(wired: Wiring) -> None:
    file = files.WantedFile("http://h1.test/a.png", "image")
    wired.frontier.enqueue([file.task()])
    (lease,) = wired.frontier.take(1, lanes=("file",)).leases
    wired.frontier.done(lease, status="dead", reason="callback_failed", dead_letter=True)
    wired.frontier.enqueue([file.task()], again="retry")
    assert wired.dead_letter_service.deliver() == 1
    assert Files(wired.client, life_sec=60).load([file.id]) == {}


def test_a_masked_dead_letter_is_replayed_with_its_secrets(wired: Wiring) -> None:
    url, parent = "http://h1.test/a?token=TOP-SECRET", "http://h1.test/feed?key=TOP-SECRET"
    carried = {"feed_id": "f", "link": url}
    wired.frontier.enqueue([Task(UID, "article", url, "h1.test", parent=parent, payload=carried)])
    (lease,) = wired.frontier.take(1).leases
    wired.frontier.done(lease, status="dead", reason="http_404", dead_letter=True)
    assert names(wired) == ["http://h1.test/a?token=***"]
    (text,) = wired.client.lrange(DEAD_LETTERS, 0, -1)
    assert "SECRET" not in text
    assert wired.dead_letter_service.replay(DeadLetterFilter(names=frozenset({url}))) == dead_letters.Replayed(1, 0)
    (lease,) = wired.frontier.take(1).leases
    assert (lease.task.url, lease.task.parent, lease.task.payload) == (url, parent, carried)

    wired.client.rpush("crawler_queue", text)  # by any program, when the original is no longer stored
    wired.client.delete(keys.dead_letter(UID))
    Inputs(wired.client, wired.leases, wired.articles, worker="w", now=wired.now, repeats=wired.repeats).from_queue()
    (refused,) = wired.dead_letter_service.matching(DeadLetterFilter())
    assert refused.reason == "letter_masked"
