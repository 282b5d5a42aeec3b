"""The work of `scrapy token`: creates, lists and revokes tokens of the API."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from feedcrawl.console.output import DONE, UNUSABLE, say, write_json
from feedcrawl.console.stores import on
from feedcrawl.domain.errors import Refusal
from feedcrawl.hints import program
from feedcrawl.services.operations import tokens
from feedcrawl.wiring.stores import Stores

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence


ACTIONS = {"create": 1, "list": 0, "revoke": 1}
"""The number of arguments of each action."""


@on(Stores, makes_data=True)
def run(wired: Stores, args: list[str], opts: Namespace) -> int:
    """One of the actions."""
    action, names = (args[0], args[1:]) if args else ("", [])
    if ACTIONS.get(action) != len(names):
        raise UsageError("say `create` and an actor's name, `list`, or `revoke` and an id", print_help=False)
    if action == "create":
        return _create(wired, names[0], opts.scope, as_json=opts.json)
    return _revoke(wired, names[0]) if action == "revoke" else _list(wired, as_json=opts.json)


def _create(wired: Stores, actor: str, scope: str, *, as_json: bool) -> int:
    try:
        text, token = tokens.create(wired.tokens, actor, scope, wired.now())
    except Refusal as refused:
        say("token", f"{refused.detail} ({refused.code})")
        return UNUSABLE
    if as_json:
        record = {"token": text, "id": token.id, "actor": token.actor, "scope": token.scope}
        write_json(record)
    else:
        sys.stdout.write(f"{text}\n")
        say(
            "token",
            f"{token.id} of {token.actor}, scope {token.scope}: shown only now; only its sha256 is stored",
        )
    return DONE


def _list(wired: Stores, *, as_json: bool) -> int:
    rows = [(token.id, token.actor, token.scope, token.created_at) for token in wired.tokens.all()]
    names = ("id", "actor", "scope", "created_at")
    sys.stdout.writelines(
        json.dumps(dict(zip(names, each, strict=True))) + "\n" if as_json else _row(each) for each in rows
    )
    if not (rows or as_json):
        say("token", f"there are no tokens; `{program()} token create NAME` makes one")
    return DONE


def _row(row: Sequence[str]) -> str:
    return "  ".join((row[0], f"{row[1]:<20}", f"{row[2]:<5}", row[3])) + "\n"


def _revoke(wired: Stores, token_id: str) -> int:
    token = wired.tokens.drop(token_id)
    if token is None:
        say("token", f"there is no token {token_id!r}; `{program()} token list` names those that there are")
        return UNUSABLE
    sys.stdout.write(f"{token.id}  {token.actor}\n")
    return DONE
