import sys
from importlib import metadata

import pytest

from feedcrawl import hints


def test_an_installation_is_completed() -> None:
    found = hints.missing(ModuleNotFoundError(name="uvicorn"), "api")
    assert found == "uvicorn is not installed: pip install 'feedcrawl[api]'"


def test_a_clone_is_installed_from_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(hints, "distribution", absent)
    found = hints.missing(ModuleNotFoundError(name="aiokafka"), "kafka")
    assert found == "aiokafka is not installed: pip install '.[kafka]' in the clone of feedcrawl"


@pytest.mark.parametrize(
    ("started", "expected"),
    [
        ("/env/bin/feedcrawl", "feedcrawl"),
        ("feedcrawl.exe", "feedcrawl"),
        ("/env/lib/site-packages/feedcrawl/__main__.py", "feedcrawl"),
        ("/env/bin/scrapy", "scrapy"),
        ("/env/lib/site-packages/scrapy/__main__.py", "scrapy"),
        ("/srv/feedcrawl/server.py", "scrapy"),
        ("-c", "scrapy"),
        ("", "scrapy"),
    ],
)
def test_a_hint_names_the_program_that_runs(started: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [started, "feeds"])
    assert hints.program() == expected
