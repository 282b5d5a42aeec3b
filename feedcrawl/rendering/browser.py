"""A Chromium that can reach only its proxy: started when a page needs a browser, ended as one process group."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import shutil
import signal
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from scrapy.exceptions import NotSupported

from feedcrawl.outgoing.addresses import guarded_addresses
from feedcrawl.rendering.egress import Egress

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import ModuleType

    from playwright.async_api import Browser, BrowserContext, Playwright

    from feedcrawl.domain.addresses import Network
    from feedcrawl.outgoing.routes import Routes

logger = logging.getLogger(__name__)

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
LAUNCH_SEC: Final = 20.0
STOP_SEC: Final = 5.0

_PROXY: Final = "egress.invalid"
"""The only host name that the browser can resolve; no address bypasses the proxy, loopback included."""

_FLAGS: Final = (
    "--proxy-bypass-list=<-loopback>",  # Chromium bypasses a proxy for loopback by default
    "--disable-quic",  # UDP bypasses a proxy
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--block-new-web-contents",  # window.open
    "--no-first-run",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-extensions",
    "--disable-gpu",
    "--disable-breakpad",
    "--dns-prefetch-disable",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=512",  # memory of one page's scripts, in MiB
)


class NoBrowser(Exception):
    """No Chromium was found; the text names the places that were searched."""


def find_browser(configured: Path | None) -> Path | None:
    """The configured Chromium, or else the first one on PATH; None if there is none."""
    if configured is not None:
        return configured
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return Path(found) if found else None


def own_browser(expected: Path) -> Path | None:
    """Playwright's own Chromium, or its headless shell, if one of them is installed."""
    if expected.exists():
        return expected
    root = next((parent.parent for parent in expected.parents if parent.name.startswith("chromium")), None)
    shells = root.glob("chromium_headless_shell-*/*/*headless*shell*") if root else iter(())
    return max((path for path in shells if os.access(path, os.X_OK) and path.is_file()), default=None)


class GuardedBrowser:
    """A browser provider for scrapy-playwright: one driver, one browser and one proxy that start and end together.

    `opened` and `denied_ports` are the rules of the address guard; `refused` is called for each connection that the
    guard refuses.
    """

    def __init__(
        self,
        executable: Path | None,
        *,
        opened: tuple[Network, ...],
        denied_ports: frozenset[int],
        routes: Routes,
        refused: Callable[[], None] = lambda: None,
    ) -> None:
        self._executable = executable
        self._server = ""
        self._egress = Egress(
            guarded_addresses, opened=opened, denied_ports=denied_ports, routes=routes, refused=refused
        )
        self._home = tempfile.TemporaryDirectory(prefix="feedcrawl-browser-", ignore_cleanup_errors=True)
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._pid: int | None = None
        self._crash_handlers: set[int] = set()

    async def start(self) -> None:
        """Start the proxy, the driver and the browser. Raises NoBrowser if none is found, Playwright's Error if
        the start fails.
        """
        _adopt_orphans()
        try:
            self._server = f"http://{_PROXY}:{await self._egress.start()}"
            self._playwright = await playwright_api().async_playwright().start()
            self._browser = await self._launch(self._playwright)
        except BaseException:
            await self.close()
            raise

    async def _launch(self, playwright: Playwright) -> Browser:
        path = self._executable or own_browser(Path(playwright.chromium.executable_path))
        if path is None or not path.exists():
            raise NoBrowser(f"{path} is not there" if path else f"none of {', '.join(NAMES)} is on PATH")
        root, before = os.geteuid() == 0, _crash_handlers()
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=[*_FLAGS, f"--host-resolver-rules=MAP {_PROXY} 127.0.0.1 , MAP * ~NOTFOUND"],
            chromium_sandbox=not root,  # Chromium's sandbox needs a user other than root
            proxy={"server": self._server},
            env={"PATH": os.defpath, "HOME": self._home.name, "LANG": "C.UTF-8"},  # ours may hold secrets
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=LAUNCH_SEC * 1000,
        )
        session = await browser.new_browser_cdp_session()
        processes = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        self._pid = next(each["id"] for each in processes if each["type"] == "browser")
        self._crash_handlers = _crash_handlers() - before
        logger.info("browser_started", extra={"version": browser.version, "sandbox": not root})
        return browser

    def admit(self, name: str, url: str, source: str | None) -> dict[str, str]:
        """Allow a page to connect by its source's routes; the proxy settings of its context (Playwright's form)."""
        return {"server": self._server, "username": name, "password": self._egress.admit(name, url, source)}

    def dismiss(self, name: str) -> None:
        """End the page's permission to connect."""
        self._egress.dismiss(name)

    async def launch_browser(self) -> Browser:
        """The browser, which is already running."""
        assert self._browser is not None
        return self._browser

    async def launch_persistent_context(self, context_kwargs: dict[str, object]) -> BrowserContext:  # noqa: ARG002
        """Always refused: the state that one page leaves must not reach the next page."""
        raise NotSupported("pages must not share a profile")

    @property
    def usable(self) -> bool:
        """True if the browser was started and has not ended."""
        return self._pid is not None and self._browser is not None and self._browser.is_connected()

    def kill(self) -> None:
        """Kill the browser and all its children at once: the browser leads a process group of its own."""
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._pid, signal.SIGKILL)

    async def close(self) -> None:
        """End the browser (kill it if it does not end by itself), then the driver and the proxy."""
        if self._browser is not None and self._browser.is_connected():
            await within(STOP_SEC, self._browser.close())
        self.kill()
        if self._playwright is not None:
            await within(STOP_SEC, self._playwright.stop())
        if self._pid is not None:
            await within(STOP_SEC, _reap(-self._pid, *self._crash_handlers))
            self._pid = None
        await self._egress.close()
        self._home.cleanup()


def _adopt_orphans() -> None:
    """Make this process the parent of processes that its children orphan (prctl(2), PR_SET_CHILD_SUBREAPER).

    Chromium does not wait for its children, and many containers have no init process that does. Systems other than
    Linux have one.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)


def _crash_handlers() -> set[int]:
    """Crash handlers of browsers that this process has adopted: they leave the browser's process group and end
    after the browser.
    """
    found: set[str] = set()
    for listed in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found.update(pid for pid in listed.read_text().split() if _name(pid).startswith("chrome_crashpad"))
    return set(map(int, found))


def _name(pid: str) -> str:
    try:
        return Path("/proc", pid, "comm").read_text()
    except OSError:
        return ""


async def _reap(*ending: int) -> None:
    """Wait for adopted processes that are about to end: process ids, or process groups as negative numbers."""
    for each in ending:
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(each, os.WNOHANG)[0]) == 0 or each < 0:
                await asyncio.sleep(0 if ended else 0.01)


def playwright_api() -> ModuleType:
    """`playwright.async_api`, imported when a page is rendered: 0.3 s that most crawls need not spend."""
    return import_module("playwright.async_api")


async def within(seconds: float, ending: Awaitable[None]) -> None:
    """Wait for a shutdown step, with a time limit: a driver that has died never responds."""
    with contextlib.suppress(playwright_api().Error, OSError, TimeoutError):
        async with asyncio.timeout(seconds):
            await ending
