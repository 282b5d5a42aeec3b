"""Twisted's reactor."""

from __future__ import annotations

from typing import Any


def running_reactor() -> Any:
    """The reactor that runs. Imported at each call: the first import installs one, which must be Scrapy's choice."""
    from twisted.internet import reactor  # noqa: PLC0415

    return reactor
