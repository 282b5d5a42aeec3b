import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.operations.events import Event, EventType, event


@given(
    kind=st.sampled_from(get_args(EventType)), subject=st.text(max_size=20), data=st.dictionaries(st.text(), st.text())
)
def test_a_happening_has_one_id_however_often_it_is_told(kind: EventType, subject: str, data: dict[str, str]) -> None:
    told = event(kind, subject, data)
    assert told == event(kind, subject, data)
    assert told.id == f"{kind}:{subject}"
    assert json.loads(told.data) == data


def test_kinds_do_not_share_ids() -> None:
    assert len({event(kind, "a", {}).id for kind in get_args(EventType)}) == len(get_args(EventType))


def test_data_is_compact_and_readable() -> None:
    told = event("new_entry", "1", {"title": "Ätna\n", "n": [1, None]})
    assert told == Event("new_entry", "new_entry:1", '{"title":"Ätna\\n","n":[1,null]}')
