"""What a process of feedcrawl is made of."""

from feedcrawl.wiring.process import Wiring, of

__all__ = ["Wiring", "of"]
