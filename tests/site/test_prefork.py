"""Processes that are forked behave as those that `subprocess` starts."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scrapy_process import PREFORK, REPOSITORY, Process, clean_environment, run_python

REPORT = """
import json, os, sys
print(json.dumps([__name__, sys.argv[1:], sys.path[0], os.environ["GIVEN"], os.getcwd(), sys.stdin.read()]))
"""


def printed_by(*words: str, **env: str) -> list[object]:
    ran = run_python(*words, env=clean_environment() | {"GIVEN": "1"} | env)
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


@pytest.mark.parametrize("how", ["-c", "-m", "script"])
def test_words_are_run_as_the_interpreter_runs_them(tmp_path: Path, how: str) -> None:
    (tmp_path / "report.py").write_text(REPORT)
    words = {"-c": ["-c", REPORT], "-m": ["-m", "report"], "script": [str(tmp_path / "report.py")]}[how]
    first = {"-c": "", "-m": str(REPOSITORY), "script": str(tmp_path)}[how]
    found = printed_by(*words, "a", "b c", PYTHONPATH=str(tmp_path))
    assert found == ["__main__", ["a", "b c"], first, "1", str(REPOSITORY), ""]


def test_the_environment_is_read_in_the_fork() -> None:
    code = "import json; from feedcrawl import settings; print(json.dumps(settings.FEEDCRAWL_CONTACT))"
    assert [printed_by("-c", code, FEEDCRAWL_CONTACT=name) for name in ("ada", "bob")] == ["ada", "bob"]
    assert printed_by("-c", code) is None


@pytest.mark.parametrize(
    ("code", "status"), [("pass", 0), ("import sys; sys.exit(3)", 3), ("1 / 0", 1), ("import os; os.abort()", -6)]
)
def test_the_status_is_that_of_the_process(code: str, status: int) -> None:
    assert run_python("-c", code, env=clean_environment()).code == status


def test_a_process_ends_by_a_signal() -> None:
    process = Process(["-c", "import time; time.sleep(600)"], clean_environment())
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    until = time.monotonic() + 60
    while os.getpgid(process.pid) != process.pid:  # the process makes its group after the fork
        assert time.monotonic() < until
        time.sleep(0.01)
    process.kill()
    assert process.wait(20) == -signal.SIGKILL
    assert process.poll() == process.returncode == -signal.SIGKILL
    process.kill()  # what has ended may be killed


def test_no_module_is_there_that_a_process_must_choose_for_itself() -> None:
    code = (
        "import json, sys; print(json.dumps([name in sys.modules for name in ('scrapy', 'twisted.internet.reactor')]))"
    )
    assert printed_by("-c", code) == [True, False]


def test_processes_end_with_their_server() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(PREFORK.parent)!r})\n"
        "from scrapy_process import Process, clean_environment\n"
        "print(Process(['-c', 'import time; time.sleep(600)'], clean_environment()).pid, flush=True)\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(ran.stdout), 0)
