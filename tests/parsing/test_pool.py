import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from feedcrawl.parsing import Done, Failed, ParserPool, children
from feedcrawl.parsing import pool as pools

# Children call the built-in eval(), which they can import; the expression is the work.
PID = "__import__('os').getpid()"
SLEEP = "__import__('time').sleep(60)"
LOOP_IN_C = "sum(iter(int, 1))"  # never gives the interpreter's lock back
SPEND = "[0 for t in [__import__('time').process_time] for end in [t() + 0.1] for _ in iter(lambda: t() > end, True)]"
MODULES = "sorted(__import__('sys').modules)"
NOT_IN_CHILDREN = {"scrapy", "twisted", "redis", "scrapy_redis", "pytest", "feedcrawl.store"}


def driven(work, processes=1, **limits):
    async def main():
        pool = ParserPool(processes, **limits)
        try:
            return await asyncio.wait_for(work(pool), 60)
        finally:
            await pool.close()

    return asyncio.run(main())


def outcome_of(expression, *, wall_sec=20.0, **limits):
    return driven(lambda pool: pool.run(eval, expression, wall_sec=wall_sec), **limits)


def gone(pid, within_sec=8.0):
    deadline = time.monotonic() + within_sec
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_a_result_is_a_value_with_its_time():
    outcome = driven(lambda pool: pool.run(json.loads, b'{"a": [1, 2]}', parse_int=str))
    assert isinstance(outcome, Done)
    assert outcome.value == {"a": ["1", "2"]}
    assert 0 < outcome.seconds < 5


@pytest.mark.parametrize(
    ("expression", "code", "detail"),
    [
        ("1 / 0", "parse_error", "ZeroDivisionError: division by zero"),
        ("__import__('sys').exit(3)", "parse_error", "SystemExit: 3"),
        ("(lambda f: f(f))(lambda f: f(f))", "parse_error", "RecursionError"),
        ("lambda: 0", "parse_error", "type function is unsupported"),
        ("[].append('\\ud800') or int('\\ud800')", "parse_error", "ValueError"),
        ("b'x' * (3 << 30)", "parse_memory", "memory"),
        ("__import__('os')._exit(3)", "parse_crash", "status 3"),
        ("__import__('os').kill(__import__('os').getpid(), 11)", "parse_crash", "SIGSEGV"),
        ("__import__('os').abort()", "parse_crash", "SIGABRT"),
        ("__import__('os').kill(__import__('os').getpid(), 9)", "parse_crash", "SIGKILL"),
    ],
)
def test_a_failure_is_a_value_with_its_reason(expression, code, detail):
    outcome = outcome_of(expression)
    assert isinstance(outcome, Failed)
    outcome.detail.encode()
    assert outcome.seconds > 0
    assert outcome.code == code
    assert detail in outcome.detail


def test_a_refusal_keeps_its_code_and_detail():
    refuse = (
        "(_ for _ in ()).throw(__import__('feedcrawl.domain.errors').domain.errors.NotAFeed('html', 'a login page'))"
    )
    outcome = outcome_of(refuse)
    assert (outcome.code, outcome.detail) == ("html", "a login page")


def test_a_function_that_children_cannot_import_is_an_error_of_its_task():
    here = type(sys)("only_here")
    exec("def parse(body): return body", here.__dict__)
    sys.modules["only_here"] = here
    try:
        outcome = driven(lambda pool: pool.run(here.parse, b""))
    finally:
        del sys.modules["only_here"]
    assert outcome.code == "parse_error"
    assert "only_here" in outcome.detail


def test_an_argument_that_cannot_be_pickled_is_an_error_of_the_caller():
    with pytest.raises((AttributeError, TypeError)):
        driven(lambda pool: pool.run(print, threading.Lock()))


@pytest.mark.parametrize("expression", [LOOP_IN_C, "[0 for _ in iter(int, 1) if _]"])
def test_processor_time_is_limited_even_in_c(expression):
    outcome = outcome_of(expression, cpu_sec=0.3)
    assert (outcome.code, outcome.detail) == ("parse_timeout", "more than 0.3 s of CPU")


