"""Settings of how documents are parsed and pages rendered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - read at run time, as the type of a setting

from feedcrawl.domain.operations.settings import setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class PageSettings:
    """How documents are parsed and pages rendered."""

    parser_processes: int | None = setting(
        None, "processes", "children in which feeds and pages are parsed; default: one per core", section="Parsing"
    )
    parser_cpu_sec: float = setting(10.0, "s", "processor time of one document")
    parser_memory_bytes: int = setting(1 << 30, "bytes", "address space of one child")
    render: str = setting(
        "auto",
        "never, auto or always",
        "`auto` renders pages that have no text without their scripts",
        section="Rendering",
        choices=("never", "auto", "always"),
    )
    render_timeout_sec: float = setting(
        30.0, "s", "until a page is there; 10 s later the browser is killed", also=("timeout_ms",)
    )
    render_pages: int = setting(2, "pages", "rendered at a time", at_least=1)
    browser: Path | None = setting(None, "path", "a Chromium; default: the first on PATH, else Playwright's own")
