import errno
import gzip
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import wait
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import pytest
from disks import disk_of
from warcio.archiveiterator import ArchiveIterator

from feedcrawl.domain.archive.warc import Captured, Exchange
from feedcrawl.domain.dates import rfc3339
from feedcrawl.store.disk.files import DiskUnavailable, json_line
from feedcrawl.store.disk.raw import RawElsewhere, RawStore
from feedcrawl.store.disk.raw_index import RawRef

AT = datetime(2026, 11, 27, 23, 6, 16, 123456, tzinfo=UTC)
FEED = b"<rss><channel><title>caf\xc3\xa9</title></channel></rss>" * 40


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "raw"


@pytest.fixture
def store(directory):
    with closing(RawStore(directory, software="feedcrawl/test")) as store:
        yield store


def exchange(**given):
    defaults = {
        "fetch_id": str(uuid4()),
        "url": "http://a.test:8080/feed",
        "fetched_at": AT,
        "status": 200,
        "body": FEED,
        "feed_id": "feed-1",
        "request_headers": [(b"User-Agent", b"feedcrawl")],
        "response_headers": [(b"Content-Type", b"application/rss+xml")],
    }
    return Exchange(**defaults | given)


def source(ref):
    return Captured.from_json(ref.source)


def files(directory, suffix=".warc.gz"):
    return sorted(directory.rglob(f"*{suffix}"))


def kinds(path):
    """Types of the records of a file, in order, as warcio reads it; a wrong digest raises."""
    with path.open("rb") as file:
        found = []
        for record in ArchiveIterator(file, check_digests="raise", verify_http=True):
            record.content_stream().read()
            found.append(record.rec_type)
        return found


def test_bytes_come_back_exactly(store):
    encoded = gzip.compress(FEED, mtime=0)
    headers = [(b"Etag", b'W/"1"'), (b"Content-Encoding", b"gzip"), (b"X-Latin", "é".encode("latin-1"))]
    ref = store.append(exchange(body=encoded, response_headers=headers, reason="OK"))
    assert store.read(ref) == encoded
    head = b'HTTP/1.1 200 OK\r\nEtag: W/"1"\r\nContent-Encoding: gzip\r\nX-Latin: \xe9\r\n\r\n'
    assert store.read(ref, "response") == head + encoded
    assert store.read(ref, "request") == b"GET /feed HTTP/1.1\r\nHost: a.test:8080\r\nUser-Agent: feedcrawl\r\n\r\n"


def test_a_reference_has_every_field_of_the_capture(store, directory):
    given = exchange(feed_id=None, uid="0123456789abcdef")
    ref = store.append(given)
    (path,) = files(directory)
    assert ref == RawRef(
        fetch_id=given.fetch_id,
        feed_id=None,
        uid="0123456789abcdef",
        host="a.test",
        url="http://a.test:8080/feed",
        fetched_at=AT,
        status=200,
        machine=store.machine,
        file=str(path.relative_to(directory)),
        offset=ref.offset,
        length=ref.length,
        request_length=ref.request_length,
        payload_digest=f"sha256:{hashlib.sha256(FEED).hexdigest()}",
    )
    assert ref.offset + ref.length + ref.request_length == path.stat().st_size
    assert path.parent.name == "2026-11-27"
    assert path.name.startswith("20261127T230616Z-")
    assert f"-{os.getpid()}-" in path.name


def test_the_index_beside_the_file_is_the_reference(store, directory):
    refs = [store.append(exchange()) for _ in range(3)]
    (index,) = files(directory, ".warc.gz.index.ndjson")
    assert index.read_bytes() == b"".join(json_line(ref.as_json()) for ref in refs)
    assert [RawRef.from_json(json.loads(line)) for line in index.read_bytes().splitlines()] == refs


@pytest.mark.parametrize(("microsecond", "written"), [(0, "2026-11-27T23:06:16Z"), (7, "2026-11-27T23:06:16.000007Z")])
def test_a_reference_as_json_has_plain_values(store, microsecond, written):
    ref = store.append(exchange(fetched_at=AT.replace(microsecond=microsecond)))
    assert ref.as_json()["fetched_at"] == written
    assert {type(value) for value in ref.as_json().values()} <= {str, int, dict, type(None)}


def test_files_are_read_by_warcio(store, directory):
    first = store.append(exchange())
    store.append(exchange(status=304, body=b"", previous=source(first)))
    store.append(exchange(previous=source(first)))
    store.append(exchange(body=b"cut", truncated="disconnect"))
    store.append(exchange(status=204, body=b"", response_headers=[]))
    (path,) = files(directory)
    pairs = ["response", "request", "revisit", "request", "revisit", "request", "response", "request"]
    assert kinds(path) == ["warcinfo", *pairs, "response", "request"]


