import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.cadence.plan import first_poll

EVEN = list(range(1, 9))


@pytest.mark.parametrize(
    ("moments", "weights", "price", "poll_at"),
    [
        (EVEN, [1] * 8, 0.5, 0),  # a poll is cheaper than any delay
        (EVEN, [1] * 8, 3, 1),
        (EVEN, [1] * 8, 1_000, 7),
        (EVEN, [0] * 8, 3, 7),  # nothing is expected
        (EVEN, [0, 0, 0, 9, 0, 0, 0, 0], 3, 3),  # just after the one moment at which arrivals come
        (EVEN, [0, 0, 0, 9, 0, 0, 0, 9], 30, 3),
        (EVEN, [0, 0, 0, 9, 0, 0, 0, 9], 40, 7),  # the delay of nine arrivals, four steps long, is cheaper than a poll
        ([10, 20, 1_000], [1, 1, 1], 15, 1),
        ([10, 20, 1_000], [1, 1, 1], 5, 0),
        ([60], [1], 5, 0),
    ],
)
def test_the_first_poll_of_the_cheapest_plan(moments, weights, price, poll_at):
    assert first_poll(moments, weights, price) == poll_at


def cost(moments, weights, price, polls):
    """Cost of a plan by its definition."""
    return price * len(polls) + sum(
        weight * (min(moments[poll] for poll in polls if poll >= k) - moments[k]) for k, weight in enumerate(weights)
    )


steps = st.lists(st.tuples(st.integers(1, 50), st.integers(0, 9)), min_size=1, max_size=7)


@given(steps, st.integers(1, 200))
def test_no_other_plan_is_cheaper(steps, price):
    moments = [sum(gap for gap, _ in steps[: k + 1]) for k in range(len(steps))]
    weights, last = [weight for _, weight in steps], len(steps) - 1
    plans = [[k for k in range(last) if bits >> k & 1] + [last] for bits in range(2**last)]
    best = min(cost(moments, weights, price, polls) for polls in plans)
    poll_at = first_poll(moments, weights, price)
    assert min(cost(moments, weights, price, polls) for polls in plans if polls[0] == poll_at) == pytest.approx(best)
