"""Test cases made of archived and of fetched pages, checked, changed and accepted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scrapy_process import Run, run_scrapy
from world import World, entry, feed, good_page, world_in

from feedcrawl.domain.urls import url_uid


def fixture(world: World, *arguments: str, code: int = 0) -> Run:
    run = run_scrapy("fixture", *arguments, data_dir=world.data, env=world.env, timeout_sec=60)
    assert run.code == code, run.err
    return run


def test_saved_checked_and_accepted(tmp_path: Path) -> None:
    cases = tmp_path / "cases"
    with world_in(tmp_path) as world:
        site = world.origin.site("www.paper.test")
        archived, fetched = site.serve("/one", good_page("one")), site.serve("/two", good_page("two"))
        world.crawl("first", world.feeds_file(site.serve("/feed", feed([entry(site, "one")])) + "\n"))
        before = len(world.origin.ledger.requests)

        assert "read expected.json" in fixture(world, "--to", str(cases), archived).out
        assert len(world.origin.ledger.requests) == before  # out of the archive
        folder = cases / url_uid(archived)
        meta = json.loads((folder / "meta.json").read_text())
        assert (meta["url"], meta["feed"]["title"], meta["feed"]["authors"]) == (archived, "About one", ["Ada Writer"])
        (line,) = world.lines("articles")
        expected = json.loads((folder / "expected.json").read_text())
        assert {name: line[name] for name in expected} == expected  # what the crawl stored

        again = fixture(world, "--to", str(tmp_path / "by-id"), line["fetch_id"]).out
        assert str(tmp_path / "by-id" / url_uid(archived)) in again

        fixture(world, "--to", str(cases), fetched)
        assert [request.target for request in world.origin.ledger.requests[before:]] == ["/robots.txt", "/two"]
        assert fixture(world, "--check", str(cases)).out == "2 pages, 0 differ\n"

        (folder / "expected.json").write_text(json.dumps(expected | {"title": "Another"}))
        output = fixture(world, "--check", str(cases), code=1).out
        assert output == f'{folder.name}  title: "Another" → "About one"\n2 pages, 1 differ\n'
        fixture(world, "--check", "--accept", str(cases))
        assert json.loads((folder / "expected.json").read_text()) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--check", "{folder}"], "holds no test case"),
        (["00000000-0000-4000-8000-000000000000"], "has no fetch"),
        (["ftp://a.test/"], "scheme"),
        ([], "name one URL"),
    ],
)
def test_an_unusable_argument_is_refused(tmp_path: Path, arguments: list[str], message: str) -> None:
    run = run_scrapy("fixture", *(each.format(folder=tmp_path) for each in arguments), data_dir=tmp_path / "data")
    assert run.code == 2, run.err
    assert message in run.err + run.out
    assert not (tmp_path / "data").exists()