@pytest.mark.parametrize("body", [FEED, b"", b"\r\n\r\n", os.urandom(100_000)])
def test_a_fetch_is_found_by_another_process_without_redis(store, directory, body):
    others = [store.append(exchange()) for _ in range(3)]
    ref = store.append(exchange(body=body, fetched_at=AT + timedelta(days=1)))
    reader = RawStore(directory, software="reader")
    assert reader.find(ref.fetch_id) == reader.find(ref.fetch_id, date(2026, 11, 28)) == ref
    assert reader.read(ref) == body
    assert reader.find(ref.fetch_id, date(2026, 11, 27)) is None
    assert reader.find(str(uuid4())) is None
    assert list(reader.refs()) == [ref, *others]
    assert list(reader.refs(date(2026, 11, 27))) == others


def test_an_empty_store_has_nothing(store):
    assert store.find(str(uuid4())) is None
    assert list(store.refs()) == []


@pytest.mark.parametrize("fetch_id", ["", "x", "../../etc/passwd", 'a","b', "{5b1c8f0e6a0e4c389d3a0d3d1f3f9a11}"])
def test_a_fetch_id_is_a_uuid(store, directory, fetch_id):
    with pytest.raises(ValueError, match=r"UUID|badly formed"):
        store.append(exchange(fetch_id=fetch_id))
    assert not directory.exists()


def test_an_unchanged_body_is_written_once_and_read_from_there(store):
    first = store.append(exchange())
    second = store.append(exchange(previous=source(first), fetched_at=AT + timedelta(days=1)))
    third = store.append(exchange(previous=source(second), fetched_at=AT + timedelta(days=2)))
    assert second.source == third.source == first.source
    assert third.refers_to == Captured(first.fetch_id, first.url, AT, first.payload_digest)
    assert third.length < first.length + 400
    assert store.read(third) == FEED
    assert store.read(third, "response").endswith(b"\r\n\r\n")
    assert store.record(third)["body_sha256"] == hashlib.sha256(FEED).hexdigest()


def test_a_304_names_the_capture_of_its_body(store):
    first = store.append(exchange())
    second = store.append(exchange(status=304, body=b"", previous=source(first)))
    assert second.source == first.source
    assert store.read(second) == b""
    assert store.append(exchange(status=304, body=b"")).source is None


@pytest.mark.parametrize(("status", "stands"), [(200, True), (203, True), (301, False), (404, False), (503, False)])
def test_a_304_never_stands_on_an_error(store, status, stands):
    assert bool(store.append(exchange(status=status)).source) is stands


def test_a_truncated_body_is_no_source_of_later_captures(store):
    ref = store.append(exchange(body=FEED[:100], truncated="length"))
    assert ref.source is None
    assert ref.truncated == "length"
    assert store.read(ref) == FEED[:100]


def test_an_unchanged_body_whose_first_capture_is_missing_is_an_error(store, directory):
    first = store.append(exchange())
    second = store.append(exchange(previous=source(first), fetched_at=AT + timedelta(days=1)))
    for path in (directory / "2026-11-27").iterdir():
        path.unlink()
    with pytest.raises(RawElsewhere) as caught:
        store.read(second)
    assert caught.value.ref == second


def test_a_file_that_lies_elsewhere_is_named_with_its_machine(store):
    ref = store.append(exchange()).as_json()
    away = RawRef.from_json(json.loads(json_line({**ref, "machine": "other", "file": "2026-11-27/x.warc.gz"})))
    with pytest.raises(RawElsewhere, match="other"):
        store.read(away)


@pytest.mark.parametrize("file", ["../outside", "/etc/passwd", "2026-11-27/../../outside"])
def test_a_reference_leads_nowhere_else(store, tmp_path, file):
    (tmp_path / "outside").write_bytes(gzip.compress(b"WARC/1.1\r\n\r\n"))
    ref = store.append(exchange()).as_json()
    with pytest.raises(DiskUnavailable):
        store.read(RawRef(**{**ref, "file": file}))


@pytest.mark.parametrize("change", [{"offset": 3}, {"length": 20}, {"fetch_id": str(uuid4())}, {"offset": 10**6}])
def test_a_reference_that_does_not_fit_its_record_is_refused(store, change):
    ref = store.append(exchange()).as_json()
    with pytest.raises(DiskUnavailable) as caught:
        store.read(RawRef(**{**ref, **change}))
    assert caught.value.reason == "damaged"


