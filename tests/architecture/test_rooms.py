"""A newcomer finds the place of anything by its name: folders are small, and a module is not named like its folder."""

import subprocess
from collections import Counter
from pathlib import PurePosixPath

import pytest

MOST = 15
FLAT = {"feedcrawl/commands"}  # as Scrapy's own: a command's module has the name of the command

TOP = {
    ".ci",
    ".dockerignore",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Dockerfile",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "benchmarks",
    "compose.yaml",
    "deploy",
    "docs",
    "feedcrawl",
    "pyproject.toml",
    "scrapy.cfg",
    "setup.py",
    "tests",
}


def rooms(modules) -> Counter[str]:
    found = (PurePosixPath(module.name) for module in modules)
    return Counter(str(path.parent) for path in found if path.stem != "__init__")


def test_no_folder_has_many_modules(modules) -> None:
    found = [f"{room}: {count} modules, of at most {MOST}" for room, count in rooms(modules).items() if count > MOST]
    assert not [each for each in found if each.partition(":")[0] not in FLAT], "\n".join(found)


def test_no_module_is_named_like_its_folder(modules) -> None:
    found = [module.name for module in modules if PurePosixPath(module.name).parent.name == module.stem]
    assert not found, "name the module for its part of the topic: " + ", ".join(found)


def test_the_top_level_has_no_stray_files(root) -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no checkout: which files belong to the project is unknown")
    assert {path.partition("/")[0] for path in listed.stdout.splitlines()} == TOP
