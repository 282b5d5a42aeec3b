"""`scrapy export`: stored records as one file, for spreadsheets and data frames, or as a table of a database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Reads only the data directory, and may run beside a crawl."""

    work_module = "feedcrawl.console.archive.export"

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "articles|entries|cdxj [options]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Write stored records as NDJSON, CSV or Parquet or into a database, or an index of the archive (CDXJ)"

    def add_options(self, parser: ArgumentParser) -> None:
        """Days, format, file."""
        super().add_options(parser)
        parser.add_argument("--since", metavar="DAY", help="stored on this day (UTC, 2026-11-28) or later")
        parser.add_argument("--until", metavar="DAY", help="stored on this day or earlier")
        parser.add_argument("--format", metavar="NAME", help="ndjson, csv, parquet; default: as the file is named")
        parser.add_argument("-o", "--output", metavar="FILE", help="default: standard output")
        parser.add_argument(
            "--to", metavar="URL", help="write into a database instead: sqlite:FILE or postgresql://user@host/name"
        )
        parser.add_argument("--bom", action="store_true", help="begin CSV with a byte order mark, for spreadsheets")
        parser.add_argument("--every-version", action="store_true", help="not the last version of each alone")
