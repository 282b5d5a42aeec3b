"""The work of `scrapy serve`: starts the parts of one machine, starts those that end again, and stops all together."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, say
from feedcrawl.console.stores import on
from feedcrawl.domain.operations.restarts import wait_sec
from feedcrawl.hints import program
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace

    from feedcrawl.config import Config

MOST_WORKERS: Final = 256
_KILL_SEC: Final = 15.0
"""Time beyond the drain until a part that does not end is killed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A process to keep running: its name, its command, and its settings, each as NAME=VALUE."""

    name: str
    words: tuple[str, ...]
    settings: tuple[str, ...] = ()

    @property
    def arguments(self) -> list[str]:
        """The command, with the settings as options; of two values of a setting Scrapy takes the later one."""
        return [*self.words, *(word for each in self.settings for word in ("-s", each))]


def parts_of(config: Config, workers: int, *, api: bool, given: tuple[str, ...] = ()) -> list[Part]:
    """The processes of one machine, with the settings given to `serve` on its command line (NAME=VALUE); workers after
    the first have the next ports of metrics.
    """
    ports = [config.metrics_port + number if config.metrics_port else 0 for number in range(workers)]
    found = [
        Part(f"worker {number}", ("crawl", "feeds", "-a", "forever=1"), (f"FEEDCRAWL_METRICS_PORT={port}",))
        for number, port in enumerate(ports, 1)
    ]
    if api:
        found.append(Part("API", ("api",)))
    if config.kafka_bootstrap:
        found.append(Part("relay", ("relay",)))
    if config.search_url and config.search != "off":
        found.append(Part("index", ("index",)))
    if config.webhook_urls:
        found.append(Part("webhooks", ("webhooks",)))
    return [replace(part, settings=(*given, *part.settings)) for part in found]


@on(Stores, makes_data=True)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """Serves until SIGTERM or Ctrl-C. The open connection of this process keeps the embedded server running."""
    if args or not 1 <= opts.workers <= MOST_WORKERS:
        raise UsageError(f"serve takes --workers from 1 to {MOST_WORKERS}, and no arguments", print_help=False)
    wired.client.ping()
    config, path = wired.config, wired.connection.socket_path
    parts = parts_of(config, opts.workers, api=not opts.no_api, given=tuple(opts.set))
    say("serve", f"starting {', '.join(part.name for part in parts)}; Ctrl-C ends them all")
    if not opts.no_api:
        say("serve", f"the dashboard is at http://{config.api_host}:{config.api_port}/")
    if path is not None:
        say("serve", f"other programs reach the server with redis-cli -s {path}")
    return asyncio.run(_keep(parts, config.drain_sec))


async def _keep(parts: list[Part], drain_sec: float) -> int:
    """Runs all parts until a signal, or until one cannot use its settings; returns the exit status."""
    stop = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    statuses = await asyncio.gather(*(_run(part, stop, drain_sec) for part in parts))
    return max(statuses)


async def _run(part: Part, stop: asyncio.Event, drain_sec: float) -> int:
    """Keeps one part running; UNUSABLE, and the end of all parts, if the part refuses its settings."""
    waited = 0.0
    while not stop.is_set():
        began = time.monotonic()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", program(), *part.arguments),
            start_new_session=True,  # Ctrl-C of a terminal reaches this process alone, which then ends its parts
        )
        ended = asyncio.create_task(process.wait())
        await _first(ended, asyncio.create_task(stop.wait()))
        if not ended.done():
            await _end(process, drain_sec)
            break
        if process.returncode == UNUSABLE:
            say("serve", f"{part.name} cannot start with these settings: see its message above")
            stop.set()
            return UNUSABLE
        waited = wait_sec(time.monotonic() - began, waited)
        say("serve", f"{part.name} ended with status {process.returncode}; it is started again in {waited:g} s")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), waited)
    return DONE


async def _first(*tasks: asyncio.Task[object]) -> None:
    """Waits for the first of the tasks; cancels `stop.wait()` if the process ended first."""
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks[1:]:
        task.cancel()


async def _end(process: asyncio.subprocess.Process, drain_sec: float) -> None:
    """Ends a part with SIGTERM, and with SIGKILL if it stays."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), drain_sec + _KILL_SEC)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
