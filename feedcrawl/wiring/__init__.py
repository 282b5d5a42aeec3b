"""The parts of a process of feedcrawl: `Stores`, and `Wiring`, which adds the services.

Services import the parsers and the extraction. A command that needs only stores imports `feedcrawl.wiring.stores`; so
that this does not load the services, this package imports `process` when one of its names is first used (PEP 562).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.wiring.process import Wiring, of

__all__ = ["Wiring", "of"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
