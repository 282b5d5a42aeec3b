"""`scrapy api` as a process of its own: it serves, ends at SIGTERM, and leaves no server behind."""

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
from api import free_port
from scrapy_process import REPOSITORY, clean_environment


def ready(url: str, process: "subprocess.Popen[bytes]") -> httpx.Response:
    end = time.monotonic() + 60
    while True:
        try:
            return httpx.get(f"{url}/readyz")
        except httpx.TransportError:
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)


def test_a_taken_port_is_an_error_in_a_single_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        own = {"FEEDCRAWL_DATA_DIR": str(tmp_path / "data"), "FEEDCRAWL_API_PORT": str(port)}
        ran = subprocess.run(
            [sys.executable, "-m", "scrapy", "api"],
            cwd=REPOSITORY,
            env=clean_environment() | own,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    error = f"scrapy api: nothing can be served at 127.0.0.1 port {port}: Address already in use (FEEDCRAWL_API_PORT)\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", error)


def test_the_api_serves_until_sigterm(tmp_path: Path) -> None:
    port = free_port()
    own = {
        "FEEDCRAWL_DATA_DIR": str(tmp_path / "data"),
        "FEEDCRAWL_API_PORT": str(port),
        "FEEDCRAWL_LOG_FORMAT": "json",
    }
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            [sys.executable, "-m", "scrapy", "api"],
            cwd=REPOSITORY,
            env=clean_environment() | own,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            assert ready(f"http://127.0.0.1:{port}", process).json() == {"status": "ready"}
            assert httpx.get(f"http://127.0.0.1:{port}/openapi.json", timeout=60).json()["info"]["title"] == "feedcrawl"
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            process.kill()
    assert not (tmp_path / "data" / "redis" / "valkey.sock").exists()
    assert "Traceback" not in (tmp_path / "log").read_text()
