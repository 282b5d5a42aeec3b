import pytest

from feedcrawl.domain.http.hosts_file import host_key, parse_hosts


def test_names_and_addresses() -> None:
    text = """
    # a comment
    127.1.0.1  Site-1.test site-1  # another
    \t::1 site-1.test.
    127.1.0.1 site-1.test
    fe80::1%lo0 router.test
    """
    assert parse_hosts(text) == {
        "site-1.test": ("127.1.0.1", "::1"),
        "site-1": ("127.1.0.1",),
        "router.test": ("fe80::1%lo0",),
    }


@pytest.mark.parametrize("text", ["", "\n\n", "#127.0.0.1 a", "  # x"])
def test_nothing(text: str) -> None:
    assert parse_hosts(text) == {}


@pytest.mark.parametrize(
    "line", ["a.test 127.0.0.1", "127.1 a.test", "0x7f.0.0.1 a", "127.0.0.1", "127.0.0.1 # a", "127.0.0.1/8 a"]
)
def test_a_bad_line_is_named(line: str) -> None:
    with pytest.raises(ValueError, match="line 2"):
        parse_hosts(f"::1 localhost\n{line}\n")


@pytest.mark.parametrize(
    ("name", "key"), [("A.Test", "a.test"), ("a.test.", "a.test"), ("a.test..", "a.test."), ("", "")]
)
def test_keys(name: str, key: str) -> None:
    assert host_key(name) == key
