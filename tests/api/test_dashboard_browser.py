"""The dashboard in a real Chromium: narrow and wide, light and dark, by keyboard, and as axe-core judges it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest
from api import free_port, serving
from axe_playwright_python.sync_playwright import Axe
from fleet import faulty_sites, migrated, seeded
from playwright.sync_api import Browser, Page, Route, sync_playwright
from redis_process import running_redis
from scrapy.settings import Settings

from feedcrawl.api.access import COOKIE
from feedcrawl.rendering.browser import NAMES
from feedcrawl.services.operations import tokens
from feedcrawl.settings import from_environment
from feedcrawl.wiring import Wiring

pytestmark = [
    pytest.mark.chromium,
    pytest.mark.skipif(not any(map(shutil.which, NAMES)), reason="there is no Chromium on PATH"),
]

PAGES = ("overview", "week", "empty", "feeds", "failing", "feed", "articles", "article", "content", "frontier", "tasks",
         "host", "letters", "letter", "drop", "subscribe", "edit", "error", "login")  # fmt: skip
LOOKS = [(360, "dark"), (360, "light"), (1280, "dark"), (1280, "light")]
JUDGED = [(360, "dark"), (1280, "light")]
ALIKE = {"week", "empty", "failing"}
"""Made of what other pages are made of: they need not be judged on their own."""
WATCH = """window.violations = [];
document.addEventListener('securitypolicyviolation', one => violations.push(one.violatedDirective, one.blockedURI));
"""
REACHABLE = "a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']"
MARK = f"""() => [...document.querySelectorAll("{REACHABLE}")].filter(one => one.checkVisibility())
  .map((one, number) => {{ one.dataset.number = number; return one.outerHTML.slice(0, 80); }})"""
FOCUSED = """() => {
  const one = document.activeElement, look = getComputedStyle(one);
  return [one.dataset.number ?? null, look.outlineStyle !== 'none' && look.outlineWidth !== '0px'];
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Wiring, dict[str, str]]]:
    """A seeded fleet that is served, and the path of each page."""
    with running_redis() as url:
        given = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": str(tmp_path_factory.mktemp("data"))}
        wired = Wiring(Settings(from_environment({}) | given))
        uids = seeded(wired)
        faulty_sites(wired)
        feed = next(each.id for each in wired.registry.all() if each.subscription.url == "https://site0.example/feed")
        migrated(wired, feed)
        paths = {
            "overview": "/",
            "week": "/?span=7d",
            "empty": "/dashboard/feeds?q=nothing+of+this+name",
            "feeds": "/dashboard/feeds",
            "failing": "/dashboard/feeds?failing=1",
            "feed": f"/dashboard/feeds/{feed}?done=refetch",
            "articles": "/dashboard/articles",
            "article": f"/dashboard/articles/{uids[0]}",
            "content": f"/dashboard/articles/{uids[0]}/content",
            "frontier": "/dashboard/frontier",
            "tasks": "/dashboard/frontier/urls",
            "host": "/dashboard/hosts/down.example",
            "letters": "/dashboard/dlq?host=dead.example&done=replay&number=3",
            "letter": "/dashboard/dlq/letter?name=https://dead.example/1",
            "drop": "/dashboard/dlq/drop?host=dead.example",
            "subscribe": "/dashboard/feeds/new",
            "edit": f"/dashboard/feeds/{feed}/edit",
            "undo": f"/dashboard/feeds/{feed}/undo-migration",
            "error": "/dashboard/feeds/none",
            "login": "/login",
        }
        with serving(wired, free_port()) as base:
            yield base, wired, paths
        wired.close()


