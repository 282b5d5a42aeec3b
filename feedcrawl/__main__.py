"""`feedcrawl COMMAND`, or `python -m feedcrawl`: Scrapy's command line with feedcrawl's commands, in every folder."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from io import StringIO
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from scrapy import commands as scrapys
from scrapy.cmdline import execute
from scrapy.utils.project import ENVVAR, get_project_settings

from feedcrawl import commands
from feedcrawl.folders import project_folder

if TYPE_CHECKING:
    from scrapy.settings import Settings


def main() -> None:
    """Runs a command: with the settings of the project around the working directory, else with those of feedcrawl."""
    if project_folder() is None:
        os.environ.setdefault(ENVVAR, "feedcrawl.settings")
    settings = get_project_settings()
    settings.set("COMMANDS_MODULE", "feedcrawl.commands", priority="cmdline")
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    known = {each.name for each in iter_modules([*scrapys.__path__, *commands.__path__])}
    if words and words[0] in known:
        execute(["feedcrawl", *sys.argv[1:]], settings)
    else:
        _list_commands(settings)


def _list_commands(settings: Settings) -> None:
    """Scrapy's list of commands, also for an unknown command, with our program's name: `scrapy` needs a project."""
    output = StringIO()
    try:
        with redirect_stdout(output):
            execute(["feedcrawl", *sys.argv[1:]], settings)
    finally:
        text = output.getvalue().replace("scrapy <command>", "feedcrawl <command>").replace('"scrapy"', '"feedcrawl"')
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
