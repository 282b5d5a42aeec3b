import sys
from pathlib import Path

import pytest

from feedcrawl import __main__ as program


@pytest.mark.parametrize(
    ("words", "status", "printed"),
    [
        ((), 0, ["  feedcrawl <command> [options] [args]", 'Use "feedcrawl <command> -h"', "  why "]),
        (("nope",), 2, ["Unknown command: nope", 'Use "feedcrawl" to see available commands']),
        (("version",), 0, ["Scrapy "]),
    ],
)
def test_the_console_script_names_itself(
    words: tuple[str, ...],
    status: int,
    printed: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "feedcrawl.settings")
    monkeypatch.setattr(sys, "argv", ["feedcrawl", *words])
    with pytest.raises(SystemExit) as ended:
        program.main()
    out = capsys.readouterr().out
    assert ended.value.code == status
    assert [text for text in printed if text not in out] == []
    assert "scrapy <command>" not in out
