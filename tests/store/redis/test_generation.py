"""An emptied server is never taken for a new one, nor another for the one that it was."""

from pathlib import Path

import pytest
import redis

from feedcrawl.store.disk.files import DiskUnavailable
from feedcrawl.store.redis.errors import ServerRefused
from feedcrawl.store.redis.generation import Generation
from feedcrawl.store.redis.keys import generation as key

GENERATION = key(0)


@pytest.fixture
def settled(redis_client: redis.Redis, tmp_path: Path) -> Generation:
    generation = Generation(redis_client, tmp_path)
    generation.settle()
    generation.settle()
    return generation


def code(generation: Generation) -> str:
    with pytest.raises(ServerRefused, match="scrapy restore") as refused:
        generation.check()
    return refused.value.code


def test_a_new_server_gets_an_id_and_the_directory_a_moment_later(redis_client: redis.Redis, tmp_path: Path) -> None:
    generation = Generation(redis_client, tmp_path / "new")
    generation.check()
    assert redis_client.get(GENERATION) is None
    generation.settle()
    assert redis_client.get(GENERATION)
    assert not (tmp_path / "new").exists()
    generation.settle()
    assert (tmp_path / "new" / "generation").read_text().strip() == redis_client.get(GENERATION)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["generation"]


def test_a_kill_in_between_leaves_a_directory_that_joins(redis_client: redis.Redis, tmp_path: Path) -> None:
    Generation(redis_client, tmp_path).settle()
    redis_client.flushall()
    joining = Generation(redis_client, tmp_path)
    joining.settle()  # the server gets an id
    joining.settle()  # and then the directory
    assert (tmp_path / "generation").read_text().strip() == redis_client.get(GENERATION)


def test_the_writer_of_a_generation_notices_an_emptied_server_at_once(
    redis_client: redis.Redis, tmp_path: Path
) -> None:
    generation = Generation(redis_client, tmp_path)
    generation.settle()
    redis_client.flushall()
    assert code(generation) == "emptied"
    assert code(Generation(redis_client, tmp_path)) == "emptied"


def test_an_emptied_server_and_another_are_refused(
    redis_client: redis.Redis, tmp_path: Path, settled: Generation
) -> None:
    redis_client.flushall()
    assert code(settled) == code(Generation(redis_client, tmp_path)) == "emptied"
    with pytest.raises(ServerRefused):
        settled.settle()
    assert redis_client.get(GENERATION) is None
    redis_client.set(GENERATION, "0123")
    assert code(settled) == code(Generation(redis_client, tmp_path)) == "another_server"


def test_directories_share_a_server(redis_client: redis.Redis, tmp_path: Path, settled: Generation) -> None:
    other = Generation(redis_client, tmp_path / "other")
    other.settle()
    ids = {path.read_text() for path in tmp_path.rglob("generation")}
    assert len(ids) == 1
    redis_client.flushall()
    settled.accept()
    other.check()


def test_a_server_with_another_generation_may_be_accepted(
    redis_client: redis.Redis, tmp_path: Path, settled: Generation
) -> None:
    redis_client.set(GENERATION, "0123")
    Generation(redis_client, tmp_path).accept()
    Generation(redis_client, tmp_path).check()
    assert redis_client.get(GENERATION) == "0123"


def test_a_directory_that_cannot_be_read_is_no_new_directory(redis_client: redis.Redis, tmp_path: Path) -> None:
    (tmp_path / "generation").mkdir()
    with pytest.raises(DiskUnavailable):
        Generation(redis_client, tmp_path).check()


def test_a_node_of_a_cluster_that_lost_its_data_is_noticed(redis_client: redis.Redis, tmp_path: Path) -> None:
    Generation(redis_client, tmp_path / "killed").settle()  # a first start that came no further than the first shard
    generation = Generation(redis_client, tmp_path / "data", shards=4)
    generation.settle()
    generation.settle()
    assert {redis_client.get(key(number)) for number in range(4)} == {redis_client.get(GENERATION)}
    for lost in (3, 0):
        redis_client.delete(key(lost))
        assert code(generation) == code(Generation(redis_client, tmp_path / "data", shards=4)) == "emptied"
        generation.accept()
        generation.check()
