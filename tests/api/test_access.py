"""Who gets in: every way of showing a token, and of not showing one, over real HTTP."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis
from callers import Callers, callers

from feedcrawl.api import app
from feedcrawl.api.access import COOKIE
from feedcrawl.domain.operations.tokens import token_text

FEED = "0b5bca8e-6b5a-4b0e-9f4f-0d1a2b3c4d5e"


@pytest.fixture
def public(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    """An API that others can reach."""
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0") as made:
        yield made


@pytest.fixture
def local(redis_server: str, redis_client: redis.Redis, tmp_path: Path) -> Iterator[Callers]:
    """An API on loopback alone."""
    with callers(redis_server, tmp_path) as made:
        yield made


def came_to(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json"
    assert "fct_" not in answer.text
    return answer.status_code, answer.json()["code"]


@pytest.mark.parametrize(
    "shown",
    [
        None,
        "",
        "Bearer",
        "Basic YTpi",
        "Bearer x",
        f"Bearer {token_text(bytes(32))}",
        "Bearer fct_" + "a" * 99_9,
    ],
)
def test_an_unknown_token_gets_401(public: Callers, shown: str | None) -> None:
    public.token("admin")
    answer = public.client().get("/feeds", headers={} if shown is None else {"Authorization": shown})
    status, code = came_to(answer)
    assert (status, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert code == ("token_missing" if shown in (None, "", "Basic YTpi") else "token_unknown")


def test_a_token_is_revoked_at_once(public: Callers) -> None:
    client = public.having("read")
    assert client.get("/feeds").status_code == 200
    (token,) = public.wired.tokens.all()
    assert public.wired.tokens.drop(token.id) == token
    assert came_to(client.get("/feeds")) == (401, "token_unknown")
    assert public.wired.tokens.drop(token.id) is None


READS = ["/feeds", f"/feeds/{FEED}", "/entries", "/articles", "/collections", "/events", "/frontier", "/frontier/urls"]
READS += ["/dlq", "/sources", "/opml", "/metrics", f"/raw/{FEED}"]
WRITES = [("POST", "/feeds"), ("PATCH", f"/feeds/{FEED}"), ("DELETE", f"/feeds/{FEED}"), ("POST", "/opml")]
WRITES += [("POST", f"/feeds/{FEED}/undo-migration")]
WRITES += [("POST", f"/feeds/{FEED}/refetch"), ("POST", "/frontier/urls"), ("POST", "/frontier/urls/file")]
WRITES += [("POST", "/dlq/replay"), ("POST", "/dlq/drop"), ("POST", "/media/from_url"), ("POST", "/collections")]
ADMINS = [("PUT", "/sources/news"), ("DELETE", "/sources/news")]


def test_every_route_asks_for_its_scope(public: Callers) -> None:
    clients = {scope: public.having(scope) for scope in ("read", "write", "admin")}
    needed = [*((("GET", path), "read") for path in READS), *((each, "write") for each in WRITES)]
    for (method, path), scope in [*needed, *((each, "admin") for each in ADMINS)]:
        assert came_to(public.client().request(method, path)) == (401, "token_missing"), path
        lesser = {"read": [], "write": ["read"], "admin": ["read", "write"]}[scope]
        for each in lesser:
            assert came_to(clients[each].request(method, path)) == (403, "scope_missing"), path
        assert clients[scope].request(method, path).status_code not in (401, 403), path


def test_no_route_is_open_by_mistake(public: Callers) -> None:
    free = {"/healthz", "/readyz", "/websub/{token}", "/rsscloud/{token}"}
    document = public.client().get("/openapi.json").json()
    requests = 0
    for path, methods in document["paths"].items():
        for method in methods.keys() & {"get", "post", "put", "patch", "delete"} if path not in free else ():
            answer = public.client().request(method, re.sub(r"\{.*?\}", FEED, path.replace("{form}", "atom")))
            assert answer.status_code == 401, (method, path)
            requests += 1
    assert requests > 30


OPEN = {"/healthz", "/readyz", "/websub/{token}", "/rsscloud/{token}", "/docs", "/login", "/logout"} | {
    f"/dashboard/{name}" for name in ("style.css", "icon.svg")
}


def test_each_route_is_listed_as_open_or_requires_a_token(public: Callers) -> None:
    """Pages too, which no document lists; what changes something asks for more than `read`."""
    stranger, reader = public.client(), public.having("read")
    routers = (*app.OPEN, *app.ROUTERS, *app.PAGES)
    routes = [(method, each.path) for router in routers for each in router.routes for method in each.methods]  # type: ignore[attr-defined]
    assert len(routes) > 55
    special = {"uid": "0" * 16, "form": "atom"}
    for method, path in routes:
        at = re.sub(r"\{(\w+).*?\}", lambda name: special.get(name[1], FEED), path)
        if path in OPEN:
            continue
        answer = stranger.request(method, at)
        assert answer.status_code == 401 or answer.headers["location"].startswith("/login"), (method, path)
        if method != "GET":
            assert reader.request(method, at).status_code == 403, (method, path)


def test_supervisors_and_hubs_need_no_token(public: Callers) -> None:
    client = public.client()
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    assert came_to(client.get("/websub/x")) == (404, "unknown_callback")


@pytest.mark.parametrize(("is_open", "status"), [("yes", 200), ("no", 401)])
def test_metrics_are_open_by_setting(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, is_open: str, status: int
) -> None:
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0", API_OPEN_METRICS=is_open) as public:
        assert public.client().get("/metrics").status_code == status
        assert "feedcrawl_feeds 0.0" in public.having("read").get("/metrics").text


@pytest.mark.parametrize(("is_open", "status"), [("yes", 200), ("no", 401)])
def test_published_feeds_are_open_by_setting_and_those_of_collections_never(
    redis_server: str, redis_client: redis.Redis, tmp_path: Path, is_open: str, status: int
) -> None:
    with callers(redis_server, tmp_path, API_HOST="0.0.0.0", API_OPEN_FEEDS=is_open) as public:
        for path in ("/articles.atom", "/articles.json?category=a", "/categories/a.atom"):
            assert public.client().get(path).status_code == status
            assert public.having("read").get(path).status_code == 200
        assert came_to(public.client().get("/sources/a.json")) == (
            (404, "no_such_source") if status == 200 else (401, "token_missing")
        )
        for path in ("/articles", "/collections/a.atom", "/feeds"):
            assert public.client().get(path).status_code == 401
        assert public.client().get("/articles.atom?bogus=1").status_code == (422 if status == 200 else 401)


# --- on this machine ---


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST:8000", "[::1]:8000", "127.9.9.9"])
def test_a_caller_on_this_machine_needs_no_token(local: Callers, host: str) -> None:
    assert local.client(Host=host).get("/feeds").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},  # a name that was made to lead here
        {"Host": "localhost.evil.example"},
        {"Host": "127.0.0.1.nip.io"},
        {"Host": "0.0.0.0"},
        {"X-Forwarded-For": "203.0.113.7"},  # a proxy of this machine: who knows for whom
        {"X-Forwarded-Host": "api.example"},
        {"Forwarded": "for=203.0.113.7"},
        {"X-Real-IP": "203.0.113.7"},
        {"Via": "1.1 proxy"},
        {"X-Forwarded-Proto": "https"},
    ],
)
def test_a_request_that_another_machine_forwards_needs_a_token(local: Callers, headers: dict[str, str]) -> None:
    assert came_to(local.client().get("/feeds", headers=headers)) == (401, "token_missing")


def test_a_wrong_token_is_refused_on_this_machine_too(local: Callers) -> None:
    assert came_to(local.client(Authorization="Bearer x").get("/feeds")) == (401, "token_unknown")


def test_a_token_names_its_actor_on_this_machine_too(local: Callers) -> None:
    assert local.client().post("/collections", json={"name": "mine"}).status_code == 201
    named = [each["name"] for each in local.having("read").get("/collections").json()["collections"]]
    assert named == ["default"]


# --- browsers ---


def test_a_cookie_is_a_token(public: Callers) -> None:
    client = public.client(Cookie=f"{COOKIE}={public.token('read')}")
    assert client.get("/feeds").status_code == 200
    assert came_to(client.post("/feeds", headers={"Sec-Fetch-Site": "same-origin"})) == (403, "scope_missing")
    assert came_to(public.client(Cookie=f"{COOKIE}=x").get("/feeds")) == (401, "token_unknown")


ELSEWHERE = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": ""},
    {"Origin": "http://127.0.0.1"},  # another port is another origin
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://evil.example"},
    {"Origin": "http://["},
    {"Origin": "https://", "Host": ""},
]


@pytest.mark.parametrize("headers", ELSEWHERE)
def test_a_cross_site_request_of_a_browser_changes_nothing(
    public: Callers, local: Callers, headers: dict[str, str]
) -> None:
    cookie = public.client(Cookie=f"{COOKIE}={public.token('write')}")
    for client in (cookie, local.client(), local.having("write")):
        answer = client.post("/feeds", json={"url": "https://news.example/feed"}, headers=headers)
        assert came_to(answer) == (403, "cross_site")
    assert public.wired.registry.count() == local.wired.registry.count() == 0


def test_a_cookie_changes_something_only_with_an_origin_of_this_server(public: Callers) -> None:
    client = public.client(Cookie=f"{COOKIE}={public.token('write')}")
    body = {"url": "https://news.example/feed"}
    assert came_to(client.post("/feeds", json=body)) == (403, "cross_site")
    own = public.url
    assert client.post("/feeds", json=body, headers={"Origin": own}).status_code == 201
    assert client.post("/feeds", json=body, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_no_other_site_may_read_a_response(public: Callers) -> None:
    client = public.having("read")
    answer = client.get("/feeds", headers={"Origin": "https://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.headers["x-content-type-options"] == "nosniff"