def test_a_tasks_processor_time_is_its_own():
    async def work(pool):
        return [await pool.run(eval, SPEND) for _ in range(4)]

    assert all(isinstance(outcome, Done) for outcome in driven(work, cpu_sec=0.25))


@pytest.mark.parametrize("expression", [SLEEP, LOOP_IN_C])
def test_wall_time_is_limited(expression):
    began = time.monotonic()
    outcome = outcome_of(expression, wall_sec=0.5)
    assert (outcome.code, outcome.detail) == ("parse_timeout", "no answer within 0.5 s")
    assert outcome.seconds >= 0.5
    assert time.monotonic() - began < 30


def test_memory_is_limited_to_the_configured_bytes():
    async def work(pool):
        return [await pool.run(eval, f"len(b'x' * {mib << 20})") for mib in (10, 400, 10)]

    outcomes = driven(work, memory_bytes=400 << 20)
    assert [getattr(outcome, "code", "done") for outcome in outcomes] == ["done", "parse_memory", "done"]


def test_the_next_task_is_served_after_each_kind_of_death():
    async def work(pool):
        pids = []
        for deadly in ("__import__('os').abort()", SLEEP, LOOP_IN_C):
            assert isinstance(await pool.run(eval, deadly, wall_sec=0.5), Failed)
            pids.append((await pool.run(eval, PID)).value)
        return pids

    assert len(set(driven(work))) == 3


def test_a_death_harms_no_other_task():
    async def work(pool):
        deadly = [pool.run(eval, "__import__('os').abort()") for _ in range(3)]
        sound = [pool.run(eval, str(number)) for number in range(40)]
        return await asyncio.gather(*deadly, *sound)

    outcomes = driven(work, processes=2)
    assert [outcome.code for outcome in outcomes[:3]] == ["parse_crash"] * 3
    assert [outcome.value for outcome in outcomes[3:]] == list(range(40))


@pytest.mark.parametrize("victim", ["getpid", "getppid"])  # the child, and the server that it was forked from
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_document_whose_child_is_killed_is_parsed_once_more(tmp_path, victim, number):
    mark = tmp_path / "killed"
    killing = f"[f() for o in [__import__('os')] for f in [lambda: o.kill(o.{victim}(), {number})]]"
    kill = f"(open({str(mark)!r}, 'w'), {killing})"
    assert outcome_of(f"__import__('os').path.exists({str(mark)!r}) or ({kill}, {SLEEP})", wall_sec=30).value is True


def test_a_document_that_ran_out_of_wall_time_is_read_once_more(tmp_path):
    mark = tmp_path / "slow"
    once = f"__import__('os').path.exists({str(mark)!r}) or (open({str(mark)!r}, 'w'), {SLEEP})"
    assert outcome_of(once, wall_sec=0.5).value is True


def test_an_idle_child_that_is_killed_is_replaced():
    async def work(pool):
        pid = (await pool.run(eval, PID)).value
        os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.4)
        return pid, (await pool.run(eval, PID)).value

    before, after = driven(work)
    assert before != after


def test_a_killed_fork_server_is_replaced():
    async def work(pool):
        parent = (await pool.run(eval, "__import__('os').getppid()")).value
        os.kill(parent, signal.SIGKILL)
        await asyncio.sleep(0.2)
        await pool.run(eval, "__import__('os').abort()")
        return parent, (await pool.run(eval, "__import__('os').getppid()")).value

    before, after = driven(work)
    assert before != after


def test_a_broken_pipe_of_children_gives_an_outcome_and_a_new_pool(monkeypatch):
    monkeypatch.setattr(pools, "_STALL_SEC", 0.0)
    monkeypatch.setattr(pools, "_LOOK_SEC", 0.1)

    async def work(pool):
        await pool.run(eval, "1")
        mutex = pool._pool._pool_manager.worker_manager.workers_channel.mutex.writer_mutex
        mutex.acquire()
        stalled = await pool.run(eval, "2", wall_sec=0.5)
        return stalled, await pool.run(eval, "3")

    stalled, after = driven(work)
    assert (stalled, after.value) == (Done(2, stalled.seconds), 3)


