"""What a rendering makes of an article, without a browser."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.http import HtmlResponse

from feedcrawl.domain.frontier.tasks import History, Lease, Task
from feedcrawl.domain.models import Extraction
from feedcrawl.handlers import rendered
from feedcrawl.handlers.rendered import Renders
from feedcrawl.items import Article
from feedcrawl.rendering.renderer import RenderFailed

FETCHED = datetime(2026, 11, 28, 12, tzinfo=UTC)
RENDERED = FETCHED + timedelta(seconds=20)
URL, ENDED = "https://a.example/a", "https://a.example/a/full"
TEXT = Extraction(
    title="A", text="text", html="<p>text</p>", abstract=None, image=None, authors=(), published=None, modified=None,
    language=None, site_name=None, canonical_url=None, extractor="prose", raw_len=9, text_len=4,
)  # fmt: skip


def played(
    plain: Extraction | None, shown: Extraction | RenderFailed | str, monkeypatch: pytest.MonkeyPatch
) -> Article:
    """The article after a rendering that brings an extraction, a failure code, or fails itself."""
    lease = Lease(Task("a", "article", URL, "a.example"), History(attempts=3), "token")
    article = Article(lease, URL, FETCHED, "success", final_url=URL, http_status=200, extraction=plain)
    if plain is None:
        article.status, article.code, article.reason, article.detail = "failure", "FAIL_BAD_HTML", "too_short", "short"

    async def extract(found: Article, _: object) -> None:
        if isinstance(shown, str):
            found.status, found.code, found.reason, found.detail = "failure", shown, "empty", "no_text"
        else:
            found.extraction = shown  # type: ignore[assignment]

    async def show(*_: object) -> HtmlResponse:
        if isinstance(shown, RenderFailed):
            raise shown
        return HtmlResponse(ENDED)

    monkeypatch.setattr(rendered.renderer, "of", lambda _: SimpleNamespace(missing=False))
    renders: Any = Renders.__new__(Renders)
    renders._extract, renders._shown, renders._is_needed = extract, show, lambda _: True
    renders._crawler = SimpleNamespace(engine=SimpleNamespace(running=True))
    renders._wired = SimpleNamespace(now=lambda: RENDERED, config=SimpleNamespace(max_attempts=4))
    assert asyncio.run(renders.improve(article, HtmlResponse(URL)))
    return article


@pytest.mark.parametrize("plain", [None, TEXT])
def test_an_article_of_the_rendered_page(plain: Extraction | None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(plain, TEXT, monkeypatch)
    assert (found.status, found.code, found.rendered) == ("success", None, True)
    assert (found.final_url, found.at, found.http_status) == (ENDED, RENDERED, 200)


def test_the_feeds_text_is_not_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert played(None, replace(TEXT, extractor="feed"), monkeypatch).rendered is False


def test_a_page_without_an_article_either_way(monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(None, "FAIL_EMPTY", monkeypatch)
    assert (found.status, found.code, found.reason, found.detail) == (
        "failure",
        "FAIL_EMPTY",
        "empty",
        "rendered: no_text",
    )
    assert (found.final_url, found.at, found.rendered) == (ENDED, RENDERED, False)


@pytest.mark.parametrize(
    ("reason", "code", "expected"),
    [
        ("render_timeout", "FAIL_TIMEOUT", "render_timeout"),
        ("render_failed", "FAIL_BAD_HTML", "too_short"),
        ("render_moved", "FAIL_BAD_HTML", "too_short"),
    ],
)
def test_a_rendering_that_fails(reason: str, code: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = played(None, RenderFailed(reason, "why"), monkeypatch)
    assert (found.status, found.code, found.reason, found.at) == ("failure", code, expected, RENDERED)
    assert found.final_url == URL
    assert f"{reason}: why" in found.detail


def test_a_failed_rendering_keeps_the_plain_article(monkeypatch: pytest.MonkeyPatch) -> None:
    for shown in ("FAIL_EMPTY", RenderFailed("render_timeout", "why")):
        found = played(TEXT, shown, monkeypatch)
        assert (found.status, found.extraction, found.rendered) == ("success", TEXT, False)
        assert (found.final_url, found.at) == (URL, FETCHED)
