"""What `scrapy COMMAND --help` says, alike for all commands."""

import re
import signal
import subprocess
import sys
from argparse import ArgumentParser
from ast import literal_eval
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import get_args

import pytest
from scrapy.cmdline import _get_commands_dict
from scrapy.settings import Settings

from feedcrawl import commands
from feedcrawl.domain.frontier.tasks import Kind

REPOSITORY = Path(__file__).parents[2]
SCRAPYS = {"crawl", "fetch", "parse", "shell"}
MODULES = {each.name: import_module(f"feedcrawl.commands.{each.name}") for each in iter_modules(commands.__path__)}
NAMES = sorted(name for name, module in MODULES.items() if hasattr(module, "Command") and name not in SCRAPYS)


def options(name: str) -> dict[str, str]:
    """The help of each of its own options, by the option with its value."""
    command, parser = MODULES[name].Command(), ArgumentParser(conflict_handler="resolve")
    command.settings = Settings()
    command.add_options(parser)
    return {
        f"{each.option_strings[-1]} {'' if each.nargs == 0 else each.metavar or each.dest.upper()}": each.help or ""
        for each in parser._actions
        if each.container.title == "options" and each.dest != "help"
    }


@pytest.mark.parametrize("name", NAMES)
def test_usage_names_the_program_that_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/env/bin/feedcrawl", name])
    command, parser = MODULES[name].Command(), ArgumentParser(conflict_handler="resolve", usage="scrapy")
    command.settings = Settings()
    command.add_options(parser)
    assert parser.usage == f"feedcrawl {name} {command.syntax()}"


@pytest.mark.parametrize("name", sorted({*NAMES, *SCRAPYS} - {"fetch"}))
def test_the_work_of_a_command_is_a_module_of_its_own(name: str) -> None:
    assert import_module(MODULES[name].Command.work_module)


def test_an_interrupt_during_imports_ends_the_process_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "slow_work.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    code = "from feedcrawl.commands.feeds import Command; Command.work_module = 'slow_work'; Command().work"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        check=False,
        cwd=REPOSITORY,
        env={"PYTHONPATH": f"{REPOSITORY}:{tmp_path}"},
        capture_output=True,
    )
    assert (ran.returncode, ran.stderr) == (-signal.SIGINT, b"")


def test_the_end_of_a_command_takes_no_module_apart() -> None:
    code = "import gc; from feedcrawl.commands.feeds import Command; Command().work; print(gc.get_freeze_count() > 0)"
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert ran.stdout == "True\n"


def test_the_list_of_commands_imports_no_console() -> None:
    code = (
        f"import sys; [__import__(f'feedcrawl.commands.{{each}}') for each in {list(MODULES)}];"
        "print(sorted(each for each in sys.modules if each.startswith('feedcrawl.') and each.count('.') < 3))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True)
    layers = {each.split(".")[1] for each in literal_eval(ran.stdout)}
    assert layers == {"commands", "console", "domain", "hints", "public_names"}


@pytest.mark.parametrize("name", NAMES)
def test_options_of_all_commands_are_described_alike(name: str) -> None:
    for option, text in options(name).items():
        value = option.partition(" ")[2]
        assert text, option
        assert not text.endswith("."), option
        assert value not in {"LIMIT", "LINES", "CURSOR", "KIND", "STATUS", "SOURCE", "SCOPE", "CATEGORY", "FORMAT"}, (
            option
        )


def test_every_kind_of_task_is_named() -> None:
    assert set(options("frontier")["--kind NAME"].removeprefix("urls: ").split(", ")) == set(get_args(Kind))


DOCUMENTS = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
SHOWN = re.compile(
    r"(?:^ {4}(?:\$ )?|`)(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?(?:scrapy|feedcrawl) ([a-z]+)([^`\n#]*)", re.MULTILINE
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_documents_exist_with_their_options(path: Path) -> None:
    settings = Settings({"COMMANDS_MODULE": "feedcrawl.commands"})
    commands, missing = _get_commands_dict(settings, True), []
    for name, rest in SHOWN.findall(path.read_text(encoding="utf-8")):
        if name not in commands:
            missing.append(name)
            continue
        parser, command = ArgumentParser(conflict_handler="resolve"), commands[name]
        command.settings = settings
        command.add_options(parser)
        given = re.findall(r"(?<=\s)(--[a-z-]+|-[a-zA-Z])(?=[\s=]|$)", rest.partition("&&")[0])
        missing += [f"{name} {option}" for option in given if option not in parser._option_string_actions]
    assert missing == []
