"""`scrapy search`: the stored articles in which words occur, the best matches first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.console.command import StoreCommand

if TYPE_CHECKING:
    from argparse import ArgumentParser


class Command(StoreCommand):
    """Reads the index; exit status 1 if nothing is found, as grep does."""

    work_module = "feedcrawl.console.search.matches"
    takes_words = True

    def syntax(self) -> str:
        """The arguments, for the usage line."""
        return "WORDS [options]"

    def short_desc(self) -> str:
        """The line of this command in the list of commands."""
        return "Find stored articles by their words"

    def long_desc(self) -> str:
        """For `scrapy search -h`."""
        return (
            'Articles in which all words occur, the best matches first. "several words" in quotes are a phrase, '
            "-word excludes a word, begin* is any word with this beginning. Put the whole search in single quotes."
        )

    def add_options(self, parser: ArgumentParser) -> None:
        """Filters, number, format."""
        super().add_options(parser)
        parser.add_argument("--since", metavar="TIME", help="fetched then or later: a day (UTC) or a time (RFC 3339)")
        parser.add_argument("--category", metavar="NAME", help="in this category")
        parser.add_argument("--source", metavar="NAME", help="of this source, or of this host")
        parser.add_argument("--language", metavar="TAG", help="in this language; en means en-GB too")
        parser.add_argument("--limit", metavar="N", type=int, default=20, help="matches at most (%(default)s)")
        parser.add_argument(
            "--format",
            metavar="NAME",
            choices=("text", "json"),
            default="text",
            help="text, or json: one object for each match",
        )
