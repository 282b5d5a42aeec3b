import json
from typing import Any

import pytest
from scrapy.settings import Settings

from feedcrawl.domain.dead_letters import Wanted
from feedcrawl.domain.tasks import Task
from feedcrawl.services import dead_letters
from feedcrawl.services.inputs import Inputs
from feedcrawl.settings import from_environment
from feedcrawl.store import dead_letters as store
from feedcrawl.store.keys import DEAD_LETTERS
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
    wired.frontier.push([Task(f"{number:016x}", "article", f"http://{host}/", host, **fields)])
    (lease,) = wired.frontier.take(1).leases
    wired.frontier.done(lease, status="dead", reason=reason, dead_letter=True, http_status=404)
    wired.frontier.deliver_dead_letters()


ALL = Wanted()


def names(wired: Wiring, wanted: Wanted = ALL, **limit: int) -> list[str]:
    return [letter.name for letter in dead_letters.letters(wired, wanted, **limit)]


def test_letters_are_listed_oldest_first_and_over_pages(wired: Wiring) -> None:
    for number in range(3):
        dies(wired, number)
    wired.client.rpush(DEAD_LETTERS, *(json.dumps({"url": f"http://n{n}.test/"}) for n in range(2 * store.PAGE)))
    assert names(wired)[:3] == ["http://h0.test/", "http://h1.test/", "http://h2.test/"]
    assert len(names(wired)) == 3 + 2 * store.PAGE
    assert names(wired, limit=2) == ["http://h0.test/", "http://h1.test/"]
    assert names(wired, Wanted(host="n399.test")) == ["http://n399.test/"]


def test_a_replayed_task_is_the_one_that_died(wired: Wiring) -> None:
    fields = {"priority": 8, "origin": "feed", "parent": "http://h1.test/feed", "category": "news", "source": "s"}
    dies(wired, 1, payload=CARRIED, **fields)
    assert dead_letters.replay(wired, Wanted()) == dead_letters.Replayed(1, 0)
    (lease,) = wired.frontier.take(1).leases
    assert lease.task == Task(f"{1:016x}", "article", "http://h1.test/", "h1.test", payload=CARRIED, **fields)
    assert (lease.history.again, lease.history.attempts) == ("retry", 0)
    assert names(wired) == []
    assert wired.articles.wanted(lease.id) == {"news"}


def test_what_a_feed_said_at_length_is_left_in_its_entry(wired: Wiring) -> None:
    dies(wired, 1, payload={**CARRIED, "content": "x" * 5000, "summary": "y" * 5000})
    dies(wired, 2, payload={**CARRIED, "content": "short"})
    long, short = dead_letters.letters(wired, Wanted())
    assert len(long.text) < 600
    assert json.loads(long.said["payload"]) == CARRIED
    assert json.loads(short.said["payload"]) == {**CARRIED, "content": "short"}


def test_only_what_is_meant_is_replayed_and_what_cannot_be_stays(wired: Wiring) -> None:
    dies(wired, 1)
    dies(wired, 2, reason="http_410")
    wired.client.rpush(DEAD_LETTERS, BAD, "no letter")
    assert dead_letters.replay(wired, Wanted(reason="http_410")) == dead_letters.Replayed(1, 0)
    assert names(wired) == ["http://h1.test/", "javascript:1", "no letter"]
    assert dead_letters.replay(wired, Wanted()) == dead_letters.Replayed(1, 2)
    assert names(wired) == ["javascript:1", "no letter"]
    assert {lease.task.host for lease in wired.frontier.take(9).leases} == {"h1.test", "h2.test"}


def test_a_replay_that_is_killed_before_it_removes_is_a_replay(wired: Wiring, monkeypatch: pytest.MonkeyPatch) -> None:
    dies(wired, 1)

    def killed(*_: Any) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.DeadLetters, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            dead_letters.replay(wired, Wanted())
    assert names(wired) == ["http://h1.test/"]
    assert dead_letters.replay(wired, Wanted()) == dead_letters.Replayed(1, 0)
    assert len(wired.frontier.take(9).leases) == 1


def test_many_are_dropped_and_equal_ones_counted(wired: Wiring) -> None:
    letters = [json.dumps({"url": f"http://n{n % 7}.test/", "reason": "r"}) for n in range(3 * store.PAGE + 5)]
    wired.client.rpush(DEAD_LETTERS, *letters)
    dropped = dead_letters.drop(wired, Wanted(host="n3.test"))
    assert dropped == sum("n3.test" in letter for letter in letters)
    assert wired.dead_letters.count() == len(letters) - dropped
    assert dead_letters.drop(wired, Wanted(), limit=10) == 10
    assert dead_letters.drop(wired, Wanted()) == len(letters) - dropped - 10


def test_letters_are_found_where_the_list_has_moved(wired: Wiring) -> None:
    wired.client.rpush(DEAD_LETTERS, *(f"l{n}" for n in range(5)))
    page = wired.dead_letters.page(0)
    wired.client.lpop(DEAD_LETTERS, 2)
    wired.client.lpush(DEAD_LETTERS, *(f"new{n}" for n in range(store.PAGE)))
    assert wired.dead_letters.remove(0, page) == 3
    assert wired.dead_letters.count() == store.PAGE


def test_a_letter_moved_by_any_program_is_tried_again_as_it_was(wired: Wiring) -> None:
    dies(wired, 1, payload={**CARRIED, "redirect_chain": ["http://first.test/"]}, priority=9, category="news")
    wired.client.rpush(DEAD_LETTERS, BAD)
    inputs = Inputs(wired.client, wired.leases, wired.articles, worker="w", cached=lambda _: None)
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
    (refused,) = dead_letters.letters(wired, Wanted())
    assert {name: refused.said[name] for name in ("item", "reason")} == {"item": "javascript:1", "reason": "url_scheme"}
