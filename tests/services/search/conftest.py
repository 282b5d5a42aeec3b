"""Consumers of the search index that wait for no long."""

import pytest

from feedcrawl.services.operations import consumer as consuming


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consuming, "WAITS_SEC", (0.01, 0.05))
    monkeypatch.setattr(consuming, "IDLE_SEC", 0.01)
