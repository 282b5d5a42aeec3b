"""The parts of a process of feedcrawl: `Stores`, and `Wiring`, which adds the services.

Services import the parsers and the extraction. A command that needs only stores imports `feedcrawl.wiring.stores`; so
that this does not load the services, this package imports `process` when one of its names is first used (PEP 562).
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