@pytest.fixture(scope="module")
def browser(site) -> Iterator[Browser]:
    """A browser, started after the site: from then on a loop runs in this thread, and `asyncio.run` is refused."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=next(filter(None, map(shutil.which, NAMES))),
            chromium_sandbox=os.geteuid() != 0,
            args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--disable-gpu"],
        )
        yield browser
        browser.close()


class Visit:
    """A page that was opened, and what went on in it."""

    def __init__(self, browser: Browser, base: str, width: int, scheme: Any) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        self.context.add_init_script(WATCH)
        self.page: Page = self.context.new_page()
        self.base = base
        self.reports: list[str] = []
        self.page.on("console", lambda message: self.reports.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.reports.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.reports.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda sent: None if sent.url.startswith(base) else self.reports.append(sent.url))

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path, wait_until="load")
        return self.page

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_no_page_scrolls_sideways_breaks_its_policy_or_asks_others(site, browser, width: int, scheme: str) -> None:
    base, _, paths = site
    with Visit(browser, base, width, scheme) as visit:
        for name in PAGES:
            page = visit.open(paths[name])
            page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
            assert page.evaluate("document.documentElement.scrollWidth") == width, name
            page.mouse.wheel(0, 4000)
            assert page.evaluate("window.violations ?? []") == [], name
            ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, ground[4:-1].split(", "))) < 200) == (scheme == "dark"), name
        assert [each for each in visit.reports if "404" not in each] == []


def with_scripts(route: Route) -> None:
    """The same page, but that axe-core may run in it."""
    answer = route.fetch()
    policy = answer.headers["content-security-policy"].replace("; sandbox", "")
    route.fulfill(response=answer, headers=answer.headers | {"content-security-policy": policy})


@pytest.mark.parametrize(("width", "scheme"), JUDGED)
def test_axe_finds_no_violation(site, browser, width: int, scheme: str) -> None:
    base, _, paths = site
    found = []
    with Visit(browser, base, width, scheme) as visit:
        visit.context.route("**/content", with_scripts)
        for name in [each for each in PAGES if each not in ALIKE]:
            page = visit.open(paths[name])
            page.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
            judged = Axe().run(page, options={"iframes": False})
            found += [
                (
                    name,
                    each["id"],
                    each["impact"],
                    each["nodes"][0]["html"][:120],
                    each["nodes"][0]["failureSummary"][:200],
                )
                for each in judged.response["violations"]
            ]
    assert found == []


@pytest.mark.parametrize("name", ["overview", "feeds", "feed", "article", "tasks", "letters", "login"])
def test_the_keyboard_reaches_each_control_in_order_with_a_visible_focus(site, browser, name: str) -> None:
    base, _, paths = site
    with Visit(browser, base, 1280, "light") as visit:
        page = visit.open(paths[name])
        page.evaluate("document.activeElement.blur()")
        wanted = page.evaluate(MARK)
        seen: list[int] = []
        for _ in range(3 * len(wanted) + 10):
            page.keyboard.press("Tab")
            number, shown = page.evaluate(FOCUSED)
            if number is not None and int(number) not in seen:
                seen.append(int(number))
                assert shown, wanted[int(number)]
            if len(seen) == len(wanted):
                break
        assert [wanted[number] for number in range(len(wanted)) if number not in seen] == []
        assert sorted(seen) == [*seen[seen.index(0) :], *seen[: seen.index(0)]]


def test_the_first_stop_leads_to_the_content(site, browser) -> None:
    base, _, _ = site
    with Visit(browser, base, 360, "light") as visit:
        page = visit.open("/")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


def test_titles_of_publishers_are_text(site, browser) -> None:
    base, _, paths = site
    with Visit(browser, base, 1280, "light") as visit:
        for name in ("overview", "feeds", "feed", "articles", "article", "letters"):
            page = visit.open(paths[name])
            page.wait_for_timeout(50)
            assert page.locator("main script, main svg[onload], main img, [onerror]").count() == 0, name
            assert page.locator("a[href^='javascript' i]").count() == 0
        assert page.locator("main").inner_text().count("<b>") == 1
        page = visit.open(paths["feeds"])
        assert page.get_by_text("<script>alert(1)</script>", exact=True).count() == 2  # a feed and a source
        assert visit.reports == []


def test_the_frame_of_an_article_runs_nothing(site, browser) -> None:
    base, _, paths = site
    with Visit(browser, base, 1280, "light") as visit:
        page = visit.open(paths["article"])
        page.locator("iframe").scroll_into_view_if_needed()
        frame = page.frame_locator("iframe")
        assert "What was said" in frame.locator("main").inner_text()
        assert frame.locator("em").inner_text() == "[The hall]"
        assert page.locator("iframe").get_attribute("sandbox") == ""
        assert visit.reports == []


def test_people_log_in_act_and_log_out(browser, tmp_path: Path) -> None:
    with running_redis() as url:
        given = {"REDIS_URL": url, "FEEDCRAWL_DATA_DIR": str(tmp_path), "FEEDCRAWL_API_HOST": "0.0.0.0"}
        wired = Wiring(Settings(from_environment({}) | given))
        seeded(wired)
        text, _ = tokens.create(wired.tokens, "ann", "write", wired.now())
        with serving(wired, free_port()) as base, Visit(browser, base, 360, "light") as visit:
            page = visit.open("/dashboard/dlq?reason=http_404")
            assert page.title() == "Log in · feedcrawl"
            page.get_by_label("Token").fill("fc_wrong")
            page.keyboard.press("Enter")
            assert "unknown or revoked" in page.get_by_role("alert").inner_text()
            page.get_by_label("Token").fill(text)
            page.get_by_role("button", name="Log in").click()
            assert page.url == f"{base}/dashboard/dlq?reason=http_404"
            (cookie,) = [each for each in visit.context.cookies() if each["name"] == COOKIE]
            assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
            assert page.evaluate("document.cookie") == ""
            page.get_by_role("button", name="Replay https://dead.example/0").click()
            assert page.get_by_role("status").inner_text() == "1 tried again."
            page.goto(f"{base}/dashboard/dlq?reason=http_404")
            page.get_by_role("link", name="Drop all").click()
            assert page.get_by_role("heading", level=1).inner_text() == "Drop all dead letters of this selection?"
            page.get_by_role("button", name="Drop").click()
            assert page.get_by_role("status").inner_text() == "1 dropped."
            assert wired.dead_letters.count() == 1
            page.goto(f"{base}/dashboard/feeds/new")
            page.get_by_label("URL of a feed").fill("https://village.example/feed")
            page.get_by_role("button", name="Subscribe", exact=True).click()
            assert page.get_by_role("status").inner_text().startswith("Subscribed.")
            page.get_by_role("link", name="Edit").click()
            page.get_by_label("Title (empty").fill("Village news")
            page.get_by_role("button", name="Save").click()
            assert page.get_by_role("heading", level=1).inner_text() == "Village news"
            page.get_by_role("link", name="Unsubscribe").click()
            page.get_by_role("button", name="Unsubscribe").click()
            assert page.url == f"{base}/dashboard/feeds"
            page.get_by_role("button", name="Log out ann").click()
            assert page.url == f"{base}/login"
            assert visit.context.cookies() == []
        wired.close()
