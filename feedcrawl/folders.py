"""The folders of a project's files, independent of the folder in which a command is started."""

from __future__ import annotations

from pathlib import Path

from platformdirs import user_data_path


def project_folder() -> Path | None:
    """The folder of the scrapy.cfg nearest to the working directory, in it or above; None outside a project."""
    here = Path.cwd()
    return next((each for each in (here, *here.parents) if (each / "scrapy.cfg").exists()), None)


def located(path: Path) -> Path:
    """The absolute path; a relative one starts at the project's folder, outside a project at the working directory."""
    return (project_folder() or Path.cwd()) / path


def data_outside_projects() -> Path:
    """The data directory outside a project: in the user's data folder (XDG Base Directory; on macOS Library)."""
    return user_data_path("feedcrawl", appauthor=False)
