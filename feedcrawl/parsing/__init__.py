"""The child processes in which hostile bytes are parsed.

    pool = ParserPool(2)
    outcome = await pool.run(parse, body, url=url, wall_sec=20)      # Done(value) or Failed(code, detail)
    await pool.close(drain_sec=5)

A parser that hangs, eats memory or crashes costs one child and one document; the caller gets a value, never an
exception. A child may be taken over by the document that it reads, so nothing that it sends is unpickled
(docs/decisions/0021-answers-of-children.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from feedcrawl.public_names import imported_later

if TYPE_CHECKING:
    from feedcrawl.parsing.answers import Done, Failed
    from feedcrawl.parsing.pool import ParserPool

__all__ = ["Done", "Failed", "ParserPool"]

if not TYPE_CHECKING:  # with `__getattr__`, a type checker would accept any name of the package
    __getattr__ = imported_later(__name__)
