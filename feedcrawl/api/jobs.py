"""Jobs that continue after their request was answered, step by step between other requests."""

from __future__ import annotations

import asyncio
import logging
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final

from fastapi.concurrency import run_in_threadpool

from feedcrawl.api.limits.places import Heavy, Places
from feedcrawl.domain.errors import FeedcrawlError

if TYPE_CHECKING:
    from collections.abc import Iterator

logger = logging.getLogger(__name__)

AT_ONCE: Final = 8
OF_ONE: Final = 2
"""Jobs of one caller that may be under way in this process."""


class Jobs:
    """The jobs of this process, for one event loop. Each step takes a turn in the lane of heavy work."""

    def __init__(self, heavy: Heavy) -> None:
        self._heavy = heavy
        self._places = Places(AT_ONCE, OF_ONE, "too_many_jobs", "jobs may be under way")
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, caller: str, steps: Iterator[None]) -> None:
        """Runs the steps of a job in order; RetryLater (`too_many_jobs`) if too many are under way."""
        with ExitStack() as place:
            place.enter_context(self._places.taken(caller))
            task = asyncio.create_task(self._run(steps, place.pop_all()))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def end(self) -> None:
        """Ends each job after its current step."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, steps: Iterator[None], place: ExitStack) -> None:
        with place:
            try:
                is_over = False
                while not is_over:
                    async with self._heavy.turn(None):
                        is_over = await run_in_threadpool(_is_over, steps)
            except FeedcrawlError as error:  # the request was answered long ago: only the log can report the error
                logger.warning("job_failed", extra={"reason": str(error)[:200]})


def _is_over(steps: Iterator[None]) -> bool:
    """Runs one step; True if no step was left (StopIteration does not pass through a future)."""
    return next(steps, steps) is steps
