"""No circle of imports, those for types alone included: import-linter and Python look past the latter."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter


def test_no_modules_import_each_other(modules) -> None:
    names = {dotted(module.name) for module in modules}
    graph = {dotted(module.name): imports(module.tree, names) - {dotted(module.name)} for module in modules}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError("move what both need to a module of its own: " + " -> ".join(error.args[1])) from error


def dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imports(tree: ast.Module, names: set[str]) -> set[str]:
    """The modules that a module imports; a name of a package counts as an import of the package."""
    found = (name for node in ast.walk(tree) for name in imported(node))
    return {name if name in names else name.rpartition(".")[0] for name in found} & names


def imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
