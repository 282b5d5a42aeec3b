from types import SimpleNamespace

import pytest
from scrapy.exceptions import NotConfigured
from scrapy_process import run_python

from feedcrawl import wiring
from feedcrawl.extensions.stall import Stall

# A loop that goes on for a while, and then one step that holds the interpreter's lock and does not end.
PROGRAM = """
import asyncio, re, signal
from scrapy.utils.reactor import install_reactor
install_reactor("twisted.internet.asyncioreactor.AsyncioSelectorReactor")
from twisted.internet import reactor
from feedcrawl.extensions.stall import Stall
signal.signal(signal.SIGTERM, signal.SIG_IGN)
stall = Stall({limit_sec})
reactor.callWhenRunning(stall.engine_started)
{steps}
reactor.run()
print("ended")
"""


def test_a_loop_that_stands_still_ends_the_process() -> None:
    steps = "reactor.callLater(1.2, lambda: re.match('(a+)+$', 'a' * 60 + 'b'))"
    run = run_python("-c", PROGRAM.format(limit_sec=0.8, steps=steps), env={})
    assert run.code == 1
    assert "ended" not in run.out
    assert "Timeout (0:00:00.8" in run.err
    assert "re/__init__.py" in run.err or "re.py" in run.err


def test_a_running_loop_and_an_ended_loop_are_left_alone() -> None:
    steps = (
        "reactor.callLater(2, stall.engine_stopped); reactor.callLater(2.1, lambda: __import__('time').sleep(1.5));"
        "reactor.callLater(2.2, reactor.stop)"
    )
    run = run_python("-c", PROGRAM.format(limit_sec=0.8, steps=steps), env={})
    assert (run.code, run.out.strip()) == (0, "ended"), run.err


def test_a_limit_of_zero_disables_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "of", lambda _: SimpleNamespace(config=SimpleNamespace(stall_sec=0)))
    with pytest.raises(NotConfigured):
        Stall.from_crawler(SimpleNamespace())
