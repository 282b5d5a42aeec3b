"""A server of a test in an event loop of its own, in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, Self


class LoopThread:
    """Runs an event loop from `__enter__` to `__exit__`. A subclass starts its `listener` in `listen`, and adds the
    task of each connection to `tasks`: the end cancels them.
    """

    listener: asyncio.Server

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, name=name, daemon=True)
        self.tasks: set[asyncio.Task[Any]] = set()

    async def listen(self) -> asyncio.Server:
        raise NotImplementedError

    @property
    def port(self) -> int:
        """The port at which the server listens."""
        return int(self.listener.sockets[0].getsockname()[1])

    def __enter__(self) -> Self:
        self.thread.start()
        self.listener = self._run(self.listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(timeout=60)
        self.loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=60)

    async def _end(self) -> None:
        self.listener.close()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def _current(self) -> asyncio.Task[Any]:
        """The task of a connection, added to `tasks`."""
        task = asyncio.current_task()
        assert task is not None
        self.tasks.add(task)
        return task
