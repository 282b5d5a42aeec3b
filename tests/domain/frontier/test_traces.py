from typing import Any

import pytest

from feedcrawl.domain.frontier.traces import carried, trace_id, traceparent

ID, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = f"00-{ID}-{SPAN}-01"


@pytest.mark.parametrize(
    ("payload", "found"),
    [
        ({"trace": GOOD}, GOOD),
        ({"trace": f"00-{ID}-{SPAN}-00"}, f"00-{ID}-{SPAN}-00"),
        ({}, None),
        ({"trace": None}, None),
        ({"trace": 7}, None),
        ({"trace": ""}, None),
        ({"trace": GOOD.upper()}, None),
        ({"trace": f"01-{ID}-{SPAN}-01"}, None),
        ({"trace": f"00-{'0' * 32}-{SPAN}-01"}, None),
        ({"trace": f"00-{ID}-{'0' * 16}-01"}, None),
        ({"trace": GOOD + "\n"}, None),
        ({"trace": GOOD + "-x"}, None),
    ],
)
def test_a_trace_is_returned_only_if_it_is_well_formed(payload: dict[str, Any], found: str | None) -> None:
    assert traceparent({"title": "x", **payload}) == found
    assert carried({"title": "x", **payload}) == ({"trace": found} if found else {})
    assert trace_id(payload) == (ID if found else None)
