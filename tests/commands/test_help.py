"""What `scrapy COMMAND --help` says, alike for all commands."""

from argparse import ArgumentParser
from importlib import import_module
from pkgutil import iter_modules
from typing import get_args

import pytest
from scrapy.settings import Settings

from feedcrawl import commands
from feedcrawl.domain.frontier.tasks import Kind

SCRAPYS = {"crawl", "fetch", "parse", "shell"}
MODULES = {each.name: import_module(f"feedcrawl.commands.{each.name}") for each in iter_modules(commands.__path__)}
NAMES = sorted(name for name, module in MODULES.items() if hasattr(module, "Command") and name not in SCRAPYS)


def options(name: str) -> dict[str, str]:
    """What is said of each option of its own, under the option with its value."""
    command, parser = MODULES[name].Command(), ArgumentParser(conflict_handler="resolve")
    command.settings = Settings()
    command.add_options(parser)
    return {
        f"{each.option_strings[-1]} {'' if each.nargs == 0 else each.metavar or each.dest.upper()}": each.help or ""
        for each in parser._actions
        if each.container.title == "options" and each.dest != "help"
    }


@pytest.mark.parametrize("name", NAMES)
def test_options_are_told_alike(name: str) -> None:
    for option, said in options(name).items():
        value = option.partition(" ")[2]
        assert said, option
        assert not said.endswith("."), option
        assert value not in {"LIMIT", "LINES", "CURSOR", "KIND", "STATUS", "SOURCE", "SCOPE", "CATEGORY", "FORMAT"}, (
            option
        )


def test_every_kind_of_task_is_named() -> None:
    assert set(options("frontier")["--kind NAME"].removeprefix("urls: ").split(", ")) == set(get_args(Kind))
