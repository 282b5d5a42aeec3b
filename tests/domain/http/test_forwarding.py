import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.http.forwarding import MAX_SENT_BYTES, BadExchange, ProxyRequest, closing_head, read_request


def head(*lines: str) -> bytes:
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


@pytest.mark.parametrize(
    ("target", "url", "host", "port"),
    [
        ("a.org:443", "https://a.org:443/", "a.org", 443),
        ("a.org:8443", "https://a.org:8443/", "a.org", 8443),
        ("127.0.0.1:80", "https://127.0.0.1:80/", "127.0.0.1", 80),
        ("[::1]:443", "https://[::1]:443/", "::1", 443),
    ],
)
def test_tunnels(target: str, url: str, host: str, port: int) -> None:
    request = read_request(head(f"CONNECT {target} HTTP/1.1", f"Host: {target}", "Proxy-Authorization: Basic eA=="))
    assert request == ProxyRequest(url, host, port, None, authorization="Basic eA==")


@pytest.mark.parametrize(
    ("target", "host", "port", "path", "named"),
    [
        ("http://a.org/", "a.org", 80, "/", "a.org"),
        ("http://a.org", "a.org", 80, "/", "a.org"),
        ("http://a.org:8080/x?y=/z", "a.org", 8080, "/x?y=/z", "a.org:8080"),
        ("http://a.org?q", "a.org", 80, "/?q", "a.org"),
        ("http://a.org?q=/z", "a.org", 80, "/?q=/z", "a.org"),
        ("http://[::1]/x", "::1", 80, "/x", "[::1]"),
    ],
)
def test_requests_in_the_origins_form(target: str, host: str, port: int, path: str, named: str) -> None:
    request = read_request(head(f"GET {target} HTTP/1.1", "Host: other.org", "Accept: */*"))
    assert (request.url, request.host, request.port, request.body_bytes) == (target, host, port, 0)
    assert request.head == head(f"GET {path} HTTP/1.1", f"Host: {named}", "Accept: */*", "Connection: close")


def test_words_on_the_connection_stay_here() -> None:
    request = read_request(
        head(
            "POST http://a.org/ HTTP/1.1",
            "Proxy-Connection: keep-alive",
            "Proxy-Authorization: Basic c2VjcmV0",
            "Connection: keep-alive, upgrade",
            "Upgrade: h2c",
            "TE: trailers",
            "Content-Length: 12",
        )
    )
    assert request.head == head("POST / HTTP/1.1", "Host: a.org", "Content-Length: 12", "Connection: close")
    assert (request.body_bytes, request.authorization) == (12, "Basic c2VjcmV0")


@pytest.mark.parametrize(
    "lines",
    [
        ["GET /local HTTP/1.1", "Host: a.org"],
        ["GET https://a.org/ HTTP/1.1"],
        ["GET ftp://a.org/ HTTP/1.1"],
        ["GET file:///etc/passwd HTTP/1.1"],
        ["GET http://user@a.org/ HTTP/1.1"],
        ["GET http:///x HTTP/1.1"],
        ["GET http://a.org:99999/ HTTP/1.1"],
        ["GET http://[::1/ HTTP/1.1"],
        ["CONNECT a.org:x HTTP/1.1"],
        ["CONNECT user@a.org:443 HTTP/1.1"],
        ["get http://a.org/ HTTP/1.1"],
        ["GET http://a.org/ HTTP/2"],
        ["GET  http://a.org/ HTTP/1.1"],
        ["GET http://a.org/ HTTP/1.1", "no header"],
        ["GET http://a.org/ HTTP/1.1", "Accept: a", " folded"],
        ["GET http://a.org/ HTTP/1.1", "A: b\nX: y"],
        ["POST http://a.org/ HTTP/1.1", "Transfer-Encoding: chunked"],
        ["POST http://a.org/ HTTP/1.1", "Content-Length: 1", "Content-Length: 2"],
        ["POST http://a.org/ HTTP/1.1", "Content-Length: +1"],
        ["POST http://a.org/ HTTP/1.1", f"Content-Length: {MAX_SENT_BYTES + 1}"],
        [""],
    ],
)
def test_an_ambiguous_head_is_refused(lines: list[str]) -> None:
    with pytest.raises(BadExchange, match="bad_request"):
        read_request(head(*lines))


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_request, closing_head):
        try:
            read(b"GET " + data)
            read(data + b"\r\n\r\n")
        except BadExchange:
            pass


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["HTTP/1.1 200 OK", "A: b"], ["HTTP/1.1 200 OK", "A: b", "Connection: close"]),
        (["HTTP/1.0 200"], ["HTTP/1.0 200", "Connection: close"]),
        (
            ["HTTP/1.1 404 Not Found", "Connection: keep-alive", "Keep-Alive: timeout=5", "Transfer-Encoding: chunked"],
            ["HTTP/1.1 404 Not Found", "Transfer-Encoding: chunked", "Connection: close"],
        ),
        (["HTTP/1.1 103 Early Hints", "Link: x"], None),
        (["HTTP/1.1 100 Continue"], None),
    ],
)
def test_forwarded_responses_close_the_connection(lines: list[str], expected: list[str] | None) -> None:
    assert closing_head(head(*lines)) == (head(*expected) if expected else None)


@pytest.mark.parametrize("line", ["SSH-2.0-x", "HTTP/2 200", "HTTP/1.1 20", "HTTP/1.1 2000 OK", ""])
def test_a_head_that_is_no_response_is_refused(line: str) -> None:
    with pytest.raises(BadExchange, match="bad_response"):
        closing_head(head(line))
