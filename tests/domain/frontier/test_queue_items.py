import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.frontier.queue_items import QueueItem, read_item

URL = "https://example.org/a"


@pytest.mark.parametrize(
    ("text", "item"),
    [
        (URL, QueueItem(URL)),
        (f"  {URL}\n", QueueItem(URL)),
        (f'{{"url":"{URL}"}}', QueueItem(URL)),
        (f'{{"url":"{URL}","category":"news","priority":9}}', QueueItem(URL, "news", 9)),
        (f'{{"url":"{URL}","category":""}}', QueueItem(URL)),
        (f'{{"url":"{URL}","again":true}}', QueueItem(URL, again="queue_again")),
        (f'{{"url":"{URL}","again":false}}', QueueItem(URL)),
        (f'{{"url":"{URL}","again":"yes"}}', QueueItem(URL)),
        (
            f'{{"url":"{URL}","uid":"0","reason":"http_404","attempts":4,"priority":5}}',
            QueueItem(URL, priority=5, again="retry"),
        ),
        (f'{{"url":"{URL}","whatever":[1]}}', QueueItem(URL)),
    ],
)
def test_items(text: str, item: QueueItem) -> None:
    assert read_item(text) == item


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("", "no URL"),
        ("{", "JSON"),
        ("{" * 100_000, "JSON"),
        ("{}", "no URL"),
        ('{"url":3}', "no URL"),
        (f'{{"url":"{URL}","priority":11}}', "priority"),
        (f'{{"url":"{URL}","priority":true}}', "priority"),
        (f'{{"url":"{URL}","priority":"5"}}', "priority"),
        (f'{{"url":"{URL}","category":["a"]}}', "category"),
    ],
)
def test_a_malformed_queue_item_is_refused(text: str, detail: str) -> None:
    with pytest.raises(Refusal, match=detail) as refusal:
        read_item(text)
    assert refusal.value.code == "bad_queue_item"


@pytest.mark.parametrize("category", ["x" * 257, "a\nb", "a\x00", "a\u202eb", "{tag}", "a}"])
def test_a_category_that_no_key_can_have_is_refused(category: str) -> None:
    with pytest.raises(Refusal) as refusal:
        read_item(json.dumps({"url": "https://a.test/", "category": category}))
    assert refusal.value.code == "bad_category"
    assert read_item(json.dumps({"url": "https://a.test/", "category": "n" * 256})).category == "n" * 256


@given(st.text())
def test_any_text_is_an_item_or_refused(text: str) -> None:
    try:
        assert read_item(text).url
    except Refusal as refusal:
        assert refusal.code in ("bad_queue_item", "bad_category")  # noqa: PT017 - both outcomes are right
