import subprocess
import sys

import pytest

from feedcrawl import store
from feedcrawl.domain import cadence, discovery, extraction, feeds, sitemaps
from feedcrawl.public_names import imported_later

NAMED = [cadence, feeds, extraction, sitemaps, discovery, store]


@pytest.mark.parametrize("package", NAMED, ids=lambda each: each.__name__)
def test_each_public_name_is_found(package: object) -> None:
    assert [name for name in package.__all__ if getattr(package, name, None) is None] == []


def test_a_name_comes_from_its_module() -> None:
    found = imported_later("feedcrawl.domain.feeds", {"formats.document": ("parse",)})
    assert found("parse") is feeds.parse


def test_another_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match=r"module 'feedcrawl\.domain\.feeds' has no attribute 'pars'"):
        _ = feeds.pars


def test_a_module_of_a_package_does_not_import_the_public_names() -> None:
    code = "import sys, feedcrawl.domain.sitemaps.state, feedcrawl.domain.feeds.fields; print('lxml' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
