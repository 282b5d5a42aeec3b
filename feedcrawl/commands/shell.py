"""`scrapy shell [URL]`: Scrapy's command with our parsers; queue and stores are not used."""

from __future__ import annotations

from scrapy.commands import shell

from feedcrawl.console.command import WithoutStores


class Command(WithoutStores, shell.Command):
    """`extract(response)` is the article of a page, `entries(response)` the entries of a feed.

    `explain(response)` prints what each rung and each source of a field found.
    """

    work_module = "feedcrawl.console.articles.inspection"

    def long_desc(self) -> str:
        """For `scrapy shell -h`."""
        helpers = (
            "extract(response) is the article of a page, explain(response) a table of why it is so,"
            " entries(response) the entries of a feed."
        )
        return f"{super().long_desc()} {helpers}"

    def update_vars(self, vars: dict[str, object]) -> None:  # noqa: A002 - Scrapy's signature
        """Adds the helpers."""
        vars.update({name: getattr(self.work, name) for name in ("extract", "explain", "entries")})
