"""Runs a consumer of the event stream until a signal."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

from feedcrawl.console.output import DONE, FAILED, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from feedcrawl.services.operations.consumer import Consumer


def consume(command: str, *consumers: Consumer, once: bool, sentence: str) -> int:
    """Consume until SIGTERM or Ctrl-C, with `once` until all events are processed; returns the exit status.

    `sentence` is printed at the end, with places for the numbers `sent` and `refused`.
    """
    ended_well = asyncio.run(_run(consumers, once=once))
    sent, refused = sum(each.sent for each in consumers), sum(each.refused for each in consumers)
    say(command, sentence.format(sent=sent, refused=refused))
    return DONE if ended_well else FAILED


async def _run(consumers: Sequence[Consumer], *, once: bool) -> bool:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    return all(await asyncio.gather(*(each.run(stop, once=once) for each in consumers)))
