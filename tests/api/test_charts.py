"""Where things stand in a chart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.api.charts import HEIGHT, WIDTH, bands, cloud, round_up, stack, with_data

STEPS = (60.0, 600.0, 3600.0, 86_400.0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *[(0, 1), (0.3, 1), (1, 1), (1.1, 2), (3, 4), (4.5, 6), (6, 6), (7, 8), (10, 10), (11, 12), (13, 16)],
        *[(21, 24), (25, 30), (31, 40), (41, 50), (55, 60), (401, 500), (9999, 10_000)],
    ],
)
def test_an_axis_ends_at_a_round_number(value: float, expected: float) -> None:
    assert round_up(value) == expected


@given(st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=4), max_size=30))
def test_bars_stand_side_by_side_and_their_pieces_are_stacked(values: list[list[int]]) -> None:
    chart = stack(values)
    assert len(chart.bars) == len(values)
    right = 0.0
    for pieces, each in zip(chart.bars, values, strict=True):
        assert len(pieces) == sum(value > 0 for value in each)
        foot = HEIGHT
        for piece in pieces:
            assert piece.y + piece.height == pytest.approx(foot, abs=0.05)
            assert piece.x >= right - 0.05
            foot = piece.y
        assert foot >= -0.05
        assert HEIGHT - foot == pytest.approx(sum(each) / chart.top * HEIGHT, abs=0.1)
        right = pieces[0].x + pieces[0].width if pieces else right
    assert right <= WIDTH


@pytest.mark.parametrize(("highest", "top"), [(0, 60), (60, 60), (61, 3600), (3601, 4000)])
def test_an_axis_ends_at_a_configured_step(highest: float, top: float) -> None:
    assert stack([[highest]], (60, 3600)).top == top


def test_points_lie_between_the_marks_that_are_needed() -> None:
    found = cloud([(0.5, 600), (20, 3000)], STEPS)
    assert [value for _, value in found.across] == [0.1, 1, 10, 100]
    assert [value for _, value in found.upward] == [600, 3600]
    assert [(dot.x, dot.y, dot.number) for dot in found.dots] == [(23.75, 6.25, 1), (76.25, 93.75, 1)]
    assert found.upward[0][0] == found.across[0][0] == 0
    assert found.upward[-1][0] == found.across[-1][0] == 100


@given(st.lists(st.tuples(st.floats(1e-9, 1e9), st.floats(1e-9, 1e9)), max_size=20))
def test_every_point_is_in_the_plane(pairs: list[tuple[float, float]]) -> None:
    found = cloud(pairs, STEPS)
    assert all(0 <= x <= 100 and 0 <= y <= 100 for x, y in ((dot.x, dot.y) for dot in found.dots))
    assert sum(dot.number for dot in found.dots) == len(pairs)
    assert len(found.across) > 1
    assert len(found.upward) > 1


def test_bands_are_powers_of_ten() -> None:
    assert bands([(0.2, 5), (0.9, 7), (1, 3), (40, 2)]) == [
        (pytest.approx(0.1), 1, 2, 6),
        (1, 10, 1, 3),
        (10, 100, 1, 2),
    ]
    assert bands([]) == []


def test_points_of_a_cell_become_a_single_dot() -> None:
    (dot,) = cloud([(10, 700.0)] * 9, STEPS).dots
    assert (dot.number, dot.radius) == (9, 10.5)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [([0, 0, 3, 0], [2, 3]), ([1, 0, 0, 0], [0, 1, 2, 3]), ([0, 0, 0, 0], [0, 1, 2, 3]), ([0] * 7 + [1], [6, 7])],
)
def test_an_axis_begins_where_the_data_does(totals: list[float], expected: list[int]) -> None:
    assert list(with_data(range(len(totals)), totals)) == expected
