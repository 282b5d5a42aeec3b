"""The settings of a source hold for its URLs, wherever they come from."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from documents import page, paragraphs
from origin import html, redirect
from scrapy_process import run_scrapy
from world import World, events, world_in

from feedcrawl.domain.urls import url_uid
from feedcrawl.services.operations import imports

SOURCE = """
- name: shop
  base_url: {base}
  ingestion_mode: spider
  category: goods
  priority: 8
  delay_sec: 0.4
  selectors: {{body: div.own}}
  trailing_slash: keep
"""
PATHS = ("/queue/", "/queue", "/links/", "/rest/", "/media/", "/target/")


def own_page(name: str) -> Any:
    body = f'<div class="own">{"".join(f"<p>{text}</p>" for text in paragraphs(f"item {name}"))}</div>'
    return html(
        page(f"About {name}", [f"Wrong words {name}. " * 40]).replace("<article", body + "<article"), etag=f'"{name}"'
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("sources")) as world:
        site, other = world.origin.site("m.shop.test"), world.origin.site("short.test")
        for path in PATHS:
            site.serve(path, own_page(path))
        other.serve("/s", redirect(site.url("/target/")))
        (world.folder / "sources.yaml").write_text(SOURCE.format(base=site.url("/").replace("m.shop", "www.shop")))
        world.settings["FEEDCRAWL_SOURCES"] = str(world.folder / "sources.yaml")
        with world.client() as client, world.wired() as wired:
            client.rpush("crawler_queue", site.url("/queue/"), site.url("/queue"), other.url("/s"))
            client.sadd("rss:category_links:linked", site.url("/links/"))
            wired.imports.queue_urls([site.url("/rest/")], imports.UrlOptions("asked"))
            wired.media.submit(site.url("/media/"), "me", wired.now())
        world.crawl("articles", spider="articles")
        with world.client() as client:
            client.rpush("crawler_queue", json.dumps({"url": site.url("/queue/"), "again": True}))
        world.crawl("again", spider="articles")
        yield world


def test_selectors_slashes_and_categories_hold(crawled: World) -> None:
    site = crawled.origin.site("m.shop.test")
    lines = {line["uid"]: line for line in crawled.lines("articles")}
    expected = {path: ["goods"] for path in PATHS} | {"/links/": ["linked", "goods"], "/rest/": ["asked", "goods"]}
    for path, categories in expected.items():
        line = lines[url_uid(site.url(path), keep_trailing_slash=True)]
        assert (line["canonical_url"], line["extractor"], line["categories"]) == (site.url(path), "rules", categories)
        assert "Wrong words" not in line["clean_text"]
    assert len(lines) == len(PATHS)


def test_a_domain_delay_applies_to_each_host(crawled: World) -> None:
    assert min(crawled.origin.ledger.gaps("m.shop.test")) >= 0.4


def test_tasks_have_the_source_and_its_priority(crawled: World) -> None:
    with crawled.wired() as wired:
        tasks = {task.url: task for task, _ in wired.frontier.urls()[1]}
    site = crawled.origin.site("m.shop.test")
    assert {tasks[site.url(path)].source for path in PATHS if path != "/target/"} == {"shop"}
    assert tasks[site.url("/queue/")].priority == 8


def test_a_url_queued_again_sends_its_validators(crawled: World) -> None:
    (request,) = crawled.requests["again"]
    assert (request.target, request.header("If-None-Match"), request.status) == ("/queue/", '"/queue/"', 304)
    url = crawled.origin.site("m.shop.test").url("/queue/")
    with crawled.client() as client:
        fetched = [each for each in events(client, "webpage_fetched") if each["url"] == url]
    assert len({each["event"] for each in fetched}) == 2  # the cached page is announced once more


def test_a_replay_changes_nothing(crawled: World) -> None:
    run = run_scrapy("replay", "--json", data_dir=crawled.data, env=crawled.env, timeout_sec=60)
    assert run.code == 0, run.err
    assert json.loads(run.out.splitlines()[-1]) == {"same": len(PATHS)}, run.out
