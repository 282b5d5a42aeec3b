"""The work of `feedcrawl init`: writes the file that makes a folder a Scrapy project."""

from __future__ import annotations

from pathlib import Path

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, say, write

PROJECT_FILE = "[settings]\ndefault = feedcrawl.settings\n"


def run(args: list[str]) -> int:
    """Writes the file, unless there is one; returns the exit status."""
    if args:
        raise UsageError("it takes no name: the project is made in the working directory", print_help=False)
    path = Path("scrapy.cfg")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(PROJECT_FILE)
    except FileExistsError:
        say("init", f"{path.resolve()} exists: this folder is a project already")
        return UNUSABLE
    write(f"{path.resolve()} names feedcrawl's settings; data are kept in {Path.cwd() / 'data'}")
    return DONE