def test_the_record_of_a_fetch(store):
    ref = store.append(
        exchange(
            response_headers=[
                (b"Content-Type", b"text/xml"),
                (b"Content-Length", b"2000"),
                (b"Set-Cookie", b"a=1"),
                (b"Set-Cookie", "b=é".encode("latin-1")),
            ]
        )
    )
    assert store.record(ref) == {
        "fetch_id": ref.fetch_id,
        "feed_id": "feed-1",
        "uid": None,
        "fetched_at": rfc3339(AT),
        "url": "http://a.test:8080/feed",
        "http_status": 200,
        "request_headers": {"Host": "a.test:8080", "User-Agent": "feedcrawl"},
        "response_headers": {"Content-Type": "text/xml", "Content-Length": "2000", "Set-Cookie": ["a=1", "b=é"]},
        "body_ref": {"storage": "localfs", "key": f"{ref.file}#{ref.offset},{ref.length}"},
        "body_sha256": hashlib.sha256(FEED).hexdigest(),
        "content_type": "text/xml",
        "content_length": 2000,
        "truncated": None,
        "outgoing": None,
        "machine": store.machine,
    }


@pytest.mark.parametrize("declared", [b"", b"-1", b"2000, 2000", b"1e3", "٣".encode(), b"9" * 400])
def test_a_malformed_content_length_is_unknown(store, declared):
    ref = store.append(exchange(response_headers=[(b"Content-Length", declared)]))
    assert store.record(ref)["content_length"] is None


def test_files_change_at_midnight_utc(store, directory):
    for hours in (0, 0, 1, 0, 26):
        store.append(exchange(fetched_at=AT + timedelta(hours=hours)))
    assert [(path.parent.name, len(kinds(path))) for path in files(directory)] == [
        ("2026-11-27", 5),
        ("2026-11-28", 5),  # with the straggler of the day before
        ("2026-11-29", 3),
    ]


def test_files_change_at_a_size(directory):
    with closing(RawStore(directory, software="x", max_file_bytes=12_000)) as store:
        refs = [store.append(exchange(body=os.urandom(4000))) for _ in range(6)]
    assert len(files(directory)) == 2
    assert all(kinds(path)[0] == "warcinfo" for path in files(directory))
    assert {store.find(ref.fetch_id) for ref in refs} == set(refs)


def test_each_run_has_a_file_of_its_own(directory):
    for _ in range(3):
        with closing(RawStore(directory, software="x")) as store:
            store.append(exchange())
    assert [kinds(path) for path in files(directory)] == [["warcinfo", "response", "request"]] * 3


def test_a_store_without_a_write_creates_no_folder(directory):
    RawStore(directory, software="x").close()
    assert not directory.exists()


def test_a_full_disk_leaves_whole_records_only(store, directory):
    before = store.append(exchange())
    (path,), (index,) = files(directory), files(directory, ".ndjson")
    sizes = path.stat().st_size, index.stat().st_size
    with disk_of(sizes[0] + 200), pytest.raises(DiskUnavailable) as caught:
        store.append(exchange(body=os.urandom(5000)))
    assert caught.value.path == path
    assert caught.value.reason == "file_too_large"
    assert (path.stat().st_size, index.stat().st_size) == sizes
    after = store.append(exchange())  # in another file: this one may be as full as it can be
    assert [kinds(each) for each in files(directory)] == [["warcinfo", "response", "request"]] * 2
    assert {ref.fetch_id for ref in store.refs()} == {before.fetch_id, after.fetch_id}


