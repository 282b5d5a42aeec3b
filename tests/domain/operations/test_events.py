import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.operations.events import Event, EventType, event


@given(
    kind=st.sampled_from(get_args(EventType)), subject=st.text(max_size=20), data=st.dictionaries(st.text(), st.text())
)
def test_a_repeated_event_has_the_same_id(kind: EventType, subject: str, data: dict[str, str]) -> None:
    first = event(kind, subject, data)
    assert first == event(kind, subject, data)
    assert first.id == f"{kind}:{subject}"
    assert json.loads(first.data) == data


def test_kinds_do_not_share_ids() -> None:
    assert len({event(kind, "a", {}).id for kind in get_args(EventType)}) == len(get_args(EventType))


def test_data_is_compact_and_readable() -> None:
    made = event("new_entry", "1", {"title": "Ätna\n", "n": [1, None]})
    assert made == Event("new_entry", "new_entry:1", '{"title":"Ätna\\n","n":[1,null]}')


def test_an_event_has_no_secrets_and_an_id_of_its_own() -> None:
    made = [
        event("new_entry", f"f:http://a.test/?key={key}", {"link": f"http://a.test/?key={key}", "n": 1}) for key in "ab"
    ]
    assert [json.loads(each.data) for each in made] == [{"link": "http://a.test/?key=***", "n": 1}] * 2
    assert all(each.id.startswith("new_entry:f:http://a.test/?key=***:") for each in made)
    assert made[0].id != made[1].id
    assert event("new_entry", "f:1", {}).id == "new_entry:f:1"
