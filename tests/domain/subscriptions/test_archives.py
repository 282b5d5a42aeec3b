import json

import pytest

from feedcrawl.domain.models import Paging
from feedcrawl.domain.subscriptions.archives import Step, Walk, next_document, visit_key, walk_from

URL = "https://news.example/feed"


@pytest.mark.parametrize(
    ("paging", "step"),
    [
        (Paging(), Step(None, "end")),
        (Paging(next="?page=2"), Step("https://news.example/feed?page=2", "next")),
        (Paging(prev_archive="/2024/01"), Step("https://news.example/2024/01", "prev_archive")),
        (Paging(next="?page=2", prev_archive="/2024/01"), Step("https://news.example/2024/01", "prev_archive")),
        (Paging(next="?page=2", archive=True), Step(None, "end")),
        (Paging(prev_archive="/2023/12", archive=True), Step("https://news.example/2023/12", "prev_archive")),
        (Paging(prev_archive="/2023/12", complete=True), Step(None, "complete")),
        (Paging(next=URL), Step(None, "loop")),
        (Paging(next="HTTPS://News.example:443/feed#top"), Step(None, "loop")),
        (Paging(next="javascript:more()"), Step(None, "invalid_url")),
        (Paging(next="https://user:pw@news.example/2"), Step(None, "invalid_url")),
        (Paging(next="https://news.example/" + "a" * 3000), Step(None, "invalid_url")),
    ],
)
def test_next_document(paging, step):
    assert next_document(paging, url=URL, visited={visit_key(URL)}, limit=9) == step


def test_a_page_visited_before_ends_the_walk():
    visited = {visit_key(URL), visit_key(f"{URL}?page=2")}
    assert next_document(Paging(next=URL), url=f"{URL}?page=2", visited=visited, limit=9) == Step(None, "loop")


def test_a_walk_has_a_limit():
    visited = {visit_key(f"{URL}?page={number}") for number in range(3)}
    paging = Paging(next="?page=9")
    assert next_document(paging, url=URL, visited=visited, limit=3) == Step(None, "limit")
    assert next_document(paging, url=URL, visited=visited, limit=4).reason == "next"


def test_trailing_slashes_and_parameters_tell_documents_apart():
    assert visit_key(f"{URL}/") != visit_key(URL)
    assert visit_key(f"{URL}?page=1") != visit_key(URL)


def test_a_walk_survives_as_json():
    walk = Walk().at(URL, f"{URL}?x=1", URL).read(3, whole=True).read(2, whole=False)
    assert walk == Walk((visit_key(URL), visit_key(f"{URL}?x=1")), 1, 5, 1)
    assert walk_from(json.loads(json.dumps(walk.to_record()))) == walk
    assert walk_from({"redirect_chain": ["http://a.test/"]}) == Walk()


@pytest.mark.parametrize(("readings", "documents", "left"), [(3, 0, 4), (4, 1, 0)])
def test_a_document_is_read_five_times_at_most(readings, documents, left):
    walk = Walk(readings=readings).read(1, whole=False)
    assert (walk.documents, walk.readings) == (documents, left)
