from pathlib import Path

import pytest

from feedcrawl import folders
from feedcrawl.settings import from_environment


def test_paths_start_at_the_projects_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scrapy.cfg").touch()
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    for folder in (tmp_path, below):
        monkeypatch.chdir(folder)
        assert folders.project_folder() == tmp_path
        assert folders.located(Path("./data")) == tmp_path / "data"
        assert folders.located(Path("/var/data")) == Path("/var/data")
        assert from_environment({})["FEEDCRAWL_DATA_DIR"] == "./data"


def test_outside_a_project_the_data_are_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    assert folders.project_folder() is None
    assert folders.located(Path("data")) == tmp_path / "data"
    default = str(from_environment({})["FEEDCRAWL_DATA_DIR"])
    assert Path(default) == folders.data_outside_projects()
    assert from_environment({"FEEDCRAWL_DATA_DIR": "x"})["FEEDCRAWL_DATA_DIR"] == "x"
