"""The project's own pages (tests/pages, in the form of `scrapy fixture`): each field as good as it ever was."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from feedcrawl.services.archive import fixtures

PAGES = Path(__file__).parent / "pages"
REPOSITORY = Path(__file__).parents[1]


def grams(text: str) -> Counter[str]:
    return Counter(text[start : start + 3] for start in range(max(len(text) - 2, 1)))


def score(name: str, wanted: Any, found: Any) -> float:
    """1 for the same; of a text the share of its trigrams (F1)."""
    if name != "clean_text" or not wanted or not found:
        return float(wanted == found)
    expected, other = grams(wanted), grams(found)
    return 2 * (expected & other).total() / (expected.total() + other.total())


@pytest.fixture(scope="module")
def scores() -> dict[str, float]:
    """The mean of each field over the pages that say what it is."""
    rows: dict[str, list[float]] = {}
    for folder in fixtures.folders(PAGES):
        page, wanted = fixtures.load(folder)
        found = fixtures.expected(page)
        for name, value in wanted.items():
            rows.setdefault(name, []).append(score(name, value, found.get(name)))
    return {name: fmean(values) for name, values in rows.items()}


FLOORS: dict[str, float] = json.loads((REPOSITORY / ".ci" / "floors.json").read_text())["own pages"]


@pytest.mark.parametrize("name", sorted(FLOORS))
def test_no_field_sinks_below_its_floor(scores: dict[str, float], name: str) -> None:
    assert scores[name] >= FLOORS[name], f"{scores[name]:.4f}: `scrapy fixture --check tests/pages` tells where"


def test_every_field_has_a_floor_and_there_are_a_dozen_pages(scores: dict[str, float]) -> None:
    assert scores.keys() == FLOORS.keys()
    assert len(fixtures.folders(PAGES)) >= 12
