"""A newcomer finds the place of anything by its name: folders are small, and a module is not named like its folder."""

from collections import Counter
from pathlib import PurePosixPath

MOST = 15
FLAT = {"feedcrawl/commands"}  # as Scrapy's own: a command's module has the name of the command


def rooms(modules) -> Counter[str]:
    found = (PurePosixPath(module.name) for module in modules)
    return Counter(str(path.parent) for path in found if path.stem != "__init__")


def test_no_folder_has_many_modules(modules) -> None:
    found = [f"{room}: {count} modules, of at most {MOST}" for room, count in rooms(modules).items() if count > MOST]
    assert not [each for each in found if each.partition(":")[0] not in FLAT], "\n".join(found)


def test_no_module_is_named_like_its_folder(modules) -> None:
    found = [module.name for module in modules if PurePosixPath(module.name).parent.name == module.stem]
    assert not found, "name the module for its part of the topic: " + ", ".join(found)