def test_children_are_replaced_after_their_share_of_tasks():
    async def work(pool):
        return [(await pool.run(eval, PID)).value for _ in range(7)]

    assert [
        len([pid for pid in pids if pid == child])
        for pids in [driven(work, max_tasks=3)]
        for child in dict.fromkeys(pids)
    ] == [3, 3, 1]


def test_tasks_in_flight_are_bounded_and_the_loop_goes_on():
    async def work(pool):
        await pool.run(eval, "1")
        most, stalls = 0, []

        async def watch():
            nonlocal most
            while True:
                began = time.monotonic()
                await asyncio.sleep(0.005)
                stalls.append(time.monotonic() - began - 0.005)
                most = max(most, len(pool._futures))

        watching = asyncio.create_task(watch())
        body = b"x" * 200_000
        started = time.monotonic()
        outcomes = await asyncio.gather(*(pool.run(len, body) for _ in range(400)))
        seconds = time.monotonic() - started
        watching.cancel()
        return most, max(stalls) / seconds, {outcome.value for outcome in outcomes}

    most, stalled, values = driven(work, processes=2)
    assert values == {200_000}
    assert 1 <= most <= 4
    assert stalled < 0.5, "the loop stood still"


def test_a_cancelled_call_is_stopped():
    async def work(pool):
        pid = (await pool.run(eval, PID)).value
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(pool.run(eval, SLEEP), 0.3)
        return pid, await pool.run(eval, PID)

    pid, outcome = driven(work)
    assert isinstance(outcome, Done)
    assert gone(pid)


def test_closing_finishes_quick_tasks_and_cancels_the_others():
    async def work(pool):
        await pool.run(eval, "1")
        quick = asyncio.create_task(pool.run(eval, "__import__('time').sleep(0.3)"))
        slow = [asyncio.create_task(pool.run(eval, SLEEP)) for _ in range(9)]
        await asyncio.sleep(0.1)
        began = time.monotonic()
        await pool.close(drain_sec=1)
        outcomes = [await task for task in (quick, *slow)]
        return time.monotonic() - began, outcomes, await pool.run(eval, "1")

    seconds, (quick, *slow), after = driven(work, processes=2)
    assert isinstance(quick, Done)
    assert {outcome.code for outcome in (*slow, after)} == {"parse_cancelled"}
    assert 1 <= seconds < 10


def test_closing_leaves_no_child():
    async def work(pool):
        pids = [(await pool.run(eval, PID)).value]
        endless = asyncio.create_task(pool.run(eval, LOOP_IN_C))
        await asyncio.sleep(0.2)
        await pool.close()
        await pool.close()
        return pids, (await endless).code

    pids, code = driven(work)
    assert code == "parse_cancelled"
    assert all(gone(pid) for pid in pids)


def test_closing_at_once_starts_nothing():
    async def work(pool):
        asking = asyncio.create_task(pool.run(eval, "1"))
        await asyncio.sleep(0)
        await pool.close()
        return await asking

    assert isinstance(driven(work), Done | Failed)


def test_a_fresh_child_knows_the_parsers_alone():
    outcome = outcome_of(MODULES)
    assert not {name for name in outcome.value if name in NOT_IN_CHILDREN or name.split(".")[0] in NOT_IN_CHILDREN}
    assert "feedcrawl.domain.errors" in outcome.value


def test_the_main_module_is_unchanged():
    before = dict(vars(sys.modules["__main__"]))
    outcome_of("1")
    assert vars(sys.modules["__main__"]) == before


def test_a_system_without_a_memory_limit_is_logged(monkeypatch, caplog):
    monkeypatch.setattr(children, "MEMORY_IS_LIMITED", False)
    assert isinstance(outcome_of("1"), Done)
    assert "no limit for the memory" in caplog.text


SEND = (
    "[o for gc in [__import__('gc')] if not gc.unfreeze() for o in gc.get_objects()"
    " if type(o).__name__ == 'ChildEnd' and not o.closed and o.writable]"
)


