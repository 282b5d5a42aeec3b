"""What callers who mean no good, and many at once, can make the API do; and how others fare meanwhile.

    python benchmarks/strangers.py [--feeds 10000] [--outlines 100000]

Each row is one attack on a fresh API process: its memory (resident, MB over that at rest), what became of the requests,
and how long `GET /healthz` and `GET /readyz` took meanwhile, one of each every 100 ms, in milliseconds. Times are wall
clock: on a busy machine compare runs with each other, not with a goal.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import httpx
from api import Stock, running, until
from redis_process import running_redis
from scrapy.settings import Settings
from scrapy_process import clean_environment

from feedcrawl import settings as project
from feedcrawl.wiring import Wiring

if TYPE_CHECKING:
    import subprocess

PROBE_SEC = 0.1
STREAM = {"Accept": "text/event-stream"}
Attack = Callable[[httpx.AsyncClient, int], Awaitable[str]]


async def half_sent(client: httpx.AsyncClient, port: int) -> str:
    """215 requests whose head never ends, and other requests beside them."""
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(215)]
    for _, writer in opened:
        writer.write(b"GET /feeds HTTP/1.1\r\nHost: a\r\n")
    codes = Counter[int]()
    for _ in range(20):
        codes[(await client.get("/healthz")).status_code] += 1
        await asyncio.sleep(0.1)
    for _, writer in opened:
        writer.close()
    return f"other requests: {dict(codes)}"


async def pushes(_: httpx.AsyncClient, port: int) -> str:
    """190 deliveries to callbacks that do not exist, 5 MB each, never ended."""

    async def one() -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(b"POST /websub/unknown HTTP/1.1\r\nHost: a\r\nContent-Length: 5242880\r\n\r\n")
            for _ in range(79):
                writer.write(b"x" * 65_536)
                await writer.drain()
            async with asyncio.timeout(5):
                return (await reader.readline()).decode("latin-1").partition(" ")[2][:3] or "ended"
        except TimeoutError:
            return "still open"
        except OSError:
            return "ended"
        finally:
            writer.close()

    return f"{dict(Counter(await asyncio.gather(*(one() for _ in range(190)))))}"


async def exports(client: httpx.AsyncClient, _: int) -> str:
    """45 exports of all subscriptions at once."""

    async def one() -> tuple[str, float]:
        begun = time.monotonic()
        try:
            answer = await client.get("/opml")
        except httpx.HTTPError as error:
            return type(error).__name__, time.monotonic() - begun
        return str(answer.status_code), time.monotonic() - begun

    found = await asyncio.gather(*(one() for _ in range(45)))
    return f"{dict(Counter(each for each, _ in found))}, the last after {max(each for _, each in found):.1f} s"


async def streams(client: httpx.AsyncClient, _: int) -> str:
    """180 streams of events at once."""
    statuses, over = Counter[int](), asyncio.Event()

    async def one() -> None:
        async with client.stream("GET", "/events", headers=STREAM) as answer:
            statuses[answer.status_code] += 1
            await over.wait()

    tasks = [asyncio.create_task(one()) for _ in range(180)]
    for _ in range(200):
        await asyncio.sleep(0.1)
        if sum(statuses.values()) == len(tasks):
            break
    over.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    return f"{dict(statuses)}"


def importing(outlines: int) -> Attack:
    """A list of many feeds, followed until its job is over."""

    async def attack(client: httpx.AsyncClient, _: int) -> str:
        lines = (f'<outline xmlUrl="https://n{number}.example/feed"/>' for number in range(outlines))
        body, begun = f"<opml><body>{''.join(lines)}</body></opml>".encode(), time.monotonic()
        answer = await client.post("/opml", content=body)
        said, first, seen = answer.json(), time.monotonic() - begun, 0
        while answer.status_code == 202 and said["status"] in ("waiting", "running"):
            await asyncio.sleep(0.5)
            said, seen = (await client.get(answer.headers["location"])).json(), seen + 1
        lasted = time.monotonic() - begun
        took = f"{answer.status_code} after {first:.1f} s, looked at {seen} times, over after {lasted:.1f} s"
        return f"{took}; { ({name: value for name, value in said.items() if isinstance(value, int | str)}) }"

    return attack


async def probing(client: httpx.AsyncClient, path: str, times: list[float]) -> None:
    """Asks again and again until it is cancelled."""
    while True:
        begun = time.monotonic()
        with contextlib.suppress(httpx.HTTPError):
            await client.get(path)
        times.append(1000 * (time.monotonic() - begun))
        await asyncio.sleep(PROBE_SEC)


async def under(attack: Attack, port: int, process: subprocess.Popen[bytes]) -> str:
    """A row of the table."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    base = f"http://127.0.0.1:{port}"
    async with (
        httpx.AsyncClient(base_url=base, timeout=120, limits=limits) as client,
        httpx.AsyncClient(base_url=base, timeout=30) as prober,
    ):
        await asyncio.gather(*(client.get("/readyz") for _ in range(5)))
        rest, peak = resident_mb(process), 0.0
        times: dict[str, list[float]] = {"/healthz": [], "/readyz": []}
        probes = [asyncio.create_task(probing(prober, path, each)) for path, each in times.items()]

        async def weighing() -> None:
            nonlocal peak
            while True:
                peak = max(peak, resident_mb(process))
                await asyncio.sleep(0.05)

        probes.append(asyncio.create_task(weighing()))
        said = await attack(client, port)
        for each in probes:
            each.cancel()
    middle = {path: sorted(each)[len(each) // 2] if each else 0.0 for path, each in times.items()}
    waits = " | ".join(f"{middle[path]:.0f} | {max(each, default=0):.0f}" for path, each in times.items())
    return f"{peak - rest:.0f} | {said} | {waits} |"


def resident_mb(process: subprocess.Popen[bytes]) -> float:
    """Memory that a process has."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[1]) * 4096 / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--feeds", type=int, default=10_000)
    parser.add_argument("--outlines", type=int, default=100_000)
    parser.add_argument("--only", default="", help="attacks with this word in their name")
    parser.add_argument("--port", type=int, default=9136)
    options = parser.parse_args()
    attacks = {
        "215 half-sent heads": half_sent,
        "190 deliveries of 5 MB to unknown callbacks": pushes,
        f"45 exports of {options.feeds} feeds at once": exports,
        "180 streams at once": streams,
        f"an import of {options.outlines} feeds": importing(options.outlines),
    }
    with tempfile.TemporaryDirectory(prefix="fc-strangers-") as name, running_redis() as url:
        own = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": f"{name}/data", "FEEDCRAWL_API_RATE": "0"}
        own |= {"FEEDCRAWL_LOG_LEVEL": "WARNING", "FEEDCRAWL_API_WRITE_RATE": "0"}
        own |= {"FEEDCRAWL_MAX_FEEDS_PER_LIST": str(options.outlines)}
        made = Settings()
        made.setmodule(project, priority="project")
        made.setdict(own, priority="cmdline")
        with contextlib.closing(Wiring(made)) as wired:
            Stock(wired, random.Random(7)).fill(options.feeds, 0)
        env = clean_environment() | own
        print("| attack | MB | answers | healthz p50 | longest | readyz p50 | longest |\n|---|--:|---|--:|--:|--:|--:|")
        for number, (title, attack) in enumerate(attacks.items()):
            if options.only not in title:
                continue
            port = options.port + number
            command = ("-m", "scrapy", "api", "-s", f"FEEDCRAWL_API_PORT={port}")
            with running(*command, env=env, log=Path(name) / "api.log") as process:
                until(partial(is_ready, port), "the API")
                print(f"| {title} | {asyncio.run(under(attack, port, process))}", flush=True)
    return 0


def is_ready(port: int) -> bool:
    with urlopen(f"http://127.0.0.1:{port}/readyz") as answer:
        return bool(answer.status == 200)


if __name__ == "__main__":
    sys.exit(main())
