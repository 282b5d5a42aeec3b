"""Whether the server is the one that a data directory knows: each generation of its data has an id, kept on both sides.

A server that was emptied, or that is another one, looks like that of a new installation: no feed, no article, nothing
to do. The id tells them apart.
"""

from __future__ import annotations

from typing import Literal

Standing = Literal["new", "joins", "known", "emptied", "another"]
"""Neither side has an id | the directory is new to this server | both have the same | the server has lost its data |
the server's data are others.
"""


def standing(on_disk: str | None, in_redis: str | None) -> Standing:
    """How a data directory and a server stand to each other, by the ids that they keep."""
    if on_disk is None:
        return "new" if in_redis is None else "joins"
    if in_redis is None:
        return "emptied"
    return "known" if on_disk == in_redis else "another"
