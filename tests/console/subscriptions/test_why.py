import pytest

from feedcrawl.console.subscriptions.why import journal_line

POLL = {"at": "2026-11-28T10:00:00Z", "next_at": "2026-11-28T11:00:00Z", "http_status": 200, "result": "fetched"}
SKIPPED = {"at": POLL["at"], "next_at": POLL["next_at"], "result": "skipped", "reason": "circuit_open"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (POLL | {"new": 2, "known": 3, "reason": "new-entries"}, "200  fetched  new=2 known=3"),
        (POLL | {"known": 3, "deleted": 2}, "200  fetched  known=3 deleted=2"),
        (POLL | {"changed": 8, "migrated": True}, "200  fetched  changed=8 migrated"),
        (POLL | {"new": 4, "possibly_missed": True}, "200  fetched  new=4 possibly_missed"),
        (POLL | {"new": 1, "moved_to": "http://b.test/feed"}, "200  fetched  new=1 moved_to=http://b.test/feed"),
        (SKIPPED, "  -  skipped  reason=circuit_open"),
    ],
)
def test_a_line_of_the_journal_names_the_result(line: dict[str, object], expected: str) -> None:
    assert journal_line(line) == f"  2026-11-28T10:00:00Z  {expected}  next 2026-11-28T11:00:00Z"  # type: ignore[arg-type]


def test_a_failure_has_its_detail() -> None:
    line = POLL | {"result": "too_large", "detail": "larger than allowed"}
    assert journal_line(line).endswith("  too_large    next 2026-11-28T11:00:00Z — larger than allowed")  # type: ignore[arg-type]
