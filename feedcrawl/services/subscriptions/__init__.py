"""Use cases of subscribed feeds: registering, polling, journal, backfill, discovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.services.subscriptions.discovery import is_nowhere
    from feedcrawl.services.subscriptions.finding import batches, each, url_key, url_keys
    from feedcrawl.services.subscriptions.registering import (
        missing_file,
        poll_now,
        read_specs,
        request_archives,
        split_names,
        unsubscribe,
        with_archives,
    )

__all__ = [
    "batches",
    "each",
    "is_nowhere",
    "missing_file",
    "poll_now",
    "read_specs",
    "request_archives",
    "split_names",
    "unsubscribe",
    "url_key",
    "url_keys",
    "with_archives",
]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
