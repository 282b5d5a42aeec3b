"""Addresses as people type them: without a scheme, with the wrong one, or of nothing at all."""

from collections.abc import Iterator

import pytest
from scrapy_process import Run, run_scrapy
from world import World, entry, feed, good_page, world_in

from feedcrawl.services.subscriptions import finding


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world_in(tmp_path_factory.mktemp("schemes")) as world:
        for name in ("looked", "crawled", "twin", "secure", "picked", "again"):
            site = world.origin.site(f"{name}.test")
            site.serve("/feed", feed([entry(site, name)]))
            site.serve(f"/{name}", good_page(name))
        yield world


def typed(world: World, name: str, path: str = "/feed") -> str:
    """The address of a site's feed without its scheme."""
    return world.origin.sites[f"{name}.test"].url(path).removeprefix("http://")


def scrapy(world: World, *words: str) -> Run:
    return run_scrapy(*words, data_dir=world.data, env=world.env, timeout_sec=60)


@pytest.fixture(scope="module")
def subscribed(world: World) -> Run:
    names = [typed(world, "looked"), f"http://{typed(world, 'looked', '/404')}", f"pcast://{typed(world, 'twin')}"]
    return scrapy(world, "subscribe", *names, f"https://{typed(world, 'secure')}")


def test_https_is_tried_then_http(world: World, subscribed: Run) -> None:
    shown = {line.split()[1] for line in subscribed.out.splitlines()}
    assert {f"http://{typed(world, name)}" for name in ("looked", "twin")} <= shown


def test_each_failure_is_a_single_sentence(world: World, subscribed: Run) -> None:
    missing = f"http://{typed(world, 'looked', '/404')}"
    assert f"{missing}: it is not subscribed: its server responds 404 Not Found; --as-is does it anyway (http_404)" in (
        subscribed.err
    )
    assert f"https://{typed(world, 'secure')} could not be looked at, " in subscribed.err
    assert f"3 of 4, refused: {missing}" in subscribed.err
    assert "Traceback" not in subscribed.err
    assert "<class" not in subscribed.err


def test_an_address_that_is_subscribed_already_is_named(world: World) -> None:
    known = f"http://{typed(world, 'again')}"
    assert scrapy(world, "subscribe", "--as-is", known).code == 0
    other = scrapy(world, "subscribe", f"https://{typed(world, 'again')}")
    assert (other.code, other.out.split()[1:]) == (0, [known])
    assert f"{known} stays subscribed" in other.err  # https cannot be reached
    again = scrapy(world, "subscribe", typed(world, "again"))
    assert f"{typed(world, 'again')} is subscribed already, as {known}" in again.err


def test_a_pick_beyond_the_offered_feeds_is_an_error(world: World, subscribed: Run) -> None:
    ran = scrapy(world, "subscribe", "--pick", "5", typed(world, "picked"))
    assert ran.code == 2
    assert "--pick 5, but it offers 1 feed (no_such_feed)" in ran.err


def test_a_crawl_guesses_schemes_and_forgets_missing_addresses(world: World, subscribed: Run) -> None:
    missing = f"http://{typed(world, 'crawled', '/404')}"
    world.crawl("all", f"feeds={typed(world, 'crawled')},{missing}", code=1)
    with world.wired() as wired:
        found = finding.find(wired.registry, typed(world, "crawled"))
        assert found is not None
        assert found.subscription.url == f"http://{typed(world, 'crawled')}"
        assert finding.find(wired.registry, missing) is None
    (refused,) = world.logged("all", "feed_refused")
    assert (refused["url"], refused["reason"]) == (missing, "http_404")


def test_a_missing_file_stops_before_anything_is_polled(world: World, subscribed: Run) -> None:
    world.crawl("missing", f"feeds=no.opml,http://{typed(world, 'twin')}", "now=1", code=2)
    assert world.requests["missing"] == []
