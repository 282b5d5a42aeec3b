from typing import get_args

import pytest

from feedcrawl.domain.frontier.priority import DEFAULT, ORIGIN_BONUS, priority
from feedcrawl.domain.frontier.tasks import Origin


@pytest.mark.parametrize(
    ("source", "origin", "depth", "expected"),
    [
        (DEFAULT, "feed", 0, 7),
        (DEFAULT, "sitemap", 0, 6),
        (DEFAULT, "spider", 0, 5),
        (DEFAULT, "spider", 3, 2),
        (DEFAULT, "spider", 9, 1),
        (DEFAULT, "manual", 0, 5),
        (DEFAULT, "queue", 0, 5),
        (9, "feed", 0, 10),
        (10, "feed", 4, 8),
        (1, "spider", 1, 1),
    ],
)
def test_priority(source, origin, depth, expected):
    assert priority(source, origin, depth) == expected


def test_every_origin_has_a_bonus():
    assert set(ORIGIN_BONUS) == set(get_args(Origin))
