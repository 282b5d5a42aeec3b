"""`feedcrawl init`: makes the folder a Scrapy project, so that `scrapy` works in it and its data are stored
there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

if TYPE_CHECKING:
    from argparse import Namespace

PROJECT_FILE = "[settings]\ndefault = feedcrawl.settings\n"


class Command(ScrapyCommand):
    """Exit status 2 if the folder is already a project."""

    requires_crawler_process = False

    def short_desc(self) -> str:
        """For `scrapy`."""
        return "Write a scrapy.cfg, so that `scrapy` works in this folder and keeps its data in ./data"

    def run(self, args: list[str], opts: Namespace) -> None:  # noqa: ARG002 - no options
        """Writes the file, unless there is one."""
        if args:
            raise UsageError("it takes no name: the project is made in the working directory", print_help=False)
        path = Path("scrapy.cfg")
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(PROJECT_FILE)
        except FileExistsError:
            sys.stderr.write(f"feedcrawl init: {path.resolve()} exists: this folder is a project already\n")
            self.exitcode = 2
            return
        sys.stdout.write(f"{path.resolve()} names feedcrawl's settings; data are kept in {Path.cwd() / 'data'}\n")
