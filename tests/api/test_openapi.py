"""Requests that nobody thought of, made of the OpenAPI document, against an API that has something stored."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from api import free_port, serving
from documents import paragraphs
from stories import Reader, wired_to

from feedcrawl.services.operations import tokens

EXAMPLES = 15
# What a check asks for that the API has reasons not to give:
UNFIT = (
    "positive_data_acceptance",  # a cursor or a URL is any text to a schema, and refused where it is none of ours
    "unsupported_method",  # what another route would take is refused for its name
    "allow_header_conformance",  # Starlette names the methods of the first route of a path alone
)
CONFIG = """
[checks.negative_data_rejection]
expected-statuses = [400, 401, 403, 404, 405, 409, 413, 414, 415, 422, 429]
"""
ROUTES = "articles|collections|dlq|entries|events|feeds|frontier|media|metrics|opml|raw|sources"


@pytest.fixture
def served(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The address of an API that asks for tokens, and one of them."""
    free = {"FEEDCRAWL_API_HOST": "0.0.0.0", "FEEDCRAWL_API_RATE": "0", "FEEDCRAWL_API_WRITE_RATE": "0"}
    with wired_to(redis_server, tmp_path, **free) as wired:
        reader = Reader(wired)
        reader.now = wired.now()
        for number in range(3):
            url = f"http://a.paper.test/{number}"
            reader.read(url, "\n".join(paragraphs(f"story {number}", count=5)), category="c")
            wired.media.submit(url, "ada", wired.now())
        reader.read("http://b.paper.test/0", "\n".join(paragraphs("story 0", count=5)))
        reader.fail("http://a.paper.test/none")
        wired.media.submit("http://a.paper.test/waits", "ada", wired.now())
        token, _ = tokens.create(wired.tokens, "ada", "admin", wired.now())
        with serving(wired, free_port()) as url:
            yield url, token


@pytest.mark.slow
def test_schemathesis_finds_no_failure(served: tuple[str, str], tmp_path: Path) -> None:
    url, token = served
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{url}/openapi.json"]
    command += ["-H", f"Authorization: Bearer {token}", "--max-examples", str(EXAMPLES), "--generation-deterministic"]
    command += ["--request-timeout", "10", "--no-color", "--continue-on-failure"]
    command += ["--include-path-regex", f"^/({ROUTES})", "--exclude-checks", ",".join(UNFIT)]
    (tmp_path / "schemathesis.toml").write_text(CONFIG)
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    run = subprocess.run(command, check=False, cwd=tmp_path, env=environment, capture_output=True, timeout=150)
    lines = [line[:400] for line in run.stdout.decode("utf-8", "replace").splitlines()]
    assert run.returncode == 0, "\n".join([*lines[-150:], run.stderr.decode("utf-8", "replace")[-2000:]])
    paths = httpx.get(f"{url}/openapi.json", headers={"Authorization": f"Bearer {token}"}, timeout=60).json()["paths"]
    selected = sum(len(operations) for path, operations in paths.items() if re.match(f"/({ROUTES})", path))
    assert selected >= 40
    assert any(f"Selected: {selected}/" in line for line in lines), "\n".join(lines[:20])
