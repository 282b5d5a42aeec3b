"""Public names of a package that are imported at their first use (PEP 562).

Python runs the `__init__` of a package before each of its modules: a command that needs one small module of a package
would otherwise import the parsers as well.

    if TYPE_CHECKING:
        from package.module import Name
    __all__ = ["Name"]
    if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
        __getattr__ = imported_later(__name__)

The statements that a type checker reads are those that are executed, one at a time, when a name is used. PEP 810 has
syntax for this (Python 3.15).
"""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pkgutil import get_data
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def imported_later(package: str) -> Callable[[str], object]:
    """The `__getattr__` of a package: it imports a name once, as the package's `if TYPE_CHECKING` does."""
    homes: dict[str, str] = {}

    def found(name: str) -> object:
        if not homes:
            homes.update(_homes(package))
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # Python asks no more
        return value

    return found


def _homes(package: str) -> dict[str, str]:
    """The modules of the names that the `if TYPE_CHECKING` of a package imports."""
    source = get_data(package, "__init__.py")
    assert source is not None
    blocks = (each.body for each in ast.parse(source).body if isinstance(each, ast.If))
    imports = (each for block in blocks for each in block if isinstance(each, ast.ImportFrom))
    return {alias.name: each.module for each in imports for alias in each.names if each.module}
