from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_imports_point_down(root: Path) -> None:
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    ran = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=120, check=False)
    assert ran.returncode == 0, f"move the import or what it needs to a lower layer\n{ran.stdout}{ran.stderr}"
