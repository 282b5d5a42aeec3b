from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def tool(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("floors", root / ".ci" / "floors.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LOWERED = {("sitemaps", "crawler-commons locations"): "an index whose <sitemap> has its address as text is read now"}
"""Rows whose truth contradicts what is right, with the reason."""
FLOORS = {"urls": {"idempotent": 0.9, "path kept": 0.5}}


@pytest.mark.parametrize(
    ("scores", "sunken"),
    [
        ({"urls": {"idempotent": 0.9, "path kept": 0.5}}, []),
        ({"urls": {"idempotent": 0.89, "path kept": 1.0}}, ["idempotent"]),
        ({"urls": {"path kept": 0.5}}, ["idempotent"]),
        ({"dates": {"valid": 0.1}}, []),
    ],
)
def test_a_score_below_its_floor_is_named(tool: ModuleType, scores, sunken: list[str]) -> None:
    assert [line.split(": ")[1] for line in tool.sunken(FLOORS, scores)] == sunken


def test_raising_never_lowers(tool: ModuleType) -> None:
    raised = tool.raised(FLOORS, {"urls": {"idempotent": 0.1, "path kept": 0.8}, "dates": {"valid": 1.0}})
    assert raised == {"urls": {"idempotent": 0.9, "path kept": 0.798}, "dates": {"valid": 0.998}}
    assert FLOORS["urls"]["path kept"] == 0.5


def test_the_floors_rose_in_every_change(root: Path) -> None:
    if not (root / ".git").exists() or not shutil.which("git"):
        pytest.skip("no history here to compare the floors with")

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout

    now = json.loads((root / ".ci" / "floors.json").read_text(encoding="utf-8"))
    for commit in git("log", "-n", "20", "--format=%h", "--", ".ci/floors.json").split():
        for suite, rows in json.loads(git("show", f"{commit}:.ci/floors.json")).items():
            lowered = [
                row
                for row, floor in rows.items()
                if now.get(suite, {}).get(row, 0.0) < floor and (suite, row) not in LOWERED
            ]
            assert not lowered, f".ci/floors.json: {suite}: {lowered} stood higher at {commit}; mend what sank instead"
