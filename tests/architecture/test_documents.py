"""What is written for readers holds: links lead somewhere, and the project speaks of itself alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TEXTS = {".md", ".py", ".toml", ".cfg", ".yaml", ".yml", ".lua", ".sh", ".json", ".html", ""}
FOLDERS = ("feedcrawl", "tests", "benchmarks", "docs", "deploy", ".ci")

LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)")
# A path's first piece, not that of a URL and not a closing tag.
MACHINE_PATH = re.compile(r"(?<![\w.:/<$}*-])/(?:work|home|root|tmp|Users|mnt|farm)/[\w.-]+")
REGISTRY = re.compile(
    r"\b(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|docker\.io|ghcr\.io|quay\.io|crates\.io|conda\.anaconda\.org"
    r"|deb\.debian\.org|proxy\.golang\.org)\b"
)
WORKPLACE = re.compile(
    r"\b(?:claude|anthropic|openai|chatgpt|copilot|sub-?agents?|colleagues?|as instructed|the briefs?|co-worker"
    r"|(?:design|contract|reliability|experiments|peers)\.md|seeds?/[\w-]+\.md|seed `?[\w-]+\.md|issue #?\d+)\b",
    re.IGNORECASE,
)


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """Name and text of what the repository holds, this test left out."""
    top = [path for path in root.iterdir() if path.is_file() and path.name != ".git"]
    inside = [path for folder in FOLDERS for path in (root / folder).rglob("*")]
    for path in sorted({*top, *inside}):
        if path.is_file() and path.suffix in TEXTS and "__pycache__" not in path.parts and path != Path(__file__):
            yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8", errors="replace")


def matches(root: Path, pattern: re.Pattern[str], *, tests: bool) -> list[str]:
    """`file:line: what` for each match; tests are made of foreign names and paths, so they may be left out."""
    return [
        f"{name}:{number}: {match.group()}"
        for name, text in texts(root)
        if tests or not name.startswith("tests/")
        for number, line in enumerate(text.splitlines(), 1)
        for match in pattern.finditer(line)
    ]


def test_decision_records_have_a_number_of_their_own(root: Path) -> None:
    records = sorted((root / "docs" / "decisions").glob("[0-9]*.md"))
    numbers = [path.name[:4] for path in records]
    assert numbers == sorted(set(numbers))
    for path in records:
        assert path.read_text(encoding="utf-8").startswith(f"# {path.name[:4]}: "), path.name


NAME_OF_THE_CODE = re.compile(
    r"`((?:domain|services|store|parsing|telemetry|crawl|handlers)(?:\.[a-z_]+)+)\.(?:([A-Z]\w+)(?:\.(\w+))?|(\w+))`"
)


def test_dotted_names_in_documents_exist(root: Path) -> None:
    missing = []
    for path in (root / "docs").glob("*.md"):
        for module, *names in NAME_OF_THE_CODE.findall(path.read_text(encoding="utf-8")):
            place = root / "feedcrawl" / module.replace(".", "/")
            sources = [each for each in (place.with_suffix(".py"), place / "__init__.py") if each.exists()]
            known = "".join(each.read_text(encoding="utf-8") for each in sources) + " ".join(map(str, place.glob("*")))
            missing += [f"{module}.{name}" for name in names if name and not re.search(rf"\b{name}\b", known)]
    assert missing == []


def test_relative_links_lead_somewhere(root: Path) -> None:
    found = [
        f"{name}:{text[: match.start()].count(chr(10)) + 1}: {match.group(1)} is not there"
        for name, text in texts(root)
        if name.endswith(".md")
        for match in LINK.finditer(text)
        if not re.match(r"[a-z][a-z0-9+.-]*:|#", match.group(1))
        if not (root / name).parent.joinpath(match.group(1).partition("#")[0]).exists()
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("name", "pattern", "tests"),
    [
        ("a path of one machine; take it from a setting, an argument or tempfile", MACHINE_PATH, True),
        ("the name of a registry; installers know theirs", REGISTRY, False),
        ("of how the project is made; say what the project does and why", WORKPLACE, True),
    ],
    ids=["paths", "registries", "workplace"],
)
def test_the_project_speaks_of_itself(root: Path, name: str, pattern: re.Pattern[str], tests: bool) -> None:
    found = matches(root, pattern, tests=tests)
    assert not found, f"{name}\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see /tmp/x/y", True),
        ('open("/home/me/a")', True),
        ("http://a.example/home/x", False),
        ("$dir/tmp/x", False),
        ("a/work/b", False),
    ],
)
def test_paths_of_a_machine_are_recognised(text: str, expected: bool) -> None:
    assert bool(MACHINE_PATH.search(text)) is expected
