"""feedcrawl outside its clone: in the project of docs/embedding.md, and by its console script in an empty folder."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from documents import paragraphs, prose
from origin import Origin, html
from scrapy_process import REPOSITORY, Run, clean_environment
from world import SETTINGS, entry, feed, good_page

import feedcrawl
from feedcrawl.domain.errors import NoArticle, NotAFeed

PAGE = (REPOSITORY / "docs" / "embedding.md").read_text()
FILE = re.compile(r"`([\w/.]+)`\S*\n\n```\w+\n(.*?)```", re.DOTALL)


@dataclass
class Project:
    """A folder in which commands are run with the package on the path, as if it were installed."""

    folder: Path
    hosts: Path

    def run(self, *words: str, inside: str = "", **env: str) -> Run:
        own = {"FEEDCRAWL_HOSTS_FILE": str(self.hosts), "PYTHONPATH": str(REPOSITORY)}
        home = {"XDG_DATA_HOME": str(self.folder / "home"), "HOME": str(self.folder / "home")}
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder / inside,
            env=clean_environment() | SETTINGS | own | home | env,
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def project(tmp_path: Path, hosts_file: Path) -> Project:
    folder = tmp_path / "empty"
    folder.mkdir()
    return Project(folder, hosts_file)


@pytest.fixture
def url(origin: Origin) -> str:
    """A feed of two articles."""
    site = origin.site("news.test")
    for name in ("a", "b"):
        site.serve(f"/{name}", good_page(name))
    return site.serve("/feed", feed([entry(site, "a"), entry(site, "b")]))


def write(project: Project, **more: str) -> None:
    """The files that the documentation shows."""
    files = FILE.findall(PAGE)
    assert [name for name, _ in files] == [
        "scrapy.cfg",
        "news/settings.py",
        "news/pipelines.py",
        "news/spiders/front.py",
    ]
    for name, text in [*files, ("news/__init__.py", ""), ("news/spiders/__init__.py", "")]:
        path = project.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + more.get(path.stem, ""))


def test_the_project_of_the_documentation(project: Project, url: str, origin: Origin) -> None:
    write(project)
    crawled = project.run("scrapy", "crawl", "feeds", "-a", f"feeds={url}")
    assert crawled.code == 0, crawled.err
    assert sorted((project.folder / "headlines.txt").read_text().splitlines()) == ["About a", "About b"]
    stored = [
        json.loads(line) for path in project.folder.glob("data/articles/*") for line in path.read_text().splitlines()
    ]
    assert len(stored) == 2

    inside = project.run("scrapy", "feeds", "--json", inside="news/spiders")  # the same data from below
    assert [each["url"] for each in json.loads(inside.out)] == [url]
    assert not (project.folder / "news" / "spiders" / "data").exists()

    site = origin.site("front.test")
    start = site.serve("/", html('<a href="/x">x</a>'))
    origin.write_hosts()
    spider = project.folder / "news" / "spiders" / "front.py"
    shown = "https://blog.example.org/"
    assert shown in spider.read_text()
    spider.write_text(spider.read_text().replace(shown, start))
    own = project.run("scrapy", "crawl", "front", "-O", "front.jsonl")
    assert own.code == 0, own.err
    assert json.loads((project.folder / "front.jsonl").read_text()) == {"url": start, "links": 1}


def test_commands_without_stores_leave_the_data_of_a_project_alone(project: Project, url: str) -> None:
    write(project)
    for words in (("fetch", url), ("shell", url, "-c", "entries(response)")):
        done = project.run("scrapy", *words)
        assert done.code == 0, done.err
        assert "crawl finished" not in done.err
        enabled = done.err.partition("Enabled extensions:")[2].partition("]")[0]
        assert "scrapy.extensions" in enabled
        assert "feedcrawl" not in enabled
    assert not (project.folder / "data").exists()


def test_the_console_script_in_an_empty_folder(project: Project, url: str) -> None:
    crawled = project.run("feedcrawl", "crawl", "feeds", "-a", f"feeds={url}")
    assert crawled.code == 0, crawled.err
    assert list(project.folder.iterdir()) == [project.folder / "home"]
    assert project.run("feedcrawl", "why", url).out.splitlines()[1].startswith("Next poll at")
    assert (project.folder / "home" / "feedcrawl" / "redis").is_dir() or sys.platform == "darwin"


def test_a_folder_becomes_a_project(project: Project, url: str) -> None:
    assert project.run("feedcrawl", "init").code == 0
    again = project.run("feedcrawl", "init")
    assert (again.code, "is a project already" in again.err) == (2, True)
    (project.folder / "below").mkdir()
    done = project.run("scrapy", "subscribe", "--as-is", url, inside="below")
    assert (done.code, (project.folder / "data" / "redis").is_dir()) == (0, True), done.err


def test_documents_are_read_without_a_crawl() -> None:
    body = b"<rss version='2.0'><channel><title>T</title><item><title>A</title><link>/a</link></item></channel></rss>"
    found = feedcrawl.parse(body, "https://example.org/feed.xml")
    assert (found.title, found.entries[0].link) == ("T", "https://example.org/a")
    with pytest.raises(NotAFeed):
        feedcrawl.parse(b"<html><body>No feed</body></html>", "https://example.org/")

    text = "".join(f"<p>{each}</p>" for each in paragraphs("a story", count=5))
    article = feedcrawl.extract(
        f"<html><title>A story</title><article>{text}</article></html>", "https://example.org/a"
    )
    assert (article.title, prose("a story", 1)[:20] in article.text or len(article.text) > 200) == ("A story", True)
    with pytest.raises(NoArticle):
        feedcrawl.extract("<html></html>", "https://example.org/b")


def test_the_import_is_cheap() -> None:
    code = "import sys, feedcrawl; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(REPOSITORY)}, capture_output=True, check=True
    )
    assert not {"scrapy", "lxml", "redis", "twisted", "asyncio"} & set(done.stdout.decode().split())
