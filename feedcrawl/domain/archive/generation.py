"""The check whether a data directory belongs to a server: each generation of data has an id that both sides store.

A server that was emptied, or a different server, looks like a new installation: no feed, no article, no task. The id
makes the difference visible.
"""

from __future__ import annotations

from typing import Literal

Standing = Literal["new", "joins", "known", "emptied", "another"]
"""new: neither side has an id. joins: the directory has no id yet. known: both ids are equal. emptied: the server
has lost its id and data. another: the ids differ.
"""


def standing(on_disk: str | None, in_redis: str | None) -> Standing:
    """The relation of a data directory and a server, by the ids that they store."""
    if on_disk is None:
        return "new" if in_redis is None else "joins"
    if in_redis is None:
        return "emptied"
    return "known" if on_disk == in_redis else "another"
