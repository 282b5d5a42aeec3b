"""What is deployed agrees with the project: it names settings, files, stages and versions that there are."""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ports import free_port
from prometheus_client import CollectorRegistry, Gauge
from scrapy_process import REPOSITORY

from feedcrawl.config import check
from feedcrawl.telemetry.metrics import Endpoint
from feedcrawl.telemetry.names import STORE_UP

DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((REPOSITORY / "compose.yaml").read_text())
UNITS = sorted((REPOSITORY / "deploy" / "systemd").glob("*.service"))
STAGES = re.findall(r"^FROM \S+ AS (\S+)", DOCKERFILE, re.M)


def stage(name: str) -> str:
    """A stage's own lines."""
    return DOCKERFILE.partition(f" AS {name}\n")[2].partition("\nFROM ")[0]


@pytest.mark.parametrize(
    "text",
    [DOCKERFILE, (REPOSITORY / "compose.yaml").read_text(), *(unit.read_text() for unit in UNITS)],
    ids=["Dockerfile", "compose.yaml", *(unit.name for unit in UNITS)],
)
def test_every_setting_that_is_named_is_one(text: str) -> None:
    named = set(re.findall(r"FEEDCRAWL_[A-Z0-9_]+", text))
    assert named
    check(iter(named))


def test_what_the_image_copies_is_there_and_let_through() -> None:
    let_through = [line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] == "!"]
    copied = [word for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.M) for word in line.split()[:-1]]
    assert sorted(copied) == sorted(let_through)
    assert all((REPOSITORY / path).exists() for path in copied)


def test_images_that_run_are_healthy_when_they_say_so_and_belong_to_nobody_of_weight() -> None:
    assert STAGES == ["build", "base", "api", "worker-chromium", "worker"]  # the last is what a bare build makes
    assert "USER 10001" in stage("base")
    for name in STAGES[2:]:
        assert "HEALTHCHECK" in stage(name)
        assert re.findall(r"^USER (\w+)", stage(name), re.M)[-1:] in ([], ["10001"])


def test_the_fleet_is_made_of_stages_and_pinned_images() -> None:
    for name, service in COMPOSE["services"].items():
        if "build" in service:
            target = service["build"]["target"]
            assert re.sub(r"\$\{WORKER:-(\w+)\}", r"\1", target) in STAGES, name
        else:
            assert re.search(r":v?\d+\.\d+", service["image"]), name
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:"), f"{name} listens beyond this machine"
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            there = (REPOSITORY / source).exists() if source.startswith(".") else source in COMPOSE["volumes"]
            assert there, volume


def test_the_server_of_the_fleet_is_one_that_a_crawl_accepts() -> None:
    said = " ".join(COMPOSE["services"]["valkey"]["command"])
    assert "--appendonly yes" in said
    assert "--maxmemory-policy noeviction" in said


def test_a_stop_gives_requests_their_time() -> None:
    for service in ("worker", "api"):
        assert COMPOSE["services"][service]["stop_grace_period"] == "45s"
    assert all("TimeoutStopSec=45" in unit.read_text() for unit in UNITS)


def test_versions_are_pinned_for_all_that_the_image_installs() -> None:
    lines = (REPOSITORY / "deploy" / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    extras = re.search(r"'\.\[([\w,]+)\]'", DOCKERFILE)
    assert extras is not None
    asked = [*project["dependencies"]]
    for extra in extras[1].split(","):
        asked += project["optional-dependencies"][extra]
    for needed in map(Requirement, asked):
        pin = pins.get(canonicalize_name(needed.name))
        if needed.marker is None or needed.marker.evaluate():
            assert pin is not None, needed.name
            assert needed.specifier.contains(pin), f"{needed}, pinned {pin}"
    for name in pins:
        for needed in map(Requirement, requires(name) or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in pins, f"{needed.name}, which {name} needs"


@pytest.mark.parametrize(
    ("up", "asked", "healthy"), [(1, "up", True), (0, "up", False), (0, "", True), (1, "no", False)]
)
def test_the_health_check(up: int, asked: str, healthy: bool) -> None:
    registry = CollectorRegistry()
    Gauge(STORE_UP.full_name, STORE_UP.meaning, registry=registry).set(up)
    port = free_port()
    (line,) = set(re.findall(r'/metrics", "(.+)"\]', DOCKERFILE))
    line = {"up": line, "no": "something else", "": ""}[asked]
    words = [sys.executable, "deploy/healthy.py", f"http://127.0.0.1:{port}/metrics", *([line] if line else [])]
    endpoint = Endpoint(registry, "127.0.0.1", port)
    answered = subprocess.run(words, cwd=REPOSITORY, capture_output=True, timeout=30, check=False)
    endpoint.close()
    silent = subprocess.run(words, cwd=REPOSITORY, capture_output=True, timeout=30, check=False)
    assert (answered.returncode == 0, silent.returncode == 0) == (healthy, False)