def test_a_child_cannot_run_code_in_its_parent(tmp_path):
    mark = tmp_path / "ran"
    raw = b"cbuiltins\nopen\n(V" + str(mark).encode() + b"\nVw\ntR."
    pickle.loads(raw).close()
    mark.unlink()  # which pickle would make again

    async def work(pool):
        subverted = await pool.run(eval, f"[o.send_bytes({raw!r}) for o in {SEND}] and {SLEEP}", wall_sec=5)
        return subverted, await pool.run(eval, "2")

    subverted, after = driven(work)
    assert (subverted.code, after.value) == ("parse_crash", 2)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("open({!r}, 'w', 1).write('x' + chr(10))", "File too large"),
        ("[open({!r}, 'w') for _ in range(100)]", "Too many open files"),
    ],
)
def test_files_are_limited(tmp_path, expression, error):
    outcome = outcome_of(expression.format(str(tmp_path / "file")))
    assert outcome.code == "parse_error"
    assert error in outcome.detail


PROGRAM = """
import asyncio, json
from feedcrawl.parsing import ParserPool

print("the main module")

async def main():
    pool = ParserPool(1, preload=("colorsys", "no.such.module"))
    print(json.dumps((await pool.run(eval, "sorted(__import__('sys').modules)")).value))
    await pool.close()

if __name__ == "__main__":
    asyncio.run(main())
"""


@pytest.mark.parametrize("how", [["program.py"], ["-m", "program"]])
def test_children_have_the_preloaded_modules_and_no_main_module(tmp_path, how):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-W", "error", *how]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    loaded, modules = done.stdout.splitlines()
    assert loaded == "the main module"
    assert "colorsys" in json.loads(modules)
    assert done.stderr == ""


KILLED = """
import asyncio, sys
from feedcrawl.parsing import ParserPool

async def main():
    pool = ParserPool(2, cpu_sec=0.3, preload=())
    pids = {(await pool.run(eval, "(__import__('time').sleep(0.1), __import__('os').getpid())[1]")).value}
    pids.add((await pool.run(eval, "__import__('os').getppid()")).value)
    for expression in sys.argv[1:]:
        asyncio.create_task(pool.run(eval, expression, wall_sec=600))
    await asyncio.sleep(0.3)
    children = pool._pool._pool_manager.worker_manager.workers
    print(*pids, *children, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("expression", ["1", SLEEP, LOOP_IN_C])
def test_children_end_with_a_killed_parent(expression):
    with subprocess.Popen([sys.executable, "-c", KILLED, expression, expression], stdout=subprocess.PIPE) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) >= 4
    assert all(gone(pid) for pid in pids)


SPIDER = """
import asyncio, json, time
from pathlib import Path
import scrapy
from feedcrawl.parsing import ParserPool

class Parsing(scrapy.Spider):
    name = "parsing"

    async def start(self):
        stalls = []
        watching = asyncio.create_task(self.watch(stalls))
        pool = ParserPool(2)
        began = time.monotonic()
        modules = await pool.run(eval, "sorted(__import__('sys').modules)")
        seconds = time.monotonic() - began
        crash = await pool.run(eval, "__import__('os').abort()")
        await pool.close()
        watching.cancel()
        Path("told.json").write_text(json.dumps([modules.value, seconds, max(stalls), crash.code]))
        return
        yield

    async def watch(self, stalls):
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.005)
            stalls.append(time.monotonic() - began - 0.005)
"""


def test_children_start_within_seconds_beside_a_running_reactor(tmp_path):
    (tmp_path / "spider.py").write_text(SPIDER)
    command = [str(Path(sys.executable).parent / "scrapy"), "runspider", "spider.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)
    assert "Traceback" not in done.stderr
    modules, seconds, stall, crash = json.loads((tmp_path / "told.json").read_text())
    assert not NOT_IN_CHILDREN & {name.split(".")[0] for name in modules}
    assert crash == "parse_crash"
    assert stall < seconds / 2, "the loop stood still while the pool started"
