"""The chain of downloader middlewares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.core.downloader.middleware import DownloaderMiddlewareManager
from scrapy.exceptions import _InvalidOutput
from scrapy.http import Request, Response
from scrapy.utils.defer import ensure_awaitable
from scrapy.utils.python import global_object_name

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    Download = Callable[[Request], Coroutine[object, object, Response]]


class PlainMiddlewares(DownloaderMiddlewareManager):
    """Scrapy's chain of downloader middlewares, in which only an awaitable result is awaited."""

    async def _process_request(self, request: Request, download_func: Download) -> Response | Request:
        for method in self.methods["process_request"]:
            assert method is not None
            result = self._handle_mw_method(method, request=request)
            if result is None:
                continue
            if not isinstance(result, (Response, Request)):
                result = await ensure_awaitable(result, _warn=global_object_name(method))
                if result is None:
                    continue
            return _checked(result, method, "None, Response or Request")
        return await download_func(request)

    async def _process_response(self, response: Response | Request, request: Request) -> Response | Request:
        if response is None:
            raise TypeError("Received None in process_response")
        for method in self.methods["process_response"] if isinstance(response, Response) else ():
            assert method is not None
            result = self._handle_mw_method(method, request=request, response=response)
            if not isinstance(result, (Response, Request)):
                result = await ensure_awaitable(result, _warn=global_object_name(method))
            response = _checked(result, method, "Response or Request")
            if isinstance(response, Request):
                break
        return response


def _checked(result: object, method: Callable[..., object], allowed: str) -> Response | Request:
    if isinstance(result, (Response, Request)):
        return result
    raise _InvalidOutput(f"Middleware {method.__qualname__} must return {allowed}, got {type(result)}")
