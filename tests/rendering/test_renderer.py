"""When browsers begin and end, without one."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response
from scrapy.settings import Settings

from feedcrawl.rendering import renderer as rendering
from feedcrawl.rendering.browser import NoBrowser, find_browser, own_browser
from feedcrawl.rendering.renderer import Renderer, RenderFailed
from feedcrawl.settings import from_environment

URL = "http://a.org/"


class Browser:
    """Counts beginnings and ends; fails where a test says so."""

    made: list["Browser"]
    failure: Exception | None

    def __init__(self, *_: Any, **__: Any) -> None:
        self.usable, self.ended = True, False
        Browser.made.append(self)

    async def start(self) -> None:
        if Browser.failure:
            raise Browser.failure


class Run:
    """A run whose pages end as the test says."""

    pages: Callable[["Run"], Awaitable[Response]]

    def __init__(self, _: Any, browser: Browser, __: float) -> None:
        self.browser, self.open, self.served = browser, 0, 0

    async def page(self, _: Request) -> Response:
        return await Run.pages(self)

    async def close(self) -> None:
        self.browser.ended = True


async def good(_: Run) -> Response:
    await asyncio.sleep(0)
    return HtmlResponse(URL)


class Stats(dict[str, int]):
    def inc_value(self, name: str) -> None:
        self[name] = self.get(name, 0) + 1


class Crawler:
    def __init__(self, **given: Any) -> None:
        self.settings = Settings(from_environment({}) | {"USER_AGENT": "us"} | given)
        self.stats = Stats()
        self.engine = None


Scene = Callable[[Renderer], Awaitable[None]]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[Browser], Stats]]:
    """Plays a scene with a renderer; the browsers that there were, and what was counted."""
    monkeypatch.setattr(rendering, "GuardedBrowser", Browser)
    monkeypatch.setattr(rendering, "_Run", Run)
    monkeypatch.setattr(Browser, "made", [], raising=False)
    monkeypatch.setattr(Browser, "failure", None, raising=False)
    monkeypatch.setattr(Run, "pages", staticmethod(good), raising=False)

    def played(scene: Scene, **given: Any) -> tuple[list[Browser], Stats]:
        crawler: Any = Crawler(**given)

        async def whole() -> None:
            renderer = Renderer(crawler)
            await scene(renderer)
            await renderer.close()

        asyncio.run(whole())
        return Browser.made, crawler.stats

    return played


def rendered_request() -> Request:
    return Request(URL, meta={"playwright": True})


async def refused(renderer: Renderer) -> str:
    with pytest.raises(RenderFailed) as caught:
        await renderer.download(rendered_request())
    return caught.value.reason


def test_pages_share_a_browser_that_ends_with_the_crawl(play) -> None:
    async def scene(renderer: Renderer) -> None:
        assert Browser.made == []
        for _ in range(3):
            assert (await renderer.download(rendered_request())).url == URL
        assert [each.ended for each in Browser.made] == [False]

    browsers, stats = play(scene)
    assert [each.ended for each in browsers] == [True]
    assert stats == {"feedcrawl/render/pages": 3, "feedcrawl/render/browsers": 1}


def test_a_browser_that_has_served_enough_ends_with_its_last_page(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "PAGES_OF_A_BROWSER", 2)

    async def scene(renderer: Renderer) -> None:
        await asyncio.gather(*(renderer.download(rendered_request()) for _ in range(6)))

    browsers, _ = play(scene)
    assert [each.ended for each in browsers] == [True, True, True]


def test_an_idle_browser_is_closed(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "IDLE_SEC", 0.02)

    async def scene(renderer: Renderer) -> None:
        await renderer.download(rendered_request())
        async with asyncio.timeout(20):
            while [each.ended for each in Browser.made] != [True]:
                await asyncio.sleep(0.005)
        await renderer.download(rendered_request())
        assert [each.ended for each in Browser.made] == [True, False]

    play(scene)


@pytest.mark.parametrize("pages", [1, 2, 5])
def test_no_more_pages_than_configured_are_open_at_once(play, monkeypatch: pytest.MonkeyPatch, pages: int) -> None:
    most = 0

    async def counted(run: Run) -> Response:
        nonlocal most
        most = max(most, run.open)
        await asyncio.sleep(0.002)
        return HtmlResponse(URL)

    monkeypatch.setattr(Run, "pages", staticmethod(counted))

    async def scene(renderer: Renderer) -> None:
        await asyncio.gather(*(renderer.download(rendered_request()) for _ in range(12)))

    play(scene, FEEDCRAWL_RENDER_PAGES=pages)
    assert most == pages


def test_a_request_that_would_wait_long_is_refused(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "WAITING", 3)
    found: list[object] = []

    async def scene(renderer: Renderer) -> None:
        found.extend(
            await asyncio.gather(*(renderer.download(rendered_request()) for _ in range(7)), return_exceptions=True)
        )

    play(scene)
    assert [getattr(each, "reason", "shown") for each in found].count("render_busy") == 2


def test_the_hard_limit(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "HARD_SEC", 0.0)

    async def hung(run: Run) -> Response:
        try:
            await asyncio.sleep(60)
        finally:
            run.browser.usable = False
        raise AssertionError

    monkeypatch.setattr(Run, "pages", staticmethod(hung))

    async def scene(renderer: Renderer) -> None:
        assert await refused(renderer) == "render_timeout"

    browsers, _ = play(scene, FEEDCRAWL_RENDER_TIMEOUT_SEC=0.05)
    assert [each.ended for each in browsers] == [True]


def test_a_page_whose_browser_dies_for_another_page_is_rendered_again(play, monkeypatch: pytest.MonkeyPatch) -> None:
    async def dies_first(run: Run) -> Response:
        if len(Browser.made) == 1:
            run.browser.usable = False
            raise RuntimeError("Target closed")
        return HtmlResponse(URL)

    monkeypatch.setattr(Run, "pages", staticmethod(dies_first))

    async def scene(renderer: Renderer) -> None:
        assert (await renderer.download(rendered_request())).url == URL

    browsers, _ = play(scene)
    assert [each.ended for each in browsers] == [True, True]


@pytest.mark.parametrize("to", ["http://b.org/", "chrome-error://chromewebdata/", "about:blank"])
def test_a_page_that_left_its_site_is_refused(play, monkeypatch: pytest.MonkeyPatch, to: str) -> None:
    async def moved(_: Run) -> Response:
        return HtmlResponse(to)

    monkeypatch.setattr(Run, "pages", staticmethod(moved))

    async def scene(renderer: Renderer) -> None:
        assert await refused(renderer) == "render_moved"

    play(scene)


def test_a_missing_browser_is_looked_for_once(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Browser, "failure", NoBrowser("none is on PATH"))

    async def scene(renderer: Renderer) -> None:
        assert [await refused(renderer), await refused(renderer)] == ["no_browser", "no_browser"]
        assert renderer.missing

    browsers, _ = play(scene)
    assert len(browsers) == 1


def test_a_browser_that_does_not_start_is_given_up_in_the_end(play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Browser, "failure", OSError("no libnss3.so"))

    async def scene(renderer: Renderer) -> None:
        found = [await refused(renderer) for _ in range(rendering.BAD_STARTS + 1)]
        assert found == ["render_failed"] * rendering.BAD_STARTS + ["no_browser"]

    play(scene)


def test_the_browser_is_configured_or_found_in_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser(None) is None
    for name in ("google-chrome", "chromium"):
        (tmp_path / name).touch(mode=0o755)
        assert find_browser(None) == tmp_path / name
    assert find_browser(Path("other")) == Path("other")


def test_the_browser_of_playwright_is_found(tmp_path: Path) -> None:
    expected = tmp_path / "chromium-1200" / "chrome-linux64" / "chrome"
    shell = tmp_path / "chromium_headless_shell-1200" / "chrome-linux" / "headless_shell"
    assert own_browser(expected) is None
    for made in (shell, expected):
        made.parent.mkdir(parents=True)
        made.touch(mode=0o755)
        assert own_browser(expected) == made
