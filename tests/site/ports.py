"""Free ports of 127.0.0.1, for servers that get their port as an argument."""

from __future__ import annotations

import functools
import itertools
import os
import socket
from collections.abc import Iterator

FIRST, EACH, RANGES = 10_000, 1_000, 22


@functools.cache
def _ports() -> Iterator[int]:
    """The range of this test process, from anywhere in it.

    It lies below those that operating systems choose from (Linux from 32768 on): of these, one that was free a moment
    ago may belong to any connection now.
    """
    process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % RANGES
    return (FIRST + process * EACH + number % EACH for number in itertools.count(os.getpid()))


def free_port() -> int:
    """A port on which nobody listens, and which this process gets once."""
    while True:
        port = next(_ports())
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
