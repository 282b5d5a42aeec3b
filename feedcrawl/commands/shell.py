"""`scrapy shell [URL]`: Scrapy's command with our parsers; queue and stores are not used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.commands import shell

from feedcrawl.commands import without_stores

if TYPE_CHECKING:
    from argparse import Namespace


class Command(shell.Command):
    """`extract(response)` is the article of a page, `entries(response)` the entries of a feed.

    `explain(response)` prints what each rung and each source of a field found.
    """

    def long_desc(self) -> str:
        """For `scrapy shell -h`."""
        helpers = (
            "extract(response) is the article of a page, explain(response) a table of why it is so,"
            " entries(response) the entries of a feed."
        )
        return f"{super().long_desc()} {helpers}"

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Reads the command line."""
        super().process_options(args, opts)
        assert self.settings is not None
        without_stores(self.settings)

    def update_vars(self, vars: dict[str, Any]) -> None:  # noqa: A002 - Scrapy's signature
        """Adds the helpers."""
        from feedcrawl.commands.inspection import entries, explain, extract  # noqa: PLC0415 - see the package

        vars.update(extract=extract, explain=explain, entries=entries)
