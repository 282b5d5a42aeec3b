"""What is deployed agrees with the project: it names settings, files, stages and versions that there are."""

import os
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable
from importlib.metadata import requires
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ports import free_port
from prometheus_client import CollectorRegistry, Gauge
from scrapy_process import REPOSITORY

from feedcrawl.config import check
from feedcrawl.store.redis.connection import connect
from feedcrawl.store.redis.embedded import binary
from feedcrawl.store.redis.errors import ServerRefused
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
def test_every_setting_named_in_deployments_exists(text: str) -> None:
    named = set(re.findall(r"FEEDCRAWL_[A-Z0-9_]+", text))
    assert named
    check(iter(named))


def test_files_copied_into_the_image_exist_and_are_let_through() -> None:
    let_through = [line[1:] for line in (REPOSITORY / ".dockerignore").read_text().splitlines() if line[:1] == "!"]
    copied = [word for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.M) for word in line.split()[:-1]]
    assert sorted(copied) == sorted(let_through)
    assert all((REPOSITORY / path).exists() for path in copied)


def test_images_that_run_have_a_health_check_and_no_root() -> None:
    assert STAGES[:3] == ["build", "build-api", "base"]
    assert STAGES[3:] == ["api", "worker-chromium", "worker"]  # the last is what a bare build makes
    assert "USER 10001" in stage("base")
    for name in STAGES[3:]:
        assert "HEALTHCHECK" in stage(name)
        assert re.findall(r"^USER (\w+)", stage(name), re.M)[-1:] in ([], ["10001"])


def test_the_image_of_the_api_needs_no_browser() -> None:
    removed = re.findall(r"pip uninstall -y (.+)", stage("build-api"))[0].split()
    assert "playwright" in removed
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({[each.replace('-', '_') for each in removed]}));"
        "import feedcrawl.api.app, feedcrawl.console.operations.api, feedcrawl.console.operations.relay;"
        "import feedcrawl.wiring;"
        "import feedcrawl.services.operations.relay, feedcrawl.services.operations.kafka, feedcrawl.extensions.logs"
    )
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, timeout=120, check=True)


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


# Why a service may write to its own file system.
WRITES = {"kafka": "its image writes its configuration at the start"}


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_services_have_no_rights_that_they_do_not_need(name: str) -> None:
    service = COMPOSE["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service.get("read_only", False) is (name not in WRITES)


def test_only_the_services_that_use_the_server_reach_it() -> None:
    networks = COMPOSE["networks"]
    users = {name for name, each in COMPOSE["services"].items() if "store" in each.get("networks", ["default"])}
    assert users == {"valkey", "worker", "api", "relay"}
    assert COMPOSE["services"]["valkey"]["networks"] == ["store"]
    assert "ports" not in COMPOSE["services"]["valkey"]
    assert networks["store"] == networks["brokers"] == {"internal": True}


def test_no_login_has_a_default() -> None:
    text = (REPOSITORY / "compose.yaml").read_text()
    for secret in ("VALKEY_PASSWORD", "GRAFANA_PASSWORD"):
        assert set(re.findall(rf"\$\{{{secret}(..)", text)) == {":?"}, f"{secret} must be required"


def test_a_crawl_accepts_the_server_of_the_fleet_with_its_password(tmp_path: Path) -> None:
    shell, option, script = COMPOSE["services"]["valkey"]["command"]
    (tmp_path / "valkey-server").symlink_to(binary())
    port = free_port()
    words = [shell, option, script.replace("$$", "$").replace(" - ", f" - --port {port} --bind 127.0.0.1 ", 1)]
    where = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "REDISCLI_AUTH": "secret0"}
    with subprocess.Popen(words, cwd=tmp_path, env=where, stdout=subprocess.DEVNULL) as server:
        try:
            with pytest.raises(ServerRefused, match="refused the login"):
                until_up(lambda: connect(url=f"redis://127.0.0.1:{port}", data_dir=tmp_path).close())
            with connect(url=f"redis://:secret0@127.0.0.1:{port}", data_dir=tmp_path) as connection:
                assert connection.warnings == ()
            assert b"secret0" not in Path(f"/proc/{server.pid}/cmdline").read_bytes()
        finally:
            server.terminate()
    assert server.returncode == 0  # SIGTERM reaches the server itself


def until_up(connects: Callable[[], None]) -> None:
    """Tries until the server answers, be it with a refusal of the login."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        try:
            return connects()
        except ServerRefused as refused:
            if refused.code != "unreachable":
                raise
            time.sleep(0.02)
    raise AssertionError("the server does not answer")


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
    required = [*project["dependencies"]]
    for extra in extras[1].split(","):
        required += project["optional-dependencies"][extra]
    for needed in map(Requirement, required):
        pin = pins.get(canonicalize_name(needed.name))
        if needed.marker is None or needed.marker.evaluate():
            assert pin is not None, needed.name
            assert needed.specifier.contains(pin), f"{needed}, pinned {pin}"
    for name in pins:
        for needed in map(Requirement, requires(name) or ()):
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert canonicalize_name(needed.name) in pins, f"{needed.name}, which {name} needs"


@pytest.mark.parametrize(
    ("up", "pattern", "healthy"), [(1, "up", True), (0, "up", False), (0, "", True), (1, "no", False)]
)
def test_the_health_check(up: int, pattern: str, healthy: bool) -> None:
    registry = CollectorRegistry()
    Gauge(STORE_UP.full_name, STORE_UP.meaning, registry=registry).set(up)
    port = free_port()
    (line,) = set(re.findall(r'/metrics", "(.+)"\]', DOCKERFILE))
    line = {"up": line, "no": "something else", "": ""}[pattern]
    words = [sys.executable, "deploy/healthy.py", f"http://127.0.0.1:{port}/metrics", *([line] if line else [])]
    endpoint = Endpoint(registry, "127.0.0.1", port)
    answered = subprocess.run(words, cwd=REPOSITORY, capture_output=True, timeout=30, check=False)
    endpoint.close()
    silent = subprocess.run(words, cwd=REPOSITORY, capture_output=True, timeout=30, check=False)
    assert (answered.returncode == 0, silent.returncode == 0) == (healthy, False)
