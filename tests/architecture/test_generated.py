"""The generated parts of the documentation are those that the declarations give."""

from pathlib import Path

import generate
import pytest

FILES = generate.generated()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_generated_parts_are_up_to_date(path: Path) -> None:
    assert path.read_text("utf-8") == FILES[path], "run: python docs/generate.py"


def test_each_schema_has_its_record() -> None:
    schemas = {path for path in FILES if path.suffix == ".json"}
    assert schemas == set((generate.DOCS / "schemas").glob("*.json"))


def test_a_page_without_the_part_is_refused() -> None:
    page = "<!-- generated: a -->\nold\n<!-- end -->\n"
    assert generate.with_part(page, "a", "new\n") == "<!-- generated: a -->\nnew\n<!-- end -->\n"
    with pytest.raises(ValueError, match="0 parts named 'b'"):
        generate.with_part(page, "b", "new\n")
