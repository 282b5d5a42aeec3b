"""`feedcrawl init`: makes the folder a Scrapy project, so that `scrapy` works in it and its data are stored
there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import WithWork

if TYPE_CHECKING:
    from argparse import Namespace


class Command(WithWork):
    """Exit status 2 if the folder is already a project."""

    requires_crawler_process = False
    work_module = "feedcrawl.console.operations.init"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Write a scrapy.cfg, so that `scrapy` works in this folder and keeps its data in ./data"

    def run(self, args: list[str], opts: Namespace) -> None:  # noqa: ARG002 - no options
        """Writes the file, unless there is one."""
        self.exitcode = self.work.run(args)
