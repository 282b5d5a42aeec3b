"""Signals: receivers are looked for before a signal is sent, and only some receivers are awaited."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pydispatch.dispatcher import Any as Anything
from pydispatch.dispatcher import connections, getAllReceivers, liveReceivers
from pydispatch.robustapply import robustApply
from scrapy.signalmanager import SignalManager
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from scrapy import Spider

    Quiet = type[Exception] | Sequence[type[Exception]]

logger = logging.getLogger(__name__)


class PlainSignals(SignalManager):
    """The signals of a crawler."""

    def send_catch_log(self, signal: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """As Scrapy's; most signals of a request have no receiver, and cost no more than this look."""
        for sender in (kwargs.get("sender", self.sender), Anything):
            of_sender = connections.get(id(sender))
            if of_sender is not None and (signal in of_sender or Anything in of_sender):
                return super().send_catch_log(signal, **kwargs)
        return []


class ItemSignals(PlainSignals):
    """The signals of items; a receiver that returns None has no task of its own."""

    async def send_catch_log_async(self, signal: Any, **kwargs: Any) -> list[tuple[object, object]]:
        """The result or exception of each receiver; exceptions not in `dont_log` are logged."""
        sender, quiet = kwargs.pop("sender", self.sender), kwargs.pop("dont_log", ())
        results: list[tuple[object, object]] = []
        waiting: list[Coroutine[object, object, tuple[object, object]]] = []
        for receiver in liveReceivers(getAllReceivers(sender, signal)):
            try:
                result = robustApply(receiver, signal=signal, sender=sender, **kwargs)
            except Exception as error:  # noqa: BLE001 - whatever a receiver raises
                results.append((receiver, _logged(error, receiver, quiet, kwargs.get("spider"))))
                continue
            if result is None:
                results.append((receiver, None))
            else:
                waiting.append(_awaited(result, receiver, quiet, kwargs.get("spider")))
        return [*results, *await asyncio.gather(*waiting)] if waiting else results


async def _awaited(result: object, receiver: object, quiet: Quiet, spider: Spider | None) -> tuple[object, object]:
    try:
        return receiver, await ensure_awaitable(result, _warn=global_object_name(receiver))
    except Exception as error:  # noqa: BLE001 - as above
        return receiver, _logged(error, receiver, quiet, spider)


def _logged(error: Exception, receiver: object, quiet: Quiet, spider: Spider | None) -> Exception:
    if not isinstance(error, tuple(quiet) if isinstance(quiet, Sequence) else quiet):
        about = {"receiver": receiver}
        logger.error("Error caught on signal handler: %(receiver)s", about, exc_info=error, extra={"spider": spider})
    return error
