"""Public names of a package that are imported at their first use (PEP 562).

Python runs the `__init__` of a package before each of its modules: a command that needs one small module of a package
would otherwise import the parsers as well.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def imported_later(package: str, modules: Mapping[str, tuple[str, ...]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package with these public names, by the module (relative to the package) of each."""
    homes = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def found(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    return found
