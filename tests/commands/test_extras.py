"""A command without the packages of its extra ends with a hint; all other commands need the core packages alone."""

import json
import subprocess
import sys

CORE_ALONE = """
import json, sys
from importlib import import_module
from scrapy.utils.misc import walk_modules


class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Absent())
missing = {}
for module in walk_modules("feedcrawl.commands"):
    if (command := getattr(module, "Command", None)) is not None:
        try:
            import_module(getattr(command, "work_module", module.__name__))
        except ModuleNotFoundError:
            missing[command.__module__.rpartition(".")[2]] = command.extra
print(json.dumps(missing))
"""
OF_EXTRAS = (
    "aiokafka", "fastapi", "jinja2", "opensearchpy", "opentelemetry", "pyarrow", "pydantic", "python_socks",
    "sqlalchemy", "starlette", "uvicorn",
)  # fmt: skip


def test_commands_name_the_extra_that_they_need() -> None:
    ran = subprocess.run([sys.executable, "-c", CORE_ALONE, *OF_EXTRAS], capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == {"api": "api", "relay": "kafka"}
