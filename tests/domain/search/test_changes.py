import json

import pytest

from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.domain.search.changes import changes_of

A, B = "a" * 16, "b" * 16


def event(kind: str, **data: object) -> dict[str, str]:
    return {"type": kind, "id": f"{kind}:x", "data": json.dumps(data)}


@pytest.mark.parametrize(
    ("events", "changes"),
    [
        ([event("article_ready", uid=A)], {A: True}),
        ([event("article_updated", uid=A), event("article_ready", uid=B)], {A: True, B: True}),
        ([event("article_merged", uid=A, winner=B)], {A: False, B: True}),
        ([event("article_ready", uid=A), event("article_merged", uid=A, winner=B)], {A: False, B: True}),
        ([event("article_merged", uid=A, winner=B), event("article_ready", uid=A)], {B: True, A: True}),
        ([event("article_unmerged", uid=A, winner=B)], {B: True}),
        ([event("article_deleted", uid=A)], {A: False}),
        ([event("article_failed", uid=A), event("new_entry", uid=A), event("webpage_fetched")], {}),
        ([{}, {"type": "article_ready", "data": "{"}, event("article_ready", uid="../x"), event("article_ready")], {}),
        ([{"type": "article_ready", "data": "[]"}], {}),
    ],
)
def test_changes(events: list[dict[str, str]], changes: dict[str, bool]) -> None:
    assert changes_of(events)[0] == changes


def test_each_event_that_cannot_be_read_has_a_reason() -> None:
    events = [{}, {"type": "article_ready", "data": "{"}, event("article_ready", uid=1), event("article_ready", uid=A)]
    reasons = [end.reason if isinstance(end, Unprocessable) else None for end in changes_of(events)[1]]
    assert reasons == ["gone", "bad_json", "bad_fields", None]
