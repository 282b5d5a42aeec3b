"""Scrapy's command line of this project in a process of its own, as a user runs it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Run:
    """How a process ended, and what it wrote."""

    code: int
    out: str
    err: str


def clean_environment() -> dict[str, str]:
    """This process's environment without what would steer the product."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("FEEDCRAWL_", "SCRAPY_"))
        and name != "REDIS_URL"
        and not name.lower().endswith("_proxy")
    }


def run_scrapy(*arguments: str, data_dir: Path, env: Mapping[str, str] | None = None, timeout_sec: float = 60.0) -> Run:
    """Run `scrapy …` in the repository's root. One that outlasts its time is killed and fails with what it wrote."""
    process = subprocess.Popen(
        [sys.executable, "-m", "scrapy", *arguments],
        cwd=REPOSITORY,
        env=clean_environment() | {"FEEDCRAWL_DATA_DIR": str(data_dir)} | dict(env or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            out, err = process.communicate(timeout=timeout_sec)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            lasted = f"scrapy {' '.join(arguments)} was still running after {timeout_sec:g} s"
            raise AssertionError(f"{lasted}\n{out[-2000:]}\n{err[-6000:]}") from None
    return Run(process.returncode, out, err)
