"""Commands that list nothing say so, and write nothing into a pipe."""

from collections.abc import Callable

import pytest

Call = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dlq", "list"), "there are no dead letters"),
        (("dlq", "list", "--host", "a.test"), "no dead letter meets these conditions"),
        (("dlq", "list", "http://a.test/"), "no dead letter is that of http://a.test/"),
        (("merges", "list"), "no articles have been merged"),
        (("token", "list"), "there are no tokens; `scrapy token create NAME` makes one"),
    ],
)
def test_an_empty_list_is_named_on_stderr(call: Call, arguments: tuple[str, ...], message: str) -> None:
    _, out, err = call(*arguments)
    assert (out, err) == ("", f"scrapy {arguments[0]}: {message}\n")


@pytest.mark.parametrize(("name", "out"), [("dlq", "[]\n"), ("merges", "[]\n"), ("token", "")])
def test_programs_get_an_empty_list(call: Call, name: str, out: str) -> None:
    assert call(name, "list", "--json") == (0, out, "")