def test_a_disk_that_was_full_goes_on_in_the_same_file(store, directory, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    store.append(exchange())
    (path,) = files(directory)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(DiskUnavailable):
            store.append(exchange())
    store.append(exchange())
    assert files(directory) == [path]
    assert kinds(path) == ["warcinfo", *["response", "request"] * 2]


def test_records_go_when_their_line_in_the_index_does_not_fit(store, directory):
    for _ in range(20):
        store.append(exchange(status=304, body=b"", url="http://a.test/" + "x" * 2000))
    (path,), (index,) = files(directory), files(directory, ".ndjson")
    size = index.stat().st_size
    assert size > path.stat().st_size + 2000
    with disk_of(size + 100), pytest.raises(DiskUnavailable):
        store.append(exchange(status=304, body=b"", url="http://a.test/" + "y" * 2000))
    assert index.stat().st_size == size
    assert kinds(path) == ["warcinfo", *["revisit", "request"] * 20]


def test_a_disk_that_was_full_from_the_start_can_be_used_later(store, directory):
    with disk_of(100):
        for _ in range(3):
            with pytest.raises(DiskUnavailable):
                store.append(exchange())
    ref = store.append(exchange())
    assert store.read(ref) == FEED
    assert [kinds(path) for path in files(directory)] == [["warcinfo", "response", "request"]]


def test_a_file_that_cannot_be_mended_is_left_alone(store, directory, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EIO, "I/O error")

    store.append(exchange())
    with monkeypatch.context() as patch, disk_of(100):
        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(DiskUnavailable):
            store.append(exchange())
    store.append(exchange())
    assert len(files(directory)) == 2


@pytest.mark.parametrize("durable", [False, True])
def test_durable_waits_for_the_disk(directory, monkeypatch, durable):
    synced = []
    monkeypatch.setattr(os, "fdatasync", synced.append)
    with closing(RawStore(directory, software="x", durable=durable)) as store:
        store.append(exchange())
        assert len(synced) == (2 if durable else 0)


def test_a_link_that_somebody_planted_is_refused(store, directory, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    directory.mkdir()
    (directory / "2026-11-27").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DiskUnavailable) as caught:
        store.append(exchange())
    assert caught.value.reason == "symlink_refused"
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert store.find(str(uuid4())) is None


def test_large_bodies_are_written_by_a_thread_and_small_bodies_at_once(store, monkeypatch):
    writers, append = {}, store.append

    def written(each):
        writers[len(each.body)] = threading.current_thread()
        return append(each)

    monkeypatch.setattr(store, "append", written)
    small, large = store.append_async(exchange()), store.append_async(exchange(body=b"x" * 3_000_000))
    assert small.done()
    assert store.read(large.result(10)) == b"x" * 3_000_000
    assert writers.pop(3_000_000) is not threading.current_thread()
    assert set(writers.values()) == {threading.current_thread()}
    assert store.find(small.result().fetch_id) == small.result()


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_failure_is_in_the_future(store, size):
    with disk_of(100):
        future = store.append_async(exchange(body=os.urandom(size)))
        assert isinstance(future.exception(10), DiskUnavailable)


def test_closing_writes_all_pending_exchanges(store, directory):
    futures = [store.append_async(exchange(body=os.urandom(200_000))) for _ in range(5)]
    store.close()
    store.close()
    assert all(future.done() for future in futures)
    assert [store.read(future.result())[:0] for future in futures] == [b""] * 5
    assert len(kinds(files(directory)[0])) == 11


def test_threads_share_a_file(store, directory):
    def write():
        for _ in range(20):
            store.append(exchange())

    threads = [threading.Thread(target=write) for _ in range(4)]
    futures = [store.append_async(exchange(body=os.urandom(50_000))) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wait(futures, 10)
    (path,) = files(directory)
    assert len(kinds(path)) == 1 + 2 * 85
    refs = list(store.refs())
    assert len(refs) == 85
    assert all(store.read(ref, "request") for ref in refs)


WRITE_FOR_EVER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4
from feedcrawl.domain.archive.warc import Exchange
from feedcrawl.store.disk.raw import RawStore
store = RawStore(Path(sys.argv[1]), software="feedcrawl/test")
while True:
    ref = store.append(Exchange(str(uuid4()), "http://a.test/", datetime.now(UTC), 200, body=b"body" * 5000))
    print(ref.fetch_id, flush=True)
"""


def test_acknowledged_exchanges_survive_kill_9(directory, store):
    with subprocess.Popen([sys.executable, "-c", WRITE_FOR_EVER, str(directory)], stdout=subprocess.PIPE) as writer:
        acknowledged = [writer.stdout.readline().decode().strip() for _ in range(50)]
        writer.send_signal(signal.SIGKILL)
        acknowledged += writer.stdout.read().decode().split()
    (path,) = files(directory)
    assert kinds(path)[:3] == ["warcinfo", "response", "request"]
    refs = {ref.fetch_id: ref for ref in store.refs()}
    assert all(store.read(refs[fetch_id]) == b"body" * 5000 for fetch_id in acknowledged)


def test_a_torn_tail_damages_no_other_record(store, directory):
    refs = [store.append(exchange()) for _ in range(3)]
    (path,), (index,) = files(directory), files(directory, ".ndjson")
    store.close()
    os.truncate(path, path.stat().st_size - 20)
    os.truncate(index, index.stat().st_size - 20)
    assert list(store.refs()) == refs[:2]
    assert kinds(path)[:6] == ["warcinfo", *["response", "request"] * 2, "response"]
    with closing(RawStore(directory, software="x")) as after:
        ref = after.append(exchange())
        assert {each.fetch_id for each in after.refs()} == {each.fetch_id for each in (*refs[:2], ref)}


def test_a_file_is_readable_while_it_grows(store, directory):
    for number in range(5):
        store.append(exchange())
        assert len(kinds(files(directory)[0])) == 1 + 2 * (number + 1)
