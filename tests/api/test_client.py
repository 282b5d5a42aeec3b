"""A client that a generator makes of the OpenAPI document subscribes, waits and reads an article."""

import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import httpx
import pytest
from callers import callers
from world import entry, feed, good_page, world_in

NAME = "generated_client"
CONFIG = f"project_name_override: generated-client\npackage_name_override: {NAME}\npost_hooks: []\n"


def generated(document: object, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The client package that openapi-python-client writes for a document."""
    source, config = folder / "openapi.json", folder / "config.yaml"
    source.write_text(json.dumps(document))
    config.write_text(CONFIG)
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none"]
    command += ["--path", source, "--config", config, "--output-path", folder / NAME]
    run = subprocess.run(list(map(str, command)), check=False, cwd=folder, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    left_out = [line for line in run.stdout.splitlines() if "not be generated" in line or "omitted" in line]
    assert not left_out, run.stdout
    monkeypatch.syspath_prepend(folder)
    return importlib.import_module(NAME)


@pytest.mark.slow
def test_a_generated_client_reads_an_article(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with world_in(tmp_path, FEEDCRAWL_PARSER_PROCESSES="1") as world:
        site = world.origin.site("news.test")
        site.serve("/bridge", good_page("bridge"))
        site.serve("/feed", feed([entry(site, "bridge")]))
        with callers(world.url, world.data, ALLOW_NETWORKS="127.1.0.0/16", API_HOST="0.0.0.0", SHARDS="1") as api:
            package = generated(httpx.get(f"{api.url}/openapi.json", timeout=60).json(), tmp_path, monkeypatch)
            with package.AuthenticatedClient(base_url=api.url, token=api.token("write")) as client:
                models = importlib.import_module(f"{NAME}.models")

                def call(topic: str, operation: str, *path: str, **given: object) -> object:
                    module = importlib.import_module(f"{NAME}.api.{topic}.{operation}")
                    return module.sync(*path, client=client, **given)

                made = call("feeds", "subscribe", body=models.NewFeed(url=site.url("/feed")))
                assert isinstance(made, models.Feed)
                again = call("feeds", "subscribe", body=models.NewFeed(url=site.url("/feed")))
                assert again.id == made.id
                world.crawl("first")
                assert call("feeds", "get_feed", made.id).stats.last_result == "fetched"
                assert call("feeds", "why", made.id).candidates
                (outline,) = call("articles", "list_articles").articles
                article = call("articles", "get_article", outline.uid)
                assert isinstance(article, models.Article)
                assert (article.canonical_url, article.status) == (site.url("/bridge"), "success")
                assert article.clean_text
                missing = call("articles", "get_article", "0" * 16)
                assert isinstance(missing, models.Problem)
                assert missing.code == "article_unknown"
                assert call("frontier", "frontier_figures").due == 0
                assert call("health", "readyz").status == "ready"
                bad = call("feeds", "subscribe", body=models.NewFeed(url="ftp://news.test/feed"))
                assert (bad.code, bad.status) == ("url_scheme", 422)
