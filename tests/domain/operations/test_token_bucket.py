import pytest

from feedcrawl.domain.operations.token_bucket import admit

NOW = 1_000.0


@pytest.mark.parametrize(
    ("tat", "per_minute", "expected"),
    [
        (0.0, 60, (1_001.0, 0.0)),  # long silent: no more than a burst is saved up
        (1_000.0, 60, (1_001.0, 0.0)),
        (1_009.0, 60, (1_010.0, 0.0)),  # the last of a burst of 10 s
        (1_009.5, 60, (1_009.5, 0.5)),
        (1_010.0, 60, (1_010.0, 1.0)),
        (0.0, 1, (1_060.0, 0.0)),  # a rate below one in a burst still admits one
        (1_060.0, 1, (1_060.0, 60.0)),
    ],
)
def test_admit(tat: float, per_minute: float, expected: tuple[float, float]) -> None:
    assert admit(tat, NOW, per_minute) == pytest.approx(expected)


def test_a_rate_is_kept_whatever_the_caller_does() -> None:
    tat, admitted = 0.0, 0
    for tick in range(60_000):  # a thousand requests a second for a minute, of 120 allowed
        tat, wait = admit(tat, tick / 1000, 120)
        admitted += not wait
    assert admitted in (139, 140)
