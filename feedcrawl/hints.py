"""Hints in messages: the program that the user runs, and how to install an optional part of the package."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path


def program() -> str:
    """`feedcrawl` in a process of the console script or of `python -m feedcrawl`, otherwise `scrapy`.

    Outside a project only the console script has the commands of feedcrawl, so a hint names the program that works.
    """
    started = Path(sys.argv[0] if sys.argv else "")
    name = started.parent.name if started.name == "__main__.py" else started.stem
    return "feedcrawl" if name == "feedcrawl" else "scrapy"


def missing(error: ModuleNotFoundError, extra: str) -> str:
    """A sentence that names the missing module of an extra, and the command that installs it here.

    The command is `pip install 'feedcrawl[extra]'` where feedcrawl is installed as a package. In a clone, pip would
    look for that name on its index, so the command there is `pip install '.[extra]'`.
    """
    try:
        distribution("feedcrawl")
    except PackageNotFoundError:
        return f"{error.name} is not installed: pip install '.[{extra}]' in the clone of feedcrawl"
    return f"{error.name} is not installed: pip install 'feedcrawl[{extra}]'"
