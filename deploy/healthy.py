"""Ends with status 0 where a URL of this machine answers with 200, and with a line that is the second argument."""

import sys
from urllib.error import URLError
from urllib.request import urlopen

URL, *LINE = sys.argv[1:]
try:
    with urlopen(URL, timeout=8) as answer:  # noqa: S310 - the caller's own URL
        told = answer.read().decode().splitlines()
except (URLError, TimeoutError) as error:
    sys.exit(f"{URL}: {error}")
if LINE and LINE[0] not in told:
    sys.exit(f"{URL} does not say {LINE[0]}")
