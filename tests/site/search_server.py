"""A search server of the tests: the parts of the REST API of OpenSearch that feedcrawl uses, in memory.

Built from the documented API (https://docs.opensearch.org/latest/api-reference/): index templates, indexes, aliases,
bulk writes with a status for each, searches of `bool`, `multi_match` phrases, `term` and `range`, counts. It analyses
text as the template says, and refuses what a real server refuses: an unknown index, a request that is too large, a
field of another type, a word that is too long, an alias with the name of an index. The last word of a phrase stands for
the first 50 words of the index that it begins, or as many as the request says. Faults are injected by `fail`.
"""

from __future__ import annotations

import gzip
import json
import operator
import re
import threading
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


class SearchServer:
    """The state of a server. `fail` has statuses for the next bulk requests (0: none), `busy` uids whose next write is
    rejected, `block` the status and type of the error that each write gets.
    """

    def __init__(self) -> None:
        self.templates: dict[str, Any] = {}
        self.indexes: dict[str, dict[str, dict[str, Any]]] = {}
        self.aliases: dict[str, str] = {}
        self.fail: list[int] = []
        self.busy: set[str] = set()
        self.block: tuple[int, str] | None = None
        self.max_bytes = 100 << 20
        self.bulks: list[int] = []
        self.requests: list[tuple[str, str]] = []
        self.lock = threading.Lock()
        self.url = ""

    # --- the API ---

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        parts = path.strip("/").split("/")
        self.requests.append((method, path))
        match method, parts:
            case "PUT", ["_index_template", name]:
                self.templates[name] = json.loads(body)
                return 200, {"acknowledged": True}
            case "HEAD", ["_alias", name]:
                return (200 if name in self.aliases else 404), None
            case "PUT", [name] if not name.startswith("_"):
                if name in self.indexes:
                    return 400, error("resource_already_exists_exception", name)
                aliases = json.loads(body or b"{}").get("aliases") or {}
                if any(each in self.indexes for each in aliases):
                    return 400, error("invalid_alias_name_exception", "an index exists with the same name as the alias")
                self.indexes[name] = {}
                self.aliases |= dict.fromkeys(aliases, name)
                return 200, {"acknowledged": True, "index": name}
            case "DELETE", [name] if name in self.indexes:
                del self.indexes[name]
                self.aliases = {alias: each for alias, each in self.aliases.items() if each != name}
                return 200, {"acknowledged": True}
            case "GET", [pattern, "_alias"]:
                found = [name for name in self.indexes if fnmatch(name, pattern)]
                return 200, {name: {"aliases": {a: {} for a, i in self.aliases.items() if i == name}} for name in found}
            case "POST", ["_aliases"]:
                return self._switch(json.loads(body)["actions"])
            case "POST", ["_bulk"]:
                return self._bulk(query, body)
            case (("POST" | "GET"), [name, operation]):
                return self._operation(name, operation, query, body)
        return 404, error("index_not_found_exception", f"no such index [{path}]")

    def _operation(self, name: str, operation: str, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        parsed = json.loads(body or b"{}")
        operations = {
            "_search": lambda index: self._search(index, parsed),
            "_count": lambda index: {"count": len(index)},
            "_delete_by_query": lambda index: self._delete(index, parsed["query"], int(query["max_docs"][0])),
            "_refresh": lambda _: {"_shards": {}},
        }
        if operation not in operations:
            return 405, error("illegal_argument_exception", f"no such operation [{operation}]")
        return self._found(name, operations[operation])

    def _found(self, name: str, answer: Any) -> tuple[int, Any]:
        index = self.indexes.get(self.aliases.get(name, name))
        if index is None:
            return 404, error("index_not_found_exception", f"no such index [{name}]")
        return 200, answer(index)

    @staticmethod
    def _delete(index: dict[str, dict[str, Any]], condition: dict[str, Any], limit: int) -> dict[str, Any]:
        found = [uid for uid, document in index.items() if fits(condition, document)][:limit]
        for uid in found:
            del index[uid]
        return {"deleted": len(found), "version_conflicts": 0, "failures": []}

    def _switch(self, actions: list[dict[str, Any]]) -> tuple[int, Any]:
        aliases = dict(self.aliases)
        for ((kind, target),) in (each.items() for each in actions):
            if target["index"] not in self.indexes:
                return 404, error("index_not_found_exception", target["index"])
            if kind == "remove":
                if aliases.pop(target["alias"], None) != target["index"]:
                    return 404, error("aliases_not_found_exception", target["alias"])
            else:
                aliases[target["alias"]] = target["index"]
        self.aliases = aliases
        return 200, {"acknowledged": True}

    def _bulk(self, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        self.bulks.append(len(body))
        if self.fail and (status := self.fail.pop(0)):
            return status, error("es_rejected_execution_exception", "rejected")
        if len(body) > self.max_bytes:
            return 413, error("too_large", "request entity too large")
        assert body.endswith(b"\n"), "the last line of a bulk request ends with a newline"
        needs_alias = query.get("require_alias") == ["true"]
        lines = iter(body.decode().splitlines())
        items = []
        for line in lines:
            ((action, target),) = json.loads(line).items()
            document = json.loads(next(lines)) if action == "index" else None
            items.append({action: {"_id": target["_id"], **self._write(target, document, needs_alias)}})
        return 200, {"took": 1, "errors": any(next(iter(i.values()))["status"] >= 300 for i in items), "items": items}

    def _write(self, target: dict[str, Any], document: dict[str, Any] | None, needs_alias: bool) -> dict[str, Any]:
        if needs_alias and target["_index"] not in self.aliases:
            return {"status": 404, **error("index_not_found_exception", f"[{target['_index']}] is not an alias")}
        index = self.indexes[self.aliases.get(target["_index"], target["_index"])]
        if self.block is not None:
            return {"status": self.block[0], **error(self.block[1], f"index [{target['_index']}] blocked")}
        if target["_id"] in self.busy:
            self.busy.discard(target["_id"])
            return {"status": 429, **error("es_rejected_execution_exception", "rejected execution")}
        if document is None:
            return {"status": 200 if index.pop(target["_id"], None) else 404, "result": "not_found"}
        properties = next(iter(self.templates.values()))["template"]["mappings"]["properties"]
        for name, value in document.items():
            if properties.get(name, {}).get("type") == "date" and not date(value):
                detail = f"failed to parse field [{name}] of type [date]"
                return {"status": 400, **error("mapper_parsing_exception", detail)}
            if self._has_an_immense_word(name, value):
                detail = f"Document contains at least one immense term in field [{name}]"
                return {"status": 400, **error("illegal_argument_exception", detail)}
        is_new = target["_id"] not in index
        index[target["_id"]] = document
        return {"status": 201 if is_new else 200, "result": "created" if is_new else "updated"}

    def _has_an_immense_word(self, name: str, value: Any) -> bool:
        """True if Lucene would refuse a word of a field, which the analyzer does not cut."""
        analysis = next(iter(self.templates.values()))["template"]["settings"]["analysis"]
        cut = [each["length"] for each in analysis.get("filter", {}).values() if each["type"] == "truncate"]
        words = (word[: min(cut, default=None)] for word in tokens(value)) if name.startswith("words_") else ()
        return any(len(word.encode()) > 32_766 for word in words)

    # --- searching ---

    def _search(self, index: dict[str, dict[str, Any]], body: dict[str, Any]) -> dict[str, Any]:
        condition = body["query"]["bool"]
        clauses = {id(each): expanded(each, index) for each in (*condition["must"], *condition["must_not"])}
        found = [
            (score, document)
            for document in index.values()
            if (score := min(matches(clauses[id(each)], document) for each in condition["must"])) > 0
            and not any(matches(clauses[id(each)], document) for each in condition["must_not"])
            and all(fits(each, document) for each in condition["filter"])
        ]
        found.sort(key=lambda each: (-each[0], -each[1]["fetched_ts"]))
        excluded = next(iter(self.templates.values()))["template"]["mappings"]["_source"]["excludes"]
        hits = [
            {"_score": score, "_source": {k: v for k, v in each.items() if not any(fnmatch(k, e) for e in excluded)}}
            for score, each in found[body["from"] : body["from"] + body["size"]]
        ]
        return {"took": 1, "timed_out": False, "hits": {"hits": hits}}


Clause = list[tuple[str, float, list[str], set[str]]]
"""Of each field: its name, its weight, the first words of the phrase, and the words that may be its last."""


def expanded(clause: dict[str, Any], index: dict[str, dict[str, Any]]) -> Clause:
    """A clause with the words of each field that its last word stands for."""
    match = clause["multi_match"]
    *first, last = tokens(match["query"])
    assert match["type"] != "bool_prefix" or not first, "the first words of bool_prefix may stand anywhere"
    found: Clause = []
    for field in match["fields"]:
        name, _, weight = field.partition("^")
        words = sorted({word for each in index.values() for word in tokens(each[name]) if word.startswith(last)})
        limits = {"phrase_prefix": match.get("max_expansions", 50), "bool_prefix": None}
        ends = {last} if match["type"] == "phrase" else set(words[: limits[match["type"]]])
        found.append((name, float(weight or 1), first, ends))
    return found


def matches(clause: Clause, document: dict[str, Any]) -> float:
    """The weight of the best field in which the phrase occurs; 0 if it does not."""
    best = 0.0
    for name, weight, first, ends in clause:
        there = tokens(document[name])
        for at in range(len(there) - len(first)):
            if there[at : at + len(first)] == first and there[at + len(first)] in ends:
                best = max(best, weight)
    return best


_BOUNDS = {"gte": operator.ge, "lt": operator.lt}


def fits(clause: dict[str, Any], document: dict[str, Any]) -> bool:
    if "term" in clause:
        ((name, value),) = clause["term"].items()
        return value in document[name]
    ((name, bounds),) = clause["range"].items()
    return all(_BOUNDS[bound](document[name], value) for bound, value in bounds.items())


def tokens(text: str) -> list[str]:
    """The tokens of the template's analyzer: runs of letters, marks and numbers, in lower case."""
    letters = "".join(each if unicodedata.category(each)[0] in "LMN" else " " for each in text)
    return letters.lower().split()


def date(value: Any) -> bool:
    return value is None or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", str(value)) is not None


def error(kind: str, reason: str) -> dict[str, Any]:
    return {"error": {"type": kind, "reason": reason}}


@contextmanager
def search_server() -> Iterator[SearchServer]:
    """A server on loopback."""
    state = SearchServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            url = urlsplit(self.path)
            with state.lock:
                status, content = state.answer(self.command, url.path, parse_qs(url.query), body)
            sent = b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            """No log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
