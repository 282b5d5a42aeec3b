import pytest

from feedcrawl.domain.operations.restarts import wait_sec


@pytest.mark.parametrize(
    ("ran_sec", "last_wait_sec", "expected"),
    [(0, 0, 1), (0.5, 1, 2), (5, 2, 4), (59, 32, 60), (59, 60, 60), (60, 60, 1), (3600, 8, 1)],
)
def test_the_wait_doubles_until_a_process_runs_steadily(ran_sec: float, last_wait_sec: float, expected: float) -> None:
    assert wait_sec(ran_sec, last_wait_sec) == expected
