"""Optional parts of the package: how to install the one that is missing."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution


def missing(error: ModuleNotFoundError, extra: str) -> str:
    """A sentence for a module that the extra brings: which is missing, and the command that installs it here.

    `feedcrawl[extra]` where feedcrawl is installed, since pip then takes the extra of that installation; elsewhere pip
    would look for a package of this name on its index, so the command is the clone's.
    """
    try:
        distribution("feedcrawl")
    except PackageNotFoundError:
        return f"{error.name} is not installed: pip install '.[{extra}]' in the clone of feedcrawl"
    return f"{error.name} is not installed: pip install 'feedcrawl[{extra}]'"
