import json
from dataclasses import fields, replace

import pytest
from any_tasks import TASKS
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.frontier.tasks import LANES, History, Lease, Task, compact, lane_of, task_from_record

TASK = Task("a1", "article", "https://one.example/a", "one.example")
WHOLE = (
    '{"id":"f","kind":"feed","url":"u","host":"h","priority":7,"origin":"feed","parent":"p","depth":2,"source":"s",'
    r'"category":"c","payload":"{\"list\":[],\"map\":{},\"é\":null}"}'
)
# The names of all fields of a record, Task's and History's together, since both lie in one record.
NAMES = [declared.name for kind in (Task, History) for declared in fields(kind)]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        (
            TASK,
            '{"id":"a1","kind":"article","url":"https://one.example/a","host":"one.example","priority":5,"origin":"manual"}',
        ),
        (
            Task("f", "feed", "u", "h", 7, "feed", "p", 2, "s", "c", {"list": [], "map": {}, "é": None}),
            WHOLE,
        ),
    ],
    ids=["default values are left out", "the payload is text"],
)
def test_a_record(task, expected):
    assert compact(task.to_record()) == expected


@pytest.mark.parametrize("field", ["id", "kind", "url", "host", "priority", "origin"])
def test_fields_that_the_scripts_read_are_always_written(field):
    assert field in replace(TASK, **{field: 0 if field == "priority" else ""}).to_record()


@pytest.mark.parametrize(
    ("record", "history"),
    [
        ({}, History()),
        ({"status": "dead", "reason": "http_404", "updated_at": 5}, History("dead", "http_404", updated_at=5)),
        ({"attempts": 2, "again": "retry", "quarantined": 1}, History(attempts=2, again="retry", quarantined=1)),
        ({"site_failures": 3, "again_queued": "edited", "of a later version": {}}, History()),
    ],
    ids=["new", "dead", "pending", "names of the scripts' own and of later versions"],
)
def test_fields_that_the_frontier_adds_are_the_history(record, history):
    assert task_from_record(TASK.to_record() | record) == (TASK, history)


@pytest.mark.parametrize("payload", [None, [], {}, 7], ids=str)
def test_a_payload_that_is_no_text_is_empty(payload):
    assert task_from_record(TASK.to_record() | {"payload": payload})[0] == TASK


def test_the_two_halves_share_no_name():
    assert len(set(NAMES)) == len(NAMES)


def test_lanes():
    assert LANES == ("poll", "page")
    assert lane_of(replace(TASK, kind="file")) == "file"


def test_a_lease_is_named_by_its_task():
    assert Lease(TASK, History(), "1-x").id == "a1"


@given(TASKS)
def test_a_record_and_back(task):
    assert task_from_record(json.loads(compact(task.to_record()))) == (task, History())


@given(st.text(st.characters(), max_size=30))
def test_a_record_is_valid_utf8_whatever_came(text):
    record = Task("a", "page", text, "h", payload={"v": [text]}).to_record()
    task, _ = task_from_record(json.loads(compact(record).encode("utf-8")))
    assert len(task.url) == len(task.payload["v"][0]) == len(text)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": [1, None, "é"]}, '{"a":[1,null,"é"]}'),
        ("a\ud800b\udfff", '"a?b?"'),
        ("🎈", '"🎈"'),
        ("\x00\x7f", '"\\u0000\x7f"'),
    ],
)
def test_compact(value, expected):
    assert compact(value) == expected
