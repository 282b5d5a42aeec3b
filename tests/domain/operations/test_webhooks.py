import json

import pytest

from feedcrawl.domain.errors import ConfigError
from feedcrawl.domain.operations.events import Unprocessable
from feedcrawl.domain.operations.webhooks import body_of, headers_of, secret_of, signature, verdict

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def test_the_signature_is_that_of_standard_webhooks() -> None:
    body = b'{"test": 2432232314}'
    found = signature("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body, secret_of(SECRET))
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_repetition_has_the_same_id_and_the_headers_are_plain_text() -> None:
    first, again = (headers_of("new_entry:é\r\n:1", b"{}", b"s" * 24, now) for now in (1.9, 500.0))
    assert first["webhook-id"] == again["webhook-id"]
    assert (first["webhook-timestamp"], again["webhook-timestamp"]) == ("1", "500")
    assert first["webhook-signature"] != again["webhook-signature"]
    assert all(value.isascii() and value.isprintable() for value in first.values())


@pytest.mark.parametrize("text", ["short", "whsec_", "whsec_###", f"whsec_{'a' * 8}"])
def test_a_secret_that_can_be_guessed_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="FEEDCRAWL_WEBHOOK_SECRET"):
        secret_of(text)
    assert secret_of("x" * 24) == b"x" * 24


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({}, "gone"),
        ({"type": "new_entry", "data": "{}"}, "no_id"),
        ({"type": "new_entry", "id": "a", "data": "{"}, "bad_json"),
        ({"type": "new_entry", "id": "a", "data": "[" * 100_000}, "bad_json"),
    ],
)
def test_events_without_a_body(event: dict[str, str], reason: str) -> None:
    found = body_of(event)
    assert isinstance(found, Unprocessable)
    assert found.reason == reason


def test_a_body_has_the_data_as_json() -> None:
    found = body_of({"type": "new_entry", "id": "new_entry:1", "data": '{"title":"東京"}', "traceparent": "x"})
    assert isinstance(found, bytes)
    assert json.loads(found) == {"type": "new_entry", "id": "new_entry:1", "data": {"title": "東京"}}


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        *((status, "delivered") for status in (200, 201, 202, 204, 299)),
        *((status, "refused") for status in (301, 302, 400, 401, 404, 410, 422)),
        *((status, "busy") for status in (408, 425, 429, 502, 503, 504)),
        *((status, "failed") for status in (500, 501, 599)),
    ],
)
def test_verdicts(status: int, meant: str) -> None:
    assert verdict(status) == meant
