"""The kinds of scopes, and the scopes of a host as the scripts store them."""

import pytest

from feedcrawl.domain.frontier.scopes import SCOPES, stored_scopes
from feedcrawl.domain.frontier.statistics import WHY

PARTS = ("name", "mark", "record", "parked", "field")


@pytest.mark.parametrize(
    ("host", "stored"),
    [
        ("news.example.co.uk", [len("example.co.uk")]),
        ("example.com", [len("example.com")]),
        ("x.github.io", [len("x.github.io")]),
        ("127.0.0.1", [""]),
        ("localhost", [""]),
    ],
)
def test_a_host_stores_the_length_of_its_registered_domain(host: str, stored: list[int | str]) -> None:
    assert stored_scopes(host) == stored


@pytest.mark.parametrize("part", PARTS)
def test_no_two_kinds_have_a_stored_part_in_common(part: str) -> None:
    assert len({getattr(scope, part) for scope in SCOPES}) == len(SCOPES)


def test_stored_parts_stay_as_they_are() -> None:
    assert [(scope.name, *scope[3:]) for scope in SCOPES] == [("domain", "@", "d:", "parked", "site")]


def test_each_reason_of_a_scope_has_words() -> None:
    reasons = {f"{scope.name}_{reason}" for scope in SCOPES for reason in ("pace", "answer_awaited", "circuit_open")}
    assert reasons < set(WHY)
    assert WHY["domain_pace"] == "the delay that all hosts of the registered domain share"
