"""`feedcrawl COMMAND`, or `python -m feedcrawl`: Scrapy's command line with feedcrawl's commands, in every folder."""

from __future__ import annotations

import os
import sys

from scrapy.cmdline import execute
from scrapy.utils.project import ENVVAR, get_project_settings

from feedcrawl.folders import project_folder


def main() -> None:
    """Runs a command: with the settings of the project around the working directory, else with those of feedcrawl."""
    if project_folder() is None:
        os.environ.setdefault(ENVVAR, "feedcrawl.settings")
    settings = get_project_settings()
    settings.set("COMMANDS_MODULE", "feedcrawl.commands", priority="cmdline")
    execute(["feedcrawl", *sys.argv[1:]], settings)


if __name__ == "__main__":
    main()
