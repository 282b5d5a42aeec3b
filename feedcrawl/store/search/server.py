"""A search index on a server: an alias for the index that is searched, whose name is the alias and a number."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, cast

from opensearchpy import OpenSearch
from opensearchpy.exceptions import ConnectionError as Unreachable
from opensearchpy.exceptions import NotFoundError, OpenSearchException, TransportError

from feedcrawl.domain.search import server
from feedcrawl.hints import program
from feedcrawl.store.search.interface import MISSING, Changes, IndexUnavailable, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from feedcrawl.domain.search.documents import Filters, RawContentRecord
    from feedcrawl.domain.search.query import Query
    from feedcrawl.domain.search.server import Body

    Write = tuple[str, RawContentRecord | None]

AWAY: Final = "search_server_away"
BUSY: Final = "search_server_busy"
REFUSES: Final = "search_server_refuses"
REQUEST_SEC: Final = 30
COUNT_SEC: Final = 5
"""Time limit of a count, in seconds, since a scrape of metrics waits for it."""
MAX_WRITES: Final = 500
"""Writes of one request; fewer while the server is busy, `MIN_WRITES` at least."""
MIN_WRITES: Final = 10
MAX_BYTES: Final = 5 << 20
"""Bytes of one request, as the servers' documentation advises; one document may have more."""
_TOO_LARGE: Final = 413
_TOO_MANY: Final = 429
_NOT_FOUND: Final = 404
_PASSING: Final = frozenset({_TOO_MANY, 502, 503, 504})
"""Statuses of a server that cannot take the request now."""
_DENIED: Final = frozenset({401, 403})
_OF_THE_INDEX: Final = frozenset({"cluster_block_exception", "index_closed_exception"})
"""Errors of single documents that hold for all documents: an index that is blocked for writes, or closed."""


