import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.http.robots_access import access

HOUR = 3600.0


@pytest.mark.parametrize(
    ("first", "last", "within", "after"),
    [
        (0, 0, "wait", "choice"),
        (200, 299, "rules", "rules"),
        (300, 428, "allow", "allow"),
        (429, 429, "wait", "choice"),
        (430, 499, "allow", "allow"),
        (500, 599, "wait", "choice"),
    ],
)
@pytest.mark.parametrize("choice", ["allow", "disallow"])
def test_each_status_of_a_robots_txt_allows_denies_or_waits(
    first: int, last: int, within: str, after: str, choice: str
) -> None:
    expected = choice if after == "choice" else after
    for status in range(first, last + 1):
        assert access(status, failing_sec=0, grace_sec=HOUR, on_error=choice) == within
        assert access(status, failing_sec=HOUR - 0.1, grace_sec=HOUR, on_error=choice) == within
        assert access(status, failing_sec=HOUR, grace_sec=HOUR, on_error=choice) == expected


@given(status=st.integers(0, 599), failing=st.floats(0, 1e6), choice=st.sampled_from(["allow", "disallow"]))
def test_without_a_grace_no_page_waits(status: int, failing: float, choice: str) -> None:
    assert access(status, failing_sec=failing, grace_sec=0, on_error=choice) != "wait"
