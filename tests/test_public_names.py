import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import feedcrawl
from feedcrawl.domain import feeds

ROOT = Path(feedcrawl.__file__).parent
PACKAGES = {
    ".".join(("feedcrawl", *path.parent.relative_to(ROOT).parts)): path
    for path in sorted(ROOT.rglob("__init__.py"))
    if "imported_later" in path.read_text()
}


@pytest.mark.parametrize("name", PACKAGES)
def test_each_public_name_is_that_of_its_module(name: str) -> None:
    package, source = import_module(name), ast.parse(PACKAGES[name].read_text())
    imports = [node for node in ast.walk(source) if isinstance(node, ast.ImportFrom) and node.col_offset]
    homes = {alias.name: import_module(str(node.module)) for node in imports for alias in node.names}
    assert {each: getattr(package, each) for each in package.__all__} == {
        each: getattr(home, each) for each, home in homes.items()
    }


def test_a_name_belongs_to_its_package_after_its_first_use() -> None:
    code = "from feedcrawl.domain import feeds; first = feeds.parse; print(vars(feeds)['parse'] is first)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "True\n"


def test_another_name_is_refused_as_python_does() -> None:
    with pytest.raises(AttributeError, match=r"module 'feedcrawl\.domain\.feeds' has no attribute 'pars'"):
        _ = feeds.pars


def test_a_module_of_a_package_does_not_import_the_public_names() -> None:
    code = "import sys, feedcrawl.domain.sitemaps.state, feedcrawl.domain.feeds.fields; print('lxml' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
