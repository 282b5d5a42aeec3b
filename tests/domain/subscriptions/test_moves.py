import json
from datetime import UTC, datetime, timedelta

import pytest

from feedcrawl.domain.subscriptions.moves import Move, after_poll, is_settled, is_strange, move_from

NOW = datetime(2026, 11, 27, 12, 0, tzinfo=UTC)
URL, NEW = "http://a.test/feed", "http://b.test/feed"


def ago(**time: float) -> datetime:
    return NOW - timedelta(**time)


@pytest.mark.parametrize(
    ("before", "target", "after"),
    [
        (None, None, None),
        (None, NEW, Move(NEW, NOW, 1)),
        (Move(NEW, ago(days=1), 2), NEW, Move(NEW, ago(days=1), 3)),
        (Move(NEW, ago(days=1), 2), URL, Move(URL, NOW, 1)),
        (Move(NEW, ago(days=1), 2), None, None),
    ],
)
def test_a_move_is_counted_over_polls_in_a_row(before: Move | None, target: str | None, after: Move | None) -> None:
    assert after_poll(before, target, now=NOW) == after


@pytest.mark.parametrize(
    ("move", "url", "settled"),
    [
        (Move(NEW, ago(days=1), 3), URL, True),
        (Move(NEW, ago(hours=23), 9), URL, False),
        (Move(NEW, ago(days=9), 2), URL, False),
        (Move("https://a.test/feed", NOW, 1), URL, True),
        (Move("https://a.test/feed/", NOW, 1), URL, False),
        (Move("https://b.test/feed", NOW, 1), URL, False),
        (Move("http://a.test/feed", NOW, 1), "https://a.test/feed", False),
    ],
)
def test_when_a_move_is_believed(move: Move, url: str, *, settled: bool) -> None:
    assert is_settled(move, url, now=NOW) is settled


def test_a_move_survives_as_json() -> None:
    move = Move(NEW, NOW, 2)
    assert move_from(json.loads(json.dumps(move.to_record()))) == move
    assert move_from(None) is None


HERE, THERE = "http://a.test/feed", "http://b.test/feed"


@pytest.mark.parametrize(
    ("before", "target", "shared", "entries", "strange"),
    [
        (None, None, 0, 5, False),  # no permanent redirect
        (None, THERE, 0, 5, True),
        (None, THERE, 1, 5, False),
        (None, THERE, 0, 0, False),  # an empty document brings nothing
        (None, "https://a.test/feed", 0, 5, False),
        (THERE, THERE, 0, 5, False),  # its entries were found there before
        ("http://c.test/feed", THERE, 0, 5, True),
    ],
)
def test_a_redirect_to_a_document_of_other_entries_is_strange(before, target, shared, entries, strange) -> None:
    move = before and Move(before, datetime(2026, 11, 1, tzinfo=UTC))
    assert is_strange(move, target, url=HERE, shared=shared, entries=entries) is strange
