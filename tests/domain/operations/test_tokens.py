import pytest

from feedcrawl.domain.errors import Refusal
from feedcrawl.domain.operations.tokens import granted, new_token, token_digest, token_text

TEXT = token_text(bytes(range(32)))


def test_a_token_is_all_its_chance_and_kept_as_a_digest() -> None:
    assert TEXT == "fct_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
    assert token_digest(TEXT) == "c69c29122c40e4aa100e8c740af5f6f1d75d7094f61b8b97d4e3ce988f43d8d4"
    assert token_text(bytes(32)) != TEXT


@pytest.mark.parametrize(
    "text", ["", "fct_", TEXT[:-1], TEXT + "A", TEXT + "\n", TEXT.upper(), "é" * 47, "a" * 100_000]
)
def test_a_malformed_token_has_no_digest(text: str) -> None:
    assert token_digest(text) is None


@pytest.mark.parametrize(
    ("scope", "allows"), [("read", {"read"}), ("write", {"read", "write"}), ("admin", {"read", "write", "admin"})]
)
def test_each_scope_includes_the_scopes_below(scope: str, allows: set[str]) -> None:
    token = new_token("ab" * 32, "newsroom", scope, "2026-11-28T07:00:00Z")
    assert (token.id, token.actor) == ("ab" * 6, "newsroom")
    assert granted(token.scope) == allows


@pytest.mark.parametrize("actor", ["", "-x", "a b", "a/b", "é", "x" * 65, "a\n"])
def test_an_actor_is_a_plain_name(actor: str) -> None:
    with pytest.raises(Refusal, match="bad_actor"):
        new_token("ab" * 32, actor, "read", "2026-11-28T07:00:00Z")


@pytest.mark.parametrize("scope", ["", "READ", "root", "read,write"])
def test_an_unknown_scope_is_refused(scope: str) -> None:
    with pytest.raises(Refusal, match="bad_scope"):
        new_token("ab" * 32, "newsroom", scope, "2026-11-28T07:00:00Z")
