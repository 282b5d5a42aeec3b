"""What a process of feedcrawl is made of: `Stores`, and `Wiring` with the services on them.

The services import the parsers and the extraction; a command that needs stores alone imports `feedcrawl.wiring.stores`
without them, so this package imports `process` when its names are first used (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from feedcrawl.wiring.process import Wiring, of

__all__ = ["Wiring", "of"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("feedcrawl.wiring.process"), name)
