"""The package as syntax trees, read once for all architecture tests."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One module of the package; `name` is its path in the repository."""

    name: str
    text: str
    tree: ast.Module

    @property
    def in_domain(self) -> bool:
        return self.name.startswith("feedcrawl/domain/")

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def at(self, node: ast.AST) -> str:
        return f"{self.name}:{node.lineno}"

    def function_of(self, node: ast.AST) -> str:
        """The name of the innermost function around a node, or `<module>`."""
        around = [each for each in self.functions() if each.lineno <= node.lineno <= (each.end_lineno or 0)]
        return max(around, key=lambda each: each.lineno).name if around else "<module>"


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def modules() -> tuple[Module, ...]:
    paths = sorted((ROOT / "feedcrawl").rglob("*.py"))
    texts = [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths]
    return tuple(Module(name, text, ast.parse(text, filename=name)) for name, text in texts)
