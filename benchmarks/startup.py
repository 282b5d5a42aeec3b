"""Processor time from start to end of commands that look and go, as a ratio to bare `scrapy version`.

    python benchmarks/startup.py [--rounds 5]

Each command runs in a fresh process on a small data directory of its own, the commands in turn in each round; the least
of a command's rounds counts. The embedded server is kept alive beside them, so its own work is not in the figures.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
BARE: tuple[str, ...] = ("version",)
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("feeds",),
    ("why", "https://a.test/feed"),
    ("list",),
    ("opml",),
    ("dlq", "list"),
)


def processor_time(words: tuple[str, ...], folder: Path, env: dict[str, str]) -> float:
    """Seconds of processor time, in user and system mode, of `scrapy` with these words."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "scrapy", *words]
    subprocess.run(command, cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    """Prints a row for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        outside = Path(name)
        mine = ("FEEDCRAWL_", "SCRAPY_", "PYTHONDONTWRITEBYTECODE")  # users have compiled modules
        env = {each: value for each, value in os.environ.items() if not each.startswith(mine)}
        env |= {"FEEDCRAWL_DATA_DIR": str(outside / "data"), "PYTHONPATH": str(REPOSITORY)}
        subscribe = [sys.executable, "-m", "scrapy", "subscribe", "--as-is", "https://a.test/feed"]
        subprocess.run(subscribe, cwd=REPOSITORY, env=env, stdout=subprocess.DEVNULL, check=True)
        hold = (
            "import sys; from pathlib import Path; from feedcrawl.store.redis.connection import connect\n"
            "with connect(url=None, data_dir=Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
        )
        holder = [sys.executable, "-c", hold, str(outside / "data")]
        with subprocess.Popen(holder, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            server.stdout.readline()
            measured: dict[tuple[str, ...], list[float]] = {}
            for _ in range(rounds):
                measured.setdefault(BARE, []).append(processor_time(BARE, outside, env))
                for words in COMMANDS:
                    measured.setdefault(words, []).append(processor_time(words, REPOSITORY, env))
            server.communicate()
    bare = min(measured[BARE])
    print("| command | processor time, s | to bare `scrapy version` |\n|---|--:|--:|")
    for words, times in measured.items():
        print(f"| `scrapy {' '.join(words)}` | {min(times):.2f} | {min(times) / bare:.2f} |")


if __name__ == "__main__":
    main()
