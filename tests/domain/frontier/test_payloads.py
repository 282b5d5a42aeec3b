from feedcrawl.domain.frontier.payloads import filled, without


def test_a_payload_has_no_empty_fields() -> None:
    fields = {"feed_id": "f", "title": None, "summary": "", "tags": [], "temporary": False, "new": 0, "meta": {}}
    assert filled(fields) == {"feed_id": "f"}


def test_fields_of_a_single_request_are_removed_from_a_payload() -> None:
    assert without({"feed_id": "f", "trace": "t", "temporary": True}, ("trace", "search")) == {
        "feed_id": "f",
        "temporary": True,
    }
