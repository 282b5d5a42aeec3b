"""The commands of `scrapy`, called as it calls them, without a process for each."""

from argparse import ArgumentParser
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import redis
from scrapy.settings import Settings

from feedcrawl import settings as project

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def call(redis_server: str, redis_client: redis.Redis, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Call:
    def run(name: str, *arguments: str, **overrides: Any) -> tuple[int, str, str]:
        command = import_module(f"feedcrawl.commands.{name}").Command()
        command.settings = Settings()
        command.settings.setmodule(project, priority="project")
        own = {"FEEDCRAWL_DATA_DIR": str(tmp_path / "data"), "REDIS_URL": redis_server, **overrides}
        command.settings.setdict(own, priority="cmdline")
        parser = ArgumentParser(conflict_handler="resolve")
        command.add_options(parser)
        opts, args = parser.parse_known_args(arguments)
        command.process_options(args, opts)
        command.run(args, opts)
        out, err = capfd.readouterr()
        return command.exitcode, out, err

    return run
