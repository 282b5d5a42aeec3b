"""A real Scrapyd: the project is deployed as an egg, and a job runs from it."""

import contextlib
import json
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit
from zipfile import ZipFile

import pytest
from documents import items, page, paragraphs, rss
from origin import Origin, document, html
from ports import free_port
from scrapy_process import REPOSITORY, clean_environment

INSTALLED = find_spec("scrapyd") is not None and find_spec("scrapyd_client") is not None
pytestmark = pytest.mark.skipif(not INSTALLED, reason="needs scrapyd and scrapyd-client: pip install them")

PROJECT_FILES = ("pyproject.toml", "setup.py", "README.md")
START_SEC, JOB_SEC = 30.0, 90.0


@dataclass(frozen=True)
class Scrapyd:
    url: str
    directory: Path

    def request(self, resource: str, **form: str) -> dict[str, Any]:
        data = urlencode(form).encode() if form else None
        with urllib.request.urlopen(f"{self.url}{resource}", data, timeout=60) as answer:
            return dict(json.load(answer))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy, since building an egg writes beside setup.py."""
    copy = tmp_path / "project"
    shutil.copytree(REPOSITORY / "feedcrawl", copy / "feedcrawl", ignore=shutil.ignore_patterns("__pycache__"))
    for name in PROJECT_FILES:
        shutil.copy(REPOSITORY / name, copy / name)
    return copy


@pytest.fixture
def scrapyd(tmp_path: Path) -> Iterator[Scrapyd]:
    directory = tmp_path / "scrapyd"
    directory.mkdir()
    port = free_port()
    (directory / "scrapyd.conf").write_text(
        f"[scrapyd]\nbind_address = 127.0.0.1\nhttp_port = {port}\npoll_interval = 0.2\njobs_to_keep = 5\n"
        "eggs_dir = eggs\nlogs_dir = logs\ndbs_dir = dbs\n"
    )
    with (directory / "log").open("wb") as log:
        command = [sys.executable, "-m", "scrapyd"]
        process = subprocess.Popen(command, cwd=directory, env=clean_environment(), stdout=log, stderr=log)
    with process:
        try:
            server = Scrapyd(f"http://127.0.0.1:{port}/", directory)
            wait_for(server, process)
            yield server
        finally:
            process.terminate()


def wait_for(server: Scrapyd, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SEC
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            server.request("daemonstatus.json")
            return
        time.sleep(0.1)
    raise AssertionError(f"scrapyd did not start: {(server.directory / 'log').read_text()[-3000:]}")


def deploy(project: Path, server: Scrapyd) -> None:
    (project / "scrapy.cfg").write_text(
        f"[settings]\ndefault = feedcrawl.settings\n[deploy]\nurl = {server.url}\nproject = feedcrawl\nversion = 1\n"
    )
    command = [sys.executable, "-m", "scrapyd_client.deploy", "--debug"]
    ran = subprocess.run(
        command, cwd=project, env=clean_environment(), capture_output=True, text=True, timeout=100, check=False
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]


def finished(server: Scrapyd, job: str) -> dict[str, Any]:
    until = time.monotonic() + JOB_SEC
    while time.monotonic() < until:
        jobs = server.request("listjobs.json?project=feedcrawl")
        for each in jobs["finished"]:
            if each["id"] == job:
                return dict(each)
        time.sleep(0.2)
    raise AssertionError(f"the job did not end: {jobs}\n{job_log(server)}")


def job_log(server: Scrapyd) -> str:
    return "\n".join(path.read_text() for path in (server.directory / "logs").rglob("*.log"))


def test_a_job_runs_from_an_egg(
    project: Path, scrapyd: Scrapyd, origin: Origin, hosts_file: Path, tmp_path: Path
) -> None:
    site = origin.site("site-1.test")
    entries = items(2, site.url())
    feed = site.serve("/feed", document(rss(entries)))
    for entry in entries:
        site.serve(urlsplit(entry.url).path, html(page(entry.title, paragraphs(entry.url, 4))))

    deploy(project, scrapyd)
    assert set(scrapyd.request("listspiders.json?project=feedcrawl")["spiders"]) >= {"feeds"}
    (egg,) = (scrapyd.directory / "eggs").rglob("*.egg")
    inside = ZipFile(egg).namelist()
    lua = {
        f"feedcrawl/store/frontier/lua/{path.name}"
        for path in (REPOSITORY / "feedcrawl/store/frontier/lua").glob("*.lua")
    }
    assert lua
    assert lua <= set(inside)
    assert not [name for name in inside if name.startswith("tests/")]

    data = tmp_path / "data"
    settings = {
        "FEEDCRAWL_DATA_DIR": data,
        "FEEDCRAWL_HOSTS_FILE": hosts_file,
        "FEEDCRAWL_ALLOW_NETWORKS": "127.1.0.0/16",
        "FEEDCRAWL_LINGER_SEC": 1,
        "FEEDCRAWL_HOST_DELAY_SEC": 0.05,
        "FEEDCRAWL_PARSER_PROCESSES": 1,
    }
    form = [("project", "feedcrawl"), ("spider", "feeds"), ("feeds", feed)]
    form += [("setting", f"{name}={value}") for name, value in settings.items()]
    with urllib.request.urlopen(f"{scrapyd.url}schedule.json", urlencode(form).encode(), timeout=60) as answer:
        scheduled = json.load(answer)
    assert scheduled["status"] == "ok", scheduled

    finished(scrapyd, scheduled["jobid"])
    log = job_log(scrapyd)
    assert "reason=finished" in log, log
    (day,) = (data / "articles").glob("*.ndjson")
    stored = {json.loads(line)["url"] for line in day.read_text().splitlines()}
    assert stored == {entry.url for entry in entries}, log
