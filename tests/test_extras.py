from importlib import metadata

import pytest

from feedcrawl import extras


def test_an_installation_is_completed() -> None:
    found = extras.missing(ModuleNotFoundError(name="uvicorn"), "api")
    assert found == "uvicorn is not installed: pip install 'feedcrawl[api]'"


def test_a_clone_is_installed_from_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(extras, "distribution", absent)
    found = extras.missing(ModuleNotFoundError(name="aiokafka"), "kafka")
    assert found == "aiokafka is not installed: pip install '.[kafka]' in the clone of feedcrawl"
