"""A worker with a fault: `python tests/site/faults.py STEP KIND HOST SIGNAL crawl feeds …` is Scrapy's command line.

When the first task of that kind (`poll`, `article` or `websub`) on that host reaches the step, the worker sends itself
the signal, once: KILL ends it there, STOP makes it sleep beyond its lease. `… api` is the API, with the first delivery
to any feed as its task. The product has no hooks for this: each step is a function that is wrapped from outside.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable
from functools import wraps
from multiprocessing.reduction import ForkingPickler
from typing import Any
from urllib.parse import urlsplit

from feedcrawl.crawl.download import LimitedProtocol
from feedcrawl.domain.entries.reading import read_feed
from feedcrawl.domain.extraction import read_article
from feedcrawl.domain.frontier.tasks import Lease, Task
from feedcrawl.parsing import ParserPool
from feedcrawl.parsing.pool import pickled
from feedcrawl.pipelines.commit import CommitPipeline
from feedcrawl.pipelines.dedupe import DedupePipeline
from feedcrawl.pipelines.disk import DiskPipeline
from feedcrawl.pipelines.publish import PublishPipeline
from feedcrawl.pipelines.store import StorePipeline
from feedcrawl.services.frontier.batched_ends import Endings
from feedcrawl.services.frontier.leases import Leases
from feedcrawl.services.push.websub import WebSub
from feedcrawl.store.disk import ndjson, raw
from feedcrawl.store.frontier.interface import Ending
from feedcrawl.store.push.websub import HubSubscriptions

PARSES = {"poll": read_feed, "article": read_article}


class Fault:
    """What strikes, and whom. Each method named for a step prepares it."""

    def __init__(self, kind: str, host: str, number: signal.Signals) -> None:
        self.kind, self.host, self.number = kind, host, number
        self.struck = False
        self.passed: Any = None

    def strike(self, *, here: bool = True) -> None:
        if here and not self.struck:
            self.struck = True
            os.kill(os.getpid(), self.number)

    # --- whether it is the one ---

    def is_task(self, task: Task) -> bool:
        return task.kind == {"poll": "feed"}.get(self.kind, self.kind) and task.host == self.host

    def is_item(self, item: Any) -> bool:
        return bool(item.type == self.kind and item.lease.task.host == self.host)

    def is_request(self, host: str, path: str) -> bool:
        return (
            host.partition(":")[0] == self.host and path != "/robots.txt" and (path == "/feed") == (self.kind == "poll")
        )

    def is_client_request(self, request: Any) -> bool:
        """A request of Twisted's client."""
        return self.is_request(request.headers.getRawHeaders(b"host")[0].decode(), request.uri.decode())

    def is_parse(self, function: Callable[..., Any], url: str) -> bool:
        return function is PARSES[self.kind] and urlsplit(url).hostname == self.host

    # --- the steps, in the order in which a task passes them ---

    def claimed(self) -> None:
        after(Leases, "take", lambda taken, *_: self.strike(here=any(self.is_task(each.task) for each in taken.leases)))

    def connected(self) -> None:
        before(LimitedProtocol, "request", lambda _, request: self.strike(here=self.is_client_request(request)))

    def mid_header(self) -> None:
        from twisted.web._newclient import HTTPClientParser

        before(
            HTTPClientParser,
            "headerReceived",
            lambda parser, *_: self.strike(here=self.is_client_request(parser.request)),
        )

    def mid_body(self) -> None:
        from scrapy.core.downloader.handlers.http11 import _ResponseReader

        def received(reader: Any, _: bytes) -> None:
            url = urlsplit(reader._request.url)
            self.strike(here=self.is_request(url.netloc, url.path))

        after(_ResponseReader, "dataReceived", lambda _, *arguments: received(*arguments))

    def half_record(self) -> None:
        """Half of the exchange is in the WARC file."""
        before(raw.RawStore, "append", lambda _, exchange: self._note_exchange(exchange))
        self._half_written(raw)

    def read(self) -> None:
        """The body is here and archived, and no parser has it yet."""
        before(ParserPool, "run", lambda _, function, *__, **named: self._strike_parse(function, **named))

    def parent_parsing(self) -> None:
        """The worker, while a child of it parses."""
        self._instead_of_parsing(os.kill, os.getpid(), self.number)

    def child_parsing(self) -> None:
        """The child alone; the worker lives, and gives what the child had to another one."""
        whole = ParserPool._ask

        async def ask_and_strike(pool: ParserPool, task: bytes, wall_sec: float) -> Any:
            function, _, named = ForkingPickler.loads(task)
            if not self.struck and self.is_parse(function, named.get("url", "")):
                self.struck = True
                return await whole(pool, pickled((signal.raise_signal, (self.number,), {})), wall_sec)
            return await whole(pool, task, wall_sec)

        ParserPool._ask = ask_and_strike  # type: ignore[assignment, method-assign]

    def parsed(self) -> None:
        """Before new entries are told from known ones, and an article is claimed."""
        before(DedupePipeline, "process_item", lambda _, item: self.strike(here=self.is_item(item)))

    def deduped(self) -> None:
        before(DiskPipeline, "process_item", lambda _, item: self.strike(here=self.is_item(item)))

    def half_line(self) -> None:
        """Half of the lines are on the disk, and the last one is torn."""
        before(DiskPipeline, "process_item", lambda _, item: self._pass(here=self.is_item(item)))
        self._half_written(ndjson)

    def on_disk(self) -> None:
        before(StorePipeline, "process_item", lambda _, item: self.strike(here=self.is_item(item)))

    def half_queued(self) -> None:
        """Half of the tasks of what a poll has found are in the frontier."""
        whole = Leases.enqueue_each

        def enqueue_each(leases: Leases, tasks: Iterable[Any]) -> Any:
            each = list(tasks)
            if each and each[0][0].host == self.host and not self.struck:
                whole(leases, each[: len(each) // 2])
                self.strike()
            return whole(leases, each)

        Leases.enqueue_each = enqueue_each  # type: ignore[assignment, method-assign]

    def queued(self) -> None:
        """All tasks are in the frontier; of an article nothing has been sent yet. No event was."""
        before(PublishPipeline, "process_item", lambda _, item: self.strike(here=self.is_item(item)))

    def half_published(self) -> None:
        """Half of the records and events are with the server."""

        whole = PublishPipeline._send

        def send(pipeline: PublishPipeline, writes: Any) -> None:
            if self.passed and not self.struck:
                commands = writes.command_stack
                writes.command_stack = commands[: len(commands) // 2]
                writes.execute()
                self.strike()
                writes.command_stack = commands
            whole(pipeline, writes)

        before(PublishPipeline, "process_item", lambda _, item: self._pass(here=self.is_item(item)))
        PublishPipeline._send = send  # type: ignore[assignment, method-assign]

    def published(self) -> None:
        """All is announced; validators, schedule and the end are not committed."""
        before(CommitPipeline, "process_item", lambda _, item: self.strike(here=self.is_item(item)))

    def committed(self) -> None:
        """The task has ended, and the worker does not know yet."""

        def ended(_: Any, __: Endings, endings: list[Ending]) -> None:
            self.strike(here=any(self.is_task(ending.lease.task) for ending in endings))

        after(Endings, "_end", ended)

    def told(self) -> None:
        """The task has ended, and the worker has no other yet."""

        def forgotten(_: Any, __: Leases, lease: Lease, *___: Any) -> None:
            self.strike(here=self.is_task(lease.task))

        after(Leases, "_forget", forgotten)

    # --- of a push, in the API ---

    def delivered(self) -> None:
        """Its body is here, and nothing is kept of it."""
        before(WebSub, "deliver", lambda *_: self.strike())

    def kept(self) -> None:
        """It is in the store, and its feed is not due."""
        after(HubSubscriptions, "keep", lambda *_: self.strike())

    def due(self) -> None:
        """All is done, and its hub has no answer."""
        after(WebSub, "deliver", lambda *_: self.strike())

    # --- how ---

    def _pass(self, *, here: bool) -> None:
        self.passed = self.passed or here

    def _note_exchange(self, exchange: Any) -> None:
        url = urlsplit(exchange.url)
        self._pass(here=self.is_request(url.netloc, url.path))

    def _half_written(self, module: Any) -> None:
        whole = module.write_whole

        def write_whole(fd: int, data: bytes, *, end: int) -> None:
            if not self.passed or self.struck:
                whole(fd, data, end=end)
                return
            half = len(data) // 2
            whole(fd, data[:half], end=end)
            self.strike()
            whole(fd, data[half:], end=end + half)

        module.write_whole = write_whole

    def _strike_parse(self, function: Callable[..., Any], url: str, **_: Any) -> None:
        self.strike(here=self.is_parse(function, url))

    def _instead_of_parsing(self, function: Callable[..., Any], *arguments: Any) -> None:
        whole = ParserPool.run

        async def run(pool: ParserPool, parse: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
            if self.struck or not self.is_parse(parse, named.get("url", "")):
                return await whole(pool, parse, *given, **named)
            self.struck = True
            await whole(pool, function, *arguments)
            return await whole(pool, parse, *given, **named)

        ParserPool.run = run  # type: ignore[method-assign]


def before(owner: Any, name: str, call: Callable[..., None]) -> None:
    """Calls with the same arguments before the function itself, which may be a coroutine's."""
    whole = getattr(owner, name)

    @wraps(whole)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        call(*arguments, **named)
        return whole(*arguments, **named)

    setattr(owner, name, wrapped)


def after(owner: Any, name: str, call: Callable[..., None]) -> None:
    """Calls with the answer and the same arguments after the function itself."""
    whole = getattr(owner, name)

    @wraps(whole)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        answer = whole(*arguments, **named)
        call(answer, *arguments, **named)
        return answer

    setattr(owner, name, wrapped)


REQUESTED = ("connected", "mid_header", "mid_body", "half_record")
WIRE = ("claimed", *REQUESTED, "read", "parent_parsing", "child_parsing")
LAST = ("half_published", "published", "committed", "told")
STEPS = {
    "poll": (*WIRE, "parsed", "half_line", "on_disk", "half_queued", "queued", *LAST),
    "article": (*WIRE, "parsed", "deduped", "half_line", "on_disk", "queued", *LAST),
}
"""Steps at which something is there that was not before, by kind of task."""
DELIVERY = tuple(step for step in STEPS["poll"] if step not in REQUESTED)
"""Those of the task of a feed that reads what its hub has pushed."""
RENEWAL = ("claimed", "connected", "mid_header", "told")
"""Those of a task of kind `websub`."""
RECEIPT = ("delivered", "kept", "due")
"""Those of the API."""


def main() -> None:
    step, kind, host, number, *words = sys.argv[1:]
    getattr(Fault(kind, host, signal.Signals[f"SIG{number}"]), step)()
    from scrapy.cmdline import execute

    execute(["scrapy", *words])


if __name__ == "__main__":
    main()
