"""`scrapy webhooks`, called as Scrapy calls it; what is sent is tested with its service."""

import json
from collections.abc import Callable

import pytest
import redis
from ports import free_port

from feedcrawl.services.operations.webhooks import group_of
from feedcrawl.store.redis import keys

Call = Callable[..., tuple[int, str, str]]
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
HOOK = f"http://127.0.0.1:{free_port()}/"
AWAY = {"FEEDCRAWL_WEBHOOK_URLS": f"{HOOK}?token=t0ken", "FEEDCRAWL_ALLOW_NETWORKS": "127.0.0.0/8"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "FEEDCRAWL_WEBHOOK_URLS names no URL"),
        (AWAY, "FEEDCRAWL_WEBHOOK_SECRET must be set"),
        (AWAY | {"FEEDCRAWL_WEBHOOK_SECRET": "hunter2"}, "24 bytes or more"),
        (AWAY | {"FEEDCRAWL_WEBHOOK_SECRET": SECRET, "FEEDCRAWL_WEBHOOK_EVENTS": "new"}, "new is none of"),
        (AWAY | {"FEEDCRAWL_WEBHOOK_SECRET": SECRET, "FEEDCRAWL_ALLOW_NETWORKS": ""}, "address_refused"),
        ({"FEEDCRAWL_WEBHOOK_URLS": "ftp://a.test/", "FEEDCRAWL_WEBHOOK_SECRET": SECRET}, "url_scheme"),
    ],
)
def test_settings_that_cannot_be_used(call: Call, given: dict[str, str], message: str) -> None:
    code, out, err = call("webhooks", "--once", **given)
    assert (code, out) == (2, "")
    assert message in err
    assert "hunter2" not in err


def test_a_webhook_round_without_its_receiver_fails_and_keeps_its_events(call: Call, redis_client: redis.Redis) -> None:
    given = AWAY | {"FEEDCRAWL_WEBHOOK_SECRET": SECRET}
    assert json.loads(call("webhooks", "--status", **given)[1]) == [
        {"url": HOOK, "group": group_of(AWAY["FEEDCRAWL_WEBHOOK_URLS"]), "unacknowledged": None, "waiting": None}
    ]
    redis_client.xadd(keys.EVENTS, {"type": "new_entry", "id": "new_entry:1", "data": "{}"})
    code, _, err = call("webhooks", "--once", **given)
    assert code == 1
    assert "webhook_away" in err
    assert "0 events sent, 0 refused" in err
    assert "t0ken" not in err
    assert json.loads(call("webhooks", "--status", **given)[1])[0]["unacknowledged"] == 1