class ServerIndex:
    """The index behind the alias `name` of a server. Methods raise IndexUnavailable."""

    def __init__(
        self, url: str, name: str, *, login: tuple[str, str] | None = None, ca_file: Path | None = None
    ) -> None:
        tls: dict[str, Any] = {"ca_certs": str(ca_file)} if ca_file else {}
        access = {"http_auth": login, "timeout": REQUEST_SEC, "max_retries": 0, "http_compress": True, **tls}
        self._client = OpenSearch([url], **access)
        self._url = url
        self._name = name
        self._writes = MAX_WRITES
        self._preparing = threading.Lock()
        self._is_prepared = False

    # --- readers ---

    def search(self, query: Query, filters: Filters, *, limit: int, offset: int = 0) -> list[RawContentRecord]:
        """The best matches."""
        body = server.search(query, filters, limit=limit, offset=offset)
        with self._errors():
            found = self._client.search(index=self._name, body=body)
        if found.get("timed_out"):
            raise IndexUnavailable("search_too_slow", f"{self._url} took longer than {server.SEARCH_TIME}")
        return [cast("RawContentRecord", hit["_source"]) for hit in found["hits"]["hits"]]

    def count(self) -> int:
        """The number of documents that searches find."""
        with self._errors():
            return int(self._client.count(index=self._name, params={"request_timeout": COUNT_SEC})["count"])

    def cursor(self) -> None:
        """None: the consumer group of the index knows its last event."""

    # --- the writer ---

    def prepare(self) -> None:
        """Stores the template, and makes an empty index if the alias names none."""
        with self._preparing, self._errors():
            if self._is_prepared:
                return
            self._client.indices.put_index_template(name=self._name, body=server.template(self._name))
            if not self._client.indices.exists_alias(name=self._name):
                self.begin(answers=True)
            self._is_prepared = True

    def store(self, changes: Changes, *, index: str | None = None) -> list[Refused]:
        """Stores and removes documents, behind the alias or in one index; the documents that the server refuses for
        good.

        After a failure some documents may be stored; repeating the call stores all.
        """
        writes: list[Write] = [(each["uid"], each) for each in changes.stored]
        writes += [(uid, None) for uid in changes.removed]
        refused: list[Refused] = []
        while writes:
            part = writes[: self._writes]
            refused += self._store(part, index)
            writes = writes[len(part) :]
            self._writes = min(MAX_WRITES, self._writes * 2)
        return refused

    def _store(self, writes: Sequence[Write], index: str | None) -> list[Refused]:
        lines = [
            json.dumps(line) for uid, document in writes for line in server.writes(document, uid, index or self._name)
        ]
        if len(writes) > 1 and sum(map(len, lines)) > MAX_BYTES:
            return self._halves(writes, index)
        try:
            with self._errors():
                answer = self._client.bulk(
                    body="\n".join([*lines, ""]), params={} if index else {"require_alias": "true"}
                )
        except IndexUnavailable as error:
            status = getattr(error.__cause__, "status_code", None)
            if status == _TOO_LARGE and len(writes) > 1:
                return self._halves(writes, index)
            if status == _TOO_LARGE:
                return [Refused(writes[0][0], "too_large", error.detail)]
            raise
        return self._refused(answer)

    def _halves(self, writes: Sequence[Write], index: str | None) -> list[Refused]:
        middle = len(writes) // 2
        return self._store(writes[:middle], index) + self._store(writes[middle:], index)

    def _refused(self, answer: Body) -> list[Refused]:
        """The documents that the server refused for good; raises IndexUnavailable if it was too busy for any."""
        refused: list[Refused] = []
        for item in answer["items"] if answer["errors"] else ():
            ((action, result),) = item.items()
            status, error = result["status"], result.get("error") or {}
            detail = f"{error.get('type')}: {error.get('reason')}"[:200]
            if status in _PASSING:
                self._writes = max(MIN_WRITES, self._writes // 2)
                raise IndexUnavailable(BUSY, f"{self._url}: {detail}")
            if status in _DENIED or error.get("type") in _OF_THE_INDEX:
                raise IndexUnavailable(REFUSES, f"{self._url}: {detail}")
            if status == _NOT_FOUND and error:  # the alias is gone
                self._is_prepared = False
                raise IndexUnavailable(MISSING, f"{self._url}: {detail}")
            if status >= 300 and not (action == "delete" and status == _NOT_FOUND):
                refused.append(Refused(str(result["_id"]), "document_refused", detail))
        return refused

    def forget(self, before: float, limit: int) -> int:
        """Removes at most `limit` documents fetched before a Unix time; returns the number removed."""
        params = {"max_docs": limit, "conflicts": "proceed", "refresh": "true"}
        with self._errors():
            found = self._client.delete_by_query(index=self._name, body=server.older(before), params=params)
        return int(found["deleted"])

    # --- building ---

    def begin(self, *, answers: bool = False) -> str:
        """Makes a new, empty index and returns its name.

        `answers`: behind the alias, unless the alias exists already.
        """
        with self._errors():
            numbers = [int(each.rpartition("-")[2]) for each in self._indexes()]
            name = f"{self._name}-{max(numbers, default=0) + 1:06}"
            self._client.indices.create(index=name, body={"aliases": {self._name: {}}} if answers else None)
        return name

    def complete(self, built: str) -> None:
        """Makes a built index the one that is searched, and removes the others."""
        with self._errors():
            self._client.indices.refresh(index=built)
            self._switch(built)
            self.drop_others(built)

    def drop_others(self, kept: str) -> None:
        """Removes all indexes of the template but one."""
        with self._errors():
            for each in self._indexes():
                if each != kept:
                    self._client.indices.delete(index=each)

    def _switch(self, built: str) -> None:
        """Sends all actions in one request, which the servers execute in one step."""
        old = [{"remove": {"index": each, "alias": self._name}} for each, aliases in self._indexes().items() if aliases]
        self._client.indices.update_aliases(body={"actions": [*old, {"add": {"index": built, "alias": self._name}}]})

    def _indexes(self) -> dict[str, list[str]]:
        """The indexes of the template, each with its aliases."""
        try:
            found = self._client.indices.get_alias(index=f"{self._name}-*")
        except NotFoundError:
            return {}
        own = {name: list(each["aliases"]) for name, each in found.items()}
        return {name: aliases for name, aliases in own.items() if name[len(self._name) + 1 :].isdecimal()}

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except NotFoundError as error:
            raise IndexUnavailable(
                MISSING, f"{self._url} has no index {self._name}: `{program()} index` makes it"
            ) from error
        except Unreachable as error:
            raise IndexUnavailable(AWAY, f"{self._url}: {error.error}") from error
        except TransportError as error:
            code = REFUSES if error.status_code in _DENIED else BUSY if error.status_code in _PASSING else AWAY
            if code == BUSY:
                self._writes = max(MIN_WRITES, self._writes // 2)
            raise IndexUnavailable(code, f"{self._url}: {error.status_code} {error.error}") from error
        except OpenSearchException as error:
            raise IndexUnavailable(AWAY, f"{self._url}: {error}") from error

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()
