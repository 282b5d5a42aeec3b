import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydispatch.dispatcher import Any as Anything
from scrapy import signals
from scrapy.exceptions import StopDownload
from scrapy.signalmanager import SignalManager

from feedcrawl.crawl.chains.signals import ItemSignals, PlainSignals


class Sender:
    """A sender of signals of its own for each test."""


def now(**_: object) -> str:
    return "now"


def silent(**_: object) -> None:
    return None


async def later(**_: object) -> str:
    await asyncio.sleep(0)
    return "later"


def failing(**_: object) -> None:
    raise ValueError("failed")


async def failing_later(**_: object) -> None:
    await asyncio.sleep(0)
    raise KeyError("failed later")


def stopping(**_: object) -> None:
    raise StopDownload


@pytest.mark.parametrize(
    "connected",
    [
        {},
        {now: {}, silent: {}, failing: {}, stopping: {}},
        {now: {"sender": Anything}},
        {now: {"signal": Anything}},
        {failing: {"sender": Anything, "signal": Anything}},
        {now: {"signal": signals.item_dropped}},
        {now: {"sender": "another"}},
    ],
)
def test_a_signal_reaches_the_receivers_that_scrapys_reaches(
    connected: dict[Callable[..., Any], dict[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    found, lines = [], []
    for kind in (PlainSignals, SignalManager):
        caplog.clear()
        manager = kind(Sender())
        for receiver, how in connected.items():
            manager.connect(receiver, **{"signal": signals.item_scraped} | how)
        sent = manager.send_catch_log(signals.item_scraped, item=1, spider=None)
        for receiver, how in connected.items():
            manager.disconnect(receiver, **{"signal": signals.item_scraped} | how)
        found.append([(receiver, getattr(result, "value", result).__class__) for receiver, result in sent])
        lines.append([record.getMessage() for record in caplog.records])
        assert manager.send_catch_log(signals.item_scraped, item=1, spider=None) == []
    assert found[0] == found[1]
    assert lines[0] == lines[1]


def results(kind: type[SignalManager], receivers: tuple[Callable[..., Any], ...], **kwargs: Any) -> list[str]:
    async def send() -> list[str]:
        manager = kind(Sender())
        for each in receivers:
            manager.connect(each, signals.item_scraped)
        found = await manager.send_catch_log_async(signals.item_scraped, item=1, spider=None, **kwargs)
        return sorted(f"{receiver.__name__} {result!r}" for receiver, result in found)

    return asyncio.run(send())


@pytest.mark.parametrize(
    "receivers", [(), (silent,), (now, silent), (later, now), (failing, silent), (failing_later, failing, later)]
)
@pytest.mark.parametrize("dont_log", [{}, {"dont_log": ValueError}, {"dont_log": (ValueError, KeyError)}])
def test_receivers_have_the_results_and_log_lines_of_scrapys(
    receivers: tuple[Callable[..., Any], ...], dont_log: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    found, lines = [], []
    for kind in (ItemSignals, SignalManager):
        caplog.clear()
        with caplog.at_level(logging.ERROR):
            found.append(results(kind, receivers, **dont_log))
        lines.append(sorted((record.getMessage(), repr(record.exc_info[1])) for record in caplog.records))
    assert found[0] == found[1]
    assert lines[0] == lines[1]
